"""The Redfish side of the bmc module, against a BMC that speaks the protocol and has vendors' habits."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError, reach_power
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import connect, read_bmc, read_over
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

from tests.unit.playbooks.fake_redfish import PASSWORD, ROOT, SYSTEM, USER, Machine, serve

Login = Callable[..., RedfishBmc]

OVERRIDE = {
    "BootSourceOverrideEnabled": "Disabled",
    "BootSourceOverrideTarget": "None",
    "BootSourceOverrideMode": "UEFI",
    "BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Hdd"],
}
ORDER = {"BootOrder": ["Boot0000", "Boot0001"], "BootOptions": {"@odata.id": f"{SYSTEM}/BootOptions"}}
OPTIONS = (
    {"BootOptionReference": "Boot0000", "DisplayName": "Samsung SSD", "RelatedItem": None},
    {"BootOptionReference": "Boot0001", "DisplayName": "", "UefiDevicePath": "PciRoot(0x0)/MAC(525400010101)/IPv4()"},
)


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    """Return a function that serves a machine's BMC and logs in to it."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    monkeypatch.setattr(bmc_module, "POLL_S", 0.01)
    monkeypatch.setattr(bmc_module, "SETTLE_AFTER_OFF_S", 0.0)
    servers = []

    def logs_in(machine: Machine, password: str = PASSWORD, timeout_s: float = 5) -> RedfishBmc:
        servers.append(serve(machine))
        url = f"http://127.0.0.1:{servers[-1].server_address[1]}"
        return RedfishBmc(Access(url, USER, password, timeout_s=timeout_s))

    yield logs_in
    for server in servers:
        server.shutdown()
        server.server_close()


def test_override_is_set_for_good_and_read_back(login: Login) -> None:
    """Without a boot order the override is set, for all boots, and without a mode that nobody asked for."""
    machine = Machine(boot=dict(OVERRIDE))
    bmc = login(machine)
    changes = settle_bmc(bmc, {"boot_order": "pxe", "power": "on"}, 5, check=False)
    assert [change["seen"] for change in changes] == ["default", "off"]
    sent = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Continuous"}
    assert machine.patches == [(SYSTEM, {"Boot": sent})]
    assert machine.resets == ["On"]
    assert settle_bmc(bmc, {"boot_order": "pxe", "power": "on"}, 5, check=False) == []


def test_a_bmc_is_asked_again_only_after_a_change_or_a_pause(login: Login) -> None:
    """A login reads root, systems and system; the system is read anew after each change and each wait."""
    facts = {"boot_order": "pxe", "power": "on"}
    machine = Machine(boot=dict(OVERRIDE))
    bmc = login(machine)
    settle_bmc(bmc, facts, 5, check=False)
    read_over(bmc, facts, {}, {})
    assert machine.reads == [ROOT, f"{ROOT}/Systems", SYSTEM, SYSTEM, SYSTEM]
    machine.power = "Off"
    bmc.look_again()
    assert bmc.power() == "off"
    again = login(machine)
    machine.reads.clear()
    assert settle_bmc(again, {"boot_order": "pxe"}, 5, check=False) == []
    assert machine.reads == []


def test_supermicro_gets_the_mode_with_the_target(login: Login) -> None:
    """Supermicro resets what is not sent with the target, so the mode goes along as it is."""
    machine = Machine(boot=dict(OVERRIDE), manufacturer="Supermicro")
    login(machine).set_first_boot_device("pxe")
    assert machine.patches[0][1]["Boot"]["BootSourceOverrideMode"] == "UEFI"


def test_target_is_chosen_by_what_the_bmc_allows(login: Login) -> None:
    """Where only UEFI HTTP boot is offered, that is the network; where neither is, the message lists what is."""
    allowed = "BootSourceOverrideTarget@Redfish.AllowableValues"
    machine = Machine(boot={**OVERRIDE, allowed: ["None", "UefiHttp"]})
    login(machine).set_first_boot_device("pxe")
    assert machine.boot["BootSourceOverrideTarget"] == "UefiHttp"
    with pytest.raises(BmcError, match="no-such-boot-source: the BMC offers None, Cd"):
        login(Machine(boot={**OVERRIDE, allowed: ["None", "Cd"]})).set_first_boot_device("pxe")


def test_boot_order_is_read_where_related_items_are_null(login: Login) -> None:
    """A boot option without related items and without a name is known by its device path (Dell)."""
    bmc = login(Machine(boot=dict(ORDER), options=OPTIONS))
    assert bmc.first_boot_device() == "disk"
    bmc.set_first_boot_device("pxe")
    assert bmc.first_boot_device() == "pxe"


def test_boot_order_goes_to_the_settings_resource_that_has_it(login: Login) -> None:
    """AMI wants changes at the settings resource; one that lacks the attribute is passed over."""
    machine = Machine(boot=dict(ORDER), options=OPTIONS, settings={"Boot": {"BootOrder": []}})
    login(machine).set_first_boot_device("pxe")
    assert machine.patches == [(f"{SYSTEM}/Settings", {"Boot": {"BootOrder": ["Boot0001", "Boot0000"]}})]
    other = Machine(boot=dict(ORDER), options=OPTIONS, settings={"Bios": {}})
    login(other).set_first_boot_device("pxe")
    assert other.patches[0][0] == SYSTEM


@pytest.mark.parametrize(
    ("status", "code"),
    [(400, "iLO.2.14.InvalidOperationForSystemState"), (400, "Base.1.8.UnableToModifyDuringSystemPOST"), (409, "Busy")],
)
def test_busy_bmc_is_asked_again(login: Login, status: int, code: str) -> None:
    """A power change that is refused for now is sent again, and ends well."""
    machine = Machine(refusals=[(status, code)] * 2)
    reach_power(login(machine), "on", timeout_s=5)
    assert machine.resets == ["On"]


def test_plain_refusal_is_not_repeated(login: Login) -> None:
    """A command that the BMC will never take fails at once, with the BMC's words."""
    machine = Machine(refusals=[(400, "Base.1.0.PropertyNotWritable")] * 2)
    with pytest.raises(BmcError, match=r"refused: Base\.1\.0\.PropertyNotWritable"):
        reach_power(login(machine), "on", timeout_s=5)
    assert len(machine.refusals) == 1


def test_power_that_never_comes_is_told(login: Login) -> None:
    """A BMC that takes the command and does nothing is an error, not a success."""
    with pytest.raises(BmcError, match="power-not-reached"):
        reach_power(login(Machine(deaf=True)), "on", timeout_s=0.2)


def test_check_mode_sends_nothing(login: Login) -> None:
    """Check mode reads, and neither patches nor resets."""
    machine = Machine(boot=dict(OVERRIDE))
    assert len(settle_bmc(login(machine), {"boot_order": "pxe", "power": "on"}, 5, check=True)) == 2
    assert (machine.patches, machine.resets) == ([], [])


def test_wrong_password_is_told_as_such(login: Login) -> None:
    """A refused password is a class of its own, and the message does not repeat the password."""
    with pytest.raises(BmcError, match="wrong-credentials") as caught:
        login(Machine(), password="battery-staple")  # noqa: S106  # a wrong one
    assert "battery-staple" not in str(caught.value)


def test_late_answer_is_told_as_such(login: Login) -> None:
    """A BMC that hangs is not the same as one that refuses."""
    with pytest.raises(BmcError, match="no-answer"):
        login(Machine(delay_s=1.5), timeout_s=0.4)


def test_unknown_certificate_is_told_as_such(tmp_path: Path) -> None:
    """A certificate that no CA of ours signed is a class of its own."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1", "-days", "1"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    server = serve(Machine())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    with pytest.raises(BmcError, match="tls: the BMC's certificate is not one that we trust"):
        RedfishBmc(Access(f"127.0.0.1:{server.server_address[1]}", USER, PASSWORD, timeout_s=5))
    server.shutdown()


def _params(url: str, credentials: str) -> dict[str, Any]:
    return {
        "address": url,
        "protocol": "redfish",
        "credentials": credentials,
        "ca_file": None,
        "timeout_s": 5.0,
    }


def test_credentials_come_by_reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """User and password are read from a file or the environment, and a missing one says where it was looked for."""
    server = serve(Machine(power="On"))
    url = f"http://127.0.0.1:{server.server_address[1]}"
    secret = tmp_path / "bmc.yaml"
    secret.write_text(f"username: {USER}\npassword: {PASSWORD}\n")
    assert connect(_params(url, f"file:{secret}")).power() == "on"
    monkeypatch.setenv("RACK1_USERNAME", USER)
    monkeypatch.setenv("RACK1_PASSWORD", PASSWORD)
    assert read_bmc(_params(url, "env:RACK1"), ["power"]) == ({"power": "on"}, {})
    seen, errors = read_bmc(_params(url, "file:/nowhere/bmc.yaml"), ["power", "boot_order"])
    assert seen == {}
    assert errors == dict.fromkeys(["power", "boot_order"], "file:/nowhere/bmc.yaml: No such file or directory")
    server.shutdown()
