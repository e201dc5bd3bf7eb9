"""The reader and a run of Ansible on the same hosts: what one tells, the other does."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from sim.power import PowerSwitch
from tests.hall.test_runs import _with_key, machine
from tests.hall_sites import Hall, hall_in_order

HOSTS = 8
OFF, RENEWED, REFUSES, DIES = "r01-n03", "r01-n05", "r01-n07", "r01-n08"
"""A host that is off, one with another host key, one that knows our key no more, and one that dies in the middle."""


@pytest.fixture(scope="module")
def brought_up() -> Iterator[Hall]:
    """Return a hall of its own: its hosts are turned off, locked and given other keys."""
    with hall_in_order(HOSTS) as found:
        yield found


def test_both_readers_tell_the_same_of_every_host(brought_up: Hall) -> None:
    """Facts and reasons are equal, for hosts at rest, silent, changed and locked, by Redfish and by IPMI."""
    switch = PowerSwitch(brought_up.state)
    switch.turn_off(machine(brought_up, OFF))
    key = machine(brought_up, RENEWED).path / "upper/etc/ssh/ssh_host_ed25519_key"
    keys = machine(brought_up, REFUSES).path / "upper/root/.ssh/authorized_keys"
    kept, known = key.read_bytes(), keys.read_text()
    _with_key(switch, machine(brought_up, RENEWED), key, None)
    _with_key(switch, machine(brought_up, REFUSES), keys, b"# nobody\n")
    said = brought_up.run(sys.executable, "-m", "tests.hall_reads", str(brought_up.folder))
    _with_key(switch, machine(brought_up, RENEWED), key, kept)
    _with_key(switch, machine(brought_up, REFUSES), keys, known.encode())
    switch.turn_on(machine(brought_up, OFF))

    found = json.loads(said.stdout.splitlines()[-1])
    facts = {reader: {host: told[0] for host, told in hosts.items()} for reader, hosts in found.items()}
    assert facts["reader"] == facts["ansible"]
    assert facts["reader"][OFF]["power"] == "off"
    errors = {host: set(told[1].values()) for host, told in found["reader"].items()}
    assert {host for host, texts in errors.items() if texts} == {OFF, RENEWED, REFUSES}, errors
    assert {host: set(told[1]) for host, told in found["ansible"].items()} == {
        host: set(told[1]) for host, told in found["reader"].items()
    }
    for host, sign in (
        (OFF, "ssh: connect to host"),
        (RENEWED, "REMOTE HOST IDENTIFICATION HAS CHANGED"),
        (REFUSES, "Permission denied"),
    ):
        assert all(text.startswith("unreachable: ") and sign in text for text in errors[host]), errors[host]


def _read_s(floor: Hall, reader: str) -> tuple[float, dict[str, set[str]]]:
    """Return how long a read of all hosts took, and by host the reasons for which something could not be told."""
    begun = time.monotonic()
    said = floor.run(sys.executable, "-m", "tests.hall_reads", str(floor.folder), reader)
    took_s = time.monotonic() - begun
    hosts = json.loads(said.stdout.splitlines()[-1])[reader]
    return took_s, {host: set(told[1].values()) for host, told in hosts.items() if told[1]}


@pytest.mark.parametrize("reader", ["reader", "ansible"])
def test_a_host_that_died_behind_an_open_connection_is_named_soon(brought_up: Hall, reader: str) -> None:
    """By itself, ssh would wait for half a minute on the connection that a play has left open."""
    sockets = brought_up.state.folder / "ssh-cheap"
    usual_s, errors = _read_s(brought_up, reader)
    assert errors == {}
    opened = ["ansible", DIES, "-i", str(brought_up.state.folder / "inventory.yaml"), "-m", "raw", "-a", "true"]
    brought_up.run("env", f"ANSIBLE_SSH_CONTROL_PATH_DIR={sockets}", *opened)
    assert any(sockets.iterdir())
    link = ["ip", "-n", machine(brought_up, DIES).namespace, "link", "set", "mgmt0"]
    subprocess.run([*link, "down"], check=True)
    took_s, errors = _read_s(brought_up, reader)
    subprocess.run([*link, "up"], check=True)
    assert set(errors) == {DIES}
    assert all(text.startswith("unreachable: ") for text in errors[DIES]), errors
    assert took_s < 2 * usual_s + 20, usual_s
