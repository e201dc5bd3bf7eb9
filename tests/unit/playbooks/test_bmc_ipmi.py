"""The IPMI side of the bmc module, against a BMC that speaks the protocol."""

from __future__ import annotations

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError, reach_power
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

from tests.unit.playbooks.ipmi_bmcs import Start


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
