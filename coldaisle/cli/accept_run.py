"""A run of acceptance by the command: the playbook, what it kept, and the judgement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from coldaisle.acceptance import Step
from coldaisle.acceptance.wire import role_variables
from coldaisle.cli.accept_judge import Done, Judging, kept
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.playbook import environment
from coldaisle.evidence import EvidenceError, Store, open_store
from coldaisle.openssh import write_config
from coldaisle.pace import write_settings
from coldaisle.paths import packaged
from coldaisle.spec import site_folder
from coldaisle.spec.sections import SiteSpec

FORKS = 64
TOUCH_VARIABLE = "COLDAISLE_TOUCH"
"""Nodes that the inventory may give to a playbook in any state: what was mended is tested before it is in service."""
LAST_LINES = 15
SSH_ARGS = "-o ControlMaster=auto -o ControlPersist=15s -o ServerAliveInterval=5 -o ServerAliveCountMax=6"
"""One connection a host for the tasks of a run; it ends soon after the last one."""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of acceptance on a site, and how it is judged."""

    site: str
    judging: Judging

    def carry_out(self, steps: Sequence[Step]) -> Done:
        """Run the steps on the hosts, judge what they printed, and keep a signed statement of each node."""
        with tempfile.TemporaryDirectory(prefix="coldaisle-accept-") as folder:
            problems = run_playbook(self.site, steps, Path(folder))
            outputs = kept(Path(folder))
        return self.judging.judged(steps, outputs, problems)


def opened_store(spec: SiteSpec) -> Store:
    """Return the site's store, ready to sign, before anything runs: an unsigned result is not worth a day."""
    try:
        return open_store(spec)
    except EvidenceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(ExitCode.INVALID) from None


def run_playbook(site: str, steps: Sequence[Step], folder: Path) -> list[str]:
    """Run the playbook on the steps' hosts; its failures are told, and what the hosts did say is in the folder."""
    variables, limit = folder / "variables.json", folder / "hosts"
    hosts = dict.fromkeys(host for step in steps for host in step.hosts)
    write_settings(folder / "ansible.cfg", len(hosts))
    (folder / "kept").mkdir()
    variables.write_text(json.dumps(role_variables(steps, str(folder / "kept"))), encoding="utf-8")
    limit.write_text("".join(f"{host}\n" for host in hosts))
    own = os.environ.get("COLDAISLE_INVENTORY") or str(site_folder(site))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", own, "--limit", f"@{limit}"]
    command += ["--forks", str(FORKS), "-e", f"@{variables}", str(packaged("playbooks") / "accept.yml")]
    settings = environment(folder / "ssh") | {
        TOUCH_VARIABLE: ",".join(sorted(hosts)),
        "ANSIBLE_CONFIG": str(folder / "ansible.cfg"),
        "ANSIBLE_SSH_ARGS": f"{write_config(folder / 'ssh_config')} {SSH_ARGS}",
        "ANSIBLE_INVENTORY_ENABLED": "coldaisle.site.plan,yaml",
    }
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return []
    return ["\n".join((done.stdout + done.stderr).strip().splitlines()[-LAST_LINES:])]
