"""What people reported from the field (docs/cases-fabric.md), row by row; rows that another module holds are there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from coldaisle.plan import plan_site
from coldaisle.plan.facility import plan_facility
from coldaisle.plan.host_side import HostSide
from coldaisle.plan.model import FeedPlan, NodePlan, SitePlan
from coldaisle.plan.power.arithmetic import feed_capacity_w
from coldaisle.render.boot import pxe_files
from coldaisle.render.host_files import os_files
from coldaisle.spec.load import load_site
from coldaisle.units import percent
from tests.unit.floor_sites import facility, pool, site
from tests.unit.test_reference_architectures import node_of, with_hardware

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "cases-fabric.md"
REPORTED = {
    *(f"F{number}" for number in (2, 3, 5, 6, 7, 9, 11, 12, 13, 15, 17, 19)),
    *(f"N{number}" for number in (1, 2, 4, 6, 7, 9, 11, 12, 13, 15, 16)),
}
"""The reports about fabrics, and about booting and addressing, that the table speaks of."""


# -- power of a feed ----------------------------------------------------------------------------------------------
def test_f5_a_feed_of_three_phases_knows_what_its_volts_are() -> None:
    """F5: volts by amps by the root of three for 400 V line to line, by three for 230 V line to neutral."""
    circuit: dict[str, Any] = {"phases": 3, "breaker_a": 32, "derating": 1.0}
    line = feed_capacity_w(voltage_v=400, voltage_reference="line-to-line", **circuit)
    neutral = feed_capacity_w(voltage_v=230, voltage_reference="line-to-neutral", **circuit)
    assert (round(line), round(neutral)) == (22_170, 22_080)


def feed_with(power_w: float | None, **feed: Any) -> FeedPlan:  # noqa: ANN401 - YAML holds anything
    """Return the one feed of a rack that one device hangs on directly."""
    circuit = {"name": "a", "voltage_reference": "line-to-neutral", "phases": 1, **feed}
    spec = site(
        facility=facility([{"name": "r01", "power_feeds": [circuit]}]),
        node_pools={"p": pool("n1", system="vendor-node")},
    )
    device = node_of({}).model_copy(update={"max_power_w": power_w, "height_u": 1})
    return plan_facility(with_hardware(spec, device), {}).racks[0].feeds[0]


def test_f6_a_share_is_not_rounded_before_it_is_shown() -> None:
    """F6: 400 W on 120 V at 15 A and 80 % are 27.8 % of 1,440 W; whole percents are shown without a decimal."""
    feed = feed_with(400, voltage_v=120, breaker_a=15)
    assert feed.capacity_w == 1_440
    assert 100 * (feed.load_w or 0) / feed.capacity_w == pytest.approx(27.78, abs=0.01)
    assert percent(feed.load_w, feed.capacity_w) == "28 %"


def test_f7_a_device_that_hangs_on_a_feed_itself_counts() -> None:
    """F7: 2,300 W without a PDU between are 24 % of 9,600 W, and a draw that is not known is not nothing."""
    feed = feed_with(2_300, voltage_v=240, breaker_a=50)
    assert (feed.load_w, feed.capacity_w) == (2_300, 9_600)
    assert percent(feed.load_w, feed.capacity_w) == "24 %"
    assert feed_with(None, voltage_v=240, breaker_a=50).load_w is None


# -- booting and addressing ---------------------------------------------------------------------------------------
@pytest.fixture
def plan(site: Path) -> SitePlan:
    """Return the plan of the base site: two nodes boot over the network, two from their disk."""
    return plan_site(load_site(site))


def served(plan: SitePlan, path: str) -> str:
    """Return one of the files that the provisioner serves from."""
    assert plan.provisioning is not None
    return next(file.content or "" for file in pxe_files(plan, plan.provisioning) if file.path.endswith(path))


def node(plan: SitePlan, name: str) -> NodePlan:
    """Return a node by its name."""
    return next(each for each in plan.nodes if each.name == name)


def test_n1_the_first_program_follows_from_architecture_and_firmware(plan: SitePlan) -> None:
    """N1: hosts of one architecture with BIOS and with UEFI each get the program that they can start."""
    text = served(plan, "dnsmasq.conf")
    programs = dict(
        re.findall(
            r"^dhcp-boot=tag:([a-z0-9_-]+),tag:!ipxe,tag:netboot,tag:!signed,([^/\s]+)$", text, flags=re.MULTILINE
        )
    )
    assert programs == {
        "x86_64-bios": "undionly.kpxe",
        "x86_64-uefi": "snponly.efi",
        "aarch64-uefi": "snponly-arm64.efi",
    }


def test_n2_firmware_and_ipxe_share_one_reservation(plan: SitePlan) -> None:
    """N2: every address is reserved by MAC and none is handed out of a range, so that no node takes two."""
    text = served(plan, "dnsmasq.conf")
    ranges = [line for line in text.splitlines() if line.startswith("dhcp-range=") and "ra-only" not in line]
    assert [line.split(",")[1] for line in ranges] == ["static"]
    hosts = [line for line in text.splitlines() if line.startswith("dhcp-host=")]
    assert len(hosts) == len(plan.nodes)
    assert len({line.split(",")[0] for line in hosts}) == len(hosts)


def test_n6_an_mtu_is_set_on_its_port_and_read_back(plan: SitePlan) -> None:
    """N6: each port's link file has its MTU, by MAC, and the MTU is a fact of the host that every run compares."""
    guest = node(plan, "r01-n01")
    pool_plan = next(each for each in plan.pools if each.name == guest.pool)
    links = {
        file.path: file.content or "" for file in os_files(guest, pool_plan, HostSide()) if file.path.endswith(".link")
    }
    facts = next(play.facts["r01-n01"] for play in plan.plays if play.name == "os-guests")
    for nic in guest.nics:
        text = next(content for path, content in links.items() if path.endswith(f"-{nic.name}.link"))
        assert f"MACAddress={nic.mac}" in text
        assert f"MTUBytes={nic.mtu_bytes}" in text
        assert facts[f"mtu.{nic.name}"] == nic.mtu_bytes


def test_n9_who_may_not_boot_is_told_why(plan: SitePlan) -> None:
    """N9: a node that boots from its disk gets no script but a 403 with the reason; so does a MAC that nobody knows."""
    text = served(plan, "coldaisle.conf")
    assert '403 "r01-n02 may not boot over the network: the plan says boot image-installed' in text
    assert '403 "no node of site case has this MAC address' in text
    paths = [file.path for file in pxe_files(plan, plan.provisioning)] if plan.provisioning else []
    assert len([path for path in paths if path.endswith(".ipxe")]) == 2


# -- the table ----------------------------------------------------------------------------------------------------
def rows() -> dict[str, tuple[str, str]]:
    """Return what is done and which tests hold it, by the id of the report."""
    cells = [line.split("|")[1:-1] for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return {cell[0].strip(): (cell[2].strip(), cell[3].strip()) for cell in cells if re.match(r" [FN]\d", cell[0])}


def test_every_report_has_a_row() -> None:
    """The table speaks of every report, and of each once."""
    listed = re.findall(r"^\| ([FN]\d+) \|", TABLE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert sorted(listed) == sorted(REPORTED)


@pytest.mark.parametrize("report", sorted(REPORTED))
def test_what_a_row_names_exists(report: str) -> None:
    """Each row names a test function or a case that is there, or says that it is open."""
    done, held = rows()[report]
    assert done
    named = re.findall(r"`([^`]+)`", held)
    assert named or held == "open"
    for name in named:
        path, _, function = name.partition("::")
        text = (ROOT / path).read_text(encoding="utf-8") if function else ""
        assert (ROOT / path).exists(), name
        assert not function or re.search(rf"^def {function}\(", text, flags=re.MULTILINE), name
