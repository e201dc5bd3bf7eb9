"""Starts BMCs that speak IPMI on the loopback, for the tests that log in to them."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc

Start = Callable[..., IpmiBmc]
FAKE = Path(__file__).with_name("fake_ipmi.py")


def free_port() -> int:
    """Return a UDP port of the loopback that nobody uses."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def serve_ipmi() -> Iterator[Callable[..., str]]:
    """Return a function that starts a BMC in a state and gives its address."""
    running: list[subprocess.Popen[str]] = []

    def serves(**state: Any) -> str:  # noqa: ANN401  # JSON
        port = free_port()
        command = [sys.executable, str(FAKE), str(port), json.dumps(state)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        assert running[-1].stdout
        assert running[-1].stdout.readline() == "ready\n"
        return f"127.0.0.1:{port}"

    yield serves
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, serve_ipmi: Callable[..., str]) -> Start:
    """Return a function that starts a BMC in a state and logs in to it."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    monkeypatch.setattr(bmc_module, "POLL_S", 0.01)
    monkeypatch.setattr(bmc_module, "SETTLE_AFTER_OFF_S", 0.0)

    def starts(password: str = "correct-horse", **state: Any) -> IpmiBmc:  # noqa: ANN401, S107  # JSON; a fake's password
        return IpmiBmc(Access(serve_ipmi(**state), "admin", password))

    return starts
