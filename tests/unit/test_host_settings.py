"""What a pool's hosts are set to: from a setting, the hardware or the fabric to files, units and facts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coldaisle.plan import plan_site
from coldaisle.plan.host_facts import domain
from coldaisle.plan.model import SitePlan
from coldaisle.plan.plays import host_facts
from coldaisle.render.ansible import host_vars
from coldaisle.render.digests import play_hosts
from coldaisle.spec import load_site, site_folder

Edit = Callable[[str, str, str], None]
OS = "    os:\n      sysctl: {net.core.rmem_max"


@pytest.fixture
def edited(site: Path, edit: Edit) -> Callable[..., SitePlan]:
    """Return a function that plans the base site with more settings of the guests' operating system or GPUs."""

    def plans(os: str = "", gpu: str = "") -> SitePlan:
        edit("node_pools.yaml", OS, f"    os:\n{os}      sysctl: {{net.core.rmem_max")
        pools = (site / "node_pools.yaml").read_text(encoding="utf-8")
        changed = pools.replace("gpu: {", f"gpu: {{{gpu}", 1)
        (site / "node_pools.yaml").write_text(changed, encoding="utf-8")
        return plan_site(load_site(site))

    return plans


def facts(plan: SitePlan, role: str, node: str = "r01-n01") -> dict[str, Any]:
    """Return the facts that a role makes true of a node."""
    return dict(host_facts(plan, next(each for each in plan.nodes if each.name == node))[role])


def files(plan: SitePlan, role: str, node: str = "r01-n01") -> dict[str, str]:
    """Return the text of each file that a role writes on a node."""
    return {file["path"]: file.get("content", "") for file in host_vars(plan, node)[f"{role}_files"]}


def test_what_is_not_asked_for_is_left_alone(site: Path) -> None:
    """Without settings there is no kernel, command line, module, governor or PCI setting among the facts."""
    found = {name.partition(".")[0] for name in facts(plan_site(load_site(site)), "os")}
    asked = {"hostname", "user", "timezone", "time_sync", "mac", "mtu", "address", "route", "path_mtu"}
    assert found == asked | {"sysctl", "hugepages_2mi"}


def test_g15_a_kubelet_waits_for_the_virtual_functions_of_every_port(site: Path) -> None:
    """G15: after a reboot a node takes no pods before each port has its virtual functions again."""
    text = files(plan_site(load_site(site)), "rdma")["/etc/systemd/system/kubelet.service.d/10-coldaisle-vfs.conf"]
    waits = [line for line in text.splitlines() if line.startswith("ExecStartPre=")]
    assert waits == [f"ExecStartPre=grep -qx 2 /sys/class/net/rail{n}/device/sriov_numvfs" for n in (0, 1)]


def test_g4_a_generation_of_gpus_brings_its_modules() -> None:
    """G4: hosts of HGX B200 load mlx5_ib and ib_umad before fabric manager needs them, and say whether they have."""
    plan = plan_site(load_site(site_folder("b200-roce")))
    found = facts(plan, "os", plan.nodes[0].name)
    assert {name: found.get(f"module.{name}") for name in ("mlx5_ib", "ib_umad")} == {
        "mlx5_ib": "loaded",
        "ib_umad": "loaded",
    }
    text = files(plan, "os", plan.nodes[0].name)["/etc/modules-load.d/90-coldaisle.conf"]
    assert text == "ib_umad\nmlx5_ib\n"


def test_a_kernel_is_pinned_and_held(edited: Callable[..., SitePlan]) -> None:
    """Each package of the kernel has its version and is held, and the running kernel must be the one."""
    packages = "packages: {linux-image-6.8.0-55-generic: 6.8.0-55.57}"
    plan = edited(os=f"      kernel: {{release: 6.8.0-55-generic, {packages}}}\n")
    found = facts(plan, "os")
    assert found["package.linux-image-6.8.0-55-generic"] == "6.8.0-55.57"
    assert found["held.linux-image-6.8.0-55-generic"] is True
    assert found["kernel_release"] == "6.8.0-55-generic"


def test_words_of_the_kernels_command_line_are_facts_and_a_file(edited: Callable[..., SitePlan]) -> None:
    """IOMMU, huge pages and the pool's own words go to the boot loader; each is read back by its name."""
    plan = edited(os="      iommu: passthrough\n      hugepages_1gi: 16\n      kernel_arguments: [quiet]\n")
    found = {name: value for name, value in facts(plan, "os").items() if name.startswith("cmdline.")}
    assert found == {
        "cmdline.iommu": "pt",
        "cmdline.intel_iommu": "on",
        "cmdline.hugepagesz": "1G",
        "cmdline.hugepages": "16",
        "cmdline.quiet": "set",
    }
    line = files(plan, "os")["/etc/default/grub.d/90-coldaisle.cfg"]
    assert line == (
        'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX iommu=pt intel_iommu=on hugepagesz=1G hugepages=16 quiet"\n'
    )


@pytest.mark.parametrize(("size", "bits"), [(128, "0000"), (512, "2000"), (4096, "5000")])
def test_read_requests_are_written_as_the_registers_bits(edited: Callable[..., SitePlan], size: int, bits: str) -> None:
    """Bits 14 to 12 of device control hold the size as a power of two above 128 bytes (PCI Express Base)."""
    plan = edited(os=f"      pci: {{max_read_request_bytes: {size}}}\n")
    unit = files(plan, "os")["/etc/systemd/system/coldaisle-host.service"]
    assert unit.count(f"CAP_EXP+8.w={bits}:7000") == 2
    assert facts(plan, "os")["max_read_request.rail0"] == size


def test_ports_pause_and_mark_as_the_fabric_does(edited: Callable[..., SitePlan], edit: Edit) -> None:
    """Priority and DSCP of RoCE on a NIC are those of its fabric's switches."""
    edit("node_pools.yaml", ", nic_qos: none", "")
    edit("fabrics.yaml", "dscp: 26, priority: 3", "dscp: 34, priority: 5")
    plan = edited()
    found = {name: value for name, value in facts(plan, "rdma").items() if name.endswith(("rail0", "rail0.34"))}
    assert {name: found[f"{name}.rail0"] for name in ("qos_trust", "pfc", "ecn")} == {
        "qos_trust": "dscp",
        "pfc": "5",
        "ecn": "5",
    }
    assert found["dscp_priority.rail0.34"] == 5
    unit = files(plan, "rdma")["/etc/systemd/system/coldaisle-ports.service"]
    assert "mlnx_qos -i rail0 --pfc 0,0,0,0,0,1,0,0" in unit
    assert "mlnx_qos -i rail1 --dscp2prio set,34,5" in unit


def test_g3_fabric_manager_has_the_drivers_version(edited: Callable[..., SitePlan]) -> None:
    """G3: with a pinned driver the host must say that fabric manager is of its version, to the digit."""
    found = facts(edited(gpu='driver_version: "580.95.05", '), "gpu")
    assert (found["driver_pin"], found["fabric_manager"]) == ("580.95.05", "as the driver")


def test_g6_an_operators_driver_is_the_only_one(edited: Callable[..., SitePlan], edit: Edit) -> None:
    """G6: where the operator brings the driver, a package of it on the host is drift, and all GPUs are counted."""
    edit("cluster.yaml", "{version: v26.7.0}", "{version: v26.7.0, driver: operator}")
    found = facts(edited(), "gpu")
    assert (found["driver_packages"], found["gpu_count"]) == ("none", 8)
    assert "driver_pin" not in found


def test_g7_a_pinned_driver_has_a_module_for_the_kernel_or_headers(edited: Callable[..., SitePlan]) -> None:
    """G7: whether the driver can be loaded by this kernel is asked before anything waits for GPUs."""
    assert facts(edited(gpu='driver_version: "580.95.05", '), "gpu")["kernel_support"] == "ready"


def test_imex_knows_the_nodes_of_its_nvlink_domain() -> None:
    """Each tray's file lists the trays of its own rack and no other."""
    plan = plan_site(load_site(site_folder("gb200-nvl72")))
    first, *others = [node for node in plan.nodes if node.rack == plan.nodes[0].rack]
    members = domain(plan, first)
    assert len(members) == 18
    assert set(members) == {node.management_address.partition("/")[0] for node in (first, *others)}


def test_the_record_of_files_follows_their_text(site: Path, edit: Edit) -> None:
    """A change of one file's text gives its role's record another name, and leaves other roles' alone."""
    before = play_hosts(plan_site(load_site(site)))
    edit("node_pools.yaml", 'net.core.rmem_max: "67108864"', 'net.core.rmem_max: "67108865"')
    after = play_hosts(plan_site(load_site(site)))
    assert before["os-guests"]["r01-n01"]["files.os"] != after["os-guests"]["r01-n01"]["files.os"]
    assert before["rdma-guests"]["r01-n01"]["files.rdma"] == after["rdma-guests"]["r01-n01"]["files.rdma"]
