"""InfiniBand subnets against the plan: what ibnetdiscover tells of cables, names and GUIDs."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

from coldaisle.plan.model import End
from coldaisle.verify import CablingReport, Wanted, compare, read
from coldaisle.verify.seen import guid_mac
from tests.unit.verify.neighbours import as_planned, end, guid, infiniband, lldpd_json, muted, pod, relinked, subnet
from tests.unit.verify.reports import kinds, named


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


@cache
def delivered() -> Wanted:
    """Return the InfiniBand cables with a delivery list that knows the GUID of every switch and port."""
    ends = {end for cable in infiniband().cables for end in cable.ends}
    switches = {name for name, device in infiniband().devices.items() if device.is_switch}
    guids = {
        f"0x{guid(infiniband(), one)}": End(device=one.device, port="" if one.device in switches else one.port)
        for one in ends
    }
    return replace(infiniband(), guids=guids)


def test_guids_of_the_delivery_list_name_what_has_no_name() -> None:
    """Switches with their chip's name and hosts called localhost are known by GUIDs, printed without zeros."""
    text = subnet(infiniband(), as_planned(infiniband()))
    nameless = re.sub(
        r'"MF0;[^"]*"', '"Quantum Mellanox Technologies"', re.sub(r'"n\d+ rail\d"', '"localhost mlx5_0"', text)
    )
    nameless = re.sub(r"\(0+", "(", nameless)
    report = compare(delivered(), [read(nameless.encode(), "subnet.txt")])
    assert (report.findings, report.unknown) == ((), ())
    assert report.as_planned == report.planned > 0


def test_a_guid_wins_over_a_name() -> None:
    """Two leaves whose names were exchanged are known by their GUIDs, and the report says so."""
    text = subnet(infiniband(), as_planned(infiniband()))
    names = {"leaf01": "leaf02", "leaf02": "leaf01"}
    crossed = re.sub(r"MF0;(leaf0[12]):", lambda match: f"MF0;{names[match[1]]}:", text)
    report = compare(delivered(), [read(crossed.encode(), "subnet.txt")])
    assert (report.findings, report.as_planned) == ((), report.planned)
    assert "leaf02 has the GUID of leaf01 in the delivery list, and is taken for leaf01" in report.notes
    assert compare(infiniband(), [read(crossed.encode(), "subnet.txt")]).findings != ()
