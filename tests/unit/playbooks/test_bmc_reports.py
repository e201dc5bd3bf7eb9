"""What people reported of BMCs in public trackers, each by its id in docs/cases-metal.md."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_settle
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import (
    Access,
    BmcError,
    BusyError,
    Setting,
    SettingsBmc,
    reach_power,
    retried,
)
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import read_fact, read_parts, with_settings
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

from tests.unit.playbooks.bmc_replay import PASSWORD, USER, Exchange, ReplayedBmc

Play = Callable[..., tuple[RedfishBmc, ReplayedBmc]]

GB200 = "/redfish/v1/Systems/System_0"
ILO = "/redfish/v1/Systems/1"
ONCE = {"Boot": {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}}


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Return a function that plays a scenario of a vendor's exchange, or what a test writes instead of one."""
    for name in ("RETRY_S", "POLL_S", "SETTLE_AFTER_OFF_S"):
        monkeypatch.setattr(bmc_module, name, 0.001)
    monkeypatch.setattr(bmc_settle, "APPLY_POLL_S", 0.001)
    running: list[ReplayedBmc] = []

    def plays(name: str, scenario: str | dict[str, Any]) -> tuple[RedfishBmc, ReplayedBmc]:
        exchange = Exchange(name)
        if not isinstance(scenario, str):
            exchange.scenarios["of a test"] = scenario
        running.append(ReplayedBmc(exchange, scenario if isinstance(scenario, str) else "of a test"))
        return RedfishBmc(Access(running[-1].url, USER, PASSWORD, timeout_s=5)), running[-1]

    yield plays
    for bmc in running:
        assert bmc.unexpected == []
        assert bmc.left == []
        bmc.stop()


def _settle(played: tuple[RedfishBmc, ReplayedBmc], **limits: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - keywords
    bmc, there = played
    return settle_bmc(bmc, there.scenario["settle"], 2, **{"check": False, "apply_timeout_s": 2, **limits})


class Machine:
    """A machine that is asked for its power, and loses the first commands to turn it on."""

    def __init__(self, lost: int = 0) -> None:
        """Be on; lose so many commands."""
        self.state, self.lost, self.asked = "on", lost, list[tuple[str, float]]()

    def look_again(self) -> None:
        """Know nothing that could be out of date."""

    def power(self) -> str:
        """Return the state."""
        return self.state

    def set_power(self, state: str) -> None:
        """Take a command, or lose it."""
        self.asked.append((state, time.monotonic()))
        if state == "on" and self.lost:
            self.lost -= 1
        else:
            self.state = state


def test_b5_on_waits_after_off_and_is_sent_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between off and on is the table's wait, and a command that was lost is sent again in the same run."""
    assert bmc_module.SETTLE_AFTER_OFF_S == habits_of(Identity()).settle_after_off_s == 5
    for name, value in (("POLL_S", 0.001), ("SETTLE_AFTER_OFF_S", 0.1), ("RESEND_S", 0.02)):
        monkeypatch.setattr(bmc_module, name, value)
    machine: Any = Machine(lost=1)
    reach_power(machine, "off", 2)
    reach_power(machine, "on", 2)
    assert [state for state, _ in machine.asked] == ["off", "on", "on"]
    assert machine.asked[1][1] - machine.asked[0][1] >= 0.1


def test_b7_not_ready_yet_is_no_refusal(play: Play) -> None:
    """What iLO and iDRAC say some seconds after a power change is asked again, and not for ever."""
    _settle(play("hpe-ilo5", "power_in_a_state_that_passes"))
    _settle(play("dell-idrac9", "power_not_ready_yet"))
    never = {"ask": f"POST {ILO}/Actions/ComputerSystem.Reset", "body": {"ResetType": "On"}, "status": 400,
             "error": "iLO.2.14.InvalidOperationForSystemState"}  # fmt: skip
    # sushy asks once more of itself before it tells us.
    played = play("hpe-ilo5", {"settle": {"power": "on"}, "writes": [never] * 2 * bmc_module.RETRIES})
    with pytest.raises(BmcError, match=r"busy: iLO\.2\.14\.InvalidOperationForSystemState"):
        _settle(played)


def test_b9_power_is_read_until_it_is_there(play: Play) -> None:
    """A machine that is told to go on and stays off is an error, after the command was taken."""
    write = {"ask": f"POST {ILO}/Actions/ComputerSystem.Reset", "body": {"ResetType": "On"}}
    bmc, _ = play("hpe-ilo5", {"writes": [write]})
    with pytest.raises(BmcError, match=r"power-not-reached: .*power is not on"):
        reach_power(bmc, "on", 0.1)


def test_b10_supermicro_gets_target_duration_and_mode_together(play: Play) -> None:
    """All three are sent with a change of any, since what is not sent is reset; that is found out by reading back."""
    _settle(play("supermicro-x13", "override_with_its_mode_is_shown_as_boot_next"))
    _settle(play("supermicro-x13", "override_taken_away_with_all_three"))
    with pytest.raises(BmcError, match=r"not-kept: .* shows pxe once"):
        _settle(play("supermicro-x11", "says_yes_and_resets_what_was_sent"))


def test_b11_others_get_no_mode_that_nobody_asked_for(play: Play) -> None:
    """A BMC of HPE is sent target and duration, and nothing else."""
    _settle(play("hpe-ilo5", "override_without_a_mode"))


def test_b13_boot_settings_go_where_the_bmc_takes_them(play: Play) -> None:
    """The settings resource where it has the attribute, the system where not, and the other where one is read-only."""
    _settle(play("ami", "override_at_the_future_state"))
    _settle(play("ami", "override_at_the_system_of_other_firmware"))
    _settle(play("ami", "moved_to_the_future_state_that_does_not_show_it"))
    _settle(play("dell-idrac10", "override_at_settings_that_hide_it"))
    _settle(play("lenovo-xcc", "override_once_at_the_system"))


def test_b14_the_drive_is_chosen_by_what_is_allowed(play: Play) -> None:
    """UsbCd where it is offered, Cd where it is not, and an error with the list where neither is."""
    _settle(play("supermicro-x13", "virtual_cd_is_a_usb_drive"))
    _settle(play("supermicro-x14", "cd_where_nothing_else_is_offered"))
    with pytest.raises(BmcError, match="no-such-boot-source: the BMC offers None, Pxe"):
        _settle(play("supermicro-x14", "a_source_that_is_not_offered"))


def test_b15_media_go_in_and_out_as_each_bmc_wants(play: Play) -> None:
    """Without Inserted on Supermicro, by PATCH on Lenovo, with a protocol on AMI; out with an empty body on iLO."""
    for name, scenario in (
        ("supermicro-x12", "inserted_and_write_protected_are_not_sent"),
        ("lenovo-xcc", "media_by_patch"),
        ("lenovo-xcc", "media_out_by_patch"),
        ("hpe-ilo5", "eject_wants_an_empty_body"),
        ("ami", "media_want_the_protocol"),
    ):
        _settle(play(name, scenario))


def test_b15_an_eject_that_does_nothing_is_found_out(play: Play) -> None:
    """A BMC that refuses to eject in words that the library passes over is not taken at its word."""
    drive = "/redfish/v1/Managers/1/VirtualMedia/2"
    eject = {"ask": f"POST {drive}/Actions/VirtualMedia.EjectMedia", "status": 403, "error": "Base.1.4.InUse"}
    image = {"Inserted": True, "Image": "http://192.0.2.1/a.iso", "ConnectedVia": "URI"}
    wanted = {"settle": {"virtual_media": "none"}, "resources": {drive: image}, "writes": [eject]}
    with pytest.raises(BmcError, match=r"wrong-credentials|not-kept: .*http://192\.0\.2\.1/a\.iso is still in"):
        _settle(play("hpe-ilo5", wanted))


@pytest.mark.parametrize(
    ("tag", "sent"),
    [('W/"1-a"', ['W/"1-a"', '"1-a"', None]), ('"1-a"', ['"1-a"', None]), ("", [None])],
    ids=["weak", "strong", "empty"],
)
def test_b17_tags_are_sent_as_given_then_strong_then_not(play: Play, tag: str, sent: list[str | None]) -> None:
    """Each form is tried as long as the BMC says that the tag is wrong; an empty tag is never sent."""
    writes: list[dict[str, Any]] = [
        {"ask": f"PATCH {ILO}", "tag": form, "body": ONCE, "status": 412, "error": "Base.1.4.PreconditionFailed"}
        for form in sent
    ]
    writes[-1] |= {"status": 200, "then": {ILO: ONCE}}
    del writes[-1]["error"]
    resources = {ILO: {"ETag": tag, "@odata.etag": tag}}
    _settle(play("hpe-ilo5", {"settle": {"boot_override": "pxe once"}, "resources": resources, "writes": writes}))


def test_b17_no_compression_is_offered(play: Play) -> None:
    """Compressed answers have weak tags."""
    bmc, there = play("hpe-ilo5", {})
    bmc.power()
    assert there.encodings == {"identity"}


def test_b19_a_port_is_known_by_its_options_words(play: Play) -> None:
    """RelatedItem may be null: the MAC in the option's name tells the port, and there is no drift."""
    resources = {"/redfish/v1/Systems/System.Embedded.1": {"Boot": {"BootOrder": ["Boot0004", "Boot0003", "Boot0000"]}}}
    bmc, _ = play("dell-idrac9", {"resources": resources})
    assert read_fact(bmc, "boot_nic").text == "00:11:22:33:44:55"
    assert settle_bmc(bmc, {"boot_nic": "00:11:22:33:44:55", "boot_order": "pxe"}, 1, check=False) == []


def test_b19_an_unknown_port_is_no_drift(play: Play) -> None:
    """Where nothing tells the port, or its address is empty, the answer is that it could not be told."""
    bmc, _ = play("lenovo-xcc", {})
    with pytest.raises(BmcError, match=r"boot-nic-unknown: boot option Boot0002 \(Network\)"):
        read_fact(bmc, "boot_nic")
    port = "/redfish/v1/Chassis/System.Embedded.1/NetworkAdapters/NIC.Embedded.1/NIC.Embedded.1-1-1"
    dell, _ = play("dell-idrac9", {"resources": {port: {"Ethernet": {"MACAddress": ""}}}})
    with pytest.raises(BmcError, match="boot-nic-unknown"):
        read_fact(dell, "boot_nic")


def test_b20_post_is_waited_out(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change that is refused during POST is made after it, within the table's bound and not a handful of tries."""
    _settle(play("hpe-ilo6", "in_post"))
    assert habits_of(Identity()).post_patience_s == 900
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    calls = []

    def ends_late() -> str:
        calls.append(1)
        if len(calls) <= 2 * bmc_module.RETRIES:
            raise BusyError("in POST", patience_s=5)
        return "done"

    assert retried(ends_late) == "done"


def test_b23_dell_boots_virtual_media_by_its_own_attributes(play: Play) -> None:
    """The override Cd would boot a drive of the chassis, so iDRAC is told with VCD-DVD; it is read back as the same."""
    _settle(play("dell-idrac9", "virtual_cd_by_attribute"))


def test_b24_what_can_be_read_stays_and_the_rest_is_told(play: Play) -> None:
    """A GPU that is listed and not there, and a collection that fails, leave the others and a sentence each."""
    resources = {f"{GB200}/Memory": [f"{GB200}/Memory/1", f"{GB200}/Memory/2"], f"{GB200}/Memory/1": None,
                 f"{GB200}/Memory/2": {"CapacityMiB": 491520, "PartNumber": "LPDDR5X"}}  # fmt: skip
    bmc, _ = play("nvidia-gb200", {"resources": resources})
    found = bmc.inventory()
    assert [part["Model"] for part in found.parts["gpus"]] == ["GB200 186GB HBM3e"]
    assert found.parts["memory"] == [{"Id": "2", "PartNumber": "LPDDR5X", "CapacityMiB": 491520}]
    gpu = "/redfish/v1/Systems/HGX_Baseboard_0/Processors/GPU_1"
    assert found.gaps["gpus"] == f"the BMC lists {gpu}, and shows nothing there"
    assert found.gaps["memory"] == f"the BMC lists {GB200}/Memory/1, and shows nothing there"
    assert found.gaps["ports"].startswith("the BMC lists none")


def test_parts_are_read_with_credentials_by_reference(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module's own way in gives the same parts and gaps."""
    monkeypatch.setenv("TRAY_USERNAME", USER)
    monkeypatch.setenv("TRAY_PASSWORD", PASSWORD)
    bmc, there = play("nvidia-gb200", {})
    access = {"address": there.url, "protocol": "redfish", "credentials": "env:TRAY", "ca_file": None, "timeout_s": 5.0}
    found = bmc.inventory()
    assert read_parts(access) == (found.parts, found.gaps)


def test_b26_an_override_ends_with_its_mode_where_the_bmc_misses_it(play: Play) -> None:
    """The mode is left out at first, and sent when the BMC names it as missing."""
    _settle(play("openbmc", "override_that_ends_only_with_its_mode"))


def test_firmware_settings_stay_pending_without_leave_to_reset(play: Play) -> None:
    """A machine that is on is not reset unasked: the change is told as pending, and a second run sends nothing."""
    played = play("ami", "bios_stays_pending_without_leave_to_reset")
    first = _settle(played)
    assert (first[0]["pending"], first[0]["sent"]) == (True, True)
    second = _settle(played)
    assert (second[0]["pending"], second[0]["sent"]) == (True, False)


def test_firmware_settings_that_are_not_applied_are_told(play: Play) -> None:
    """A BMC that takes a setting, and a machine that starts without it, are an error with what is seen."""
    writes = [
        {"ask": f"PATCH {GB200}/Bios/Settings", "body": {"Attributes": {"EGM": True}}},
        {"ask": f"POST {GB200}/Actions/ComputerSystem.Reset", "body": {"ResetType": "On"},
         "then": {GB200: {"PowerState": "On"}}},
    ]  # fmt: skip
    played = play("nvidia-gb200", {"settle": {"bios.EGM": "true", "power": "on"}, "writes": writes})
    with pytest.raises(BmcError, match=r"not-applied: bios\.EGM is false, planned true, 0\.1 s after"):
        _settle(played, apply_timeout_s=0.1)


def test_check_mode_asks_for_nothing(play: Play) -> None:
    """Check mode tells all that would change, and no request but reads is sent."""
    bmc, _ = play("hpe-ilo5", {})
    wanted = {"secure_boot": "on", "bios.ProcSMT": "Disabled", "virtual_media": "http://192.0.2.1/a.iso",
              "boot_override": "pxe once", "boot_order": "pxe", "power": "on"}  # fmt: skip
    changes = settle_bmc(bmc, wanted, 1, check=True, may_reset=True)
    assert {change["fact"] for change in changes} == set(wanted)


def test_a_bmc_of_two_hosts_or_of_none_is_refused(play: Play) -> None:
    """The baseboard of GPUs is no host; two hosts, or nothing but a baseboard, are told with what there is."""
    for members in (["/redfish/v1/Systems/1", "/redfish/v1/Systems/2"], ["/redfish/v1/Systems/HGX_Baseboard_0"], []):
        with pytest.raises(BmcError, match=r"not-one-system: the BMC shows [02] systems \("):
            play("nvidia-gb200", {"resources": {"/redfish/v1/Systems": members}})


def test_a_setting_says_what_it_is_and_what_it_will_be() -> None:
    """The same in both is said once."""
    assert Setting("on").text == Setting("on", "on").text == "on"
    assert Setting("off", "on").text == "off, on after a reset"


def test_ipmi_says_that_it_has_no_settings() -> None:
    """Over IPMI the message names the protocol that has them."""
    machine: Any = Machine()
    for name in ("first_boot_device", "power_limit", "power_policy", "machine_uuid"):
        setattr(machine, name, machine.power)
    assert not isinstance(machine, SettingsBmc)
    with pytest.raises(BmcError, match=r"not-over-ipmi: secure_boot is not read or set over IPMI .*redfish"):
        read_fact(machine, "secure_boot")
    with pytest.raises(BmcError, match="not-over-ipmi: inventory"):
        with_settings(machine, "inventory")
    with pytest.raises(BmcError, match=r"no-fact: colour is not a fact of a BMC .*boot_order, power"):
        read_fact(machine, "colour")
