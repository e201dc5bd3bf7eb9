"""
The configuration of an FRR switch as facts, a fact a section: what a preview shows of it, and drift compares.

The sections are made by the very file that runs on the switches, so that plan and switch cannot disagree on spelling.
"""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, cast

from coldaisle.render.ansible import playbooks_dir
from coldaisle.render.frr import switch_config

if TYPE_CHECKING:
    from collections.abc import Callable

    from coldaisle.plan.model import Facts, PlayPlan, SitePlan

ON_SWITCHES = "collections/ansible_collections/coldaisle/site/plugins/module_utils/frr_sections.py"


def switch_facts(plan: SitePlan, play: PlayPlan, host: str) -> Facts:
    """Return the sections of a switch's configuration as `config.SECTION`; of a host of another play, none."""
    if play.playbook != "fabric":
        return {}
    fabric = plan.fabrics[play.name.removeprefix("fabric-")]
    found = _sections()(switch_config(plan, fabric.name, host))
    facts: dict[str, str | int | bool] = {f"config.{name}": text for name, text in found.items()}
    return facts if fabric.unplanned_config == "keep" else {**facts, "config_sections": ", ".join(sorted(found))}


@cache
def _sections() -> Callable[[str], dict[str, str]]:
    path = playbooks_dir() / ON_SWITCHES
    spec = spec_from_file_location("frr_sections", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Callable[[str], dict[str, str]]", module.sections)
