"""
Whether the planned host answered, and who else did: a machine's own word is held against every host's plan.

A wrong cable, a lease that went to another machine, an address given twice, or a restored disk image lead here: nothing
may be set then.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.facts import satisfied

Failure = dict[str, Any]

MAC = re.compile(r"(?:link/ether|permaddr) ([0-9a-f:]{17})")
"""A port's MAC address, and the one that it was made with where a bond has given it another."""

SAID = re.compile(r"(machine_uuid|machine_serial) is (\S+), planned ")
"""How a message names what another machine says of itself."""

KEY = re.compile(r"key sent by the remote host is\s+SHA256:([A-Za-z0-9+/]+)")
KNOWN_HOSTS = re.compile(r"Offending \S+ key in (\S+):\d+")
"""What OpenSSH says of a host key that is not the known one."""

NO_VALUES = {"", "none", "not specified", "default string", "to be filled by o.e.m.", "system serial number"}
"""What firmware shows where its maker has written nothing (in lower case)."""


def another_machine(planned: Iterable[str], said: str) -> Failure:
    """Return a failure where the host has none of the planned ports; empty where it has one, or tells of none."""
    wanted, there = {mac.lower() for mac in planned}, set(MAC.findall(said.lower()))
    if not wanted or not there or wanted & there:
        return {}
    what = f"another machine answers: it has the ports {', '.join(sorted(there))}, planned {', '.join(sorted(wanted))}"
    look = "the lease or address of both machines, the cable of its boot port, and the MAC addresses in hardware.yaml"
    return {"failed": True, "msg": f"{what}; nothing was changed (look at {look})"}


def another_system(planned: Mapping[str, str], said: str) -> Failure:
    """Return a failure where the host's firmware has another UUID or serial than planned; empty where it has none."""
    for name, value in planned.items():
        found = re.search(rf"^{name}:\S+ (.*)$", said, re.MULTILINE)
        seen = found[1].strip() if found else ""
        if seen.lower() not in NO_VALUES and not satisfied(name, value, seen):
            what = f"another machine answers, which calls itself {_named(said)}: {name} is {seen}, planned {value}"
            look = "the lease or address of both machines, the cable of its boot port, and hardware.yaml"
            return {"failed": True, "msg": f"{what}; nothing was changed (look at {look})"}
    return {}


def copied_disk(records: Path, host: str, said: str) -> Failure:
    """
    Return a failure where the host's disk was first seen at another host; else remember it as this one's.

    Raises:
        OSError: the records cannot be read or written.

    """
    found = re.search(r"^disk: ([0-9a-f]{32})$", said, re.MULTILINE)
    if found is None:
        return {}
    holder = _first_seen(records / found[1], host)
    if holder == host:
        return {}
    what = f"the disk of {holder} answers, or a copy of it: machine id {found[1]}; it calls itself {_named(said)}"
    look = f"what was restored or moved, and on which machine; once it belongs to {host}, remove {records / found[1]}"
    return {"failed": True, "msg": f"{what}; nothing was changed (look at {look})"}


def _first_seen(record: Path, host: str) -> str:
    """Return the host of a record; of several that come at once the first one writes it, and all see the same."""
    record.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = record.with_name(f".{record.name}.{os.getpid()}")
    try:
        fresh.write_text(host, encoding="utf-8")
        os.link(fresh, record)
    except FileExistsError:
        return record.read_text(encoding="utf-8")
    finally:
        fresh.unlink(missing_ok=True)
    return host


def _named(said: str) -> str:
    found = re.search(r"^name: (\S+)$", said, re.MULTILINE)
    return found[1] if found else "nothing"


def with_owner(message: str, task_vars: Mapping[str, Any]) -> str:
    """Return a message that says whose machine answered, where a host of this run is planned to have it."""
    said = SAID.search(message)
    if said is None:
        return message
    owners = [host for host, its in _hosts(task_vars) if _has(its.get("up_machine") or {}, said[1], said[2])]
    return f"{message[: said.end(2)]} (that is {', '.join(owners)}){message[said.end(2) :]}" if owners else message


def _has(machine: Mapping[str, str], name: str, seen: str) -> bool:
    return name in machine and satisfied(name, machine[name], seen)


def whose_key(why: str, task_vars: Mapping[str, Any]) -> str:
    """Return whose host key answered, as ` (that of HOST)`; empty where it is no known host's of this run."""
    key, file = KEY.search(why), KNOWN_HOSTS.search(why)
    if key is None or file is None:
        return ""
    text = Path(file[1]).read_text(encoding="utf-8")
    entries = re.findall(r"^(\S+) \S+ ([A-Za-z0-9+/=]+)", text, re.MULTILINE)
    theirs = [name for name, blob in entries if _fingerprint(blob) == key[1]]
    owners = [host for host, its in _hosts(task_vars) if any(_is_of(it, its.get("ansible_host")) for it in theirs)]
    return f" (that of {', '.join(owners)})" if owners else ""


def _hosts(task_vars: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the hosts of this run, each with its variables."""
    hosts: Mapping[str, Any] = task_vars.get("hostvars") or {}
    return ((host, hosts[host]) for host in hosts)


def _fingerprint(key: str) -> str:
    return base64.b64encode(hashlib.sha256(base64.b64decode(key)).digest()).decode().rstrip("=")


def _is_of(entry: str, address: str | None) -> bool:
    """Tell whether an entry of known_hosts is of an address; Debian's OpenSSH hashes them (HashKnownHosts)."""
    if address is None or not entry.startswith("|1|"):
        return address in entry.split(",")
    salt, digest = entry.split("|")[2:4]
    return hmac.digest(base64.b64decode(salt), address.encode(), "sha1") == base64.b64decode(digest)
