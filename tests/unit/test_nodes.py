"""Nodes of a plan: addresses that stay, ports with rails and GPUs, labels and taints."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import yaml
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.plan import plan_hash, plan_site, to_json
from coldaisle.plan.allocations import hand_out
from coldaisle.plan.handed_out import handed_out
from coldaisle.plan.model import NodePlan, PowerCapPlan, SitePlan
from coldaisle.render.ansible import host_vars
from coldaisle.spec import load_site
from coldaisle.spec.addressing import AddressPool

Edit = Callable[[str, str, str], None]
NAMES = st.sets(st.from_regex(r"n[0-9]{1,3}", fullmatch=True), max_size=30)
POOL = AddressPool(subnet="10.0.0.0/24", first="10.0.0.10", gateway="10.0.0.12")


def node_of(plan: SitePlan, name: str) -> NodePlan:
    """Return a node by its name."""
    return next(node for node in plan.nodes if node.name == name)


def test_a_node_is_planned_in_full(site: Path) -> None:
    """Name, addresses, ports, BMC, labels: each from the section that says it."""
    node = node_of(plan_site(load_site(site)), "r02-n01")
    assert node.fqdn == "r02-n01.case.example.net"
    assert (node.management_address, node.bmc and node.bmc.address) == ("198.18.1.103", "198.18.0.103")
    assert (node.boot, node.boot_nic, node.firmware, node.gpus) == ("network", "mgmt0", "bios", 8)
    assert {nic.name: (nic.fabric, nic.rail, nic.gpu, nic.mtu_bytes, nic.vfs) for nic in node.nics} == {
        "mgmt0": ("oob", None, None, 1500, 0),
        "rail0": ("compute", 0, 0, 9000, 2),
        "rail1": ("compute", 1, 4, 9000, 2),
    }
    assert node.bmc is not None
    assert (node.bmc.protocol, node.bmc.boot_order) == ("ipmi", ("pxe", "disk"))
    assert node.labels == {
        "coldaisle.io/pool": "guests",
        "coldaisle.io/rack": "r02",
        "coldaisle.io/role": "serving",
        "topology.kubernetes.io/zone": "case",
    }


def test_the_gateway_of_a_rail_is_the_switchs_end(site: Path) -> None:
    """A rail's address and its gateway are the two ends of one cable."""
    plan = plan_site(load_site(site))
    ends = {(cable.a.device, cable.a.port): cable for cable in plan.fabrics["compute"].cables}
    for node in plan.nodes:
        for nic in (nic for nic in node.nics if nic.rail is not None):
            cable = ends[node.name, nic.name]
            assert nic.address == cable.a_address
            assert nic.gateway == (cable.b_address or "").partition("/")[0]


def test_a_training_pool_is_tainted(site: Path, edit: Edit) -> None:
    """Nothing but training comes onto a training pool, unless the pool says otherwise."""
    edit("node_pools.yaml", "system: sim-guest\n    role: serving", "system: sim-guest\n    role: training")
    plan = plan_site(load_site(site))
    assert node_of(plan, "r01-n01").taints == ("coldaisle.io/role=training:NoSchedule",)
    assert node_of(plan, "r01-n02").taints == ()


def test_a_power_cap_reaches_the_machines(site: Path, edit: Edit) -> None:
    """The limit of a capped pool's nodes is whole watts, a fact of their BMC play, and what the ledgers count."""
    plan = plan_site(load_site(site))
    assert [node.power_limit_w for node in plan.nodes] == [None] * 4
    assert "power_limit_w" not in host_vars(plan, "r01-n01")["bmc_facts"]
    edit("node_pools.yaml", "    boot: network\n", "    boot: network\n    power_cap: {watts: 350.7, scope: node}\n")
    plan = plan_site(load_site(site))
    assert {node.name: node.power_limit_w for node in plan.nodes} == {
        "r01-n01": 350, "r01-n02": None, "r02-n01": 350, "r02-n02": None,
    }  # fmt: skip
    assert plan.pools[0].power_cap == PowerCapPlan(watts=350.7, scope="node", node_w=350.7)
    play = next(play for play in plan.plays if play.name == "bmc-guests")
    assert play.facts["r01-n01"]["power_limit_w"] == 350
    assert host_vars(plan, "r01-n01")["bmc_facts"]["power_limit_w"] == 350
    (drawn,) = {device.max_power_w for rack in plan.facility.racks for device in rack.devices if "n01" in device.device}
    assert drawn is not None
    assert 350 <= drawn < 351


def test_settings_of_a_pools_bmcs_are_facts_of_its_play(site: Path, edit: Edit) -> None:
    """Each setting that the pool has is a fact under its name, and none that it has not; the port goes by its MAC."""
    assert "boot_mode" not in host_vars(plan_site(load_site(site)), "r01-n01")["bmc_facts"]
    wanted = (
        "boot_mode: true, secure_boot: false, boot_nic: true, boot_override: none, bios: {Sriov: Enabled, EGM: true}"
    )
    edit("node_pools.yaml", "    boot: network\n", f"    boot: network\n    bmc: {{{wanted}}}\n")
    plan = plan_site(load_site(site))
    settings = {
        "boot_mode": "bios",
        "secure_boot": "off",
        "boot_nic": "52:54:00:01:01:01",
        "boot_override": "none",
        "bios.EGM": True,
        "bios.Sriov": "Enabled",
    }
    bmc = node_of(plan, "r01-n01").bmc
    assert bmc is not None
    assert bmc.settings == settings
    assert host_vars(plan, "r01-n01")["bmc_facts"] == {"power": "on", "boot_order": "pxe", **settings}
    assert "boot_mode" not in host_vars(plan, "r01-n02")["bmc_facts"]


def test_p8_a_cap_of_each_gpu_limits_the_node(site: Path, edit: Edit) -> None:
    """P8: 600 W for each of eight GPUs of 700 W leave a DGX H100 of 10.2 kW at 9.4 kW."""
    edit("node_pools.yaml", "system: sim-guest", "system: dgx-h100")
    edit("node_pools.yaml", "    boot: network\n", "    boot: network\n    power_cap: {watts: 600, scope: gpu}\n")
    assert node_of(plan_site(load_site(site)), "r01-n01").power_limit_w == 10200 - 8 * 100


def test_a_new_node_moves_nobody(site: Path, edit: Edit) -> None:
    """With what was handed out kept, a node in the middle of the names leaves all addresses and cables as they were."""
    before = load_site(site)
    kept = handed_out(before, plan_site(before))
    (site / "allocations.yaml").write_text(yaml.safe_dump(kept), encoding="utf-8")
    old = plan_site(load_site(site))
    more = '"r[01-02]-n01": {rack: "r[01-02]", rack_unit: 10}, r01-n01a: {rack: r01, rack_unit: 20}'
    edit("node_pools.yaml", '"r[01-02]-n01": {rack: "r[01-02]", rack_unit: 10}', more)
    new = plan_site(load_site(site))
    assert len(new.nodes) == len(old.nodes) + 1
    for node in old.nodes:
        assert node_of(new, node.name) == node
    for name, fabric in old.fabrics.items():
        assert set(fabric.cables) <= set(new.fabrics[name].cables)


def test_plans_are_the_same_to_the_byte(site: Path) -> None:
    """Two plans of one spec are equal, and so are their JSON and their digest."""
    first, second = plan_site(load_site(site)), plan_site(load_site(site))
    assert first == second
    assert to_json(first) == to_json(second)
    assert plan_hash(first) == plan_hash(second)


def test_the_digest_sees_every_change(site: Path, edit: Edit) -> None:
    """A changed value gives another digest."""
    before = plan_hash(plan_site(load_site(site)))
    edit("node_pools.yaml", "hugepages_2mi: 8", "hugepages_2mi: 9")
    assert plan_hash(plan_site(load_site(site))) != before


@given(NAMES, NAMES)
def test_handing_out_keeps_what_was_given(old: set[str], new: set[str]) -> None:
    """Who had an address keeps it, everybody has one, no two have the same, and the gateway's is nobody's."""
    given_before = hand_out(POOL, old, {})
    after = hand_out(POOL, old | new, given_before)
    assert all(after[name] == address for name, address in given_before.items())
    assert len(set(after.values())) == len(old | new)
    assert "10.0.0.12" not in after.values()


def test_addresses_of_those_who_are_gone_stay_free() -> None:
    """An address that was handed out is not given to another while it stands in the file."""
    assert hand_out(POOL, ["b"], {"a": "10.0.0.10"}) == {"b": "10.0.0.11"}


def test_reserved_addresses_are_passed_over() -> None:
    """A reserved address is nobody's."""
    assert hand_out(POOL, ["a"], {}, ["10.0.0.10", "10.0.0.11"]) == {"a": "10.0.0.13"}
