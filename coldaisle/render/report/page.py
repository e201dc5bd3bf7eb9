"""The report as one page: what the template shows, and the template with its style and its few lines of script."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache

import jinja2
from markupsafe import Markup

from coldaisle.check import Finding
from coldaisle.paths import packaged
from coldaisle.plan import plan_hash
from coldaisle.plan.model import SitePlan
from coldaisle.render.pictures import coolant_diagram, fabric_diagram, hall_map, one_line
from coldaisle.render.report.drawing import drawing
from coldaisle.render.report.floor import loops, overheads, rows
from coldaisle.render.report.network import cables, fabrics, pools
from coldaisle.render.report.power import MANY, banks, chain, draws, start
from coldaisle.render.report.sources import sources
from coldaisle.render.report.summary import tiles, verdict
from coldaisle.render.topology import bill_of_materials
from coldaisle.spec.sections import SiteSpec

SECTIONS = {
    "summary": "Summary",
    "findings": "Findings",
    "power": "Power",
    "cooling": "Cooling",
    "halls": "Halls",
    "racks": "Racks",
    "pools": "Pools",
    "fabrics": "Fabrics",
    "order": "Order list",
    "sources": "Sources",
}
"""Sections of the page, by their anchors."""

OPEN_RACKS = 64
"""Racks whose elevations a report shows at once; with more of them a reader opens those that are wanted."""


def site_report(spec: SiteSpec, plan: SitePlan, findings: Sequence[Finding]) -> str:
    """
    Return the report of a site as one HTML page.

    It fetches nothing: style, script and pictures are in it, and its own policy forbids everything else. The same
    site gives the same page, to the byte.

    Args:
        spec: The site, which knows where its values stand.
        plan: Its plan.
        findings: What the checks found.
    """
    script = text_of("report.js")
    few = len(plan.facility.racks) <= OPEN_RACKS
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            plan=plan,
            sections=SECTIONS.items(),
            digest=plan_hash(plan),
            style=Markup(text_of("report.css")),  # noqa: S704 - our own file
            script=Markup(script),  # noqa: S704 - our own file
            script_digest=_digest(script),
            verdict=verdict(findings),
            tiles=tiles(plan),
            findings=sorted(findings, key=lambda finding: finding.severity),
            chain=chain(plan),
            draws=draws(plan),
            banks=banks(plan),
            start=start(plan),
            many=MANY,
            one_line=drawing("One-line diagram", one_line(plan)) if plan.facility.upstream else None,
            loops=loops(plan),
            coolant=drawing("Coolant diagram", coolant_diagram(plan), few=few) if plan.facility.cooling else None,
            pue=plan.facility.pue,
            overheads=overheads(plan),
            halls=[drawing(f"Map of {hall}", hall_map(spec, plan, hall), few=few) for hall in _halls(plan)],
            rows=rows(spec, plan, few=few),
            is_open=few,
            pools=pools(plan),
            fabrics=fabrics(plan),
            fabric_pictures=[
                drawing(f"Fabric {name}", fabric_diagram(one), few=few) for name, one in plan.fabrics.items()
            ],
            devices=[each for each in bill_of_materials(plan) if each[0] != "cable"],
            cables=cables(plan),
            sources=sources(spec, plan),
        )
    )


def _halls(plan: SitePlan) -> list[str]:
    return sorted({rack.hall for rack in plan.facility.racks})


def text_of(name: str) -> str:
    """Return a file of the report's templates as it is."""
    return (packaged("templates") / "report" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return a script as the page's policy names it, so that no other script may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def environment() -> jinja2.Environment:
    """Return Jinja2 that escapes everything that is not known to be markup, and refuses names without a value."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(packaged("templates") / "report"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
