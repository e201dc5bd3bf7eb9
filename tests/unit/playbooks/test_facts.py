"""Facts of a host: how they compare, and what a module does with one that cannot be read."""

from __future__ import annotations

import importlib
import shutil

import pytest
from ansible_collections.coldaisle.site.plugins.filter.facts import BMC_FACTS, NODE_FACTS
from ansible_collections.coldaisle.site.plugins.module_utils import facts, host, rules
from ansible_collections.coldaisle.site.plugins.plugin_utils.packing import ALL, sources

from coldaisle.drift import equality
from coldaisle.drift.kinds import KINDS

CASES = [
    ("mtu.rail0", 9000, 9000, True),
    ("mtu.rail0", 9000, 9216, True),
    ("mtu.rail0", 9000, 1500, False),
    ("driver", "580.95.05", "580.95.05", True),
    ("driver", "580.95.05", "595.91.07", True),
    ("driver", "580.95.05", "580.9.99", False),
    ("driver", "580.95.05", "[N/A]", False),
    ("hugepages_2mi", 8, 16, True),
    ("hugepages_2mi", 8, 0, False),
    ("memlock", "unlimited", "8388608", False),
    ("memlock", "65536", "unlimited", True),
    ("taints", "a=b:NoSchedule,c:NoExecute", "c:NoExecute,a=b:NoSchedule", True),
    ("taints", "", "a=b:NoSchedule", False),
    ("timezone", "Etc/UTC", "UTC", True),
    ("timezone", "Etc/UTC", "Europe/Oslo", False),
    ("persistence", True, "true", True),
    ("persistence", True, False, False),
    ("sysctl.net.ipv4.tcp_rmem", "4096 87380 6291456", "4096\t87380\t6291456", True),
    ("hostname", "r01-n01", "r01-n02", False),
    ("nofile", "1048576", "524288", False),
    ("clock_offset_ms", 50, 12, True),
    ("clock_offset_ms", 50, 51, False),
    ("clock_offset_ms", 50, "unknown", False),
    ("cmdline.hugepagesz", "1G,2M", "2M,1G", True),
    ("cmdline.iommu", "pt", "pt,soft", False),
    ("path_mtu.rail0", 9000, 9216, True),
    ("path_mtu.rail0", 9000, 4200, False),
    ("firmware_vfs.rail0", 8, 16, True),
    ("firmware_vfs.rail0", 8, 0, False),
    ("gid.rail0", "10.0.0.1", "10.0.0.1,10.0.9.1", True),
    ("gid.rail0", "10.0.0.1", "10.0.9.1", False),
    ("pfc.rail0", "3", "3,4", False),
    ("ecn.rail0", "3", "0,1,2,3", True),
    ("ecn.rail0", "3", "none", False),
    ("imex_nodes", "10.0.0.1,10.0.0.2", "10.0.0.2,10.0.0.1", True),
    ("amd_driver", "6.12.12", "the kernel's own", False),
    ("driver_pin", "580.95.05", "580.95.06", False),
]


@pytest.mark.parametrize(("name", "planned", "seen", "fits"), CASES)
def test_hosts_and_drift_compare_alike(name: str, planned: host.Value, seen: host.Value, fits: bool) -> None:  # noqa: FBT001  # a column of the table
    """What a host leaves alone is what the drift report calls the same."""
    assert facts.satisfied(name, planned, seen) is fits
    assert equality.same(name, planned, seen) is fits


def test_every_kind_of_fact_has_one_rule() -> None:
    """
    Each kind that is read anywhere is in the table of kinds, and a host compares it by the table's rule.

    What evidence tells is read from no host.
    """
    read = {name for name, kind in KINDS.items() if kind.teller != "evidence"}
    assert read == set(facts.HOST_KINDS) | BMC_FACTS | NODE_FACTS
    assert {name: facts.rule_of(name) for name in KINDS} == {name: kind.rule for name, kind in KINDS.items()}
    assert set(rules.RULES) == set(equality.RULES)


def test_each_module_tells_the_kinds_that_it_is_loaded_for() -> None:
    """The table by which a host loads modules names each of their kinds, and no other."""
    for module, kinds in facts.KINDS_OF.items():
        loaded = importlib.import_module(f"{facts.PACKAGE}.{module}")
        assert set(loaded.FACTS) == set(kinds.split()), module


def test_a_host_gets_the_modules_of_all_facts() -> None:
    """A host has nothing of ours to begin with: all that it may be asked for is sent, and no more."""
    assert set(facts.KINDS_OF) <= set(sources("settle", ALL))
    assert set(sources("join", ALL)) == {"run_join", "host", "services", "steps", "run_files", "record_facts"}


def test_g16_a_port_may_carry_more_than_its_functions() -> None:
    """G16: 9,000 bytes on a port whose functions are planned with 1,500 are no difference, so that no loop begins."""
    assert facts.satisfied("mtu.rail0", 1500, 9000)
    assert equality.same("mtu.rail0", 1500, 9000)


def test_g10_what_cannot_be_measured_does_not_pass() -> None:
    """G10: a driver below the floor, or one whose version nobody can tell, is never as planned."""
    for seen in ("535.54.03", "[N/A]", "", "unknown"):
        assert not facts.satisfied("driver", "580.95.05", seen)
        assert not equality.same("driver", "580.95.05", seen)


DNF = {
    "rpm --query --queryformat %{VERSION}-%{RELEASE} kernel": "5.14.0-503.11.1.el9_5",
    "dnf --quiet versionlock list": "kernel-0:5.14.0-503.11.1.el9_5.*\nkernel-core-0:5.14.0-503.11.1.el9_5.*\n",
}
"""What RPM and dnf 4 print on a host of RHEL's family."""


def test_packages_of_rhels_family_are_read_and_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without dpkg, rpm tells the version and dnf's versionlock what is held; `core` is not held for `kernel-core`."""
    ran: list[str] = []

    def run(*words: str, timeout_s: float = 20) -> str:  # noqa: ARG001  # as the real one
        ran.append(" ".join(words))
        return DNF.get(ran[-1], "")

    monkeypatch.setattr("ansible_collections.coldaisle.site.plugins.module_utils.package_facts.run", run)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "dpkg-query" else f"/usr/bin/{name}")
    assert facts.read_fact("package.kernel") == "5.14.0-503.11.1.el9_5"
    assert [facts.read_fact(f"held.{name}") for name in ("kernel", "kernel-core", "core")] == [True, True, False]
    facts.HOST_FACTS["held"].set("kernel", True, host.Context({}))  # type: ignore[misc]
    assert ran[-1] == "dnf versionlock add kernel"


def test_unreadable_fact_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fact that cannot be read keeps no other from being read."""

    def broken(_name: str) -> str:
        raise host.FactError("nvidia-smi is not installed")

    monkeypatch.setitem(facts.HOST_FACTS, "driver", host.Fact(broken))
    monkeypatch.setitem(facts.HOST_FACTS, "hostname", host.Fact(lambda _name: "r01-n01"))
    seen, errors = facts.read_facts(["driver", "hostname", "colour"])
    assert seen == {"hostname": "r01-n01"}
    assert errors["driver"] == "nvidia-smi is not installed"
    assert errors["colour"].startswith("colour is not a fact of a host; the facts are acs_redirect, address, ")


def test_unseen_fact_does_not_fit() -> None:
    """A fact that could not be read counts as different, never as fine."""
    assert facts.different({"driver": "580.95.05", "mtu.rail0": 9000}, {"mtu.rail0": 9000}) == ["driver"]


def test_slow_command_is_named() -> None:
    """A command that hangs is ended, and the message says which one and after how long."""
    with pytest.raises(host.FactError, match=r"sleep 5 gave no answer in 0\.1 s"):
        host.run("sleep", "5", timeout_s=0.1)


def test_failing_command_shows_its_last_line() -> None:
    """The reason of a failed command is the last line that it printed."""
    with pytest.raises(host.FactError, match="sh -c echo first; echo second; exit 3 ended with 3: second"):
        host.run("sh", "-c", "echo first; echo second; exit 3")


def test_failing_command_shows_its_marked_lines() -> None:
    """Where a program marks its errors, they are told rather than the warning that came last."""
    said = "echo 'x ERROR: no such port'; echo 'y ERROR:'; echo harmless >&2; exit 1"
    with pytest.raises(host.FactError, match=r"ended with 1: no such port$"):
        host.run("sh", "-c", said, mark="ERROR")
