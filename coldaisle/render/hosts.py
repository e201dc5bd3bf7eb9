"""
The hosts of a plan as a short Ansible inventory: groups, addresses and how to log in.

It is for people and pipelines that want to reach hosts: `pulumi stack output inventory > hosts.ini`. What roles take is
rendered from the plan when a play runs, and does not belong into an output that every preview would print.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from coldaisle.render.ansible import inventory

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan

SHOWN = ("ansible_host", "ansible_user", "ansible_ssh_private_key_file", "ansible_ssh_common_args", "bmc_address")


def inventory_text(plan: SitePlan) -> str:
    """Return the inventory in Ansible's INI form: every host with its connection, then every group."""
    everything = inventory(plan)["all"]
    lines = [f"# Ansible inventory of site {plan.name}"]
    lines += [_host_line(name, variables) for name, variables in everything["hosts"].items()]
    for group, members in everything["children"].items():
        lines += ["", f"[{group}]", *members["hosts"]]
    return "\n".join(lines) + "\n"


def _host_line(name: str, variables: Mapping[str, Any]) -> str:
    return " ".join([name, *(f"{key}={quote(shown(variables[key]))}" for key in SHOWN if key in variables)])


def shown(value: object) -> str:
    """Return a variable as it is exported: paths below a home start with `~`, so that every machine gives the same."""
    return str(value).replace(str(Path.home()), "~")
