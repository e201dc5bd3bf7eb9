"""
The configuration of a switch as it is applied, and as facts, a fact a section: what a preview and drift show.

The sections are made by the very file that runs on the switches or speaks to them, so that plan and switch cannot
disagree on spelling.
"""

from __future__ import annotations

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import TYPE_CHECKING, Protocol, cast

from coldaisle.paths import packaged
from coldaisle.render.frr import switch_config
from coldaisle.render.switches import LANGUAGES
from coldaisle.render.switches.view import views

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from coldaisle.plan.model import FabricPlan, Facts, PlayPlan, SitePlan

UTILS = "collections/ansible_collections/coldaisle/site/plugins/module_utils"


class _Sections(Protocol):
    """What each of these files has."""

    def sections(self, text: str) -> dict[str, str]:
        """Return the sections of a configuration."""

    def listed(self, found: Iterable[str]) -> list[str]:
        """Return the names of sections that are the fabric's alone."""


EFFECTS: Mapping[str, tuple[str, ...]] = {"sonic": ("dscp", "pfc"), "cumulus": ("dscp", "pfc"), "eos": ("dscp",)}
"""What each system tells of its chip; FRR has no queues, and EOS shows PFC in no form that its manual holds fixed."""

PREFIX = "fabric-"
"""What the name of a fabric's play begins with."""


def applied_configs(plan: SitePlan, play: PlayPlan) -> dict[str, str]:
    """
    Return the configuration of each switch of a play, by name; of a play of another playbook, none.

    It does not name the plan's hash, or every change of a plan would be one of every switch.
    """
    if play.playbook != "fabric":
        return {}
    fabric = plan.fabrics[play.name.removeprefix(PREFIX)]
    systems = {switch.name: switch.network_os for switch in fabric.switches if switch.name in play.facts}
    found = {name: switch_config(plan, fabric.name, name) for name, system in systems.items() if system == "frr"}
    if len(found) == len(systems):
        return found
    others = (view for view in views(plan, "", fabric) if view.switch.name in systems.keys() - found.keys())
    return found | {view.switch.name: LANGUAGES[view.switch.network_os or ""].write(view) for view in others}


def switch_facts(plan: SitePlan, play: PlayPlan, configs: Mapping[str, str]) -> dict[str, Facts]:
    """Return the sections of each switch's configuration as `config.SECTION`, by the switch's name."""
    if not configs:
        return {}
    fabric = plan.fabrics[play.name.removeprefix(PREFIX)]
    systems = {switch.name: switch.network_os for switch in fabric.switches}
    keep = fabric.unplanned_config == "keep"
    shown = {name: _facts(_sections(systems[name] or ""), text, keep=keep) for name, text in configs.items()}
    return {name: {**facts, **effective_facts(fabric, systems[name] or "")} for name, facts in shown.items()}


def effective_facts(fabric: FabricPlan, system: str) -> Facts:
    """
    Return what a switch's chip must do with the marks of RoCE, whatever its configuration says (F11).

    These are `effective.dscp` and, of systems that tell it, `effective.pfc`.
    """
    roce, told = fabric.roce, EFFECTS.get(system, ())
    if roce is None:
        return {}
    maps = _module("qos_maps")
    marks = {roce.dscp: roce.priority, roce.cnp_dscp: roce.cnp_priority}
    found = {"dscp": maps.dscp_text(marks), "pfc": maps.priorities_text([roce.priority])}
    return {f"effective.{name}": found[name] for name in told}


def _facts(language: _Sections, text: str, *, keep: bool) -> Facts:
    found = language.sections(text)
    facts: dict[str, str | int | bool] = {f"config.{name}": value for name, value in found.items()}
    return facts if keep else {**facts, "config_sections": ", ".join(language.listed(found))}


def _sections(system: str) -> _Sections:
    return cast("_Sections", _module(f"{system}_sections"))


@cache
def _module(name: str) -> ModuleType:
    """Load a file of the collection, which is not on the path of this side."""
    path = packaged("playbooks") / UTILS / f"{name}.py"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
