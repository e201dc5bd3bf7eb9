"""Cables against the plan: each kind of mistake is one finding that says what to do."""

from __future__ import annotations

from coldaisle.plan.model import End
from coldaisle.verify import compare
from tests.unit.verify.neighbours import answers, as_planned, end, ethernet, muted, of, relinked, without
from tests.unit.verify.reports import devices, kinds, named, told


def test_a_site_as_planned_differs_in_nothing() -> None:
    """Every cable that somebody can see is as planned; management controllers speak no LLDP, and are not missing."""
    links = as_planned(ethernet())
    seen = {one: two for one, two in links.items() if "bmc" not in {one.port, two.port}}
    report = told(seen)
    assert report.findings == ()
    assert {one.reason for one in report.unknown} == {"management controllers speak no LLDP"}
    assert report.as_planned == report.planned - len(report.unknown)


def test_a_swap_is_one_finding_with_the_two_plugs() -> None:
    """Two cables of one leaf in each other's ports are one finding, with the plugs that are nearest to each other."""
    links = as_planned(ethernet())
    first, second = (peer for port, peer in of(links, "leaf01")[:2])
    ports = [port for port, _ in of(links, "leaf01")[:2]]
    swapped = relinked(
        links,
        (f"leaf01:{ports[0]}", f"{second.device}:{second.port}"),
        (f"leaf01:{ports[1]}", f"{first.device}:{first.port}"),
    )
    report = told(swapped)
    assert kinds(report) == ["swapped"]
    assert named(report.findings[0].ends) == {f"leaf01:{port}" for port in ports}


def test_a_swap_of_rails_says_so() -> None:
    """A host's two rails in each other's leaves are one swap, at the host, and across rails."""
    links = as_planned(ethernet())
    zero, one = links[end("r01-n01:rail0")], links[end("r01-n01:rail1")]
    report = told(
        relinked(
            links,
            ("r01-n01:rail0", f"{one.device}:{one.port}"),
            ("r01-n01:rail1", f"{zero.device}:{zero.port}"),
        )
    )
    assert kinds(report) == ["swapped"]
    assert report.findings[0].wrong_rail
    assert named(report.findings[0].ends) == {"r01-n01:rail0", "r01-n01:rail1"}


def test_a_plug_in_the_wrong_rail_moves() -> None:
    """A rail in a free port of the other rail's leaf is one finding: where it is, and where it belongs."""
    links = as_planned(ethernet())
    home = links[end("r01-n01:rail0")]
    away = links[end("r01-n01:rail1")].device
    free = next(port for port in ethernet().devices[away].ports if End(device=away, port=port) not in links)
    report = told(relinked(links, ("r01-n01:rail0", f"{away}:{free}")))
    assert kinds(report) == ["wrong-rail"]
    assert report.findings[0].ends == (End(device=away, port=free), home)


def test_a_plug_in_the_wrong_port_moves() -> None:
    """Within its rail, such a plug is in the wrong port."""
    links = as_planned(ethernet())
    leaf = links[end("r01-n01:rail0")].device
    free = next(port for port in ethernet().devices[leaf].ports if End(device=leaf, port=port) not in links)
    report = told(relinked(links, ("r01-n01:rail0", f"{leaf}:{free}")))
    assert kinds(report) == ["wrong-port"]


def test_an_unplugged_cable_is_missing() -> None:
    """A link that neither of two speaking ends sees is missing."""
    report = told(without(as_planned(ethernet()), "r01-n01:rail0"))
    assert kinds(report) == ["missing"]
    assert end("r01-n01:rail0") in report.findings[0].ends


def test_a_cable_to_a_stranger_is_extra() -> None:
    """A device that the plan does not have is an extra cable, once, and what belongs there is told."""
    links = as_planned(ethernet())
    free = next(port for port in ethernet().devices["spine01"].ports if End(device="spine01", port=port) not in links)
    report = told(relinked(links, (f"spine01:{free}", "printer:lan")))
    assert kinds(report) == ["extra"]
    assert ":lan which is not in the plan" in report.findings[0].what


def test_a_cable_between_free_ports_is_extra() -> None:
    """A cable between two ports that the plan leaves free is extra."""
    links = as_planned(ethernet())
    free = [
        f"{name}:{next(p for p in ethernet().devices[name].ports if End(device=name, port=p) not in links)}"
        for name in ("spine01", "leaf01")
    ]
    report = told(relinked(links, (free[0], free[1])))
    assert kinds(report) == ["extra"]


def test_a_switch_that_nobody_sees_is_unpowered_once() -> None:
    """A switch that is off is one finding, and not one for each of its cables."""
    links = muted(as_planned(ethernet()), "spine02")
    report = compare(ethernet(), answers(links, [name for name in devices() if name != "spine02"]))
    assert kinds(report) == ["unpowered"]
    assert "spine02" in report.findings[0].fix


def test_a_switch_that_one_peer_sees_has_power() -> None:
    """A switch of which one cable is seen runs: the others are missing."""
    links = as_planned(ethernet())
    up = [f"spine02:{port}" for port, peer in of(links, "spine02") if peer.device == "leaf01"]
    report = compare(ethernet(), answers(without(links, *up), ["leaf01", "leaf02", "oob01"]))
    assert kinds(report) == ["missing"]
