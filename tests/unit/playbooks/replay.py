"""Answers written down beforehand instead of a switch: each request must be the next that is expected."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx
import yaml

FOLDER = Path(__file__).parent / "replays"
TOKEN = re.compile(r"coldaisle-[0-9a-f]{12}")
SECRET = "hash-that-nobody-may-see"  # noqa: S105 - of a switch that does not exist
"""What every replay has in the switch's own lines, and nothing that is told may have."""

Exchange = Mapping[str, Any]


class Replay:
    """One file of exchanges by scenario, and a transport that plays one of them."""

    def __init__(self, system: str, shorten: Callable[[httpx.Request], Any], answer: Callable[[Exchange], Any]) -> None:
        """Read the file; `shorten` turns a request into the form of its `ask`, `answer` an exchange into a body."""
        text = (FOLDER / f"{system}.yaml").read_text(encoding="utf-8")
        assert text.startswith("# Written from the documentation of "), "a replay tells that no device has answered"
        self.content: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
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
