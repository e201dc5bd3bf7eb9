"""The action `bmc_inventory`: its module runs in this process, with the libraries that are loaded already."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.plugin_utils.here import HereAction, preload

preload("modules.bmc_inventory", "module_utils.bmc_redfish")


class ActionModule(HereAction):
    """Ansible's name for an action."""

    MODULE = "bmc_inventory"
