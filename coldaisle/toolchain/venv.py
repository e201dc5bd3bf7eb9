"""
The virtual environment of a checkout, made from the lock file with hashes.

A key file inside says from what it was made. It is written last, so an interrupted one is made anew; a second run with
the same lock costs nothing, and one with another lock changes only what differs.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from coldaisle.toolchain.errors import FAULT, SetupError
from coldaisle.toolchain.places import project_root, venv_dir

KEY_FILE = ".coldaisle-key"
PYTHON_FLOOR = (3, 11)


def wanted_key() -> str:
    """Return what the environment is made from: the Python release and the digest of the lock."""
    digest = hashlib.sha256((project_root() / "requirements.lock").read_bytes()).hexdigest()
    return f"{sys.version.split()[0]} {digest}"


def ready(folder: Path | None = None) -> bool:
    """Return whether the environment is there and made from today's lock."""
    try:
        return ((folder or venv_dir()) / KEY_FILE).read_text() == wanted_key()
    except OSError:
        return False


def ensure() -> Path:
    """Make the environment where it is not as the lock says, and return its Python."""
    folder = venv_dir()
    python = folder / "bin" / "python"
    if ready(folder):
        return python
    sys.stderr.write(f"python: making {folder} from requirements.lock\n")
    fresh = [] if _same_python(folder) else ["--clear"]
    _run([sys.executable, "-m", "venv", *fresh, str(folder)], "the virtual environment could not be made")
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input", "--no-compile"]
    root = project_root()
    lock = str(root / "requirements.lock")
    _run([*pip, "--require-hashes", "--no-deps", "-r", lock], "the locked Python packages could not be installed")
    _run(
        [*pip, "--no-deps", "--no-build-isolation", "--editable", str(root)], "Coldaisle itself could not be installed"
    )
    (folder / KEY_FILE).write_text(wanted_key())
    return python


def _same_python(folder: Path) -> bool:
    """Return whether the environment was finished once, by this Python: then it can be changed in place."""
    try:
        return (folder / KEY_FILE).read_text().split()[0] == wanted_key().split()[0]
    except (OSError, IndexError):
        return False


def _run(command: list[str], what: str) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        have = f"`{' '.join(command)}` exited {done.returncode}, its message is above"
        fix = "install python3-venv, and make the Python package registry reachable (`pip config list`)"
        raise SetupError(what, have=have, fix=fix, exit_code=FAULT)
