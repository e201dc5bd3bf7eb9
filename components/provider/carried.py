"""
What an execution node gets of a run, and what comes back: the playbooks, the inventory, secrets by name, and state.

The node has none of the runner's files, so every path of the runner in the inventory becomes one in the run's folder on
the node, and what the path names travels along. What a run remembers (host keys, disks, records of BMCs) lies where
ansible-runner's artifacts do, which come back by themselves.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coldaisle.paths import PROJECT

IDENT = "run"
"""Name of ansible-runner's artifacts: each run has a folder of its own."""

STATE = f"artifacts/{IDENT}/state"
"""Where XDG_STATE_HOME is on the node, below the run's folder."""

ACCESS = "bmc-access"
"""Folder of the records of BMCs, below the state of all sites (bmc_state of our collection)."""

KNOWN_HOSTS, DISKS = "known_hosts", "disks"
FILE, ENVIRONMENT, PATH_ENDING = "file:", "env:", "_file"
OF_CREDENTIALS = ("", "_USERNAME", "_PASSWORD")
"""What stands behind the name of a secret in the environment (secrets.py of our collection)."""


@dataclass
class Load:
    """
    The folder that travels (`here`), and the run's folder on the node (`there`).

    `environment` collects variables that hold secrets: they travel in the stream, never in a file or a command.
    """

    job: dict[str, Any]
    here: Path
    there: Path
    environment: dict[str, str] = field(default_factory=dict)
    _files: dict[Path, str] = field(default_factory=dict)

    @property
    def state(self) -> Path:
        """Return the site's folder of state on the runner."""
        return Path(self.job["state"])

    def pack(self) -> dict[str, Any]:
        """Fill the folder, and return the arguments of ansible-runner that travel beside it."""
        skip = shutil.ignore_patterns("__pycache__", ".*")
        shutil.copytree(self.job["project"], self.here / "project", ignore=skip)
        settings = self.job["environment"].get("ANSIBLE_CONFIG")
        if settings:
            shutil.copy(settings, self.here / "ansible.cfg")
        inventory = self.moved(self.job["inventory"])
        (self.here / "inventory").mkdir()
        (self.here / "inventory/hosts.json").write_text(json.dumps(inventory), encoding="utf-8")
        self._pack_state()
        given = {name: self._elsewhere(value) for name, value in self.job["environment"].items()}
        own = {"XDG_STATE_HOME": f"{self.there}/{STATE}", "ANSIBLE_HOME": f"{self.there}/home"}
        return {
            "playbook": str(Path(self.job["playbook"]).relative_to(self.job["project"])),
            "forks": self.job["forks"],
            "timeout": self.job["timeout_s"],
            "ident": IDENT,
            "envvars": {**given, **own, **self.environment},
        }

    def moved(self, value: Any, key: str = "") -> Any:  # noqa: ANN401 - whatever an inventory holds
        """Return a value of the inventory as the node shall see it; what it names is packed."""
        if isinstance(value, dict):
            return {name: self.moved(each, str(name)) for name, each in value.items()}
        if isinstance(value, list):
            return [self.moved(each, key) for each in value]
        if not isinstance(value, str):
            return value
        if value.startswith(FILE):
            return FILE + self._packed(value.removeprefix(FILE))
        if value.startswith(ENVIRONMENT):
            names = (value.removeprefix(ENVIRONMENT) + ending for ending in OF_CREDENTIALS)
            self.environment |= {name: os.environ[name] for name in names if name in os.environ}
            return value
        return self._packed(value) if key.endswith(PATH_ENDING) else self._elsewhere(value)

    def _packed(self, path: str) -> str:
        """Return where a file of the runner lies on the node; a path that leads to no file here stays as it is."""
        source = Path(path).expanduser()
        if not source.is_file():
            return self._elsewhere(path)
        if source not in self._files:
            self._files[source] = name = f"files/{len(self._files)}-{source.name}"
            target = self.here / name
            target.parent.mkdir(exist_ok=True, mode=0o700)
            target.write_bytes(source.read_bytes())
            target.chmod(0o600)
        return f"{self.there}/{self._files[source]}"

    def _elsewhere(self, text: str) -> str:
        """Return a text with the runner's own folders named as they are on the node; the longest path counts first."""
        folders = {
            self.job["folder"]: str(self.there),
            self.job["project"]: f"{self.there}/project",
            f"{self.state}/ssh": f"{self.there}/s",
            str(self.state): f"{self.there}/{STATE}/{PROJECT}/{self.state.name}",
            self.job["environment"].get("ANSIBLE_CONFIG", self.job["folder"]): f"{self.there}/ansible.cfg",
        } | {self.job["folder"]: str(self.there)}
        for folder in sorted(folders, key=len, reverse=True):
            text = text.replace(folder, folders[folder])
        return text

    def _pack_state(self) -> None:
        own, access = _state_in(self.here, self.state)
        own.mkdir(parents=True)
        if (self.state / KNOWN_HOSTS).is_file():
            shutil.copy(self.state / KNOWN_HOSTS, own)
        if (self.state / DISKS).is_dir():
            shutil.copytree(self.state / DISKS, own / DISKS)
        if (self.state.parent / ACCESS).is_dir():
            records = shutil.ignore_patterns("*.lock", ".*")
            shutil.copytree(self.state.parent / ACCESS, access, ignore=records)


def _state_in(folder: Path, state: Path) -> tuple[Path, Path]:
    """Return where the site's state and the records of BMCs lie in a run's folder."""
    base = folder / STATE / PROJECT
    return base / state.name, base / ACCESS


def bring_home(back: Path, sent: Path, state: Path) -> None:
    """
    Keep what a run has learnt.

    Args:
        back: The folder with the artifacts that came back.
        sent: The folder that travelled: what came back as it went is not written.
        state: The site's folder of state.

    """
    for came, went, home in zip(
        _state_in(back, state), _state_in(sent, state), (state, state.parent / ACCESS), strict=True
    ):
        for path in (path for path in sorted(came.rglob("*")) if path.is_file() and path.suffix != ".lock"):
            name = path.relative_to(came)
            text = path.read_bytes()
            if (went / name).is_file() and (went / name).read_bytes() == text:
                continue
            if name == Path(KNOWN_HOSTS):
                _add_lines(home / name, text)
            else:
                _replace(home / name, text)


def _add_lines(file: Path, text: bytes) -> None:
    """Add the lines that a file has not: others may have added theirs meanwhile."""
    known = set(file.read_bytes().splitlines()) if file.exists() else set()
    fresh = [line for line in text.splitlines() if line and line not in known]
    with file.open("ab") as opened:
        opened.write(b"".join(line + b"\n" for line in fresh))


def _replace(file: Path, text: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    fresh = file.with_name(f".{file.name}.{os.getpid()}")
    fresh.write_bytes(text)
    fresh.chmod(0o600)
    fresh.replace(file)
