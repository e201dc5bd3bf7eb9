"""A site of hosts that are folders: the provider's tests need Ansible and ansible-runner, and no machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from pulumi.runtime.proto import provider_pb2

from components.provider.plays import Plays
from components.provider.servicer import PlayServicer
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
    """Speaks to a provider in plain values; what needs no hosts goes through the protocol's own messages."""

    def __init__(self) -> None:
        """Make the provider; keep the lines that it shows."""
        self.lines: list[str] = []
        self.plays = Plays(lambda _urn, line: self.lines.append(line))
        self.servicer = PlayServicer(self.plays)

    async def check(self, inputs: dict[str, Any]) -> dict[str, str]:
        """Return the failures by property."""
        answer = await self.servicer.Check(provider_pb2.CheckRequest(urn=URN, news=engine_map(inputs)), None)
        return {failure.property: failure.reason for failure in answer.failures}

    async def diff(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, str]:
        """Return the kinds of change by path."""
        request = provider_pb2.DiffRequest(urn=URN, olds=engine_map(outputs), news=engine_map(inputs))
        answer = await self.servicer.Diff(request, None)
        some = provider_pb2.DiffResponse.DIFF_SOME
        assert (answer.changes == some) == bool(answer.detailedDiff)
        assert not answer.replaces
        kinds = provider_pb2.PropertyDiff.Kind
        return {path: kinds.Name(change.kind) for path, change in answer.detailedDiff.items()}

    async def create(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs."""
        resource_id, outputs = await self.plays.create(URN, inputs, 0)
        assert resource_id == "os-train"
        return outputs

    async def update(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs."""
        return await self.plays.update(URN, "os-train", outputs, inputs, 0)

    async def read(self, outputs: dict[str, Any], inputs: dict[str, Any]) -> dict[str, Any]:
        """Return the outputs."""
        return await self.plays.read(URN, "os-train", outputs, inputs)

    async def delete(self, outputs: dict[str, Any]) -> None:
        """Delete the resource."""
        await self.plays.delete(URN, outputs, 0)


@pytest.fixture
def engine() -> Engine:
    """Return a provider to speak to."""
    return Engine()
