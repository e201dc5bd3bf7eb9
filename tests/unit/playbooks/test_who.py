"""Whose machine answers: its firmware, its disk and its host key against the plans of all hosts."""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc
from ansible_collections.coldaisle.site.plugins.plugin_utils.who import (
    another_system,
    copied_disk,
    whose_key,
    with_owner,
)

from tests.unit.playbooks.ipmi_bmcs import Start

OURS, THEIRS = "4c4c4544-0043-3510-8052-b4c04f4a5931", "4c4c4544-0043-3510-8052-b4c04f4a5932"
SWAPPED_BYTES = "44454c4c-4300-1035-8052-b4c04f4a5931"
DISK = "0123456789abcdef0123456789abcdef"


def said(uuid: str = "", serial: str = "", disk: str = DISK) -> str:
    """Return what a host says of itself."""
    return f"machine_uuid:product_uuid {uuid}\nmachine_serial:product_serial {serial}\ndisk: {disk}\nname: r01-n02\n"


@pytest.mark.parametrize(
    ("uuid", "serial"),
    [(OURS, "CZ1"), (OURS.upper(), "CZ1"), (SWAPPED_BYTES, "CZ1"), ("", ""), (OURS, "To be filled by O.E.M.")],
)
def test_a_machine_with_the_planned_marks_is_ours(uuid: str, serial: str) -> None:
    """Bytes of a UUID in SMBIOS's order count as the same; firmware that shows none is not accused."""
    assert another_system({"machine_uuid": OURS, "machine_serial": "CZ1"}, said(uuid, serial)) == {}


@pytest.mark.parametrize(("uuid", "serial", "what"), [(THEIRS, "CZ1", THEIRS), (OURS, "CZ2", "CZ2")])
def test_a_machine_with_other_marks_is_refused_by_whose_it_is(uuid: str, serial: str, what: str) -> None:
    """The message has both sides, the host's own name, and which planned host it is."""
    found = another_system({"machine_uuid": OURS, "machine_serial": "CZ1"}, said(uuid, serial))
    hosts = {"r01-n02": {"up_machine": {"machine_uuid": THEIRS, "machine_serial": "CZ2"}}, "r01-n03": {}}
    message = with_owner(found["msg"], {"hostvars": hosts})
    assert found["failed"]
    assert "which calls itself r01-n02" in message
    assert f"is {what} (that is r01-n02), planned " in message
    assert "nothing was changed" in message


def test_a_disk_belongs_to_the_host_that_it_was_first_seen_at(tmp_path: Path) -> None:
    """The same host may come again, another one with the same machine id is a copy, and a host without one is not."""
    assert copied_disk(tmp_path / "disks", "r01-n02", said()) == {}
    assert copied_disk(tmp_path / "disks", "r01-n02", said()) == {}
    found = copied_disk(tmp_path / "disks", "r01-n03", said())
    assert found["msg"].startswith(f"the disk of r01-n02 answers, or a copy of it: machine id {DISK}")
    assert f"once it belongs to r01-n03, remove {tmp_path / 'disks' / DISK}" in found["msg"]
    assert copied_disk(tmp_path / "disks", "r01-n03", said(disk="")) == {}


@pytest.mark.parametrize("hashed", [True, False])
def test_a_host_key_that_another_host_has_is_told_by_its_name(tmp_path: Path, hashed: bool) -> None:  # noqa: FBT001  # both forms
    """Entries of known_hosts are found by the key's fingerprint, with their addresses in the clear or hashed."""
    blob, salt = b"a key", b"some salt"
    digest = base64.b64encode(hmac.digest(salt, b"10.0.0.2", "sha1")).decode()
    entry = f"|1|{base64.b64encode(salt).decode()}|{digest}" if hashed else "10.0.0.2"
    file = tmp_path / "known_hosts"
    file.write_text(f"10.0.0.9 ssh-rsa AAAA\n{entry} ssh-ed25519 {base64.b64encode(blob).decode()}\n")
    key = base64.b64encode(hashlib.sha256(blob).digest()).decode().rstrip("=")
    why = f"key sent by the remote host is SHA256:{key}. Please contact. Offending ED25519 key in {file}:1"
    hosts: dict[str, Any] = {"r01-n01": {"ansible_host": "10.0.0.1"}, "r01-n02": {"ansible_host": "10.0.0.2"}}
    assert whose_key(why, {"hostvars": hosts}) == " (that of r01-n02)"
    assert whose_key(why.replace(key, key[::-1]), {"hostvars": hosts}) == ""


def test_a_bmc_of_another_machine_keeps_its_power(start: Start) -> None:
    """Over IPMI the machine's UUID is asked first; with another one nothing is sent."""
    bmc = start()
    own = bmc.machine_uuid()
    with pytest.raises(BmcError, match=rf"another-machine: machine_uuid is {own}, planned {OURS}; nothing was changed"):
        settle_bmc(bmc, {"machine_uuid": OURS, "power": "on"}, 5, check=False)
    assert bmc.power() == "off"
    assert settle_bmc(bmc, {"machine_uuid": own.upper(), "power": "on"}, 5, check=False)
