"""The action `bmc_firmware`: its module runs in this process, with the libraries that are loaded already."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.plugin_utils.here import HereAction, preload

preload("modules.bmc_firmware", "module_utils.bmc_firmware_settle")


class ActionModule(HereAction):
    """Ansible's name for an action."""

    MODULE = "bmc_firmware"
