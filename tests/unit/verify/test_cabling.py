"""Cables against the plan: each kind of mistake, and what must not mislead."""

from __future__ import annotations

import json

import pytest

from coldaisle.plan.model import End
from coldaisle.verify import Answer, CablingReport, compare, read
from coldaisle.verify.seen import guid_mac
from tests.unit.verify.neighbours import (
    answers,
    as_planned,
    end,
    eos_json,
    ethernet,
    infiniband,
    lldpd_json,
    muted,
    of,
    pod,
    relinked,
    sonic_table,
    subnet,
    without,
)

EVERYBODY = ("leaf01", "leaf02", "spine01", "spine02", "oob01", "r01-n01", "r01-n02", "r02-n01", "r02-n02", "svc01")
SWITCHES = ("leaf01", "leaf02", "spine01", "spine02", "oob01")


def kinds(report: CablingReport) -> list[str]:
    """Return the kinds of what was found."""
    return [finding.kind for finding in report.findings]


def named(ends: tuple[End, ...]) -> set[str]:
    """Return ends as `device:port`."""
    return {f"{one.device}:{one.port}" for one in ends}


def devices() -> tuple[str, ...]:
    """Return the devices of the small site, switches first."""
    return tuple(sorted(ethernet().devices, key=lambda name: not ethernet().devices[name].is_switch))


def dotted(mac: str) -> str:
    """Return a MAC as EOS prints it."""
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


def told(links: dict[End, End], *extra: Answer) -> CablingReport:
    """Compare the small site's plan with links that all of its devices tell of."""
    return compare(ethernet(), [*answers(links, devices()), *extra])


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


def test_a_host_without_lldp_is_not_missing() -> None:
    """A host that nobody hears speaks no LLDP, or is off; its cables cannot be told."""
    links = muted(as_planned(ethernet()), "r02-n02")
    report = compare(ethernet(), answers(links, SWITCHES[:4]))
    assert report.findings == ()
    assert any("r02-n02 is not heard" in one.reason for one in report.unknown)


def test_nobody_was_asked() -> None:
    """Without an answer of either end a cable cannot be told."""
    report = compare(ethernet(), answers(as_planned(ethernet()), ["leaf01"]))
    assert report.findings == ()
    assert "neither end's neighbours were given" in {one.reason for one in report.unknown}


def test_ports_given_as_addresses_are_the_delivery_lists() -> None:
    """A fresh host without a name, whose port is a MAC, is known by the delivery list, and so is a swap of two."""
    macs = {place: mac for mac, place in ethernet().macs.items()}
    links = as_planned(ethernet())

    def table(changed: dict[End, End]) -> bytes:
        entries = [
            {"port": port, "neighborDevice": "localhost", "neighborPort": dotted(macs[peer])}
            if peer in macs
            else {"port": port, "neighborDevice": peer.device, "neighborPort": peer.port}
            for port, peer in of(changed, "leaf01")
        ]
        return json.dumps({"lldpNeighbors": entries}).encode()

    report = compare(ethernet(), [read(table(links), "leaf01", "leaf01")], "leaf01")
    assert (report.as_planned, report.findings) == (len(of(links, "leaf01")), ())
    (port, first), (other, second) = [(port, peer) for port, peer in of(links, "leaf01") if peer in macs][:2]
    swapped = relinked(
        links, (f"leaf01:{port}", f"{second.device}:{second.port}"), (f"leaf01:{other}", f"{first.device}:{first.port}")
    )
    report = compare(ethernet(), [read(table(swapped), "leaf01", "leaf01")], "leaf01")
    assert kinds(report) == ["swapped"]


def test_an_address_wins_over_a_name() -> None:
    """A host that bears another's name is known by its address, and the report says so."""
    links = as_planned(ethernet())
    port, peer = next((port, peer) for port, peer in of(links, "leaf01") if peer.device == "r01-n01")
    mac = next(mac for mac, place in ethernet().macs.items() if place == peer)
    own = {"type": "mac", "value": mac}
    entry = {"chassis": {"r02-n02": {"id": own}}, "port": {"id": own, "descr": peer.port}}
    report = compare(
        ethernet(), [read(json.dumps({"lldp": {"interface": {port: entry}}}).encode(), "leaf01", "leaf01")]
    )
    assert report.as_planned == 1
    assert any("r02-n02 has an address of r01-n01" in note for note in report.notes)


def test_a_bond_shares_an_address_and_keeps_its_ports() -> None:
    """Two ports of a host that give one MAC are told apart by their descriptions."""
    links = as_planned(ethernet())
    shared = "52:54:00:01:01:02"
    answer = []
    for rail in ("rail0", "rail1"):
        leaf = links[end(f"r01-n01:{rail}")]
        own = {"type": "mac", "value": shared}
        entry = {"chassis": {"r01-n01": {"id": own}}, "port": {"id": own, "descr": rail}}
        data = json.dumps({"lldp": {"interface": {leaf.port: entry}}}).encode()
        answer.append(read(data, leaf.device, leaf.device))
    report = compare(ethernet(), answer, "r01-n01")
    assert report.as_planned == 2
    assert "swapped" not in kinds(report)


def test_a_port_that_is_not_named_is_not_taken_for_right() -> None:
    """A host whose port has another name than the plan's is as planned as far as told, which is not known."""
    leaf = as_planned(ethernet())[end("r01-n01:rail0")]
    data = json.dumps({"lldpNeighbors": [{"port": leaf.port, "neighborDevice": "r01-n01", "neighborPort": "ens9"}]})
    report = compare(ethernet(), [read(data.encode(), "leaf", leaf.device)], "r01-n01")
    assert "the devices are those of the plan, and a port was not named" in {one.reason for one in report.unknown}
    assert report.as_planned == 0


def test_links_seen_from_both_ends_count_once() -> None:
    """The same answers twice, and from both ends, are the same report as from one end."""
    links = without(as_planned(ethernet()), "leaf01:swp17", "r01-n02:rail1")
    once = compare(ethernet(), answers(links, devices()))
    twice = compare(ethernet(), [*answers(links, devices()), *answers(links, reversed(devices()))])
    assert once == twice


@pytest.mark.parametrize("cut", ["eos", "sonic", "lines", "json", "empty"])
def test_a_table_that_was_cut_off_proves_no_absence(cut: str) -> None:
    """What a table lacks that ends early, or that was full, cannot be told; what it holds counts."""
    links = as_planned(ethernet())
    less = without(links, *[f"leaf01:{port}" for port, peer in of(links, "leaf01") if peer.device == "spine02"])
    table = sonic_table(links, "leaf01").decode().splitlines()
    data = {
        "eos": eos_json(less, "leaf01", drops=3),
        "sonic": "\n".join(table[:-3]).encode(),
        "lines": "\n".join([*table[:-4], *table[-2:]]).encode(),
        "json": lldpd_json(links, "leaf01")[:-40],
        "empty": b"\n",
    }[cut]
    report = compare(ethernet(), [read(data, "leaf01.txt", "leaf01"), *answers(links, ["leaf02"])], "leaf01")
    assert report.findings == ()
    assert "a table of neighbours was cut off" in {one.reason for one in report.unknown}
    assert any("leaf01.txt" in note for note in report.notes)


def test_names_may_be_shortened() -> None:
    """A shortened name that fits one device is that device; one that fits several is not guessed."""
    links = as_planned(ethernet())
    up = of(links, "leaf01")
    port, peer = next((port, peer) for port, peer in up if peer.device == "spine02")
    host_port, host = next((port, peer) for port, peer in up if peer.device == "r01-n01")

    def table(name: str, local: str, remote: str) -> Answer:
        entry = {"port": local, "neighborDevice": name, "neighborPort": remote}
        return read(json.dumps({"lldpNeighbors": [entry]}).encode(), "leaf01", "leaf01")

    assert compare(ethernet(), [table("SPINE02.Exampl", port, peer.port)], "leaf01").as_planned == 1
    assert compare(ethernet(), [table("r01-n01.case.exam…", host_port, host.port)], "leaf01").as_planned == 1
    report = compare(ethernet(), [table("r01-n0", host_port, host.port)], "leaf01")
    assert report.as_planned == 0
    assert any("r01-n0 is a shortened name" in one.reason for one in report.unknown)
    assert not any(host in finding.ends for finding in report.findings)


def test_a_stale_table_is_no_finding() -> None:
    """Where two ends contradict each other nobody knows which one is right."""
    links = as_planned(ethernet())
    ports = of(links, "leaf01")
    (one, first), (two, second) = [(port, peer) for port, peer in ports if peer.device.startswith("spine")][:2]
    wrong = relinked(links, (f"leaf01:{one}", f"{second.device}:{second.port}"))
    report = compare(
        ethernet(), [*answers(wrong, ["leaf01"]), *answers(links, [first.device, second.device])], "leaf01"
    )
    assert two
    assert report.findings == ()
    assert any("two neighbours" in reason.reason for reason in report.unknown)


def test_an_adapters_own_agent_is_no_second_cable() -> None:
    """A stranger on a port beside the planned peer, as an adapter's firmware is, changes nothing."""
    links = as_planned(ethernet())
    port, _ = of(links, "leaf01")[0]
    before = compare(ethernet(), answers(links, ["leaf01"]), "leaf01")
    for name in ("0c42.a1b2.c3d4", "adapter-agent"):
        agent = json.dumps({"lldpNeighbors": [{"port": port, "neighborDevice": name, "neighborPort": "x"}]})
        after = compare(ethernet(), [*answers(links, ["leaf01"]), read(agent.encode(), "a", "leaf01")], "leaf01")
        assert (after.findings, after.unknown) == (before.findings, before.unknown)


def test_n15_text_that_is_no_utf8_is_dropped_with_a_note() -> None:
    """A neighbour whose description is no UTF-8 keeps the rest of what it tells, and a note says what was dropped."""
    links = as_planned(ethernet())
    data = lldpd_json(links, "leaf01").replace(b'"descr": "rail0"', b'"descr": "\xff\xferail"')
    assert b"\xff" in data
    report = compare(ethernet(), [read(data, "leaf01.json", "leaf01")], "leaf01")
    assert (report.as_planned, report.findings) == (len(of(links, "leaf01")), ())
    assert any("is no UTF-8 and was dropped" in note for note in report.notes)


# -- InfiniBand -----------------------------------------------------------------------------------------------------
def discovered(links: dict[End, End], devices: list[str] | None = None) -> CablingReport:
    """Compare the InfiniBand plan with what ibnetdiscover prints of links."""
    return compare(infiniband(), [read(subnet(infiniband(), links, devices).encode(), "subnet.txt")])


def test_a_subnet_as_planned_is_clean() -> None:
    """A subnet tells every cable of the fabric, from both ends, and its switches' own ports are no cables."""
    report = discovered(as_planned(infiniband()))
    assert (report.findings, report.unknown, report.notes) == ((), (), ())
    assert report.as_planned == report.planned > 0


def test_a_host_without_any_link_in_a_subnet_is_unpowered() -> None:
    """A host that the whole subnet lacks is off: one finding for its eight rails."""
    report = discovered(muted(as_planned(infiniband()), "n0003"))
    assert kinds(report) == ["unpowered"]
    assert len(report.findings[0].cables) == 8


def test_a_host_that_speaks_elsewhere_has_power() -> None:
    """A host that a subnet lacks and that LLDP hears runs: its InfiniBand cables are missing, one by one."""
    links = {one: two for one, two in as_planned(pod()).items() if pod().by_end[one].speaks_ib}
    seen = read(subnet(pod(), muted(links, "r01-n1")).encode(), "subnet.txt")
    report = compare(pod(), [seen], "r01-n1")
    assert kinds(report) == ["unpowered"]
    assert len(report.findings[0].cables) == 8
    management = as_planned(pod())[end("r01-n1:mgmt0")]
    heard = {end("r01-n1:mgmt0"): management, management: end("r01-n1:mgmt0")}
    leaf = read(lldpd_json(heard, management.device), "leaf.json", management.device)
    assert kinds(compare(pod(), [seen, leaf], "r01-n1")) == ["missing"] * 8


def test_an_appliance_has_the_ports_that_the_plan_cables() -> None:
    """Fabric managers, whose InfiniBand ports no catalog lists, are told like any host."""
    links = {one: two for one, two in as_planned(pod()).items() if pod().by_end[one].speaks_ib}
    report = compare(pod(), [read(subnet(pod(), links).encode(), "subnet.txt")])
    assert report.findings == ()
    assert report.as_planned == sum(1 for cable in pod().cables if cable.speaks_ib)


def test_a_switch_without_a_name_is_not_guessed() -> None:
    """An unmanaged switch, known by its chip only, may be any: its cables cannot be told, and nothing is unpowered."""
    text = subnet(infiniband(), as_planned(infiniband())).replace("MF0;leaf03:MQM9700/U1", "Quantum Mellanox")
    report = compare(infiniband(), [read(text.encode(), "subnet.txt")])
    cables = sum(1 for cable in infiniband().cables if "leaf03" in {one.device for one in cable.ends})
    assert report.findings == ()
    assert len(report.unknown) == cables
    assert report.as_planned == report.planned - cables


def test_a_neighbour_without_a_name_may_be_the_planned_one() -> None:
    """A fresh host that the delivery list does not know is neither extra nor missing."""
    port, peer = next((port, peer) for port, peer in of(as_planned(ethernet()), "leaf01") if peer.device == "r01-n01")
    fresh = {"port": port, "neighborDevice": "localhost", "neighborPort": "0c42.a1b2.c3d4"}
    report = compare(ethernet(), [read(json.dumps({"lldpNeighbors": [fresh]}).encode(), "leaf01", "leaf01")], "leaf01")
    assert not any({peer, End(device="leaf01", port=port)} & set(finding.ends) for finding in report.findings)
    assert any("no name of its own" in one.reason for one in report.unknown)


def test_rails_swapped_in_a_subnet() -> None:
    """Two rails of a host in each other's leaves are one swap."""
    links = as_planned(infiniband())
    zero, one = links[end("n0002:rail0")], links[end("n0002:rail1")]
    report = discovered(
        relinked(links, ("n0002:rail0", f"{one.device}:{one.port}"), ("n0002:rail1", f"{zero.device}:{zero.port}"))
    )
    assert kinds(report) == ["swapped"]
    assert named(report.findings[0].ends) == {"n0002:rail0", "n0002:rail1"}


def test_a_subnet_that_was_cut_off_proves_no_absence() -> None:
    """Output that ends before the last devices are described says so, and calls nothing missing or unpowered."""
    whole = subnet(infiniband(), as_planned(infiniband()))
    before, first, *_ = whole.split("switchguid=")
    for cut in (before, f"{before}switchguid={first}"):
        report = compare(infiniband(), [read(cut.encode(), "subnet.txt")])
        assert report.findings == ()
        assert any("cut off" in note for note in report.notes)


def test_an_adapter_is_known_by_its_guid() -> None:
    """A port GUID that was made of a MAC of the delivery list names host and port, whatever the description says."""
    assert guid_mac("0x506b4b0300c3cf60") == "50:6b:4b:c3:cf:60"
    assert guid_mac("506b4b1234c3cf60") is None
    text = 'caguid=0x1\nCa\t1 "H-506b4b0300c3cf60"\t\t# "localhost mlx5_0"\n'
    (speaker,) = read(text.encode(), "subnet.txt").speakers
    assert speaker.macs == ("50:6b:4b:c3:cf:60",)


def test_a_fabric_that_nobody_looked_at() -> None:
    """Without ibnetdiscover, InfiniBand cables cannot be told, whatever LLDP says."""
    report = compare(infiniband(), [])
    assert {one.reason for one in report.unknown} == {"no output of ibnetdiscover for this fabric was given"}
