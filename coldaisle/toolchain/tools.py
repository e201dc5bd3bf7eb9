"""
Getting the tools: find what is there, build the rest in a process beside this one, and wait for what is needed next.

The builder is a process of its own, so that the site can start while the last tools are still being built.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coldaisle.toolchain import lookup, pins
from coldaisle.toolchain.environment import complete_engine
from coldaisle.toolchain.golang import find_go
from coldaisle.toolchain.places import project_root
from coldaisle.toolchain.progress import Display, expected_s, minutes
from coldaisle.toolchain.store import Store, store

if TYPE_CHECKING:
    from collections.abc import Collection

POLL_S = 0.5


class BuildFailedError(Exception):
    """The builder ended with an error that it has already printed."""

    def __init__(self, exit_code: int) -> None:
        """Keep the exit code, which becomes that of the whole command."""
        super().__init__(f"the builder exited {exit_code}")
        self.exit_code = exit_code


@dataclass
class Tools:
    """The tools of this run: what was found, and the builder of what was not."""

    found: list[lookup.Found]
    to_build: list[pins.Tool]
    into: Store
    builder: subprocess.Popen[bytes] | None
    display: Display

    def wait(self, names: Collection[str] | None = None) -> None:
        """
        Return when the named tools (all of them without names) can be used, and link them.

        Raises:
            BuildFailedError: the builder ended before they were ready.
        """
        wanted = [each for each in self.to_build if names is None or each.name in names]
        while not all(self.into.ready(each) for each in wanted) and self._building():
            self.display.show()
            time.sleep(POLL_S)
        if names is None and self.builder is not None:
            self._raise_if_failed(self.builder.wait())
        self.display.show()
        relink()

    def stop(self) -> None:
        """End the builder; the next run goes on from what is compiled."""
        if self.builder is not None and self.builder.poll() is None:
            self.builder.terminate()
            self.builder.wait()

    def ready(self, names: Collection[str]) -> bool:
        """Return whether the named tools can be used now."""
        return all(self.into.ready(each) for each in self.to_build if each.name in names)

    def _building(self) -> bool:
        if self.builder is None:
            return False
        code = self.builder.poll()
        if code is not None:
            self._raise_if_failed(code)
        return code is None

    @staticmethod
    def _raise_if_failed(code: int) -> None:
        if code != 0:
            raise BuildFailedError(code)


def start(names: Collection[str] | None = None) -> Tools:
    """
    Look for the named tools (all of them without names) and start building those that are not there.

    Raises:
        SetupError: something must be built and there is no Go; said before anything else is done.
    """
    into = store()
    found = [lookup.find(each, in_store=into) for each in pins.TOOLS]
    to_build = [each.tool for each in found if not each.usable and (names is None or each.tool.name in names)]
    display = Display(into, to_build)
    builder = None
    if to_build:
        go = find_go()
        names = ", ".join(f"{each.name} ({minutes(expected_s([each]))})" for each in to_build)
        sys.stderr.write(f"tools: to build with Go {go.version}, minutes from an empty Go cache: {names}\n")
        command = [sys.executable, "-m", "coldaisle.toolchain", "build", *(each.name for each in to_build)]
        builder = subprocess.Popen(command, cwd=project_root(), stdin=subprocess.DEVNULL)
    return Tools(found, to_build, into, builder, display)


def relink() -> list[lookup.Found]:
    """Look again, and make the links and the engine's plugin folder follow."""
    found = [lookup.find(each) for each in pins.TOOLS]
    lookup.link(found)
    complete_engine(found)
    return found
