"""What a check finds. It prints as a spec's problem does, so that a reader learns one form."""

from coldaisle.spec.marks import Loc
from coldaisle.spec.problem import Problem, Severity, in_order
from coldaisle.spec.sections import SiteSpec

Finding = Problem


def finding(  # noqa: PLR0913 - the parts of a finding
    spec: SiteSpec, loc: Loc, check: str, *, what: str, fix: str, have: str = "", severity: Severity = "error"
) -> Finding:
    """
    Return a finding at a value of the spec.

    Args:
        spec: The site, which knows where its values stand.
        loc: Path of the value, such as ("hardware", "r01-n01", "bmc_mac").
        check: Stable id, documented in docs/errors.md.
        what: What is wrong.
        fix: What to do about it.
        have: What was found, with where it comes from.
        severity: An error stops a bring-up, a warning does not.
    """
    where, path = spec.marks.where(loc), spec.marks.path(loc)
    return Finding(check=check, where=where, path=path, what=what, have=have, fix=fix, severity=severity)


__all__ = ["Finding", "Severity", "finding", "in_order"]
