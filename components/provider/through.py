"""
A run that goes through an execution node: `ansible-runner transmit | ssh NODE worker | ansible-runner process`.

This is the part of it on the runner, in the process that holds the locks of the hosts. A node that is lost may still be
at work, so it has a lease: it ends its worker when it has not heard us for LEASE_S, and we tell of the loss, and let go
of the hosts, only when it has said that all is ended, or that time has passed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import IO, Any

import ansible_runner  # type: ignore[import-untyped]

from components.provider.asking import CONNECTION_FAILED, REFUSALS
from components.provider.carried import IDENT, Load, bring_home
from components.provider.orphans import MARK, mark

LEASE_S, BEAT_S = 20.0, 3.0
"""How long a node works on without a word of ours, and how often it gets one. Our figures."""

ENDING_S = 5.0
"""What a node takes at most to kill what runs there, over its lease."""

SSH_END_S = 30.0
"""Time for ssh to end after its worker."""

FINAL = frozenset({"successful", "failed", "timeout"})
"""How ansible-runner says that a playbook has ended; everything else is a run without an end."""

PACKAGES = ("ansible-runner", "ansible-core")
"""What the node must have in the runner's own version: the stream between two versions is nobody's promise."""

SOURCES = ("orphans", "on_node")
BUNDLE = """\
import sys, types
for name in ("components", "components.provider"):
    sys.modules[name] = types.ModuleType(name)
for name, text in {sources!r}.items():
    sys.modules["components.provider." + name] = module = types.ModuleType("components.provider." + name)
    exec(compile(text, name, "exec"), module.__dict__)
import json
sys.exit(module.main(json.loads(sys.argv[1])))
"""

Event = dict[str, Any]


class RefusedError(Exception):
    """The node cannot be used as it is; the message is complete."""


class SilentError(Exception):
    """The node does not answer, or has gone away before the run began."""


def run_through(job: dict[str, Any], handle: Callable[[Event], bool], stop: threading.Event) -> Event:
    """
    Run the job on its execution node and return the last event: `end`, `lost` or `refused`.

    Args:
        job: As the worker takes it; `node` names the execution node, `state` is the site's folder.
        handle: Takes each event of ansible-runner.
        stop: Set when the run is to stop.

    """
    folder = Path(job["folder"])
    tempfile.tempdir = str(folder)  # ansible-runner's archive has secrets in it
    link = Link(job["node"], folder)
    try:
        there = link.greet()
        status, rc = _stream(job, link, there, handle, stop)
    except RefusedError as error:
        link.end()
        return {"kind": "refused", "why": str(error)}
    except SilentError as error:
        status, rc, why = "silent", None, str(error)
    else:
        why = link.said() or "its worker ended in the middle of the run"
    known = link.end()
    if status in FINAL:
        return {"kind": "end", "status": status, "rc": rc}
    if not known and link.begun:
        time.sleep(LEASE_S + ENDING_S)
    return {"kind": "end", "status": "canceled", "rc": None} if stop.is_set() else {"kind": "lost", "why": why}


def _stream(
    job: dict[str, Any], link: Link, there: Path, handle: Callable[[Event], bool], stop: threading.Event
) -> tuple[str, int | None]:
    """Send the run, follow its events, and keep what it has learnt; return how it ended."""
    folder = Path(job["folder"])
    go, back = folder / "go", folder / "back"
    go.mkdir(mode=0o700)
    back.mkdir(mode=0o700)
    load = Load(job, go, there)
    common = {"quiet": True, "cancel_callback": stop.is_set}
    settings = {"pexpect_timeout": 0.5, "suppress_output_file": True}
    try:
        ansible_runner.run(
            streamer="transmit",
            private_data_dir=str(go),
            _output=link.to_node,
            settings=settings,
            suppress_env_files=True,
            **load.pack(),
            **common,
        )
    except BrokenPipeError:
        raise SilentError(link.said() or "it went away while it was given the run") from None
    link.beat(stop)
    done = ansible_runner.run(
        streamer="process",
        private_data_dir=str(back),
        ident=IDENT,
        _input=link.from_node,
        settings={},
        event_handler=handle,
        **common,
    )
    if done.status in FINAL:
        bring_home(back, go, load.state)
    return done.status, _exit_code(back)


def _exit_code(back: Path) -> int | None:
    """Return Ansible's exit code, which the stream tells only by a file."""
    try:
        return int((back / "artifacts" / IDENT / "rc").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


class Link:
    """The connection to a node, and the process of ssh that is it. `begun` says that the node may be at work."""

    def __init__(self, node: dict[str, Any], folder: Path) -> None:
        """Start ssh; `folder` is the run's, which gets the node's pinned key and what ssh says."""
        self.node = node
        self.begun = False
        self._errors = folder / "ssh.errors"
        self._over = threading.Event()
        self._beats: threading.Thread | None = None
        with self._errors.open("wb") as errors:
            self._ssh = subprocess.Popen(
                _words(node, folder),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, MARK: mark(folder)},
            )

    @property
    def to_node(self) -> IO[bytes]:
        """Return what the node reads."""
        assert self._ssh.stdin is not None  # noqa: S101 - asked for at its start
        return self._ssh.stdin

    @property
    def from_node(self) -> IO[bytes]:
        """Return what the node writes."""
        assert self._ssh.stdout is not None  # noqa: S101 - asked for at its start
        return self._ssh.stdout

    def greet(self) -> Path:
        """
        Return the run's folder on the node.

        Raises:
            RefusedError: the node lacks something, shows another key, or does not let us in.
            SilentError: it does not answer.

        """
        line = self.from_node.readline()
        try:
            answer = json.loads(line)
        except ValueError:
            answer = {}
        if "missing" in answer:
            raise RefusedError("\n".join(_lack(self.node, each) for each in answer["missing"]))
        if "folder" in answer:
            self.begun = True
            return Path(answer["folder"])
        self._ssh.kill() if line else self._ssh.wait(SSH_END_S)
        said = self.said() or line.decode(errors="replace").strip()
        if self._ssh.poll() != CONNECTION_FAILED or any(sign in said for sign in REFUSALS):
            raise RefusedError(_lack(self.node, _why_refused(self.node, said)))
        raise SilentError(said or "it does not answer")

    def beat(self, stop: threading.Event) -> None:
        """Let the node hear us until the end, or until the run is to stop."""
        self._beats = threading.Thread(target=self._beat, args=(stop,), daemon=True)
        self._beats.start()

    def _beat(self, stop: threading.Event) -> None:
        last = 0.0
        while not self._over.wait(0.5) and not stop.is_set():
            if time.monotonic() - last > BEAT_S:
                last = time.monotonic()
                try:
                    self.to_node.write(b"\n")
                    self.to_node.flush()
                except OSError:
                    return
        self._close()

    def _close(self) -> None:
        try:
            self.to_node.close()
        except OSError:
            return

    def said(self) -> str:
        """Return the last line that ssh, or the node's shell, has said."""
        lines = self._errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1].strip() if lines else ""

    def end(self) -> bool:
        """End the connection; return whether the node has said that nothing of the run is left there."""
        self._over.set()
        if self._beats is not None:
            self._beats.join()
        self._close()
        try:
            code = self._ssh.wait(SSH_END_S)
        except subprocess.TimeoutExpired:
            self._ssh.kill()
            code = self._ssh.wait()
        return 0 <= code < CONNECTION_FAILED


def _words(node: dict[str, Any], folder: Path) -> list[str]:
    """Return the command that starts a worker. Nothing secret is in it: it can be read by everybody there."""
    known = folder / "node_hosts"
    name = f"[{node['address']}]:{node['port']}" if node["port"] != 22 else node["address"]  # noqa: PLR2004 - ssh's own
    known.write_text(f"{name} {node['host_key']}\n", encoding="utf-8")
    options = {
        "BatchMode": "yes",
        "StrictHostKeyChecking": "yes",
        "UserKnownHostsFile": f'"{known}"',
        "GlobalKnownHostsFile": "/dev/null",
        "UpdateHostKeys": "no",
        "ControlMaster": "no",
        "ControlPath": "none",
        "ConnectTimeout": "10",
        "ServerAliveInterval": "3",
        "ServerAliveCountMax": "3",
        "IdentitiesOnly": "yes",
    }
    words = ["ssh", "-T", "-a", "-x", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    words += ["-i", str(Path(node["key_file"]).expanduser()), "-p", str(node["port"]), "-l", node["user"]]
    versions = {package: metadata.version(package) for package in PACKAGES}
    order = {"run": folder.name, "versions": versions, "lease_s": LEASE_S}
    return [*words, node["address"], shlex.join([node["python"], "-c", _program(), json.dumps(order)])]


def _program() -> str:
    """Return what runs on the node, as one text."""
    texts = {name: Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8") for name in SOURCES}
    return BUNDLE.format(sources=texts)


def _why_refused(node: dict[str, Any], said: str) -> dict[str, str]:
    """Return what a node lacks that has not said so itself."""
    have = said or "nothing was printed"
    if "Permission denied" in said:
        fix = f"add the public half of {node['key_file']} to the authorized keys of {node['user']} there"
        return {"what": f"it does not let {node['user']} in", "have": have, "fix": fix}
    if any(sign in said for sign in REFUSALS):
        fix = "find out whose key it is; if it is the node's own, write it into execution.nodes"
        return {"what": "its host key is not the pinned one", "have": have, "fix": fix}
    fix = f"see that '{node['python']}' is a Python 3.10 or later for {node['user']} there, and the login shell silent"
    return {"what": "its Python did not answer", "have": have, "fix": fix}


def _lack(node: dict[str, Any], lack: dict[str, str]) -> str:
    where = f"execution node {node['name']} ({node['user']}@{node['address']}:{node['port']})"
    return f"{where}: {lack['what']}\n  have: {lack['have']}\n  fix:  {lack['fix']}"
