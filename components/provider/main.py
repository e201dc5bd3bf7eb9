"""Starts the provider plugin from wherever its folder lies: the engine runs it by path, not as a module."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[2])  # this folder itself would hide modules of others
from components.provider.servicer import main  # noqa: E402 - the line above finds it

main()
