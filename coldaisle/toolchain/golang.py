"""
Running Go so that every machine builds the same binaries.

The Go release and the flags are set here and nowhere else; what the user configured (`go env`) gives way, and that
includes GOTOOLCHAIN=local, which would forbid Go to fetch the pinned release.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import pins, versions
from coldaisle.toolchain.errors import FAULT, SetupError
from coldaisle.toolchain.places import project_root

if TYPE_CHECKING:
    from collections.abc import Sequence

USUAL_PLACES = "/usr/local/go/bin:/usr/lib/go/bin"
"""Where Go is when its folder was not put on PATH."""

_FULL_DISK = "no space left on device"
_NO_TOOLCHAIN = ("download go1", "toolchain not available")


@dataclass(frozen=True, slots=True)
class Go:
    """A Go command that can build the pinned tools."""

    path: Path
    version: str

    def run(self, module: str, arguments: Sequence[str], *, log: Path | None = None) -> str:
        """Run Go in one of the folders under tools/go and return its output; SetupError when it fails."""
        try:
            done = subprocess.run(
                [str(self.path), *arguments],
                cwd=project_root() / "tools" / "go" / module,
                env=environment(),
                capture_output=True,
                text=True,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except OSError as error:
            raise explain(module, arguments, str(error), log) from error
        if log is not None:
            _write(log, done.stderr)
        if done.returncode != 0:
            raise explain(module, arguments, done.stderr, log)
        return done.stdout


def environment() -> dict[str, str]:
    """Return the environment of every Go command: the pinned release, no C compiler, nothing of this folder in it."""
    fixed = {"GOTOOLCHAIN": pins.GO_TOOLCHAIN, "CGO_ENABLED": "0", "GOFLAGS": "-buildvcs=false -trimpath"}
    return {**os.environ, **fixed, "GOWORK": "off"}


def find_go() -> Go:
    """Return the Go command on PATH; SetupError says what to install when there is none or it is too old."""
    path = shutil.which("go") or shutil.which("go", path=USUAL_PLACES)
    floor = ".".join(str(part) for part in pins.GO_FLOOR)
    fix = (
        f"install Go {floor} or newer (Debian: golang-go from bookworm-backports; Ubuntu: golang-go), which fetches "
        f"{pins.GO_TOOLCHAIN} by itself; or put the tools on PATH (`coldaisle doctor` lists them)"
    )
    if path is None:
        raise SetupError("some tools must be built, and there is no Go here", have="no `go` on PATH", fix=fix)
    version = versions.ask(Path(path), ("version",))
    if version is None or not versions.at_least(version, floor):
        raise SetupError(
            f"some tools must be built, and Go is older than {floor}", have=f"{path}, version {version}", fix=fix
        )
    return Go(Path(path), version)


def explain(module: str, arguments: Sequence[str], said: str, log: Path | None) -> SetupError:
    """Return what went wrong in the user's words: a full disk, a Go release that cannot be had, or a failed build."""
    tail = " / ".join(line.strip() for line in said.strip().splitlines()[-4:]) or "no message"
    if _FULL_DISK in said.lower():
        return SetupError(
            "the disk is full; nothing half-built is kept",
            have=tail,
            fix="free 12 GiB where `go env GOCACHE GOMODCACHE` and ~/.cache/coldaisle are, or move them: "
            "GOCACHE, GOMODCACHE and XDG_CACHE_HOME; then run the same command, it goes on where it stopped",
        )
    if any(sign in said for sign in _NO_TOOLCHAIN):
        return SetupError(
            f"Go could not fetch its release {pins.GO_TOOLCHAIN}",
            have=tail,
            fix=f"make the Go module proxy reachable (`go env GOPROXY`), or install {pins.GO_TOOLCHAIN} itself",
        )
    return SetupError(
        f"`go {arguments[0]}` failed in tools/go/{module}",
        have=tail,
        fix=f"read {log} for the whole message" if log else "run the command by hand to see the whole message",
        exit_code=FAULT,
    )


def _write(log: Path, text: str) -> None:
    """Keep the compiler's words; a disk too full for them must not hide what they say."""
    try:
        log.write_text(text)
    except OSError:
        log.unlink(missing_ok=True)
