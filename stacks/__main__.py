"""
The program of every stack: configuration, spec, plan, components.

`coldaisle:site` names the site's folder in inventory/, or is a path to it; `coldaisle:layers` lists the layers that the
stack holds, all of them when left out; `coldaisle:onDelete` is `forget` where `destroy` may leave hosts as they are.
`coldaisle:adopt: true` takes hosts over that are as planned already, without running a play on them.
"""

from __future__ import annotations

import os

import pulumi

from coldaisle.check import open_site
from coldaisle.check.report import report
from coldaisle.spec import SpecError, site_folder
from components.datacenter import Datacenter
from components.layers import BUILD, Site
from components.outputs import export

os.chdir(pulumi.runtime.get_root_directory())  # sites are found, and named in messages, from the project's folder
config = pulumi.Config("coldaisle")
layers = config.get_object("layers") or list(BUILD)
if not set(layers) <= set(BUILD):
    raise pulumi.RunError(f"coldaisle:layers is {', '.join(layers)}; each must be one of {', '.join(BUILD)}")
folder = site_folder(config.get("site") or pulumi.get_stack())
try:
    checked = open_site(folder)
except SpecError as error:
    raise pulumi.RunError(report(error.problems)) from None
if checked.errors:
    raise pulumi.RunError(report(checked.findings))
for finding in checked.findings:
    pulumi.log.warn(finding.text())
site = Site.of(checked.plan, folder, config.get("onDelete") or "undo", adopt=config.get_bool("adopt") or False)
Datacenter(checked.plan.name, site, layers)
export(site, checked.findings)
