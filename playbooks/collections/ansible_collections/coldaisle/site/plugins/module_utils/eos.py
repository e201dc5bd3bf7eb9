"""
Arista EOS over eAPI (JSON-RPC over HTTPS): its configuration by sections, and trials by configuration sessions.

A session begins clean and gets the plan's lines, and those of the switch that are not the fabric's as they stand: users
and the API itself among them. Such lines may hold secrets, so they are never in what is returned or told.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import httpx
from ansible_collections.coldaisle.site.plugins.module_utils.eos_sections import (
    COMMENT,
    blocks,
    is_fabrics,
    names,
    sections,
)
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.qos_maps import of_eos
from ansible_collections.coldaisle.site.plugins.module_utils.switch_http import asked

Command = str | dict[str, str]

SUMMARIES = ("show ip bgp summary vrf all", "show ipv6 bgp summary vrf all", "show bgp evpn summary")
PENDING = "pendingCommitTimer"
"""State of a session that is in force until its timer ends."""

MODE_COMMENT = re.compile(r"\s*!! ?(.*)")
"""A comment that EOS keeps inside a section."""


class CommandError(FactError):
    """EOS refuses a command; `at` is its place in the list, and `said` what EOS says, which may quote it."""

    def __init__(self, at: int, said: str) -> None:
        """Keep both; the text tells of neither, since a command may hold a secret."""
        super().__init__(f"EOS refuses command {at + 1} of those it was sent")
        self.at, self.said = at, said


class EosSwitch:
    """A switch that runs EOS."""

    PORT = 443

    def __init__(self, client: httpx.Client) -> None:
        """Speak over `client`."""
        self._client = client

    def read(self) -> dict[str, str]:
        """Return the sections of the running configuration."""
        return sections(self._text("show running-config"))

    def established(self) -> set[str]:
        """Return the peers whose BGP sessions are up; EOS that runs no BGP of a kind refuses to sum it up."""
        found: set[str] = set()
        for command in SUMMARIES:
            try:
                vrfs = self._run([command])[0].get("vrfs", {})
            except CommandError:
                continue
            peers = (pair for vrf in vrfs.values() for pair in vrf.get("peers", {}).items())
            found |= {peer for peer, state in peers if state.get("peerState") == "Established"}
        return found

    def effective(self) -> dict[str, str]:
        """
        Return the map of DSCPs that is in effect. Which priorities have PFC, EOS tells in a form of each version's own.

        Raises:
            FactError: EOS shows no such map.

        """
        try:
            return of_eos(self._text("show qos maps"))
        except ValueError as error:
            raise FactError(str(error)) from error

    def is_planned(self, config: str, peer: str) -> bool:
        """Tell whether a configuration has a session with a peer, by address or (`fe80::1%Et1/1`) by port."""
        address, _, port = peer.partition("%")
        name = f"interface {port.replace('Et', 'Ethernet', 1)}" if port else address
        return f" neighbor {name} " in config

    def offer(self, config: str, *, keep_extra: bool) -> tuple[str, dict[str, str]]:
        """
        Load a configuration into a session of its own; return its name, and its sections as EOS has them.

        Raises:
            FactError: EOS refuses a line, or what is not the fabric's would change; the session is gone then.

        """
        token, running = f"coldaisle-{uuid.uuid4().hex[:12]}", self._text("show running-config")
        own = [block for block in blocks(running) if not is_fabrics(block[0])]
        kept = [*own, *(_extra(running, set(sections(config))) if keep_extra else ())]
        planned = list(_commands(blocks(config)))
        vrfs = [line for line in planned if isinstance(line, str) and line.startswith("vrf instance ")]
        head: list[Command] = [f"configure session {token}", "rollback clean-config", *vrfs, *_commands(kept)]
        try:
            self._run([*head, *planned])
        except CommandError as error:
            self.withdraw(token)
            raise FactError(f"{_told(error, [*head, *planned], len(head))}: nothing was changed") from error
        text = self._text(f"show session-config named {token}")
        if _lines(own) != _lines(block for block in blocks(text) if not is_fabrics(block[0])):
            self.withdraw(token)
            what = "lines that are not the fabric's (users, banners, certificates …)"
            raise FactError(f"EOS would change {what}: nothing was changed")
        return token, sections(text)

    def withdraw(self, token: str) -> None:
        """End a session: one that is on trial is taken back at once."""
        self._do([f"configure session {token} abort"])

    def commit(self, token: str, timer_s: int) -> None:
        """Put a session in force for `timer_s` seconds."""
        minutes, seconds = divmod(timer_s, 60)
        timer = f"commit timer {minutes // 60:02}:{minutes % 60:02}:{seconds:02}"
        self._do([f"configure session {token}", timer])

    def is_on_trial(self, token: str) -> bool:
        """Tell whether a session's timer still runs; EOS forgets one that it has taken back."""
        found = self._do(["show configuration sessions detail"])[0].get("sessions", {})
        return PENDING in str(found.get(token, {}).get("state"))

    def confirm(self, token: str) -> None:
        """Keep a session that is on trial, after the next start too."""
        self._do([f"configure session {token} commit"])
        self._do(["write memory"])

    def _text(self, command: str) -> str:
        return str(self._do([command], form="text")[0]["output"])

    def _do(self, commands: list[Command], form: str = "json") -> list[Any]:
        """Return EOS's answers to commands of ours, which may be told of whole."""
        try:
            return self._run(commands, form)
        except CommandError as error:
            raise FactError(f"EOS refuses {commands[min(error.at, len(commands) - 1)]!r}: {error.said}") from error

    def _run(self, commands: list[Command], form: str = "json") -> list[Any]:
        """Return what EOS answers to each command, by eAPI's method runCmds."""
        params = {"version": 1, "cmds": ["enable", *commands], "format": form}
        request = {"jsonrpc": "2.0", "method": "runCmds", "params": params, "id": "coldaisle"}
        answer = asked(self._client, "POST", "/command-api", json=request)
        if not isinstance(answer, dict) or not {"error", "result"} & answer.keys():
            raise FactError(
                "what answers is not eAPI (look at the address, and at `show management api http-commands`)"
            )
        if "error" in answer:
            data = answer["error"].get("data") or [{}, {}]
            said = "; ".join(map(str, data[-1].get("errors", [])))
            raise CommandError(max(len(data) - 2, 0), said)
        return list(answer["result"][1:])


def _told(error: CommandError, commands: list[Command], first_planned: int) -> str:
    """Return an error in words: a planned line is quoted, one of the switch's own is not."""
    if first_planned <= error.at < len(commands):
        return f"EOS refuses the line {str(commands[error.at]).strip()!r}: {error.said}"
    return "EOS refuses a line of its own running configuration, which is not shown here"


def _lines(found: Any) -> list[str]:  # noqa: ANN401 - blocks
    """Return the lines of blocks without what only separates them."""
    lines = (line for head, body in found for line in (head, *body))
    return sorted(line.rstrip() for line in lines if MODE_COMMENT.match(line) or not COMMENT.match(line))


def _extra(running: str, planned: set[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the fabric's sections of a running configuration that no plan has."""
    found = sections(running)
    for head, body in blocks(running):
        if any(name in found for name in names(head)):
            yield from ((name, body) for name in names(head) if name not in planned)


def _commands(found: Any) -> Iterator[Command]:  # noqa: ANN401 - blocks
    """Yield blocks as eAPI takes them: text of several lines is the input of a command."""
    for head, body in found:
        if head.startswith("banner "):
            yield {"cmd": head, "input": "".join(f"{line}\n" for line in body[:-1])}
            continue
        yield head
        for is_comment, lines in groupby(body, lambda line: bool(MODE_COMMENT.match(line))):
            if is_comment:
                yield {"cmd": "comment", "input": "".join(MODE_COMMENT.sub(r"\1\n", line) for line in lines)}
            else:
                yield from (line for line in lines if not COMMENT.match(line))
