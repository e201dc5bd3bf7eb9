"""Joining a cluster by TLS bootstrap, on the host."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils import run_files
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, wait_until
from ansible_collections.coldaisle.site.plugins.module_utils.host import run as run_command
from ansible_collections.coldaisle.site.plugins.module_utils.services import is_active, unit_state
from ansible_collections.coldaisle.site.plugins.module_utils.steps import in_turn

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

BOOTSTRAP = Path("/etc/kubernetes/bootstrap-kubelet.conf")
KUBECONFIG = Path("/etc/kubernetes/kubelet.conf")
BOOTSTRAP_USER = "bootstrap"
"""The user that the plan's context names."""

LAST_LINES = 8


def run(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    """Write the settings of the runtime and the kubelet, and join, or see that the host is a member."""
    return in_turn(lambda: run_files.run(params, check=check), lambda: _member(params, check=check))


def _member(params: dict[str, Any], *, check: bool) -> dict[str, Any]:
    member, running, left = KUBECONFIG.exists(), is_active("kubelet"), BOOTSTRAP.exists()
    result = {"changed": not (member and running) or left, "joined": not member}
    if not result["changed"] or check:
        return result
    try:
        _join(_with_token(params), params["timeout_s"], member=member)
    except FactError as error:
        return {**result, "failed": True, "msg": f"{error}; the kubelet's last words: {_last_words()}"}
    return result


def _join(kubeconfig: str, timeout_s: float, *, member: bool) -> None:
    """Start the kubelet; the token lies on the host only while the kubelet needs it."""
    try:
        if not member:
            _write_private(BOOTSTRAP, kubeconfig)
        # Enabling makes systemd read every unit again; starting waits for the container runtime.
        if unit_state("kubelet") != "enabled":
            run_command("systemctl", "enable", "kubelet", timeout_s=timeout_s)
        run_command("systemctl", "restart" if not member else "start", "kubelet", timeout_s=timeout_s)
        if not wait_until(KUBECONFIG.exists, timeout_s):
            raise FactError(
                f"the kubelet got no certificate in {timeout_s:g} s (look at pending requests: kubectl get csr)"
            )
    finally:
        BOOTSTRAP.unlink(missing_ok=True)
    if not wait_until(lambda: is_active("kubelet"), timeout_s=15):
        raise FactError("the kubelet does not stay up")


def _with_token(params: dict[str, Any]) -> str:
    """Return the kubeconfig with its user, as JSON, which every reader of YAML takes."""
    user = {"name": BOOTSTRAP_USER, "user": {"token": params["token"]}}
    return json.dumps({**params["kubeconfig"], "users": [user]})


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as opened:
        opened.write(text)


def _last_words() -> str:
    try:
        lines = run_command(
            "journalctl", "--unit=kubelet", "--output=cat", f"--lines={LAST_LINES}", "--no-pager"
        ).splitlines()
    except FactError as error:
        return str(error)
    return " | ".join(lines) or "none"
