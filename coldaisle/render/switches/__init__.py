"""
Configurations of a site's switches, each in the language of the operating system that the plan gives it.

A configuration is whole: what it does not say is not wanted. Every value comes from the plan, and the first lines (in
SONiC, a table) name the hash of the plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coldaisle.plan import plan_hash
from coldaisle.plan.model import FabricPlan, SitePlan
from coldaisle.render.frr import switch_config
from coldaisle.render.switches.eos import eos_config
from coldaisle.render.switches.nvue import nvue_config
from coldaisle.render.switches.sonic import sonic_config
from coldaisle.render.switches.view import SwitchView, views


@dataclass(frozen=True, slots=True)
class SwitchConfig:
    """The configuration of one switch; `text` is None where there is none, and `why` says the reason."""

    fabric: str
    switch: str
    system: str | None
    file_name: str
    text: str | None
    why: str = ""


def _frr(view: SwitchView) -> str:
    return f"! {view.origin}\n{switch_config(view.site, view.fabric.name, view.switch.name)}"


@dataclass(frozen=True, slots=True)
class _Language:
    """How a configuration is written, and how its file's name ends."""

    suffix: str
    write: Callable[[SwitchView], str]


LANGUAGES: Mapping[str, _Language] = {
    "cumulus": _Language("nvue.yaml", nvue_config),
    "sonic": _Language("config_db.json", sonic_config),
    "eos": _Language("eos.cfg", eos_config),
    "frr": _Language("frr.conf", _frr),
}
"""Languages by the operating system of the plan."""


def switch_configs(plan: SitePlan, fabrics: tuple[str, ...] | None = None) -> Iterator[SwitchConfig]:
    """
    Yield the configuration of every Ethernet switch, fabric by fabric, in the plan's order.

    Args:
        plan: The site's plan.
        fabrics: Only these fabrics; left out, all that are not InfiniBand.

    Raises:
        LookupError: there is no such fabric.
    """
    digest = plan_hash(plan)
    for name in plan.fabrics if fabrics is None else fabrics:
        if name not in plan.fabrics:
            raise LookupError(f"there is no fabric {name}; known: {', '.join(sorted(plan.fabrics))}")
        if plan.fabrics[name].kind != "infiniband":
            yield from _of_fabric(plan, digest, plan.fabrics[name])


def _of_fabric(plan: SitePlan, digest: str, fabric: FabricPlan) -> Iterator[SwitchConfig]:
    for view in views(plan, digest, fabric):
        system, name = view.switch.network_os, view.switch.name
        language = LANGUAGES.get(system or "")
        if language is None:
            why = f"no language for {system}" if system else f"no catalog entry says what {view.switch.model} runs"
            yield SwitchConfig(fabric.name, name, system, name, None, why)
            continue
        try:
            text = language.write(view)
        except LookupError as error:
            yield SwitchConfig(fabric.name, name, system, name, None, str(error.args[0]))
        else:
            yield SwitchConfig(fabric.name, name, system, f"{name}.{language.suffix}", text)
