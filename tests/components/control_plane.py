"""A real API server on loopback, with its store, for tests of who owns which field."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.programs import required

TOKEN = "test"  # noqa: S105 - of a server that lives as long as the test
STARTED_S = 90


@dataclass(frozen=True)
class Api:
    """An API server: its kubeconfig, and a client that acts as somebody else than Pulumi."""

    kubeconfig: Path
    client: httpx.Client

    def patch(self, path: str, change: dict[str, Any], manager: str) -> None:
        """Change an object as the field manager of that name."""
        self.client.patch(
            path,
            params={"fieldManager": manager},
            json=change,
            headers={"Content-Type": "application/merge-patch+json"},
        ).raise_for_status()

    def get(self, path: str) -> dict[str, Any]:
        """Return an object."""
        found: dict[str, Any] = self.client.get(path).raise_for_status().json()
        return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def _running(command: list[str], folder: Path, path: str) -> Iterator[None]:
    program = required(command[0], path)
    with (folder / f"{command[0]}.log").open("w") as log:
        process = subprocess.Popen([program, *command[1:]], cwd=folder, stdout=log, stderr=log)
        try:
            yield
        finally:
            process.terminate()
            process.wait(30)


def _kubeconfig(port: int) -> str:
    return f"""
apiVersion: v1
kind: Config
current-context: test
clusters: [{{name: test, cluster: {{server: "https://127.0.0.1:{port}", insecure-skip-tls-verify: true}}}}]
users: [{{name: test, user: {{token: {TOKEN}}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
"""


def _commands(folder: Path, port: int) -> Iterator[list[str]]:
    store, peer = (f"http://127.0.0.1:{_free_port()}" for _ in range(2))
    (folder / "tokens.csv").write_text(f'{TOKEN},admin,1,"system:masters"\n', encoding="utf-8")
    subprocess.run(["openssl", "genrsa", "-out", "sa.key", "2048"], cwd=folder, check=True, capture_output=True)
    yield [
        "etcd",
        "--data-dir=etcd",
        "--unsafe-no-fsync",
        f"--listen-client-urls={store}",
        f"--advertise-client-urls={store}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
    ]
    yield [
        "kube-apiserver",
        f"--etcd-servers={store}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        "--cert-dir=certificates",
        "--token-auth-file=tokens.csv",
        "--service-account-issuer=https://test",
        "--service-account-key-file=sa.key",
        "--service-account-signing-key-file=sa.key",
        "--service-cluster-ip-range=10.96.0.0/16",
    ]


@contextmanager
def running_api(folder: Path, path: str) -> Iterator[Api]:
    """Start a store and an API server in `folder`, with the programs of `path`."""
    port = _free_port()
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(_kubeconfig(port), encoding="utf-8")
    client = httpx.Client(
        base_url=f"https://127.0.0.1:{port}",
        headers={"Authorization": f"Bearer {TOKEN}"},
        verify=False,  # noqa: S501 - its certificate is made by itself, on loopback
        timeout=30,
    )
    with ExitStack() as stack:
        for command in _commands(folder, port):
            stack.enter_context(_running(command, folder, path))
        _wait_until_ready(client)
        yield Api(kubeconfig, client)


def _wait_until_ready(client: httpx.Client) -> None:
    deadline = time.monotonic() + STARTED_S
    while time.monotonic() < deadline:
        try:
            if client.get("/readyz").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.5)
    pytest.fail(f"the API server was not ready after {STARTED_S} s")
