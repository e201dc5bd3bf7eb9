"""Our IPMI side against OpenIPMI's simulator, which shares no code with pyghmi's server."""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import rotate
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_ipmi import IpmiAccounts
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry, ipmi_entry
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log_clear import clear_ipmi
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sel import sel_unread
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sensors import Sensor, ipmi_sensor

from coldaisle.discovery import rmcp
from tests.programs import required
from tests.unit.playbooks.ipmi_bmcs import free_port

PASSWORD = "correct-horse"  # noqa: S105 - of a BMC that lives for one test

LAN = """
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 {port}
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  user 1 true "" "test" user 10 none md2 md5 straight
  user 2 true "admin" "correct-horse" admin 10 none md2 md5 straight
"""

NAME = b"CPU Temp"
SENSOR = bytes(
    [0x20, 0, 1, 3, 1, 0x7F, 0x68, 1, 1, 0x80, 0x0A, 0x80, 0x7A, 0x3F, 0x3F, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 3,
     0x32, 0x5A, 0x14, 0xFF, 0, 0x5A, 0x55, 0x50, 5, 10, 15, 2, 2, 0, 0, 0, 0xC0 | len(NAME), *NAME]
)  # fmt: skip
"""A full sensor record (IPMI 2.0, table 43-1) without its head: a temperature in degrees Celsius, one a count."""

RECORD = bytes([0, 0, 0x51, 1, len(SENSOR)]) + SENSOR
COMMANDS = f"""
mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02
sel_enable 0x20 1000 0x0a
sel_add 0x20 0x02 0x10 0x20 0x30 0x40 0x20 0x00 0x04 0x01 0x01 0x01 0x57 0x50 0x50
sensor_add 0x20 0 1 1 1
sensor_set_value 0x20 0 1 0x32 0
main_sdr_add 0x20 {" ".join(f"{byte:#04x}" for byte in RECORD)}
mc_enable 0x20
"""


@pytest.fixture
def access(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Access]:
    """Start the simulator, and return how its BMC is logged in to."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    port = free_port()
    (tmp_path / "lan.conf").write_text(LAN.format(port=port))
    (tmp_path / "bmc.emu").write_text(COMMANDS)
    program = required("ipmi_sim", os.environ["PATH"])
    files = {"-c": "lan.conf", "-f": "bmc.emu", "-s": "kept"}
    command = [program, *(word for option, name in files.items() for word in (option, str(tmp_path / name)))]
    # It ends with its standard input.
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while rmcp.ask("127.0.0.1", 0.5, port) is None and time.monotonic() < deadline:
        time.sleep(0.1)
    yield Access(f"127.0.0.1:{port}", "admin", PASSWORD)
    process.kill()
    process.wait()


def test_sensors_and_log_are_read_over_the_session_that_is_there(access: Access) -> None:
    """What the BMC describes is told with its unit, and what it logged with time and severity."""
    with contextlib.closing(IpmiBmc(access)) as bmc:
        assert [ipmi_sensor(reading) for reading in bmc.sensors()] == [
            Sensor("CPU Temp", None, "Cel", "unknown")  # the simulator has no reading enabled
        ]
        entries = [ipmi_entry(event) for event in bmc.events()]
    assert [(entry.severity, entry.text, entry.source) for entry in entries] == [
        ("warning", "CPU Temp (Temperature): Upper non-critical", "SEL")
    ]
    assert entries[0].at[:4].isdigit()


def test_the_log_is_read_from_its_last_entry_on_and_cleared(access: Access) -> None:
    """A reading that has the mark of the one before finds nothing; what is cleared was handed over."""
    kept: list[Entry] = []
    with contextlib.closing(IpmiBmc(access)) as bmc:
        first = sel_unread(bmc, {})
        assert [entry.text for entry in first.entries] == ["CPU Temp (Temperature): Upper non-critical"]
        assert sel_unread(bmc, first.marks).entries == []
        assert clear_ipmi(bmc, None, lambda _, entries: kept.extend(entries)) == []
        assert clear_ipmi(bmc, "SEL", lambda _, entries: kept.extend(entries)) == ["SEL"]
        assert [entry.text for entry in kept] == [entry.text for entry in first.entries]
        assert list(bmc.events()) == []
        assert sel_unread(bmc, first.marks).entries == []


def test_credentials_rotate_on_a_bmc_that_does_not_tell_who_is_disabled(access: Access) -> None:
    """The managed user logs in, the old one does not, and a second run has nothing to do."""
    managed = Access(access.address, "ops", "managed-secret-1")
    assert rotate(IpmiAccounts, access, managed) == ["set the password of ops", "disable admin"]
    with contextlib.closing(IpmiAccounts(managed)) as accounts:
        assert [(it.name, it.enabled) for it in accounts.all()] == [("admin", False), ("ops", True)]
    assert rotate(IpmiAccounts, access, managed) == []
    with pytest.raises(BmcError):
        IpmiBmc(access)


def test_capabilities_are_told_without_a_login(access: Access) -> None:
    """Discovery sees IPMI 2.0 here."""
    answer = rmcp.ask("127.0.0.1", 3, int(access.address.partition(":")[2]))
    assert answer is not None
    assert answer.version == "2.0"
