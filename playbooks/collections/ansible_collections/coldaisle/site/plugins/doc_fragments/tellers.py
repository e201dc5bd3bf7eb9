"""Who tells of a host beside itself: what a read and a comparison take."""

from __future__ import annotations


class ModuleDocFragment:
    """Access to those who are asked."""

    DOCUMENTATION = r"""
options:
  bmc:
    description: Access to the node's BMC, as M(coldaisle.site.bmc_read) takes it; empty where there is none.
    type: dict
    default: {}
  node:
    description: Name and kubeconfig, as M(coldaisle.site.node_read) takes them; empty where there is no cluster.
    type: dict
    default: {}
  switch:
    description: Access to a switch's API, as M(coldaisle.site.switch_read) takes it; empty where it is no switch.
    type: dict
    default: {}
"""
