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
  facts:
    description: Names of the facts, C(label.KEY), C(taints), C(node_ready) and C(kubelet_serving).
    type: list
    elements: str
    required: true
extends_documentation_fragment:
  - coldaisle.site.cluster_node
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
from ansible_collections.coldaisle.site.plugins.module_utils.node import ACCESS_OPTIONS, read_node


def main() -> None:
    """Read one node."""
    module = AnsibleModule(
        argument_spec={**ACCESS_OPTIONS, "facts": {"type": "list", "elements": "str", "required": True}},
        supports_check_mode=True,
    )
    seen, errors = read_node(module.params, module.params["facts"])
    module.exit_json(changed=False, facts=seen, errors=errors)


if __name__ == "__main__":
    main()
