"""Checks of switches by themselves: what they speak and run, how many there are, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from coldaisle.check.fabric.naming import tier_loc
from coldaisle.check.finding import Finding, finding
from coldaisle.plan.breakout import group_of
from coldaisle.plan.model import SitePlan
from coldaisle.plan.plays import why_not_configured
from coldaisle.spec.sections import SiteSpec

KIND_OF_SWITCH = {"infiniband": "infiniband", "roce": "ethernet", "ethernet": "ethernet"}


def check_switch_kinds(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Switches speak the fabric's protocol."""
    for name, fabric in plan.fabrics.items():
        for role, model in dict.fromkeys((switch.role, switch.model) for switch in fabric.switches):
            kind = spec.catalog.switches[model].kind
            if kind != KIND_OF_SWITCH[fabric.kind]:
                what = f"{model} is an {kind} switch, and fabric {name} is {fabric.kind}"
                fix = f"take an {KIND_OF_SWITCH[fabric.kind]} switch"
                yield finding(spec, (*tier_loc(name, role), "model"), "wrong-switch-kind", what=what, fix=fix)


def check_switch_counts(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where a site says how many switches it has, that many are needed."""
    for name, fabric in plan.fabrics.items():
        counts = Counter(switch.role for switch in fabric.switches)
        for role, count in counts.items():
            group = group_of(spec.fabrics[name], role)
            if group is not None and group.count is not None and group.count != count:
                what = f"fabric {name} needs {count} {role} switches, and the site has {group.count}"
                loc = (*tier_loc(name, role), "count")
                yield finding(spec, loc, "switch-count", what=what, fix=f"say count: {count}, or remove it")


def check_switch_names(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """No two fabrics have a switch of the same name."""
    owner: dict[str, str] = {}
    told: set[tuple[str, str]] = set()
    for name, fabric in plan.fabrics.items():
        for switch in fabric.switches:
            first = owner.setdefault(switch.name, name)
            if first != name and (name, switch.role) not in told:
                told.add((name, switch.role))
                what = f"fabrics {first} and {name} both have a switch named {switch.name}"
                fix = f"give the {switch.role} switches of {name} a name of their own: name: {name}-{switch.role}"
                yield finding(spec, tier_loc(name, switch.role), "duplicate-name", what=what, fix=fix)


def check_network_os(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A fabric's switches run the operating system that it chooses, where the catalog says what they run."""
    for name, fabric in plan.fabrics.items():
        asked = spec.fabrics[name].network_os
        for model in dict.fromkeys(switch.model for switch in fabric.switches):
            known = spec.catalog.switches[model].network_os
            if asked is not None and known and asked not in known:
                what = f"{model} does not run {asked}"
                have = f"the catalog says that it runs {', '.join(known)}"
                fix = "choose one of these, or add the document that says otherwise to the catalog"
                yield finding(spec, ("fabrics", name, "network_os"), "network-os", what=what, have=have, fix=fix)


def check_switch_access(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Where a site says how the switches of a fabric are reached, playbooks configure all of them."""
    for name, fabric in plan.fabrics.items():
        reasons: dict[str, list[str]] = {}
        for switch in fabric.switches if fabric.switch_access else ():
            why = why_not_configured(fabric, switch)
            if why is not None:
                reasons.setdefault(why, []).append(switch.name)
        for why, names in reasons.items():
            what = f"no playbook configures {names[0]}" + (f" and {len(names) - 1} more" if names[1:] else "")
            fix = "give what is missing, or remove switch_access and load the files of coldaisle fabric configs"
            yield finding(spec, ("fabrics", name, "switch_access"), "switch-access", what=what, have=why, fix=fix)
