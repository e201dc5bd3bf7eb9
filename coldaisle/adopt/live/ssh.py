"""
Hosts and switches over SSH: one login and one shell script each, which reads and changes nothing.

OpenSSH's own client asks, so that keys, agents and jump hosts are those of the user's settings. A host key that is not
in the file of known hosts is refused. What a device does not have (lldpd, `ip`, a serial that only root may read) is
missing from its answer and no failure.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from coldaisle.adopt.facts import Untold
from coldaisle.adopt.live import Say, Taken, beside, quiet
from coldaisle.adopt.live.sources import SshSource

Role = Literal["host", "switch"]
MARK = "==coldaisle "
LAST_CHARACTERS = 300

SCRIPT = r"""
part() { printf '\n==coldaisle %s\n' "$1"; }
asroot() { "$@" 2>/dev/null || sudo -n "$@" 2>/dev/null; }
export LC_ALL=C PATH="$PATH:/usr/local/sbin:/usr/sbin:/sbin"
part hostname; hostname
part domain; hostname -d 2>/dev/null
part kernel; uname -r
part machine; uname -m
part os; sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null | tr -d '"'
part timezone; timedatectl show -p Timezone --value 2>/dev/null || cat /etc/timezone 2>/dev/null
part vendor; cat /sys/class/dmi/id/sys_vendor 2>/dev/null
part product; cat /sys/class/dmi/id/product_name 2>/dev/null
part serial; asroot cat /sys/class/dmi/id/product_serial
part links; ip -json -details address show 2>/dev/null
part routes; ip -json route show default 2>/dev/null
part rules; ip -json rule show 2>/dev/null
part ntp; cat /etc/systemd/timesyncd.conf /etc/systemd/timesyncd.conf.d/*.conf \
    /etc/chrony/chrony.conf /etc/chrony.conf 2>/dev/null | grep -E '^(NTP=|server |pool )'
part lldp; asroot lldpctl -f json0
part end
"""
"""Asks for each thing by itself: a program that is not there leaves its part empty."""

JSON_PARTS = ("links", "routes", "rules")


@dataclass(frozen=True)
class SshLive:
    """Some hosts and switches; addresses are single ones here."""

    asked: SshSource
    hosts: tuple[str, ...]
    switches: tuple[str, ...]

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"ssh to {len(self.hosts)} hosts and {len(self.switches)} switches"

    def take(self, say: Say = quiet) -> Taken:
        """Ask all of them; who does not answer is named, and the others count."""
        wanted: list[tuple[str, Role]] = [(each, "host") for each in self.hosts]
        wanted += [(each, "switch") for each in self.switches]
        told = beside(partial(_ask, self.asked), wanted, self.asked.at_once, say)
        devices: dict[str, str] = {}
        neighbours: dict[str, str] = {}
        untold: list[Untold] = []
        for (address, role), answer in zip(wanted, told, strict=True):
            if isinstance(answer, str):
                untold.append(Untold("ssh", address, "everything", answer, silent=True))
                continue
            name = answer["hostname"].partition(".")[0].lower() or address
            devices[f"{address}.json"] = json.dumps({"address": address, "role": role, **answer}, indent=1)
            if answer["lldp"]:
                neighbours[f"{name}.json"] = answer["lldp"]
            else:
                why = "lldpctl prints none as JSON; is lldpd there, does it run, and may the user ask it?"
                untold.append(Untold("lldp", name, "its neighbours", why))
        return Taken({"ssh": devices, "lldp": neighbours}, tuple(untold))


def _ask(asked: SshSource, device: tuple[str, Role]) -> dict[str, Any] | str:
    """Return the parts of a device's answer, or why there is none."""
    command = [*_words(asked), device[0], "sh", "-s"]
    try:
        done = subprocess.run(command, input=SCRIPT.encode(), capture_output=True, timeout=asked.timeout_s, check=False)
    except subprocess.TimeoutExpired:
        return f"no whole answer in {asked.timeout_s:g} s"
    except FileNotFoundError:
        return "there is no ssh on PATH"
    parts = dict(_parts(done.stdout.decode(errors="replace")))
    if "end" not in parts:
        said = done.stderr.decode(errors="replace").strip()[-LAST_CHARACTERS:]
        return said.splitlines()[-1] if said else f"ssh ended with {done.returncode}, and the answer is not whole"
    return {name: _json(text) if name in JSON_PARTS else text for name, text in parts.items() if name != "end"}


def _words(asked: SshSource) -> Iterator[str]:
    """Yield the words of OpenSSH's client: never a question to a person, never a key that is not known."""
    yield from ("ssh", "-T", "-p", str(asked.port), "-l", asked.user)
    if asked.key_file:
        yield from ("-i", str(Path(asked.key_file).expanduser()), "-o", "IdentitiesOnly=yes")
    known = Path(asked.known_hosts).expanduser()
    options = ("BatchMode=yes", "StrictHostKeyChecking=yes", f"UserKnownHostsFile={known}", "ControlMaster=no",
               f"ConnectTimeout={max(1, int(asked.timeout_s / 2))}", "LogLevel=ERROR")  # fmt: skip
    for option in options:
        yield from ("-o", option)
    yield "--"


def _parts(text: str) -> Iterator[tuple[str, str]]:
    for each in re.split(rf"^{MARK}", text, flags=re.MULTILINE)[1:]:
        name, _, rest = each.partition("\n")
        yield name.strip(), rest.strip()


def _json(text: str) -> Any:  # noqa: ANN401 - what a program of the device prints
    try:
        return json.loads(text)
    except ValueError:
        return []
