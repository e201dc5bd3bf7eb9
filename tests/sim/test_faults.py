"""Named faults: what is recorded, what the hardware then says, and what is refused."""

from __future__ import annotations

import pytest

from coldaisle.plan.model import SitePlan
from sim import fault_standing, faults
from sim.errors import SimError
from sim.fault_records import active_faults, delay_s, record_fault
from sim.fault_standing import standing
from sim.machines import machines
from sim.state import State, write_json


@pytest.fixture
def target(plan: SitePlan, state: State) -> faults.Target:
    """Return the light host r01-n02 of a site that is up."""
    found = machines(plan, state, ())
    write_json(state.folder / "machines.json", {"machines": [machine.as_dict() for machine in found]})
    (state.machines / "r01-n02").mkdir()
    return faults.find_target(plan, state, "r01-n02")


def test_a_lost_gpu_is_gone_from_the_hardware_until_cleared(target: faults.Target) -> None:
    """Seven of eight GPUs are left, and all eight are back when the fault is taken back."""
    hardware = target.machine.path / "hardware/hardware.json"
    faults.inject(target, "gpu-missing", {})
    assert hardware.read_text().count('"uuid"') == 7
    assert faults.clear(target, "gpu-missing")
    assert hardware.read_text().count('"uuid"') == 8


def test_faults_of_one_node_add_up(target: faults.Target) -> None:
    """A second hardware fault keeps the first one."""
    faults.inject(target, "gpu-missing", {"index": 0})
    faults.inject(target, "gpu-fabric", {})
    record = faults.faulty_hardware(target.plan, target.node, active_faults(target.state, target.node.name))
    assert [gpu["index"] for gpu in record["gpus"]] == [1, 2, 3, 4, 5, 6, 7]
    assert record["fabric_state"] == "In Progress"


def test_only_xid_79_takes_the_gpu_off_the_bus(target: faults.Target) -> None:
    """An application's Xid leaves all eight, and each of its lines is in the kernel's log, the last one now."""
    faults.inject(target, "gpu-xid", {"code": 13, "count": 3, "index": 0, "at": 1000.0})
    faults.inject(target, "link-flap", {"count": 2, "at": 2000.0})
    record = faults.faulty_hardware(target.plan, target.node, active_faults(target.state, target.node.name))
    assert len(record["gpus"]) == 8
    assert [line["at"] for line in record["kernel_log"]] == [998.0, 999.0, 1000.0, 1997.0, 1998.0, 1999.0, 2000.0]
    assert record["kernel_log"][0]["text"].startswith("NVRM: Xid (PCI:0000:40:00): 13, ")
    assert record["kernel_log"][-1]["text"] == "mlx5_core 0000:98:00.0 rail0: Link up"


def test_clearing_what_is_not_in_force_changes_nothing(target: faults.Target) -> None:
    """Taking back a fault twice is no error."""
    assert not faults.clear(target, "bmc-hang")


def test_an_unknown_fault_lists_those_there_are(target: faults.Target) -> None:
    """A misspelt fault gets the names to choose from."""
    with pytest.raises(SimError, match="bmc-hang, bmc-slow"):
        faults.inject(target, "bmc-hangs", {})


def test_an_unknown_node_lists_those_there_are(plan: SitePlan, state: State) -> None:
    """A misspelt node gets the names to choose from."""
    with pytest.raises(SimError, match="r01-n01, r01-n02"):
        faults.find_target(plan, state, "r09-n01")


def test_a_fault_of_a_site_that_is_down_says_how_to_start_it(plan: SitePlan, state: State) -> None:
    """Without a running site the message is the command that starts it."""
    with pytest.raises(SimError, match="coldaisle sim up sim"):
        faults.find_target(plan, state, "r01-n02")


def test_a_boot_fault_needs_a_guest(target: faults.Target) -> None:
    """A host with an installed image cannot fail to boot over the network."""
    with pytest.raises(SimError, match="choose a guest"):
        faults.inject(target, "no-boot", {})
    assert active_faults(target.state, "r01-n02") == {}


def test_the_boot_device_drifts_and_comes_back(target: faults.Target) -> None:
    """The fault sets the device that the plan does not want first."""
    path = target.state.bmcs / "r01-n02.json"
    faults.inject(target, "boot-order-drift", {})
    assert '"boot_device": "Pxe"' in path.read_text()
    faults.clear(target, "boot-order-drift")
    assert '"boot_device": "Hdd"' in path.read_text()


def test_a_boot_device_that_a_play_has_set_right_is_no_fault_any_more(target: faults.Target) -> None:
    """The record knows nothing of the play; what is shown looks at the BMC. Other faults stand."""
    faults.inject(target, "gpu-missing", {})
    faults.inject(target, "boot-order-drift", {})
    assert standing(target.state, target.node) == ("boot-order-drift", "gpu-missing")
    write_json(target.state.bmcs / "r01-n02.json", {"boot_device": "Hdd", "boot_enabled": "Continuous"})
    assert standing(target.state, target.node) == ("gpu-missing",)


@pytest.mark.parametrize(
    ("fault", "bad", "good"),
    [
        (("mtu-drift", {}), "1500\n", "9000\n"),
        (("gpu-ecc", {"index": 1}), "0\n5\n0\n", "0\n0\n0\n"),
        (("gpu-ecc", {"index": 3}), "0\n0\n0\n", "0\n0\n0\n0\n"),
    ],
    ids=["mtu", "errors", "lost"],
)
def test_what_a_host_shows_as_repaired_is_no_fault_any_more(
    target: faults.Target, monkeypatch: pytest.MonkeyPatch, fault: tuple[str, dict[str, object]], bad: str, good: str
) -> None:
    """A host that is silent, or still shows it, has the fault; one that shows what is planned has not."""
    name, options = fault
    record_fault(target.state, "r01-n02", name, options)
    monkeypatch.setattr(fault_standing, "ssh", lambda *_: bad)
    assert standing(target.state, target.node) == (name,)
    monkeypatch.setattr(fault_standing, "ssh", lambda *_: good)
    assert standing(target.state, target.node) == ()
    monkeypatch.undo()
    monkeypatch.setattr(fault_standing, "run", _no_answer)
    assert standing(target.state, target.node) == (name,)


def _no_answer(_command: object) -> None:
    raise SimError("ssh", "the command ended with 255", "No route to host", "look at its power")


def test_a_cable_leads_to_the_planned_switch_port(plan: SitePlan) -> None:
    """A rail port's cable is cut at the leaf that the plan names."""
    assert faults.switch_port(plan, "r02-n01", "rail1") == ("leaf02", "swp3")
    with pytest.raises(SimError, match="--port"):
        faults.switch_port(plan, "r02-n01", "rail9")


def test_slow_answers_are_repeatable() -> None:
    """The same seed gives the same delays, another seed others, all in the range."""
    first = [delay_s({"seed": 7}, "r01-n01", count) for count in range(5)]
    assert first == [delay_s({"seed": 7}, "r01-n01", count) for count in range(5)]
    assert first != [delay_s({"seed": 8}, "r01-n01", count) for count in range(5)]
    assert all(3.0 <= delay <= 8.0 for delay in first)
