"""What two guests and the cables between them say, and what is made of it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from struct import pack
from typing import Any

import pytest
from typer.testing import CliRunner

from coldaisle.check import open_site
from coldaisle.cli import sim as sim_command
from coldaisle.plan.model import SitePlan
from sim.errors import SimError
from sim.image.build import point
from sim.image.extended import Extension, remove_unnamed
from sim.machines import machines
from sim.rdma import checks
from sim.rdma.cut import Files, cut
from sim.rdma.frames import Frame, parse
from sim.rdma.guests import install_services
from sim.rdma.planned import Endpoint, choose
from sim.rdma.plays import read_results
from sim.rdma.readings import Gid, Reading, parse_gids, parse_mtus
from sim.rdma.records import RdmaReport
from sim.rdma.traffic import PINGS, Transfer, figures
from sim.rdma.wires import Cables, wiring
from sim.state import State
from sim.twin.records import Check, check, not_run
from tests import rdma_sites

FILES = Files(Path("/keys/id"), Path("/images/rdma"))
MACS = ("52:54:00:01:01:08", "52:54:00:02:01:08")
ETHERNET = bytes(12)
WRITE_FIRST, WRITE_MIDDLE, SEND_LAST, MAD = 6, 7, 2, 100


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> SitePlan:
    """Return the plan of a site whose nodes have RDMA over a VLAN on a bond."""
    return open_site(rdma_sites.write(tmp_path_factory.mktemp("sites") / "pair")).plan


@pytest.fixture(scope="module")
def ends(site: SitePlan) -> tuple[Endpoint, Endpoint]:
    """Return its two ends."""
    return choose(site, ())


def packet(opcode: int, carried: int, *, dscp: int = 26, qp: int = 17, pad: int = 0) -> bytes:
    """Return the IP packet of RoCE v2 over IPv4 that carries some bytes behind its base header."""
    base = pack("!BBHII", opcode, pad << 4, 0xFFFF, qp, 7)
    udp = pack("!HHHH", 50000, 4791, 8 + len(base) + carried + 4, 0)
    size = 20 + len(udp) + len(base) + carried + 4
    return pack(
        "!BBHHHBBH4s4s", 0x45, dscp << 2, size, 0, 0, 64, 17, 0, bytes([10, 94, 0, 2]), bytes([10, 94, 0, 3])
    ) + (udp + base)


@pytest.mark.parametrize(
    ("opcode", "carried", "pad", "payload"),
    [(WRITE_FIRST, 4096 + 16, 0, 4096), (WRITE_MIDDLE, 4096, 0, 4096), (SEND_LAST, 4, 1, 3), (MAD, 264, 0, 0)],
)
def test_data_of_roce_is_counted_without_headers(opcode: int, carried: int, pad: int, payload: int) -> None:
    """RDMA headers, padding and check sums are not data, and management carries none."""
    raw = ETHERNET + b"\x08\x00" + packet(opcode, carried, pad=pad, qp=1 if opcode == MAD else 17)
    frame = parse("up-stor0", raw, 14 + 9000, 310)
    assert frame is not None
    assert (frame.payload, frame.length, frame.vlan, frame.dscp) == (payload, 9000, 310, 26)
    assert (frame.source, frame.target, frame.psn) == ("10.94.0.2", "10.94.0.3", 7)
    assert frame.is_data == (opcode != MAD)


def test_a_tag_in_the_frame_is_read_too() -> None:
    """The kernel takes most tags off; one that it left is in the bytes, and not part of the packet."""
    frame = parse("up-stor0", ETHERNET + b"\x81\x00\x61\x36\x08\x00" + packet(WRITE_MIDDLE, 64), 18 + 108, None)
    assert frame is not None
    assert (frame.vlan, frame.length) == (310, 108)


def test_other_frames_are_passed_over_and_pings_known() -> None:
    """LACP is no packet, another UDP port no RoCE; of pings the request counts."""
    assert parse("p", ETHERNET + b"\x88\x09" + bytes(60), 74, None) is None
    other = bytearray(packet(WRITE_MIDDLE, 64))
    other[22:24] = b"\x00\x35"
    assert parse("p", ETHERNET + b"\x08\x00" + bytes(other), 120, None) is None
    ping = bytearray(packet(WRITE_MIDDLE, 64))
    ping[9], ping[20] = 1, 8
    found = parse("p", ETHERNET + b"\x08\x00" + bytes(ping), 14 + 9000, 310)
    assert found is not None
    assert found.echo
    ping[20] = 0
    assert parse("p", ETHERNET + b"\x08\x00" + bytes(ping), 14 + 9000, 310) is None
    v6 = bytes.fromhex("66800000") + bytes(2) + b"\x11\x40" + bytes(15) + b"\x01" + bytes(15) + b"\x02"
    wide = parse("p", ETHERNET + b"\x86\xdd" + v6 + packet(WRITE_MIDDLE, 64)[20:], 14 + 200, None)
    assert wide is not None
    assert (wide.source, wide.target, wide.dscp, wide.payload) == ("::1", "::2", 26, 64)


def test_tables_of_gids_are_read_with_index_kind_and_interface() -> None:
    """IPv4 addresses stand mapped in them; the kernel's list of kinds ends where the table is empty."""
    at = "/sys/class/infiniband/mlx5_bond_0/ports/1"
    said = (
        f"{at}/gids/0:fe80:0000:0000:0000:5054:00ff:fe01:0108\n"
        f"{at}/gids/1:0000:0000:0000:0000:0000:ffff:0a5e:0002\n"
        f"{at}/gid_attrs/ndevs/0:bond0\n{at}/gid_attrs/ndevs/1:bond0.310\n"
        f"{at}/gid_attrs/types/0:RoCE v2\n{at}/gid_attrs/types/1:RoCE v2\n"
    )
    assert parse_gids(said)[1] == Gid("mlx5_bond_0", 1, "10.94.0.2", "RoCE v2", "bond0.310")
    assert [gid.address for gid in parse_gids(said)] == ["fe80::5054:ff:fe01:108", "10.94.0.2"]
    assert parse_gids("") == ()


def test_active_mtu_is_read_for_each_device() -> None:
    """`ibv_devinfo` prints the largest and the active one."""
    part = "hca_id:\tmlx5_bond_{}\n\tport:\t1\n\t\tmax_mtu:\t4096 (5)\n\t\tactive_mtu:\t{} (3)\n"
    assert parse_mtus(part.format(0, 1024) + part.format(1, 4096)) == {"mlx5_bond_0": 1024, "mlx5_bond_1": 4096}


def test_figures_of_perftest_are_read() -> None:
    """Bytes are those of all messages, and the rate is the mean one."""
    said = (
        " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n"
        " 65536      256              0.00               2.81   \t\t   0.000045\n"
    )
    moved, rate = figures(said)
    assert moved == 65536 * 256
    assert rate == pytest.approx(2.81)
    assert figures("Couldn't connect to 10.94.0.3:18515\n") == (0, None)


def seen(end: Endpoint, at: int, **changes: object) -> Reading:
    """Return a guest as planned, but for some changes."""
    member = {"mtu": 9000, "linkinfo": {"info_slave_data": {"mii_status": "UP"}}}
    told = {"mode": "802.3ad", "ad_info": {"num_ports": 2, "partner_mac": MACS[1 - at]}}
    links: dict[str, dict[str, Any]] = {
        **dict.fromkeys(end.bond.ports, member),
        "bond0": {"mtu": 9000, "address": MACS[at], "linkinfo": {"info_data": told}},
        end.interface: {"mtu": 9000},
    }
    gids = (
        Gid("mlx5_bond_0", 0, "fe80::1", "RoCE v2", "bond0"),
        Gid("mlx5_bond_0", 1, end.address, "RoCE v2", end.interface),
    )
    reading = Reading(end.host, links, {"bond0": "mlx5_bond_0"}, {"mlx5_bond_0": 4096}, gids)
    return replace(reading, **changes)  # type: ignore[arg-type]  # fields of a reading


def pair(ends: tuple[Endpoint, Endpoint], **changes: object) -> list[tuple[Endpoint, Reading]]:
    """Return both ends with what was seen; changes are the first one's."""
    return [(ends[0], seen(ends[0], 0, **changes)), (ends[1], seen(ends[1], 1))]


def test_two_hosts_as_planned_pass(ends: tuple[Endpoint, Endpoint]) -> None:
    """Bond, MTU, RDMA MTU and GIDs are as planned, and the index of the GID is found."""
    found = [one(pair(ends)) for one in (checks.bond_check, checks.mtu_check, checks.rdma_mtu_check, checks.gid_check)]
    assert [each.status for each in found] == ["passed"] * 4
    assert found[1].expected == "8 of 8 ports, bonds and VLANs have the planned MTU"
    gid = checks.planned_gid(ends[0], seen(ends[0], 0))
    assert gid is not None
    assert gid.index == 1


def test_a_member_with_another_mtu_is_named(ends: tuple[Endpoint, Endpoint]) -> None:
    """Only that port is."""
    links = {**seen(ends[0], 0).links, "stor1": {"mtu": 1500}}
    found = checks.mtu_check(pair(ends, links=links))
    assert (found.status, found.details) == ("failed", ("r01-n01:stor1 should have 9000 bytes and has 1500",))


def test_a_bond_that_found_nobody_is_named(ends: tuple[Endpoint, Endpoint]) -> None:
    """A partner without a name is LACP's way to say that nobody answers; a member that is down is named too."""
    links = dict(seen(ends[0], 0).links)
    alone = {"mode": "802.3ad", "ad_info": {"num_ports": 1, "partner_mac": "00:00:00:00:00:00"}}
    links |= {"bond0": {"address": MACS[0], "linkinfo": {"info_data": alone}}, "stor1": {"mtu": 9000}}
    found = checks.bond_check(pair(ends, links=links))
    assert found.status == "failed"
    assert found.seen.startswith("1 of 2 ")
    assert found.details == ("r01-n01: 1 ports with partner 00:00:00:00:00:00", "r01-n01: stor1 is not up in bond0")


def test_an_address_on_another_interface_is_not_the_planned_gid(ends: tuple[Endpoint, Endpoint]) -> None:
    """Traffic with the index of the bond's own entry would leave without a tag."""
    gids = (Gid("mlx5_bond_0", 1, ends[0].address, "RoCE v2", "bond0"),)
    found = checks.gid_check(pair(ends, gids=gids))
    assert found.seen.startswith("1 of 2 ")
    assert "1: 10.94.0.2 RoCE v2 bond0" in found.details[0]


def test_a_smaller_rdma_mtu_is_told(ends: tuple[Endpoint, Endpoint]) -> None:
    """A port of 1500 bytes gives 1024."""
    found = checks.rdma_mtu_check(pair(ends, rdma_mtus={"mlx5_bond_0": 1024}))
    assert (found.status, found.seen, found.details) == ("failed", "active MTU 1024, 4096", ("r01-n01: 1024",))
    assert replace(ends[0], mtu_bytes=1500).rdma_mtu == 1024


def test_pings_that_take_one_cable_only_are_told(ends: tuple[Endpoint, Endpoint]) -> None:
    """A cable that takes short packets only loses some; where the bond knows hosts only, cables cannot be compared."""
    echoes = [Frame("up-stor0", 9000, 310, "a", "b", 0, echo=True)] * PINGS
    lost, cables = checks.peer_check((PINGS, 2), pair(ends), echoes)
    assert (lost.status, cables.status) == ("failed", "failed")
    assert cables.seen == "1 of 2 cables carry packets of 9000 bytes"
    plain = replace(ends[0], bond=replace(ends[0].bond, hash_policy="layer2"))
    answered, cables = checks.peer_check((PINGS, PINGS), pair((plain, ends[1])), echoes)
    assert (answered.status, cables.status) == ("passed", "not run")


def moved(*frames: Frame, name: str = "ib_write_bw", said: int = 8192, dropped: int = 0) -> Transfer:
    """Return a program's traffic that ended well."""
    return Transfer(name, None, said, 1.0, frames, dropped)


DATA = Frame("up-stor0", 4156, 310, "10.94.0.2", "10.94.0.3", 26, opcode=WRITE_MIDDLE, qp=17, psn=1, payload=4096)
ANSWER = replace(DATA, opcode=17, source="10.94.0.3", target="10.94.0.2", payload=0)
EXCHANGE = replace(DATA, qp=18, psn=1, payload=40)


def results(transfer: Transfer, ends: tuple[Endpoint, Endpoint]) -> dict[str, tuple[str, str]]:
    """Return status and what was seen of each check of a transfer."""
    return {each.name: (each.status, each.seen) for each in checks.transfer_checks(transfer, pair(ends))}


def test_bytes_are_counted_once(ends: tuple[Endpoint, Endpoint]) -> None:
    """A packet that was sent again counts once, and the programs' own exchange does not; a byte too few is told."""
    good = (DATA, DATA, replace(DATA, psn=2), EXCHANGE, ANSWER)
    assert results(moved(*good), ends)["ib_write_bw-bytes"] == ("passed", "8192 bytes of messages")
    assert results(moved(DATA, DATA, EXCHANGE), ends)["ib_write_bw-bytes"] == ("failed", "4096 bytes of messages")
    assert results(moved(*good, dropped=3), ends)["ib_write_bw-bytes"][0] == "not run"
    assert {status for status, _ in results(moved(*good), ends).values()} == {"passed"}


def test_another_class_and_another_vlan_are_told(ends: tuple[Endpoint, Endpoint]) -> None:
    """What crosses the cables counts, whatever the hosts say of themselves."""
    found = results(moved(DATA, replace(DATA, psn=2, dscp=24, vlan=None), ANSWER), ends)
    assert found["ib_write_bw-dscp"] == ("failed", "all data packets have DSCP 24, 26")
    assert found["ib_write_bw-vlan"][0] == "failed"
    stranger = results(moved(DATA, replace(DATA, psn=2, target="10.90.1.102")), ends)["ib_write_bw-vlan"]
    assert stranger == ("failed", "all RoCE packets are in VLAN 310, with 10.90.1.102 among the addresses")


def test_a_program_that_failed_proves_nothing(ends: tuple[Endpoint, Endpoint]) -> None:
    """Its message is told, and what would have been counted was not run; nor is it where nothing crossed."""
    failed = Transfer("ib_send_bw", "r01-n01: Couldn't connect", 0, None, (DATA,), 0)
    found = results(failed, ends)
    assert found["ib_send_bw"] == ("failed", "r01-n01: Couldn't connect")
    assert {status for name, (status, _) in found.items() if name != "ib_send_bw"} == {"not run"}
    assert results(moved(ANSWER), ends)["ib_write_bw-dscp"] == ("not run", "no data crossed the cables")


def test_the_two_ends_are_found_or_it_is_said_what_lacks(site: SitePlan, ends: tuple[Endpoint, Endpoint]) -> None:
    """They have one network; a site without bonds, and nodes that are not there, are told."""
    assert [(end.host, end.interface, end.vlan, end.dscp) for end in ends] == [
        (node, "bond0.310", 310, 26) for node in rdma_sites.NODES
    ]
    assert choose(site, ("r02-n01", "r01-n01")) == ends
    with pytest.raises(SimError, match="no such node"):
        choose(site, ("r09-n09", "r01-n01"))
    with pytest.raises(SimError, match="only"):
        choose(site, ("r01-n01", "r01-n01"))
    with pytest.raises(SimError, match="a VLAN with an address"):
        choose(replace(site, fabrics={}), ())


def test_the_part_that_runs_has_nothing_that_a_guest_cannot_have(site: SitePlan) -> None:
    """Its ports are those that are proved and the one that boots; huge pages and functions are gone; names are kept."""
    part = cut(site, dict.fromkeys(rdma_sites.NODES, rdma_sites.PORTS), FILES)
    assert [[nic.name for nic in node.nics] for node in part.nodes] == [["mgmt0", *rdma_sites.PORTS]] * 2
    assert {nic.vfs for node in part.nodes for nic in node.nics} == {0}
    assert {(pool.os.hugepages_2mi, pool.gpu, pool.image) for pool in part.pools} == {(0, None, "debian-12-rdma")}
    assert part.provisioning is not None
    assert part.provisioning.host_address == "10.90.1.1"
    first, second = part.nodes
    unknown = replace(
        site, nodes=tuple(replace(n, nics=tuple(replace(i, mac=None) for i in n.nics)) for n in site.nodes)
    )
    with pytest.raises(SimError, match=r"hardware\.yaml"):
        cut(unknown, dict.fromkeys(rdma_sites.NODES, rdma_sites.PORTS), FILES)
    wires = wiring(part, Cables(rdma_sites.PORTS))
    joined = {(link.a.device, link.a.name, link.b.device, link.b.name, link.mtu_bytes) for link in wires.links}
    for port in rdma_sites.PORTS:
        assert (first.name, f"up-{port}", second.name, f"up-{port}", 9216) in joined
    assert all(link.a.device and link.b.device for link in wires.links), "a cable to this machine's own network"


def test_the_provisioner_has_what_its_playbook_would_have_written(site: SitePlan, tmp_path: Path) -> None:
    """Boot files, seeds and images lie where the services look for them, and the services start."""
    files = Files(tmp_path / "id", tmp_path)
    for name in ("id.pub", "vmlinuz", "initrd.img", "rootfs.squashfs"):
        (tmp_path / name).write_text(name)
    part = cut(site, dict.fromkeys(rdma_sites.NODES, rdma_sites.PORTS), files)
    host = next(each for each in machines(part, State("pair", tmp_path / "state"), ()) if each.name == "prov")
    install_services(host, part)
    upper = host.path / "upper"
    assert (upper / "srv/coldaisle/http/images/debian-12-rdma/rootfs.squashfs").read_text() == "rootfs.squashfs"
    assert (upper / "srv/coldaisle/http/seed/r01-n01/authorized_keys").read_text() == "id.pub"
    assert "debian-12-rdma" in (upper / "srv/coldaisle/http/boot/52-54-00-01-01-01.ipxe").read_text()
    wants = upper / "etc/systemd/system/multi-user.target.wants"
    assert {path.name for path in wants.iterdir()} == {"coldaisle-dnsmasq.service", "nginx.service"}


def test_how_plays_ended_is_read_from_one_object_a_playbook() -> None:
    """A task that failed in the first is told though the second says nothing of that host."""
    task = {
        "task": {"name": "os : Os | Settle facts"},
        "hosts": {"n1": {"failed": True, "msg": "no such\nport"}, "n2": {}},
    }
    stats = {"changed": 2, "unreachable": 0}
    told = [{"plays": [{"tasks": [task]}], "stats": {"n1": stats, "n2": stats}}, {"plays": [], "stats": {"n2": stats}}]
    found = read_results("[WARNING]: x\n" + "\n".join(map(json.dumps, told)), ["n1", "n2", "n3"], "no route\n")
    assert [(each.changed, each.failure) for each in found] == [
        (2, "os : Os | Settle facts: no such port"),
        (4, None),
        (0, "no route"),
    ]
    assert checks.plays_check(("os", "rdma"), found).seen == "os and rdma end well on 1 of 3 hosts"


def test_a_guest_that_does_not_boot_is_told_with_its_last_words() -> None:
    """The other one is not."""
    found = checks.boot_check(["n1", "n2"], [None, "coldaisle: FAILED: nobody answered DHCP on mgmt0"])
    assert (found.status, found.details) == ("failed", ("n2: coldaisle: FAILED: nobody answered DHCP on mgmt0",))


@pytest.mark.parametrize(
    ("found", "status"),
    [(check("a", "1", "1"), 0), (not_run("a", "1", "why"), 3), (check("a", "1", "2", ("n1: 2",)), 4)],
)
def test_the_exit_status_follows_from_the_checks(
    found: Check, status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing that failed or did not run counts as proved; the mistakes of the options are passed on."""
    asked = []

    def run_pair(plan: SitePlan, request: object, _progress: object) -> RdmaReport:
        asked.append(request)
        return RdmaReport(plan.name, "", ("n1", "n2"), "t:n", (found,), {"rping": 1.0}, {"all": 1.0}, ("GPUs",))

    monkeypatch.setattr("sim.rdma.run.run_pair", run_pair)
    folder = rdma_sites.write(tmp_path / "pair")
    for form in ([], ["--json"]):
        done = CliRunner().invoke(sim_command.app, ["rdma", str(folder), "--dscp", "24", "--host-mtu", "stor1", *form])
        assert done.exit_code == status, done.output
        assert "n1" in done.output
    assert "dscp=24" in repr(asked[0])
    assert "host_mtus=('stor1',)" in repr(asked[0])
    assert CliRunner().invoke(sim_command.app, ["rdma", str(folder), "--node", "n1"]).exit_code == 2


def test_an_image_with_more_in_it_is_known_by_all_of_that(tmp_path: Path) -> None:
    """A package, a file and its permissions give another digest; a build that no name points at goes."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "program").write_text("1")
    digests = {Extension("x", ("perftest",), files).digest(), Extension("x", ("perftest", "less"), files).digest()}
    (files / "program").chmod(0o755)
    digests.add(Extension("x", ("perftest",), files).digest())
    (files / "program").write_text("2")
    digests.add(Extension("x", ("perftest",), files).digest())
    assert len(digests) == 4
    for name in ("extended-old", "extended-new"):
        (tmp_path / name).mkdir()
    point(tmp_path / "x", tmp_path / "extended-old")
    point(tmp_path / "x", tmp_path / "extended-new")
    remove_unnamed(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["extended-new", "files", "x"]
