"""What must not mislead: addresses for ports, silent hosts, both ends, cut and stale tables, odd names."""

from __future__ import annotations

import json

import pytest

from coldaisle.plan.model import End
from coldaisle.verify import Answer, compare, read
from tests.unit.verify.neighbours import (
    answers,
    as_planned,
    end,
    eos_json,
    ethernet,
    lldpd_json,
    muted,
    of,
    relinked,
    sonic_table,
    without,
)
from tests.unit.verify.reports import SWITCHES, devices, kinds


def dotted(mac: str) -> str:
    """Return a MAC as EOS prints it."""
    digits = mac.replace(":", "")
    return ".".join(digits[at : at + 4] for at in (0, 4, 8))


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


def test_a_neighbour_without_a_name_may_be_the_planned_one() -> None:
    """A fresh host that the delivery list does not know is neither extra nor missing."""
    port, peer = next((port, peer) for port, peer in of(as_planned(ethernet()), "leaf01") if peer.device == "r01-n01")
    fresh = {"port": port, "neighborDevice": "localhost", "neighborPort": "0c42.a1b2.c3d4"}
    report = compare(ethernet(), [read(json.dumps({"lldpNeighbors": [fresh]}).encode(), "leaf01", "leaf01")], "leaf01")
    assert not any({peer, End(device="leaf01", port=port)} & set(finding.ends) for finding in report.findings)
    assert any("no name of its own" in one.reason for one in report.unknown)
