"""Where the wanted nodes go: solved, named, put into the spec, and checked as the whole site it then is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from coldaisle.check import CheckedSite, Finding, check_site
from coldaisle.collector import collector_paused
from coldaisle.plan import plan_site
from coldaisle.plan.fabric import plan_switches
from coldaisle.plan.model import FabricPlan
from coldaisle.proposal.floor import FLOOR_CHECKS, Floor
from coldaisle.proposal.limits import Model, fits, limits, model_of, relaxations, unsure
from coldaisle.proposal.naming import devices, new_names, style_of
from coldaisle.proposal.patterns import Pattern, Rules
from coldaisle.proposal.records import Limit, NewNode, Proposal, Relaxation, Want
from coldaisle.proposal.shared import Shared
from coldaisle.proposal.snippet import Line, node_lines
from coldaisle.proposal.solver import solve
from coldaisle.spec.node_pools import Place
from coldaisle.spec.sections import SiteSpec

_MARGINS = (0.0, 1e-9, 1e-6, 1e-3)
"""
Parts of each shared capacity that are left free, in turn.

The solver and the ledgers add the same watts in another order, so a part that is full to the last watt may pass in one
and not in the other.
"""


def propose(site: CheckedSite, wants: Sequence[Want], *, within: str | None = None, strict: bool = False) -> Proposal:
    """
    Return where nodes go, or what stands in the way.

    Args:
        site: The site, of which nothing is moved.
        wants: The nodes without a place.
        within: A rack, racks in a range, a row or a hall that they go to; None is anywhere.
        strict: Whether a place that a check would warn of is no place.
    """
    with collector_paused():
        return _propose(site, wants, within, Rules(strict=strict))


def _propose(site: CheckedSite, wants: Sequence[Want], within: str | None, rules: Rules) -> Proposal:
    fabrics = _grown(site, wants)
    pools = [want.pool for want in wants]
    floor = Floor(site.spec, site.plan, fabrics, pools=pools, within=within)
    model = model_of(floor, Shared(floor), wants, rules)
    for margin in _MARGINS:
        problem = model.problem(margin=margin)
        solution = solve(problem)
        placed = {want.pool: fits(problem.patterns, solution, at) for at, want in enumerate(wants)}
        if any(placed[want.pool] < want.count for want in wants):
            break
        nodes = _nodes(model, problem.patterns, solution, fabrics)
        lines = {want.pool: node_lines(node for node in nodes if node.pool == want.pool) for want in wants}
        findings, refused = _new_findings(site, lines)
        if not refused:
            return _proposal(model, solution, nodes=nodes, lines=lines, findings=findings, fits=placed)
    else:
        return _refused(wants, refused)
    return _proposal(model, solution, fits=placed, rules=rules)


def _refused(wants: Sequence[Want], refused: Sequence[Finding]) -> Proposal:
    """Return the answer where the whole site breaks a rule that no rack and nothing that racks share breaks alone."""
    found = tuple(Limit(check=each.check, what=each.what, fix=each.fix, racks=()) for each in refused)
    nothing = {want.pool: 0 for want in wants}
    return Proposal(
        wants=tuple(wants), fits=nothing, nodes=(), lines={}, unsure=(), limits=found, relaxations=(), findings=()
    )


def _proposal(  # noqa: PLR0913 - the parts of a proposal
    model: Model,
    solution: Sequence[int],
    *,
    fits: Mapping[str, int],
    nodes: tuple[NewNode, ...] = (),
    lines: Mapping[str, Mapping[str, Line]] | None = None,
    findings: tuple[Finding, ...] = (),
    rules: Rules | None = None,
) -> Proposal:
    """Return a proposal with what limits it: what stops the next node of each pool that is not placed in full."""
    wants = tuple(model.wants)
    short = [at for at, want in enumerate(wants) if fits[want.pool] < want.count]
    found: list[Limit] = []
    for pool in short or range(len(wants)):
        found += [limit for limit in limits(model, solution, pool) if limit not in found]
    costs: tuple[Relaxation, ...] = relaxations(model, found, sum(fits.values()), rules) if rules else ()
    return Proposal(
        wants=wants,
        fits=fits,
        nodes=nodes,
        lines=lines or {},
        unsure=unsure(model, solution) if nodes else (),
        limits=tuple(found),
        relaxations=costs,
        findings=findings,
    )


def _grown(site: CheckedSite, wants: Sequence[Want]) -> dict[str, FabricPlan]:
    """Return the fabrics with the switches that the new nodes need, wherever those stand."""
    spec = site.spec
    if not spec.fabrics or not wants:
        return dict(site.plan.fabrics)
    rack = spec.racks[0].name
    lines = {want.pool: {f"{want.pool}-new[1-{want.count}]": {"rack": rack, "rack_unit": 1}} for want in wants}
    return dict(plan_switches(with_nodes(spec, lines)))


def with_nodes(spec: SiteSpec, lines: Mapping[str, Mapping[str, Line]]) -> SiteSpec:
    """Return a site with more nodes in its pools; what is placed stays as it is."""
    pools = dict(spec.node_pools)
    for name, new in lines.items():
        nodes = {**pools[name].nodes, **{key: Place.model_validate(dict(line)) for key, line in new.items()}}
        pools[name] = pools[name].model_copy(update={"nodes": nodes})
    return replace(spec, sections=spec.sections.model_copy(update={"node_pools": pools}))


def _new_findings(
    site: CheckedSite, lines: Mapping[str, Mapping[str, Line]]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return what the checks find with new nodes and not without, and the errors of power, cooling and space in it."""
    spec = with_nodes(site.spec, lines)
    plan = plan_site(spec)
    new = tuple(found for found in check_site(spec, plan) if found not in site.findings)
    errors = [found for found in new if found.severity == "error"]
    of_floor = {found for check in FLOOR_CHECKS for found in check(spec, plan)} if errors else set()
    return new, tuple(found for found in errors if found in of_floor)


def _nodes(
    model: Model, patterns: Sequence[Pattern], solution: Sequence[int], fabrics: Mapping[str, FabricPlan]
) -> tuple[NewNode, ...]:
    """Return each new node with its name and place: of each group, the first racks are filled most."""
    spec = model.floor.spec
    taken = devices(spec, [switch.name for fabric in fabrics.values() for switch in fabric.switches])
    styles = [style_of(spec, want.pool) for want in model.wants]
    free = {group: list(alike.names) for group, alike in enumerate(model.floor.alike)}
    nodes = []
    filled = [(pattern, count) for pattern, count in zip(patterns, solution, strict=True) if count]
    for pattern, count in sorted(filled, key=lambda each: (each[0].pool, each[0].group, -len(each[0].units))):
        pool = model.wants[pattern.pool].pool
        for rack in [free[pattern.group].pop(0) for _ in range(count)]:
            names = new_names(rack, len(pattern.units), styles[pattern.pool], pool, taken)
            nodes += [
                NewNode(name=name, pool=pool, rack=rack, rack_unit=unit)
                for name, unit in zip(names, pattern.units, strict=True)
            ]
    return tuple(sorted(nodes, key=lambda node: (node.pool, node.rack, node.rack_unit)))
