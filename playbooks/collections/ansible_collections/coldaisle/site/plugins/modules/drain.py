#!/usr/bin/python
"""Take a Kubernetes node out of service, or give it back."""

from __future__ import annotations

DOCUMENTATION = r"""
module: drain
short_description: Cordon and drain a Kubernetes node, or uncordon it
description:
  - Evicts pods by the API, so that disruption budgets hold; it asks again until they are gone, or a deadline is over.
  - Leaves pods of DaemonSets, those that the kubelet has by file, and those that have ended.
  - Tells why by an annotation and an event of the node.
  - Gives back only a node that it has cordoned itself, once that is ready and offers the devices that it is planned to.
  - A node that is not in the cluster is passed over.
  - Runs on the deploy host, with lightkube there.
options:
  state:
    description: Whether the node is to be drained, or in service.
    type: str
    choices: [drained, in-service]
    required: true
  why:
    description: What jobs are told.
    type: str
    default: maintenance
  timeout_s:
    description: How long pods may take to go, or the node to be ready.
    type: float
    default: 900
  acceptance:
    description: Whether the node is accepted from now on (the taint coldaisle.dev/unaccepted goes), or no longer.
    type: str
    choices: [as-is, withdrawn, given]
    default: as-is
  offers:
    description:
      - The least number by extended resource (C(nvidia.com/gpu), say) that a node has to offer before it is given back.
        A resource that the node has never told of is not waited for, since its device plugin has not come yet.
    type: dict
    default: {}
extends_documentation_fragment:
  - coldaisle.site.cluster_node
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
- name: Drain a node
  delegate_to: localhost
  coldaisle.site.drain:
    name: r01-n01
    kubeconfig: file:~/.kube/config
    state: drained
"""

RETURN = r"""
evicted:
  description: Pods that had to leave, as NAMESPACE/NAME.
  returned: always
  type: list
  elements: str
"""

from typing import Any

import httpx2
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.coldaisle.site.plugins.module_utils.drain import Drainer, is_cordoned, is_ours, told
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster
from lightkube import ApiError
from lightkube.resources.core_v1 import Node


def main() -> None:
    """Drain one node, or give it back."""
    module = AnsibleModule(
        argument_spec={
            "name": {"type": "str", "required": True},
            "kubeconfig": {"type": "str", "required": True, "no_log": False},
            "state": {"type": "str", "choices": ["drained", "in-service"], "required": True},
            "why": {"type": "str", "default": "maintenance"},
            "timeout_s": {"type": "float", "default": 900.0},
            "acceptance": {"type": "str", "choices": ["as-is", "withdrawn", "given"], "default": "as-is"},
            "offers": {"type": "dict", "default": {}},
        },
        supports_check_mode=True,
    )
    try:
        changed, evicted, message = _reach(module.params, check=module.check_mode)
    except FactError as error:
        module.fail_json(msg=f"node {module.params['name']}: {error}")
    except (ApiError, httpx2.HTTPError) as error:
        module.fail_json(msg=f"node {module.params['name']}: {told(error)}")
    module.exit_json(changed=changed, evicted=evicted, msg=message)


def _reach(params: dict[str, Any], *, check: bool) -> tuple[bool, list[str], str]:
    """Return whether something changed, what was evicted, and what there is to say."""
    cluster = Cluster(params["kubeconfig"])
    drainer = Drainer(cluster.client, params["name"])
    node = drainer.node()
    if node is None:
        return False, [], "it is not in the cluster: nothing to do"
    if params["state"] == "in-service":
        changed = is_ours(node) if check else drainer.give_back(node, params["timeout_s"], params["offers"])
        changed = _accepted(cluster, node, params, check=check) or changed
        return changed, [], "" if changed else "somebody else has cordoned it, or nobody has"
    if check:
        return not is_cordoned(node), [], ""
    changed = _accepted(cluster, node, params, check=check)
    evicted = drainer.drain(node, params["why"], params["timeout_s"])
    return changed or bool(evicted) or not is_cordoned(node), evicted, ""


def _accepted(cluster: Cluster, node: Node, params: dict[str, Any], *, check: bool) -> bool:
    """Put the taint of a node that is not accepted on or off; return whether that changed something."""
    if params["acceptance"] == "as-is" or check:
        return False
    return cluster.set_accepted(params["name"], node, accepted=params["acceptance"] == "given")


if __name__ == "__main__":
    main()
