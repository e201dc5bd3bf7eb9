#!/usr/bin/python
"""Join this host to its cluster by TLS bootstrap."""

from __future__ import annotations

DOCUMENTATION = r"""
module: join
short_description: Join this host to its cluster by TLS bootstrap
description:
  - Starts the kubelet. Where the host has no kubeconfig of its own yet, gives the kubelet one with a bootstrap token,
    waits until the kubelet got its own, and takes the token away again.
options:
  kubeconfig:
    description: The kubeconfig of the join, without its token.
    type: dict
    required: true
  token:
    description: The bootstrap token.
    type: str
    required: true
  timeout_s:
    description: How long the join may take.
    type: float
    default: 90
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Join the cluster
  coldaisle.site.join:
    kubeconfig: "{{ kubeconfig }}"
    token: "{{ lookup('coldaisle.site.secret', 'file:~/token') }}"
"""

RETURN = r"""
joined:
  description: Whether this run made the host a member.
  returned: always
  type: bool
"""

import json
import os
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run, wait_until
from ansible_collections.coldaisle.site.plugins.module_utils.services import is_active

BOOTSTRAP = Path("/etc/kubernetes/bootstrap-kubelet.conf")
KUBECONFIG = Path("/etc/kubernetes/kubelet.conf")
BOOTSTRAP_USER = "bootstrap"
"""The user that the plan's context names."""

LAST_LINES = 8


def main() -> None:
    """Join, or see that the host is a member."""
    module = AnsibleModule(
        argument_spec={
            "kubeconfig": {"type": "dict", "required": True},
            "token": {"type": "str", "required": True, "no_log": True},
            "timeout_s": {"type": "float", "default": 90.0},
        },
        supports_check_mode=True,
    )
    member, running, left = KUBECONFIG.exists(), is_active("kubelet"), BOOTSTRAP.exists()
    changed = not (member and running) or left
    if changed and not module.check_mode:
        try:
            _join(_with_token(module.params), module.params["timeout_s"], member=member)
        except FactError as error:
            module.fail_json(msg=f"{error}; the kubelet's last words: {_last_words()}")
    module.exit_json(changed=changed, joined=not member)


def _join(kubeconfig: str, timeout_s: float, *, member: bool) -> None:
    """Start the kubelet; the token lies on the host only while the kubelet needs it."""
    try:
        if not member:
            _write_private(BOOTSTRAP, kubeconfig)
        run("systemctl", "enable", "kubelet")
        run("systemctl", "restart" if not member else "start", "kubelet", timeout_s=60)
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
        lines = run("journalctl", "--unit=kubelet", "--output=cat", f"--lines={LAST_LINES}", "--no-pager").splitlines()
    except FactError as error:
        return str(error)
    return " | ".join(lines) or "none"


if __name__ == "__main__":
    main()
