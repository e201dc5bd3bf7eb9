"""The door to this package: `python3 -m coldaisle.toolchain COMMAND`, with nothing installed."""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - this is where an older Python is told so
    sys.exit("what: Coldaisle needs Python 3.11 or newer\nhave: " + sys.version + "\nfix:  make up PYTHON=python3.11")

from coldaisle.toolchain.commands import main

sys.exit(main(sys.argv[1:]))
