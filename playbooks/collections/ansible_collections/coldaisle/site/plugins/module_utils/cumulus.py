"""
Cumulus Linux over NVUE's REST API: its configuration by sections, and trials by revisions.

A revision begins as a copy of what is applied, and only the fabric's parts of it are replaced: NVUE shows no passwords,
so that a whole tree that was read could not be given back.
"""

from __future__ import annotations

import contextlib
import time
from typing import Any
from urllib.parse import quote

import httpx
from ansible_collections.coldaisle.site.plugins.module_utils.cumulus_sections import (
    Path,
    parts,
    sections_of,
    tree_of,
)
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.qos_maps import of_cumulus
from ansible_collections.coldaisle.site.plugins.module_utils.switch_changes import changes_of
from ansible_collections.coldaisle.site.plugins.module_utils.switch_http import LostError, RefusedError, asked

ROOT = "/nvue_v1/"
YES = {"auto-prompt": {"ays": "ays_yes"}}
POLL_S, APPLY_S = 1.0, 180.0

CONFIRM = "confirm"
"""State of a revision that is applied until its timer ends."""

KEPT = frozenset({"applied", "applied_and_saved", "saved"})
"""States of a revision that was confirmed."""

FAILED = ("invalid", "fail", "error")
"""Words in the states of a revision that was not applied."""


class CumulusSwitch:
    """A switch that runs Cumulus Linux."""

    PORT = 8765

    def __init__(self, client: httpx.Client) -> None:
        """Speak over `client`."""
        self._client = client

    def read(self) -> dict[str, str]:
        """Return the sections of the applied configuration."""
        return sections_of(self._tree("applied"))

    def established(self) -> set[str]:
        """Return the peers whose BGP sessions are up, by address or, unnumbered, by port."""
        query = {"rev": "operational", "include": "/*/router/bgp/neighbor"}
        vrfs = self._ask("GET", "vrf", params=query) or {}
        found = (vrf.get("router", {}).get("bgp", {}).get("neighbor", {}) for vrf in vrfs.values())
        return {peer for peers in found for peer, state in peers.items() if state.get("state") == "established"}

    def effective(self) -> dict[str, str]:
        """Return the maps of QoS that the chip follows."""
        query = {"rev": "operational"}
        roce = self._ask("GET", "qos/roce", params=query) or {}
        return of_cumulus(roce, self._ask("GET", "qos/roce/prio-map", params=query) or {})

    def is_planned(self, config: str, peer: str) -> bool:
        """Tell whether a configuration has a session with a peer."""
        vrfs = tree_of(config).get("vrf", {}).values()
        return any(peer in vrf.get("router", {}).get("bgp", {}).get("neighbor", {}) for vrf in vrfs)

    def offer(self, config: str, *, keep_extra: bool) -> tuple[str, dict[str, str]]:
        """
        Make a revision with a configuration; return its name (none where it would be the applied one) and its sections.

        Raises:
            FactError: NVUE refuses a setting; the revision is gone then.

        """
        applied, planned = parts(self._tree("applied")), parts(tree_of(config))
        changed = changes_of(_sections(applied), _sections(planned))
        gone = [path for path in applied if " ".join(path) in changed and (path in planned or not keep_extra)]
        wanted = {path: branch for path, branch in planned.items() if " ".join(path) in changed}
        if not gone and not wanted:
            return "", _sections(applied)
        token = str(next(iter(self._ask("POST", "revision"))))
        try:
            for path in gone:
                self._remove(token, path)
            if wanted:
                self._ask("PATCH", "", params={"rev": token}, json=_tree(wanted))
        except RefusedError as error:
            self.withdraw(token)
            raise FactError(f"NVUE refuses the configuration: {_said(error.body)}: nothing was changed") from error
        return token, sections_of(self._tree(token))

    def withdraw(self, token: str) -> None:
        """Take back a revision that is on trial; forget one that is not."""
        if self.is_on_trial(token):
            self._set(token, "confirm_no")
            self._wait(lambda state: state not in {CONFIRM, "confirm_no"}, token)
            return
        # A revision that was never applied does no harm where NVUE keeps it.
        with contextlib.suppress(RefusedError):
            self._ask("DELETE", _revision(token))

    def commit(self, token: str, timer_s: int) -> None:
        """
        Put a revision in force for `timer_s` seconds.

        Raises:
            FactError: NVUE does not apply it; nothing was changed then.

        """
        self._set(token, "apply", {"state-controls": {"confirm": timer_s}})
        state, said = self._wait(lambda state: state == CONFIRM or any(word in state for word in FAILED), token)
        if state != CONFIRM:
            self.withdraw(token)
            raise FactError(f"NVUE does not apply the configuration ({state}): {said}: nothing was changed")

    def is_on_trial(self, token: str) -> bool:
        """Tell whether a revision's timer still runs."""
        return self._state(token)[0] == CONFIRM

    def confirm(self, token: str) -> None:
        """Keep a revision that is on trial, after the next start too; where NVUE saves by itself, nothing is left."""
        self._set(token, "confirm_yes")
        state, said = self._wait(lambda state: state in KEPT or any(word in state for word in FAILED), token)
        if state not in KEPT:
            raise FactError(f"NVUE does not keep the configuration ({state}): {said}")
        if "saved" not in state:
            self._set("applied", "save")

    def _tree(self, revision: str) -> dict[str, Any]:
        return dict(self._ask("GET", "", params={"rev": revision, "filled": "false"}) or {})

    def _remove(self, token: str, path: Path) -> None:
        """Remove a part of a revision; a name that stands for several ports may be gone with the first of them."""
        if path == ("system", "hostname"):
            return  # the new one takes its place
        try:
            self._ask("DELETE", "/".join(quote(name, safe="") for name in path), params={"rev": token})
        except RefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise

    def _set(self, token: str, state: str, more: dict[str, Any] | None = None) -> None:
        """Ask for a state of a revision."""
        try:
            self._ask("PATCH", _revision(token), json={"state": state, **YES, **(more or {})})
        except RefusedError as error:
            raise FactError(f"NVUE refuses to {state} a revision: {_said(error.body)}") from error

    def _state(self, token: str) -> tuple[str, str]:
        """Return a revision's state, and what NVUE says of it; one that is gone has none."""
        try:
            found = self._ask("GET", _revision(token))
        except RefusedError as error:
            if error.status != httpx.codes.NOT_FOUND:
                raise
            return "", "it is gone"
        return str(found.get("state")), _said(found.get("transition"))

    def _wait(self, reached: Any, token: str) -> tuple[str, str]:  # noqa: ANN401 - a function of the state
        """Wait for a state; the way to the switch may be away for a moment while it changes its own ports."""
        deadline = time.monotonic() + APPLY_S
        while True:
            try:
                state, said = self._state(token)
                if reached(state):
                    return state, said
                if time.monotonic() > deadline:
                    raise FactError(f"NVUE is still at {state} after {APPLY_S:g} s")
            except LostError:
                if time.monotonic() > deadline:
                    raise
            time.sleep(POLL_S)

    def _ask(self, method: str, path: str, **more: Any) -> Any:  # noqa: ANN401 - JSON
        return asked(self._client, method, ROOT + path, **more)


def _revision(token: str) -> str:
    return f"revision/{quote(token, safe='')}"


def _sections(found: dict[Path, Any]) -> dict[str, str]:
    return sections_of(_tree(found))


def _tree(found: dict[Path, Any]) -> dict[str, Any]:
    """Return parts as one tree."""
    tree: dict[str, Any] = {}
    for (*above, last), branch in found.items():
        place = tree
        for name in above:
            place = place.setdefault(name, {})
        place[last] = branch
    return tree


def _said(body: Any) -> str:  # noqa: ANN401 - JSON
    """Return the messages in an answer of NVUE: an error's detail, or the issues of a transition."""
    if not isinstance(body, dict):
        return "no reason given"
    issues = body.get("issue") or {}
    found = [str(issue.get("message")) for issue in issues.values() if isinstance(issue, dict)]
    return "; ".join(found) or str(body.get("detail") or body.get("title") or "no reason given")
