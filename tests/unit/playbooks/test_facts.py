"""Facts of a host: how they compare, and what a module does with one that cannot be read."""

from __future__ import annotations

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import facts, host

from coldaisle.drift import equality

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
]


@pytest.mark.parametrize(("name", "planned", "seen", "fits"), CASES)
def test_hosts_and_drift_compare_alike(name: str, planned: host.Value, seen: host.Value, fits: bool) -> None:  # noqa: FBT001  # a column of the table
    """What a host leaves alone is what the drift report calls the same."""
    assert facts.satisfied(name, planned, seen) is fits
    assert equality.same(name, planned, seen) is fits


def test_unreadable_fact_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """One fact that cannot be read keeps no other from being read."""

    def broken(_name: str) -> str:
        raise host.FactError("nvidia-smi is not installed")

    monkeypatch.setitem(facts.HOST_FACTS, "driver", host.Fact(broken))
    monkeypatch.setitem(facts.HOST_FACTS, "hostname", host.Fact(lambda _name: "r01-n01"))
    seen, errors = facts.read_facts(["driver", "hostname", "colour"])
    assert seen == {"hostname": "r01-n01"}
    assert errors["driver"] == "nvidia-smi is not installed"
    assert errors["colour"].startswith("colour is not a fact of a host; the facts are address, addresses, ")


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
