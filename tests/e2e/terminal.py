"""Short ways to ask a simulated site things, as a person at a terminal of its deploy host would."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.paths import state_dir
from coldaisle.plan.model import SitePlan
from coldaisle.toolchain.environment import environment

ROOT = Path(__file__).parents[2]
SITE = "sim"
UP = ("pulumi", "up", "--stack", SITE, "--yes", "--skip-preview", "--non-interactive")
DRIFT_TRIES, DRIFT_PAUSE_S = 6, 20


class Terminal:
    """Runs the project's commands in the environment of the stack, from the project's folder."""

    def __init__(self, plan: SitePlan) -> None:
        """Keep the plan, for the addresses of hosts."""
        self.plan = plan
        self.env = environment(SITE)

    def run(self, *command: str, expect: int | None = 0, timeout_s: float = 600) -> subprocess.CompletedProcess[str]:
        """Run a command to its end; its exit code must be `expect`, unless that is None."""
        done = subprocess.run(
            command, cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=timeout_s, check=False
        )
        if expect is not None:
            assert done.returncode == expect, f"{command} exited {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done

    def start(self, *command: str, output: Path) -> subprocess.Popen[str]:
        """Start a command in a process group of its own, so that it can be ended as a terminal would."""
        with output.open("w") as stream:
            return subprocess.Popen(
                command, cwd=ROOT, env=self.env, stdout=stream, stderr=stream, text=True, start_new_session=True
            )

    def up(self, *more: str, expect: int | None = 0) -> str:
        """Run `pulumi up` with a refresh, as `make up` does, and return what it printed."""
        command = (*UP, "--refresh", *more)
        done = self.run(*command, expect=expect, timeout_s=900)
        return done.stdout + done.stderr

    def drift(self, expect: int) -> dict[str, Any]:
        """
        Run `coldaisle drift`, and return its JSON report; its exit code must be `expect`.

        A host that has just booted on a busy machine may be late with its heartbeat: what could not be told is asked
        again a few times, as a pipeline would.
        """
        for _ in range(DRIFT_TRIES):
            done = self.run("coldaisle", "drift", SITE, "--json", expect=None)
            if done.returncode in {expect, 0, 1, 5}:
                break
            time.sleep(DRIFT_PAUSE_S)
        assert done.returncode == expect, f"drift exited {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}"
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    def drift_code(self) -> int:
        """Run `coldaisle drift`, and return its exit code."""
        return self.run("coldaisle", "drift", SITE, "--json", expect=None).returncode

    def state(self) -> dict[str, Any]:
        """Return the stack's state."""
        found: dict[str, Any] = json.loads(self.run("pulumi", "stack", "export", "--stack", SITE).stdout)
        return found

    def on(self, host: str, command: str) -> str:
        """Run a shell command on a host or a switch as its administrator, and return what it printed."""
        switches = (switch for fabric in self.plan.fabrics.values() for switch in fabric.switches)
        addresses = {node.name: node.management_address for node in self.plan.nodes}
        addresses |= {switch.name: switch.management_address or "" for switch in switches}
        if self.plan.provisioning:
            addresses[self.plan.provisioning.host] = self.plan.provisioning.host_address
        address = addresses[host].split("/")[0]
        options = "-o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
        key = state_dir(SITE) / "keys" / "id_ed25519"
        return self.run("ssh", *options.split(), "-i", str(key), f"root@{address}", command).stdout.strip()

    def kubectl(self, *arguments: str) -> str:
        """Run kubectl as the cluster's administrator, and return what it printed."""
        kubeconfig = state_dir(SITE) / "secrets" / "admin.kubeconfig"
        return self.run("kubectl", "--kubeconfig", str(kubeconfig), *arguments).stdout.strip()

    def power(self, host: str, action: str) -> None:
        """Turn a node on or off at its BMC by hand, over IPMI."""
        bmc = next(node.bmc for node in self.plan.nodes if node.name == host)
        assert bmc is not None
        login = yaml.safe_load((state_dir(SITE) / "secrets" / "bmc.yaml").read_text())
        command = ["ipmitool", "-I", "lanplus", "-C", "3", "-H", bmc.address, "-U", login["username"], "-E"]
        env = {**self.env, "IPMI_PASSWORD": login["password"]}
        subprocess.run([*command, "power", action], env=env, check=True, capture_output=True, timeout=60)

    @contextmanager
    def fault(self, name: str, host: str, *more: str) -> Iterator[None]:
        """Put a fault in force, and take it back at the end."""
        self.run("coldaisle", "sim", "fault", SITE, name, host, *more)
        try:
            yield
        finally:
            self.run("coldaisle", "sim", "fault", SITE, name, host, "--clear", *more)


def wait_until(true: Callable[[], bool], within_s: float, what: str) -> float:
    """Wait until something is true, and return the seconds that it took; fails with `what` after `within_s`."""
    started = time.monotonic()
    while not true():
        if time.monotonic() - started > within_s:
            pytest.fail(f"{what}: not within {within_s:.0f} s")
        time.sleep(1)
    return time.monotonic() - started
