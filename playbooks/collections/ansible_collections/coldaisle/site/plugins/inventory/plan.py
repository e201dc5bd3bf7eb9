"""The folder of a site as an Ansible inventory: hosts, groups and variables come from the site's plan."""

from __future__ import annotations

DOCUMENTATION = r"""
name: plan
short_description: A site's plan as inventory
description:
  - Takes the folder of a site (or its C(site.yaml)), plans it, and gives Ansible the hosts with their variables.
  - The other files of the folder belong to the same site and are passed over.
options:
  plugin:
    description: Not needed; here for the tools that look for it.
    type: str
  touch:
    description:
      - Nodes that plays may touch although they are in maintenance, in repair or not verified yet, by their names with
        commas between them. All others of such a state are in the group C(left_alone) only.
    type: str
    default: ""
    env:
      - name: COLDAISLE_TOUCH
author:
  - The Coldaisle authors
"""

EXAMPLES = r"""
# ansible-playbook -i inventory/sim playbooks/site.yml --check
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

if TYPE_CHECKING:
    from ansible.inventory.data import InventoryData
    from ansible.parsing.dataloader import DataLoader

SITE_FILE = "site.yaml"


class InventoryModule(BaseInventoryPlugin):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for an inventory plugin."""

    NAME = "coldaisle.site.plan"

    def verify_file(self, path: str) -> bool:
        """Tell whether the file belongs to a site's folder."""
        file = Path(path)
        return file.suffix in {".yaml", ".yml"} and (file.parent / SITE_FILE).is_file()

    def parse(self, inventory: InventoryData, loader: DataLoader, path: str, cache: bool = True) -> None:  # noqa: FBT001, FBT002  # Ansible's signature
        """Plan the site once, at its `site.yaml`."""
        super().parse(inventory, loader, path, cache)
        if Path(path).name == SITE_FILE:
            touch = [name.strip() for name in str(self.get_option("touch") or "").split(",")]
            self._fill(_planned_inventory(Path(path).parent, touch))

    def _fill(self, planned: dict[str, Any]) -> None:
        for host, variables in planned["all"]["hosts"].items():
            self.inventory.add_host(host)
            for name, value in variables.items():
                self.inventory.set_variable(host, name, value)
        for group, content in planned["all"]["children"].items():
            self.inventory.add_group(group)
            for host in content["hosts"]:
                self.inventory.add_child(group, host)


def _planned_inventory(folder: Path, touch: list[str]) -> dict[str, Any]:
    try:
        from coldaisle.plan import plan_site  # noqa: PLC0415  # a message of ours where it is missing
        from coldaisle.render.ansible import inventory  # noqa: PLC0415
        from coldaisle.spec import SpecError, load_site  # noqa: PLC0415
    except ImportError as error:
        raise AnsibleParserError(f"{error}: run Ansible from the environment that coldaisle is installed in") from error
    try:
        return inventory(plan_site(load_site(folder)), touch)
    except SpecError as error:
        problems = "\n".join(str(problem) for problem in error.problems)
        raise AnsibleParserError(f"{problems}\nthe site's spec is wrong: see `coldaisle check {folder}`") from error
