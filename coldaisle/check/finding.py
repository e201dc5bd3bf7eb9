"""What a check finds. It prints as a spec's problem does, so that a reader learns one form."""

from collections.abc import Iterable, Iterator

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


def read_twice(spec: SiteSpec, labels: Iterable[tuple[Loc, str]], check: str, what: str) -> Iterator[Finding]:
    """
    Yield a finding for each label of the hardware that an earlier one has too: a MAC address, a GUID.

    Args:
        spec: The site.
        labels: Where each label stands, and what it says.
        check: Stable id of the finding.
        what: What is wrong, with `{label}` in it.
    """
    seen: dict[str, Loc] = {}
    for loc, label in labels:
        if label in seen:
            first = f"{spec.marks.path(seen[label])} has it too ({spec.marks.where(seen[label])})"
            fix = "read both labels again, and correct the wrong one"
            yield finding(spec, loc, check, what=what.format(label=label), have=first, fix=fix)
        seen.setdefault(label, loc)


__all__ = ["Finding", "Severity", "finding", "in_order", "read_twice"]
