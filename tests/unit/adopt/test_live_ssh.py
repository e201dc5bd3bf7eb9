"""Hosts and switches over SSH: the words for OpenSSH, the script in a real shell, and devices that do not answer."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from coldaisle.adopt.facts import Untold
from coldaisle.adopt.live.sources import SshSource
from coldaisle.adopt.live.ssh import SshLive
from coldaisle.adopt.readers import ssh
from tests.unit.adopt.tool_exports import link

PROGRAM = """#!/bin/sh
# Stands for ssh and for the host behind it: the words are kept, and what was to run there runs here.
echo "$@" >> "$WORDS"
while [ "$1" != -- ]; do shift; done
case "$2" in
  *.9) echo "Host key verification failed." >&2; exit 255 ;;
  *.8) printf '\\n==coldaisle hostname\\nhalf\\n'; exit 0 ;;
esac
shift 2
exec "$@"
"""
LLDPCTL = """#!/bin/sh
[ "$1 $2" = "-f json0" ] && echo '{"lldp": [{"interface": []}]}'
"""


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a stand-in for ssh, and an lldpctl, first on PATH; return the file of the words that it was called with."""
    for name, text in (("ssh", PROGRAM), ("lldpctl", LLDPCTL)):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("WORDS", str(tmp_path / "words"))
    return tmp_path / "words"


def test_host_keys_are_checked_and_nobody_is_asked_for_a_password(words: Path) -> None:
    """The script runs to its end in a plain shell; the neighbours it prints are a file by the device's own name."""
    source = SshSource(hosts=("192.0.2.1",), user="ops", key_file="~/key", known_hosts="/k")
    taken = SshLive(source, ("192.0.2.1",), ()).take()
    [line] = words.read_text().splitlines()
    for word in ("StrictHostKeyChecking=yes", "UserKnownHostsFile=/k", "BatchMode=yes", "-l ops", "IdentitiesOnly=yes"):
        assert word in line
    assert line.endswith("-- 192.0.2.1 sh -s")
    told = json.loads(taken.files["ssh"]["192.0.2.1.json"])
    assert told["hostname"] == os.uname().nodename
    assert told["kernel"] == os.uname().release
    assert [json.loads(text) for text in taken.files["lldp"].values()] == [{"lldp": [{"interface": []}]}]
    assert list(taken.files["lldp"]) == [f"{told['hostname'].partition('.')[0].lower()}.json"]
    assert taken.untold == ()


def test_who_does_not_answer_whole_is_named_and_the_others_count(words: Path) -> None:
    """A host key that is not known, and an answer that ends early, are no answers."""
    addresses = ("192.0.2.1", "192.0.2.8", "192.0.2.9")
    taken = SshLive(SshSource(hosts=addresses), addresses, ()).take()
    assert list(taken.files["ssh"]) == ["192.0.2.1.json"]
    assert taken.untold == (
        Untold("ssh", "192.0.2.8", "everything", "ssh ended with 0, and the answer is not whole", silent=True),
        Untold("ssh", "192.0.2.9", "everything", "Host key verification failed.", silent=True),
    )
    assert len(words.read_text().splitlines()) == 3


def test_a_host_without_neighbours_in_json_is_told(words: Path) -> None:
    """Its other facts stay, and its cables cannot be known from it."""
    words.with_name("lldpctl").write_text("#!/bin/sh\nexit 1\n")
    words.with_name("sudo").write_text("#!/bin/sh\nexit 1\n")
    words.with_name("sudo").chmod(0o755)
    taken = SshLive(SshSource(hosts=("192.0.2.1",)), ("192.0.2.1",), ()).take()
    assert taken.files["lldp"] == {}
    [untold] = taken.untold
    assert (untold.source, untold.what, untold.silent) == ("lldp", "its neighbours", False)
    assert "192.0.2.1.json" in taken.files["ssh"]


def test_only_ports_that_a_cable_can_hang_on_are_facts() -> None:
    """A bond's member has its own MAC; what the host or a container network made is none of its hardware."""
    member = link("rail0", "aa:bb:cc:00:00:01", None, 9000) | {"permaddr": "aa:bb:cc:00:00:02"}
    bridge = link("br0", "aa:bb:cc:00:00:03", "10.0.0.5/24", 1500) | {"linkinfo": {"info_kind": "bridge"}}
    links = [
        link("mgmt0", "aa:bb:cc:00:00:04", "192.0.2.1/24", 1500),
        member,
        bridge,
        link("veth7", "aa:bb:cc:00:00:05", None, 1),
    ]
    told = {"address": "192.0.2.1", "role": "host", "hostname": "N1.x.net", "domain": "localdomain", "links": links,
            "routes": [{"gateway": "192.0.2.254", "dev": "mgmt0"}, {"gateway": "10.0.0.1", "dev": "br0"}]}  # fmt: skip
    reading = ssh.read({"a.json": json.dumps(told)})
    macs = {fact.subject.name: fact.value for fact in reading.facts if fact.field == "mac"}
    assert macs == {"n1:mgmt0": "aa:bb:cc:00:00:04", "n1:rail0": "aa:bb:cc:00:00:02"}
    said = {(fact.subject.kind, fact.field): fact.value for fact in reading.facts}
    assert said["network", "gateway"] == "192.0.2.254"
    assert said["device", "kind"] == "node"
    assert ("site", "domain") not in said
