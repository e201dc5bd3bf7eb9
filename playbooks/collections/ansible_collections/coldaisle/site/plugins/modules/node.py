#!/usr/bin/python
"""Settle a Kubernetes node: wait until it is ready, set its labels and taints."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node
short_description: Settle a Kubernetes node
description:
  - Waits until the node is there and ready, sets labels and taints that do not fit, and reads them back.
  - Where planned, approves the certificate that the kubelet serves with, if it is for the planned name and address.
  - Runs on the deploy host, with lightkube there.
options:
  facts:
    description: Planned C(label.KEY), C(taints), C(node_ready) and C(kubelet_serving).
    type: dict
    required: true
  address:
    description: The planned address of the node; its kubelet may serve with a certificate for it and the name.
    type: str
  timeout_s:
    description: How long the node may take until it is ready, and as long again until it serves as planned.
    type: float
    default: 120
extends_documentation_fragment:
  - coldaisle.site.cluster_node
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Wait for a node and label it
  delegate_to: localhost
  coldaisle.site.node:
    name: r01-n01
    kubeconfig: file:~/.kube/config
    facts: {node_ready: true, label.pool: guests}
"""

RETURN = r"""
changes:
  description: What did not fit, each with what was seen and what is planned.
  returned: always
  type: list
  elements: dict
facts:
  description: The facts as they are at the end; in check mode as they are now.
  returned: always
  type: dict
"""

import time
from typing import TYPE_CHECKING, Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.facts import different
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.node import (
    SERVING,
    Cluster,
    is_ready,
    own_taints,
    parsed_taints,
)

if TYPE_CHECKING:
    from lightkube.resources.core_v1 import Node

POLL_S = 1.0


def main() -> None:
    """Settle one node."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "kubeconfig": {"type": "str", "required": True, "no_log": False},
            "facts": {"type": "dict", "required": True},
            "address": {"type": "str"},
            "timeout_s": {"type": "float", "default": 120.0},
        },
        supports_check_mode=True,
    )
    try:
        changes, seen = _settle(module.params, check=module.check_mode)
    except FactError as error:
        module.fail_json(msg=f"node {module.params['name']}: {error}")
    before = "".join(f"{change['fact']} = {change['seen']}\n" for change in changes)
    after = "".join(f"{change['fact']} = {change['planned']}\n" for change in changes)
    module.exit_json(changed=bool(changes), changes=changes, facts=seen, diff={"before": before, "after": after})


def _settle(params: dict[str, Any], *, check: bool) -> tuple[list[dict[str, Any]], dict[str, Value]]:
    """Return what did not fit, after it was set, and all facts as they are then; waiting for a node changes nothing."""
    cluster, name, planned = Cluster(params["kubeconfig"]), params["name"], params["facts"]
    if check:
        node = cluster.node(name)
        nothing: dict[str, Value] = dict.fromkeys(planned, "no such node")
        seen = _facts(cluster, node, planned) if node else nothing
        return _changes(planned, seen), seen
    _wait_until_ready(cluster, name, params["timeout_s"])
    seen = _seen(cluster, name, planned)
    changes = _changes(planned, seen)
    if changes:
        _set(cluster, name, planned)
        if any(change["fact"] == SERVING for change in changes):
            _sign(cluster, name, params)
            _wait_until_ready(cluster, name, params["timeout_s"])  # a slow host may have been given up meanwhile
        seen = _seen(cluster, name, planned)
        left = _changes(planned, seen)
        if left:
            raise FactError("; ".join(f"{it['fact']} is {it['seen']}, planned {it['planned']}" for it in left))
    return changes, seen


def _set(cluster: Cluster, name: str, planned: dict[str, Any]) -> None:
    labels = {key.removeprefix("label."): str(value) for key, value in planned.items() if key.startswith("label.")}
    taints = None
    if "taints" in planned:
        node = cluster.node(name)
        kept = own_taints(node) if node else []
        taints = kept + parsed_taints(str(planned["taints"]))
    cluster.patch(name, labels, taints)


def _sign(cluster: Cluster, name: str, params: dict[str, Any]) -> None:
    """Approve what the kubelet asks for, whenever it asks, until it serves as planned."""
    deadline = time.monotonic() + params["timeout_s"]
    while _seen(cluster, name, {SERVING: None})[SERVING] != params["facts"][SERVING]:
        if time.monotonic() > deadline:
            raise FactError(f"its kubelet serves with no signed certificate after {params['timeout_s']:g} s")
        cluster.approve_serving(name, params["address"])
        time.sleep(POLL_S)


def _seen(cluster: Cluster, name: str, planned: dict[str, Any]) -> dict[str, Value]:
    node = cluster.node(name)
    if node is None:
        raise FactError("it was in the cluster, and is gone")
    return _facts(cluster, node, planned)


def _facts(cluster: Cluster, node: Node, planned: dict[str, Any]) -> dict[str, Value]:
    """Return what a node shows; of what cannot be read, the reason."""
    seen, errors = cluster.facts(node, planned)
    return {**seen, **errors}


def _wait_until_ready(cluster: Cluster, name: str, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while True:
        node = cluster.node(name)
        if node and is_ready(node):
            return
        if time.monotonic() > deadline:
            state = "is not in the cluster" if node is None else "is not ready"
            raise FactError(
                f"it {state} after {timeout_s:g} s (look at journalctl -u kubelet on the host, kubectl get csr)"
            )
        time.sleep(POLL_S)


def _changes(planned: dict[str, Any], seen: dict[str, Value]) -> list[dict[str, Any]]:
    return [{"fact": name, "seen": seen.get(name), "planned": planned[name]} for name in different(planned, seen)]


if __name__ == "__main__":
    main()
