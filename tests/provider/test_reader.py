"""The reader: what it asks hosts, what it makes of those that give no answer, and which hosts it leaves to Ansible."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from components.provider.reading import Reader, Reading, job_of, reading_of
from components.provider.run import READER, WORKER, run_playbook
from components.provider.site import Site

ROOT = Path(__file__).parents[2]
FACTS = frozenset({"hostname", "user.root", "user.nobody-at-all", "files.os", "sysctl.kernel.ostype", "mtu.nowhere"})
SSH = """#!/bin/sh
echo "$@" >> {folder}/asked
for last; do :; done
{body}
"""
"""A stand-in for ssh: `last` is the command that the host would run."""

HERE = 'exec sh -c "$last"'
PYTHON = "/usr/bin/python3 -I -S -c 'import sys;exec(sys.stdin.buffer.readline())'"
NO_ROUTE = "ssh: connect to host h1 port 22: No route to host"
DENIED = "ops@h1: Permission denied (publickey)."


@dataclass(frozen=True)
class Hall:
    """A site of one host, whose ssh is a script."""

    folder: Path
    site: Site

    def set_ssh(self, body: str) -> None:
        """Write what its ssh does."""
        file = self.folder / "ssh"
        file.write_text(SSH.format(folder=self.folder, body=body))
        file.chmod(0o755)

    @property
    def asked(self) -> list[str]:
        """Return the words of each call of ssh."""
        return (self.folder / "asked").read_text().splitlines()

    def with_variables(self, **variables: Any) -> Hall:  # noqa: ANN401
        """Return the same with more variables of the host."""
        return replace(self, site=site_of(self.folder, **variables))

    def read(self, stop: asyncio.Event | None = None) -> Reading:
        """Return what the provider reads of the host."""

        async def read() -> Reading:
            return (await Reader(stop or asyncio.Event()).read(self.site, {"h1": FACTS}))["h1"]

        return asyncio.run(read())

    def read_by(self, worker: Path) -> Reading:
        """Return what the host says to one of the two workers."""
        job = job_of(self.site, {"h1": FACTS}, worker)
        result = asyncio.run(run_playbook(job, asyncio.Event(), lambda _event: None))
        return reading_of(result, "h1", FACTS)


def site_of(folder: Path, **variables: Any) -> Site:  # noqa: ANN401
    """Return a site of one host."""
    own = {"ansible_host": "192.0.2.1", "ansible_user": "ops", "ansible_ssh_executable": str(folder / "ssh")}
    own |= {"ansible_python_interpreter": "/usr/bin/python3"}
    return Site("floor", {"all": {"hosts": {"h1": own | variables}}}, folder / "state")


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hall:
    """Return a site whose host is this machine, with the product's playbooks."""
    monkeypatch.setenv("COLDAISLE_PLAYBOOKS", str(ROOT / "playbooks"))
    made = Hall(tmp_path, site_of(tmp_path))
    made.set_ssh(HERE)
    return made


def test_both_readers_tell_the_same(hall: Hall) -> None:
    """Facts, absence and reasons are the very same: one program is sent, whoever sends it."""
    told = hall.read_by(READER)
    assert told == hall.read_by(WORKER)
    assert told.facts["user.root"] == "present"
    assert told.facts["user.nobody-at-all"] == "absent"
    assert told.errors["mtu.nowhere"].startswith("there is no port nowhere")


def test_the_login_is_the_one_of_the_inventory(hall: Hall) -> None:
    """Port, user, key, jump host, known hosts and time limit reach ssh; no command line has what is asked."""
    options = "-J gate.example -o UserKnownHostsFile=/srv/known -o StrictHostKeyChecking=yes -o ConnectTimeout=7"
    some = hall.with_variables(
        ansible_port=2222, ansible_ssh_private_key_file="/srv/key", ansible_ssh_common_args=options
    )
    assert some.read().by_ansible is None
    [words] = hall.asked
    for word in (options, "Port=2222", 'User="ops"', 'IdentityFile="/srv/key"', "PasswordAuthentication=no"):
        assert word in words
    assert words.endswith(f"192.0.2.1 {PYTHON}")
    assert words.startswith("-o ControlMaster=no -F ")


def test_another_user_is_become_as_the_inventory_says(hall: Hall) -> None:
    """The program runs by sudo, without a prompt, and a person's own ssh configuration stays in force."""
    hall.with_variables(ansible_become=True, ansible_ssh_extra_args="-F /srv/config").read()
    [words] = hall.asked
    assert "sudo -H -S -n" in words
    assert "/usr/bin/python3 -I -S -c" in words
    assert words.split(" -F ")[-1].startswith("/srv/config ")  # of several, ssh takes the last


@pytest.mark.parametrize(
    ("body", "why", "calls"),
    [
        (f"echo '{NO_ROUTE}' >&2; exit 255", f"unreachable: Failed to connect to the host via ssh: {NO_ROUTE}", 2),
        (f"echo '{DENIED}' >&2; exit 255", f"unreachable: Failed to connect to the host via ssh: {DENIED}", 1),
        ("echo Welcome to h1", "the host answered with something else than a result: Welcome to h1", 1),
        ("echo 'sh: 1: /usr/bin/python3: not found' >&2; exit 127", "the host's Python ended with 127: sh: 1:", 1),
        ("exit 0", "the host's Python ended with 0: no output", 1),
    ],
    ids=["silent", "refused", "garbage", "no-python", "nothing"],
)
def test_a_host_without_an_answer_is_told_with_its_reason(hall: Hall, body: str, why: str, calls: int) -> None:
    """Each fact could not be told, for what ssh or the host said; who refuses is not asked again."""
    hall.set_ssh(body)
    told = hall.read()
    assert told.facts == {}
    assert set(told.errors) == FACTS
    assert all(text.startswith(why) for text in told.errors.values())
    assert (told.since is not None) == why.startswith("unreachable")
    assert len(hall.asked) == calls


def test_a_stop_ends_every_login(hall: Hall) -> None:
    """After ^C the read ends within seconds, says that it was stopped, and leaves neither a process nor a file."""
    hall.set_ssh(f"echo $$ > {hall.folder}/pid; exec sleep 60")
    stop = asyncio.Event()

    async def stopped() -> Reading:
        reading = asyncio.create_task(Reader(stop).read(hall.site, {"h1": FACTS}))
        while not (hall.folder / "pid").exists():  # noqa: ASYNC110 - a file of another process
            await asyncio.sleep(0.05)
        stop.set()
        return (await asyncio.wait_for(reading, 15))["h1"]

    told = asyncio.run(stopped())
    assert set(told.errors.values()) == {"stopped before its first task"}
    assert not Path(f"/proc/{(hall.folder / 'pid').read_text().strip()}").exists()
    assert list((hall.site.state / "runs").iterdir()) == []


@pytest.mark.parametrize(
    ("variables", "why"),
    [
        ({"ansible_connection": "local"}, "its connection is local"),
        ({"ansible_port": "{{ 22 }}"}, "its variable ansible_port is a template"),
        ({"ansible_become": True, "ansible_become_password": "x"}, "sudo asks for a password"),
        ({"ansible_become": True, "ansible_become_method": "su"}, "it becomes another user by su"),
        ({"ansible_password": "x"}, "it is logged in to with a password"),
    ],
    ids=["local", "template", "sudo-password", "su", "password"],
)
def test_what_only_ansible_can_do_is_left_to_it(hall: Hall, variables: dict[str, Any], why: str) -> None:
    """The reader asks nothing of such a host, and says why."""
    passed: list[dict[str, Any]] = []
    job = job_of(hall.with_variables(**variables).site, {"h1": FACTS}, READER)
    asyncio.run(run_playbook(job, asyncio.Event(), passed.append))
    assert [event for event in passed if event["kind"] == "pass"] == [{"kind": "pass", "host": "h1", "why": why}]
    assert not (hall.folder / "asked").exists()


def test_a_host_of_another_connection_is_read_all_the_same(hall: Hall) -> None:
    """It takes a run of Ansible, and the reading says why."""
    told = hall.with_variables(ansible_connection="local").read()
    assert told.by_ansible == "its connection is local"
    assert told.facts["user.root"] == "present"


def test_a_bmc_is_asked_while_its_host_is_silent(hall: Hall) -> None:
    """What the BMC says, here that nobody is at its address, is its own answer, and not the host's silence."""
    hall.set_ssh(f"echo '{NO_ROUTE}' >&2; exit 255")
    access = {"address": "127.0.0.1:1", "protocol": "redfish", "credentials": "env:NO_SUCH_BMC"}
    some = hall.with_variables(read_bmc_access=access)
    wanted = {"h1": frozenset({"hostname", "power"})}
    started_s = time.monotonic()
    told = asyncio.run(Reader(asyncio.Event()).read(some.site, wanted))["h1"]
    assert told.errors["power"].startswith("env:NO_SUCH_BMC_USERNAME: the environment variable")
    assert told.errors["hostname"].startswith("unreachable")
    assert time.monotonic() - started_s < 60
    assert "NO_SUCH_BMC_USERNAME" not in os.environ


def test_who_waits_is_told_how_far_it_is(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """All who wait for the same read are told of it as a whole."""
    monkeypatch.setattr("components.provider.counting.EVERY_S", 0.0)
    hall.set_ssh(f"echo '{NO_ROUTE}' >&2; exit 255")
    said: dict[str, list[str]] = {"a": [], "b": []}

    async def read() -> None:
        reader = Reader(asyncio.Event())
        wanted = {"h1": FACTS}
        await asyncio.gather(*(reader.read(hall.site, wanted, lines.append) for lines in said.values()))

    asyncio.run(read())
    assert said["a"][-1] == "1 of 1 hosts asked, 1 could not tell all"
    assert said["a"] == said["b"]
