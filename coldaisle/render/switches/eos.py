"""Arista EOS: the running configuration of a switch as text, with the multi-agent routing model."""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from coldaisle.paths import packaged
from coldaisle.render.switches.view import Port, SwitchView


def eos_config(view: SwitchView) -> str:
    """Return the configuration of a switch for `configure replace`."""
    return _template().render(
        view=view,
        switch=view.switch,
        fabric=view.fabric,
        ip="ip" if view.family == "ipv4" else "ipv6",
        dscps=_dscps(view),
        speed=_speed,
    )


def _dscps(view: SwitchView) -> dict[int, str]:
    """Return the DSCPs of each traffic class as EOS lists them."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    for dscp, priority in view.dscp_priorities().items():
        found[priority].append(dscp)
    return {priority: " ".join(map(str, dscps)) for priority, dscps in sorted(found.items())}


def _speed(port: Port) -> str | None:
    """Return speed and lanes as EOS names them; None where the catalog does not know the port's lanes."""
    return f"{port.rate_gbps:g}g-{port.plan.lanes}" if port.plan.lanes else None


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(packaged("templates") / "switches"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,  # noqa: S701 - a switch's configuration, not HTML
    )
    return environment.get_template("eos.cfg.j2")
