"""`make bench [BENCH=name]`: a line a figure, `name value`, as soon as each is measured."""

from __future__ import annotations

import sys

from tests.bench.figures import registry
from tests.bench.meter import NotMeasuredError

USAGE = 2


def main(names: list[str]) -> int:
    """Measure the named figures, or all, and return 0; 2 for an unknown name, 4 when a named one was not measured."""
    known = registry()
    if unknown := [name for name in names if name not in known]:
        sys.stderr.write(f"no such figures: {' '.join(unknown)}; there are {' '.join(known)}\n")
        return USAGE
    failed = False
    for name in names or known:
        try:
            for figure, value in known[name]().items():
                sys.stdout.write(f"{figure} {value:.3f}\n")
        except NotMeasuredError as error:
            failed = True
            sys.stderr.write(f"{name}: not measured: {error}\n")
        sys.stdout.flush()
    return 4 if failed and names else 0


sys.exit(main(sys.argv[1:]))
