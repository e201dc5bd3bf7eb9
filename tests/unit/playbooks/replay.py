"""Answers written down beforehand instead of a switch: each request must be the next that is expected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils.switch_life import (
    ApiSwitch,
    keep_config,
    open_switch,
    try_config,
)

FOLDER = Path(__file__).parent / "replays"
TOKEN = re.compile(r"coldaisle-[0-9a-f]{12}")
SECRET = "hash-that-nobody-may-see"  # noqa: S105 - of a switch that does not exist
"""What every replay has in the switch's own lines, and nothing that is told may have."""

PASSWORD = "word-of-the-file"  # noqa: S105 - the same

Exchange = Mapping[str, Any]


def login_file(folder: Path) -> str:
    """Write credentials into a file, and return the reference to it."""
    (folder / "login.yaml").write_text(f"username: coldaisle\npassword: {PASSWORD}\n", encoding="utf-8")
    return f"file:{folder}/login.yaml"


class Replay:
    """One file of exchanges by scenario, and a transport that plays one of them."""

    def __init__(
        self,
        system: str,
        shorten: Callable[[httpx.Request], Any],
        answer: Callable[[Exchange], Any],
        credentials: str,
    ) -> None:
        """Read the file; `shorten` turns a request into the form of its `ask`, `answer` an exchange into a body."""
        text = (FOLDER / f"{system}.yaml").read_text(encoding="utf-8")
        assert text.startswith("# Written from the documentation of "), "a replay tells that no device has answered"
        self.content: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
        self.access = {"system": system, "address": "192.0.2.11", "credentials": credentials, "ca_file": None}
        self._shorten, self._answer = shorten, answer
        self.left: list[Exchange] = []
        self._token = "TOKEN"  # noqa: S105 - the name of a trial

    def transport(self, scenario: str) -> httpx.BaseTransport:
        """Return a transport that answers a scenario's requests in their order."""
        self.left = list(self.content["scenarios"][scenario])

        def answer(request: httpx.Request) -> httpx.Response:
            assert request.headers["authorization"].startswith("Basic ")
            found = TOKEN.search(request.read().decode())
            self._token = found.group() if found else self._token
            assert self.left, f"the scenario {scenario} is over, and there came {self._shorten(request)}"
            exchange = self.left.pop(0)
            assert self._shorten(request) == exchange["ask"]
            if exchange.get("lost"):
                raise httpx.ConnectTimeout("timed out")
            text = json.dumps(self._answer(exchange)).replace("TOKEN", self._token)
            return httpx.Response(exchange.get("status", 200), text=text)

        return httpx.MockTransport(answer)

    def switch(self, scenario: str) -> ApiSwitch:
        """Return a switch that answers as a scenario says."""
        return open_switch(self.access, self.transport(scenario))

    def tries(self, scenario: str, *, keep_extra: bool = False, check: bool = False) -> dict[str, Any]:
        """Try the planned configuration; every exchange of the scenario must have come."""
        switch = self.switch(scenario)
        answer = try_config(switch, self.content["planned"], keep_extra=keep_extra, timer_s=120, check=check)
        assert not self.left
        return answer

    def keeps(self, scenario: str, trial: dict[str, Any], sessions_s: float = 0.0) -> dict[str, Any]:
        """Keep a trial, over a connection of its own."""
        answer = keep_config(self.switch(scenario), trial["token"], trial["trial"], sessions_s=sessions_s)
        assert not self.left
        return answer
