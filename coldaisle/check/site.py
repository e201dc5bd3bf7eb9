"""All checks of a site at once, and a site opened: loaded, planned and checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from coldaisle.check.finding import Finding, in_order
from coldaisle.check.registry import CHECKS, ON_A_PART
from coldaisle.collector import collector_paused
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.spec import SiteSpec, SpecError, load_site
from coldaisle.spec.problem import section_of


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
    with collector_paused():
        try:
            spec = load_site(folder)
        except SpecError as error:
            raise SpecError([*error.problems, *_further(error)]) from None
        plan = plan_site(spec)
        return CheckedSite(spec, plan, check_site(spec, plan))


def _further(error: SpecError) -> tuple[Finding, ...]:
    """Return what the checks find in the rest of a spec that has mistakes, so that one run tells of everything."""
    spec = error.rest
    if spec is None:
        return ()
    broken = {section_of(problem) for problem in error.problems}
    checks = [check for check, needed in ON_A_PART.items() if not needed & broken]
    try:
        plan = plan_site(spec)
        return in_order(found for check in checks for found in check(spec, plan) if found.severity == "error")
    except (ArithmeticError, LookupError, TypeError, ValueError):
        # With parts cut out, what is left may name what is gone; then the spec's own mistakes are all that can be told.
        return ()
