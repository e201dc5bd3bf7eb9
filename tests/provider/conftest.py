"""A site of hosts that are folders: the provider's tests need Ansible and ansible-runner, and no machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.provider.experimental.provider import (
    CheckRequest,
    CreateRequest,
    DeleteRequest,
    DiffRequest,
    ReadRequest,
    UpdateRequest,
)

from components.provider.provider import PlayProvider
from components.provider.values import engine_map

PLAYBOOKS = Path(__file__).parent / "fixtures" / "playbooks"
URN = "urn:pulumi:dev::floor::coldaisle:ansible:Play::os-train"


class Floor:
    """Hosts h1 to h4, each a folder; the inventory lies beside them."""

    def __init__(self, root: Path) -> None:
        """Make the folders and the inventory."""
        self.root = root
        self.names = [f"h{number}" for number in range(1, 5)]
        for name in self.names:
            (root / name).mkdir()
        self.write_inventory()

    def write_inventory(self, unreachable: tuple[str, ...] = (), secret_file: Path | None = None) -> None:
        """Write the inventory; an unreachable host is one whose SSH port is closed."""
        hosts: dict[str, dict[str, Any]] = {}
        for name in self.names:
            hosts[name] = {"ansible_connection": "local", "settle_folder": str(self.root / name)}
            hosts[name] |= {
                "settle_facts": self.facts(name),
                "ansible_python_interpreter": "{{ ansible_playbook_python }}",
            }
            if secret_file:
                hosts[name] |= {"settle_secret_file": str(secret_file)}
            if name in unreachable:
                hosts[name] |= {"ansible_connection": "ssh", "ansible_host": "127.0.0.1", "ansible_port": 1}
        content = {"all": {"hosts": hosts, "children": {"nodes": {"hosts": {name: {} for name in self.names}}}}}
        self.inventory.write_text(yaml.safe_dump(content))

    @property
    def inventory(self) -> Path:
        """Return the inventory's file."""
        return self.root / "inventory.yml"

    def facts(self, name: str) -> dict[str, Any]:
        """Return what is planned for a host."""
        return {"hostname": name, "mtu.rail0": 9000}

    def set(self, name: str, file: str, text: str) -> None:
        """Write a file into a host's folder; an empty text removes it."""
        path = self.root / name / file
        path.write_text(text) if text else path.unlink()

    def seen(self, name: str) -> dict[str, Any] | None:
        """Return the facts that were written on a host."""
        path = self.root / name / "facts.json"
        found: dict[str, Any] | None = json.loads(path.read_text()) if path.exists() else None
        return found

    def runs(self, name: str) -> int:
        """Return how many times the playbook ran on a host."""
        path = self.root / name / "runs"
        return len(path.read_text()) if path.exists() else 0

    def reads(self, name: str) -> int:
        """Return how many times a host's facts were read."""
        path = self.root / name / "reads"
        return len(path.read_text()) if path.exists() else 0

    @property
    def state(self) -> Path:
        """Return the site's folder for state."""
        return self.root / "state" / "coldaisle" / "floor"

    def processes(self) -> list[str]:
        """Return the command lines of running processes of Ansible that work for this site: modules, too."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            try:
                if f"ANSIBLE_LOCAL_TEMP={self.state}".encode() in (process / "environ").read_bytes():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue  # it ended while we looked
        return found

    def inputs(self, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the inputs of a play on all hosts."""
        hosts = {name: {**self.facts(name), "varsDigest": "v1"} for name in self.names}
        return {"site": "floor", "playbook": "settle", "codeDigest": "c1", "hosts": hosts} | changes


@pytest.fixture
def floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Floor:
    """Return a new site, and let the provider find it."""
    made = Floor(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("COLDAISLE_INVENTORY", str(made.inventory))
    monkeypatch.setenv("COLDAISLE_PLAYBOOKS", str(PLAYBOOKS))
    return made


class Engine:
    """Speaks to a provider as the engine does, in plain values."""

    def __init__(self) -> None:
        """Make the provider; keep the lines that it shows."""
        self.lines: list[str] = []
        self.provider = PlayProvider(lambda _urn, line: self.lines.append(line))

    async def check(self, inputs: dict[str, Any]) -> dict[str, str]:
        """Return the failures by property."""
        answer = await self.provider.check(CheckRequest(URN, {}, engine_map(inputs), b""))
        return {failure.property: failure.reason for failure in answer.failures or []}

    async def diff(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, str]:
        """Return the kinds of change by path."""
        old = engine_map(outputs)
        answer = await self.provider.diff(DiffRequest(URN, "os-train", old, engine_map(inputs), []))
        assert answer.changes == bool(answer.detailed_diff)
        assert not answer.replaces
        return {path: kind.kind.name for path, kind in answer.detailed_diff.items()}

    async def create(self, inputs: dict[str, Any], *, preview: bool = False) -> dict[str, Any]:
        """Return the outputs."""
        answer = await self.provider.create(CreateRequest(URN, engine_map(inputs), 0, preview))
        return from_engine(answer.properties)

    async def update(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs."""
        request = UpdateRequest(URN, "os-train", engine_map(outputs), engine_map(inputs), 0, [], False)
        return from_engine((await self.provider.update(request)).properties)

    async def read(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs."""
        answer = await self.provider.read(ReadRequest(URN, "os-train", engine_map(outputs), engine_map(inputs)))
        assert answer.resource_id == "os-train"
        return from_engine(answer.properties)

    async def delete(self, outputs: dict[str, Any]) -> None:
        """Delete the resource."""
        await self.provider.delete(DeleteRequest(URN, "os-train", engine_map(outputs), 0))


@pytest.fixture
def engine() -> Engine:
    """Return a provider to speak to."""
    return Engine()


def from_engine(properties: dict[str, Any]) -> dict[str, Any]:
    """Return properties as plain values."""
    from components.provider.values import plain_map  # noqa: PLC0415 - beside its only use

    return plain_map(properties)
