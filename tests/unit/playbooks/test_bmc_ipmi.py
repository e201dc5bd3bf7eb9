"""The IPMI side of the bmc module, against a BMC that speaks the protocol."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, reach_power
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

Start = Callable[..., IpmiBmc]
FAKE = Path(__file__).with_name("fake_ipmi.py")


def _free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Start]:
    """Return a function that starts a BMC in a state and logs in to it."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    monkeypatch.setattr(bmc_module, "POLL_S", 0.01)
    monkeypatch.setattr(bmc_module, "SETTLE_AFTER_OFF_S", 0.0)
    running: list[subprocess.Popen[str]] = []

    def starts(password: str = "correct-horse", **state: Any) -> IpmiBmc:  # noqa: ANN401, S107  # JSON; a fake's password
        port = _free_port()
        command = [sys.executable, str(FAKE), str(port), json.dumps(state)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert running[-1].stdout
        assert running[-1].stdout.readline() == "ready\n"
        return IpmiBmc(Access(f"127.0.0.1:{port}", "admin", password))

    yield starts
    for process in running:
        process.kill()
        process.wait()


def test_falls_back_to_the_suite_that_the_bmc_answers_in(start: Start) -> None:
    """A BMC that takes cipher suite 17 and answers in suite 3 lets us in all the same."""
    assert start(power="on").power() == "on"


def test_waits_until_power_is_reached(start: Start) -> None:
    """A BMC that shows the old state for some answers is asked until it shows the new one."""
    bmc = start(lag=3)
    reach_power(bmc, "on", timeout_s=5)
    assert bmc.power() == "on"


def test_refused_power_command_is_sent_again(start: Start) -> None:
    """A command that is refused "in the present state" is sent again, a bounded number of times."""
    reach_power(start(refusals=2), "on", timeout_s=5)
    with pytest.raises(BmcError, match=r"busy: IPMI chassis command 2: .*present state"):
        reach_power(start(refusals=50), "on", timeout_s=5)


def test_power_that_never_comes_is_told(start: Start) -> None:
    """A BMC that takes the command and does nothing is an error, not a success."""
    with pytest.raises(BmcError, match=r"power-not-reached: .*power is not on after 0\.2 s"):
        reach_power(start(deaf=True), "on", timeout_s=0.2)


def test_boot_device_is_set_for_good_and_read_back(start: Start) -> None:
    """Boot order and power are settled in this order, and a second time there is nothing to do."""
    bmc = start()
    planned = {"boot_order": "pxe", "power": "on"}
    changes = settle_bmc(bmc, planned, 5, check=False)
    assert changes == [
        {"fact": "boot_order", "seen": "default", "planned": "pxe"},
        {"fact": "power", "seen": "off", "planned": "on"},
    ]
    assert settle_bmc(bmc, planned, 5, check=False) == []


def test_override_for_one_boot_is_not_the_plan(start: Start) -> None:
    """A boot device that holds for a single boot is told apart from one that stays."""
    assert start(flags=[0x80, 0x04]).first_boot_device() == "pxe once"
    assert start(flags=[0xC0, 0x08]).first_boot_device() == "disk"


def test_boot_device_that_is_not_kept_is_an_error(start: Start) -> None:
    """A BMC that says yes and keeps its old boot device is found out."""
    with pytest.raises(BmcError, match="not-kept: the BMC took boot device pxe and shows default"):
        settle_bmc(start(deaf=True), {"boot_order": "pxe"}, 5, check=False)


def test_check_mode_sets_nothing(start: Start) -> None:
    """Check mode says what would change, and the BMC stays as it was."""
    bmc = start()
    assert len(settle_bmc(bmc, {"boot_order": "pxe", "power": "on"}, 5, check=True)) == 2
    assert (bmc.first_boot_device(), bmc.power()) == ("default", "off")


def test_wrong_password_is_told_as_such(start: Start) -> None:
    """A refused password is a class of its own, and the message does not repeat the password."""
    with pytest.raises(BmcError, match="wrong-credentials") as caught:
        start(password="battery-staple")  # noqa: S106  # a wrong one
    assert "battery-staple" not in str(caught.value)
