"""
`make bench [BENCH=name] [CHECK=1 | LIMITS=1]`: a line a figure, `name value`, as soon as each is measured.

Without a name all are measured but those that only their name calls (figures.ONLY_BY_NAME). With `--check` figures are
held to the limits of limits.yaml, with `--limits` those limits are measured anew.
"""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

from tests.bench import limits
from tests.bench.figures import ONLY_BY_NAME, registry
from tests.bench.meter import ROOT, NotMeasuredError

USAGE, NOT_MEASURED = 2, 4
CHECK, LIMITS = "--check", "--limits"


def main(words: list[str]) -> int:
    """
    Measure the named figures, or all, and return 0.

    Return 2 for an unknown name or option, 4 when a named figure was not measured, 6 when one is over its limit.
    """
    options, names = [word for word in words if word.startswith("-")], [word for word in words if word[:1] != "-"]
    known = registry()
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such figures: {' '.join(unknown)}; there are {' '.join(known)}\n")
        return USAGE
    do = {(): _measure, (CHECK,): _check, (LIMITS,): _renew}.get(tuple(options))
    if do is None:
        sys.stderr.write(f"options: {CHECK} or {LIMITS}, not {' '.join(options)}\n")
        return USAGE
    try:
        return do(names)
    except NotMeasuredError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_MEASURED


def _measure(names: list[str]) -> int:
    known, failed = registry(), False
    for name in names or [name for name in known if name not in ONLY_BY_NAME]:
        try:
            for figure, value in known[name]().items():
                sys.stdout.write(f"{figure} {value:.3f}\n")
        except NotMeasuredError as error:
            failed = True
            sys.stderr.write(f"{name}: not measured: {error}\n")
        sys.stdout.flush()
    return NOT_MEASURED if failed and names else 0


def _alone(name: str) -> dict[str, float]:
    """Measure one name in a process of its own: the largest process of one figure is no part of the next."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench", name], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise NotMeasuredError(f"{name}: measuring it exited {done.returncode}")
    sys.stdout.write(done.stdout)
    sys.stdout.flush()
    return {figure: float(value) for figure, value in (line.split() for line in done.stdout.splitlines())}


def _check(names: list[str]) -> int:
    """Hold figures to their limits: those named, or all that have one."""
    kept = limits.load()
    if without := [name for name in names or [*kept] or ["anything"] if name not in kept]:
        sys.stderr.write(f"no limits of {' '.join(without)} in {limits.FILE}: make bench LIMITS=1 BENCH=name\n")
        return USAGE
    found = limits.check(kept, names or kept, _alone)
    sys.stderr.write("".join(f"over its limit: {line}\n" for line in found))
    return limits.OVER_LIMIT if found else 0


def _renew(names: list[str]) -> int:
    """Measure limits anew: of the figures named, or of all that have one."""
    kept = limits.load()
    today = datetime.now(UTC).date()
    fresh = limits.renewed(kept, names or kept, _alone, today, limits.machine())
    limits.FILE.write_text(limits.text_of(fresh), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
