"""Checks of execution nodes: each is a machine of its own, and a hall that only one of them serves has a stand-in."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding
from coldaisle.plan.model import SitePlan
from coldaisle.spec.sections import SiteSpec


def check_execution_endpoints(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """Two names of one machine are one machine: when it is lost, both are."""
    seen: dict[tuple[str, int], str] = {}
    for at, node in enumerate(spec.execution.nodes if spec.execution else ()):
        first = seen.setdefault((node.address, node.port), node.name)
        if first != node.name:
            what = (
                f"execution nodes {first} and {node.name} are the same machine, so that neither stands in for the other"
            )
            have, fix = f"both are {node.address}, port {node.port}", "name the machine once, with all of its halls"
            yield finding(
                spec, ("execution", "nodes", at, "address"), "execution-node-twice", what=what, have=have, fix=fix
            )


def check_execution_stand_in(spec: SiteSpec, _plan: SitePlan) -> Iterator[Finding]:
    """A hall with one execution node, whose loss the runner does not make good, waits for that machine."""
    if spec.execution is None or spec.execution.when_lost == "runner":
        return
    served = [hall for node in spec.execution.nodes for hall in node.halls]
    for at, node in enumerate(spec.execution.nodes):
        for place, hall in enumerate(node.halls):
            if served.count(hall) == 1:
                what = f"when execution node {node.name} is lost, nobody works on hall {hall}"
                fix = f"let another node serve {hall} too, or set when_lost: runner if the runner reaches its hosts"
                loc = ("execution", "nodes", at, "halls", place)
                yield finding(spec, loc, "execution-no-stand-in", what=what, fix=fix, severity="warning")


EXECUTION_CHECKS = (check_execution_endpoints, check_execution_stand_in)
