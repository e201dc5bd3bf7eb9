"""All checks of a site at once, and a site opened: loaded, planned and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from coldaisle.check.finding import Finding, in_order
from coldaisle.check.registry import CHECKS
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.spec import SiteSpec, load_site


@dataclass(frozen=True, slots=True)
class CheckedSite:
    """A site with its plan, and everything that the checks found."""

    spec: SiteSpec
    plan: SitePlan
    findings: tuple[Finding, ...]

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings that stop a bring-up."""
        return tuple(finding for finding in self.findings if finding.severity == "error")


def check_site(spec: SiteSpec, plan: SitePlan) -> tuple[Finding, ...]:
    """Return what every check finds, by file, line and column. No check is skipped."""
    return in_order(found for check in CHECKS for found in check(spec, plan))


def strict(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return findings with every warning made an error."""
    return tuple(replace(finding, severity="error") for finding in findings)


def open_site(folder: Path) -> CheckedSite:
    """
    Load, plan and check a site.

    Raises:
        SpecError: the spec cannot be used; all problems are in it.
    """
    spec = load_site(folder)
    plan = plan_site(spec)
    return CheckedSite(spec, plan, check_site(spec, plan))
