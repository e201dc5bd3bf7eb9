#!/usr/bin/python
"""Read a Kubernetes node's labels, taints and readiness."""

from __future__ import annotations

DOCUMENTATION = r"""
module: node_read
short_description: Read a Kubernetes node's labels, taints and readiness
description:
  - A fact that cannot be read is listed with its reason and does not fail the task.
  - Runs on the deploy host, with lightkube there.
options:
  name:
    description: Name of the node.
    type: str
    required: true
  kubeconfig:
    description: Where the kubeconfig is read from, C(file:PATH) or C(env:NAME).
    type: str
    required: true
  facts:
    description: Names of the facts, C(label.KEY), C(taints), C(node_ready) and C(kubelet_serving).
    type: list
    elements: str
    required: true
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Read whether a node is ready
  delegate_to: localhost
  coldaisle.site.node_read:
    name: r01-n01
    kubeconfig: file:~/.kube/config
    facts: [node_ready]
"""

RETURN = r"""
facts:
  description: Value of each fact that could be read.
  returned: always
  type: dict
errors:
  description: Why each other fact could not be read.
  returned: always
  type: dict
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster, silence


def main() -> None:
    """Read one node."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "kubeconfig": {"type": "str", "required": True, "no_log": False},
            "facts": {"type": "list", "elements": "str", "required": True},
        },
        supports_check_mode=True,
    )
    names: list[str] = module.params["facts"]
    seen: dict[str, Value] = {}
    errors: dict[str, str] = {}
    try:
        cluster = Cluster(module.params["kubeconfig"])
        node = cluster.node(module.params["name"])
        # A cluster without the node is a positive answer: nothing of it is ready, and no label is set.
        seen, errors = cluster.facts(node, names) if node else ({name: _without_node(name) for name in names}, {})
        if node and (why := silence(node)) and seen.pop("node_ready", None) is not None:
            errors["node_ready"] = why
    except FactError as error:
        errors = dict.fromkeys(names, str(error))
    module.exit_json(changed=False, facts=seen, errors=errors)


def _without_node(name: str) -> Value:
    return False if name == "node_ready" else "no such node"


if __name__ == "__main__":
    main()
