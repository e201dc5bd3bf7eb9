"""
The components for programs in Go, TypeScript and YAML: a site by its folder, and what follows from it.

Such a program hands over no plan, so this component opens the site itself, and holds it to the same checks. Pulumi
reads its annotations as they are, so they are not postponed here.
"""

from pathlib import Path
from typing import NotRequired, TypedDict

import pulumi

from coldaisle.check import open_site
from coldaisle.check.report import report
from coldaisle.render.hosts import inventory_text
from coldaisle.spec import SpecError
from components.datacenter import Datacenter
from components.layers import BUILD, Site


class SiteStackArgs(TypedDict):
    """What a program says of a site."""

    folder: str
    """Folder of the site's spec, absolute or relative to the working directory."""
    layers: NotRequired[list[str]]
    """Layers to build; all of them when left out."""


class SiteStack(pulumi.ComponentResource):
    """A site, opened from its folder and built."""

    planHash: pulumi.Output[str]  # noqa: N815 - the name in every language's SDK
    """SHA-256 of the plan."""
    inventory: pulumi.Output[str]
    """Hosts, groups and addresses, as an Ansible inventory."""

    def __init__(self, name: str, args: SiteStackArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        """Open the site and build it; a mistake in its spec ends the program with the words of `coldaisle check`."""
        super().__init__("coldaisle-site:index:SiteStack", name, {}, opts)
        folder = Path(args["folder"])
        try:
            checked = open_site(folder)
        except SpecError as error:
            raise pulumi.RunError(report(error.problems)) from None
        if checked.errors:
            raise pulumi.RunError(report(checked.findings))
        site = Site.of(checked.plan, folder)
        Datacenter(name, site, args.get("layers") or tuple(BUILD), pulumi.ResourceOptions(parent=self))
        self.register_outputs({"planHash": site.plan_hash, "inventory": inventory_text(checked.plan)})
