"""
Starts the provider plugin from wherever its folder lies: the engine runs it by path, not as a module.

Of the SDK only the protocol's messages are needed. The packages above them are put in place as empty ones, since
importing them in full would cost every command half a second of CPU.
"""

from __future__ import annotations

import importlib.util
import sys
import types
from pathlib import Path


def hollow(name: str, folder: Path) -> None:
    """Put a package in place without its content; its modules import as ever."""
    module = types.ModuleType(name)
    module.__path__ = [str(folder)]
    sys.modules[name] = module


def start() -> None:
    """Find the packages, then run the plugin."""
    sys.path[0] = str(Path(__file__).parents[2])  # this folder itself would hide modules of others
    spec = importlib.util.find_spec("pulumi")
    if spec is None or spec.origin is None:
        sys.exit("pulumi-resource-coldaisle: this Python has no package 'pulumi'; run 'make setup'")
    folder = Path(spec.origin).parent
    hollow("pulumi", folder)
    hollow("pulumi.runtime", folder / "runtime")
    from components.provider.servicer import main  # noqa: PLC0415 - needs what is above

    main()


start()
