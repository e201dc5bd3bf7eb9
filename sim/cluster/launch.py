"""
Run a statically linked program inside of a folder as its root, as a container would see its files.

Usage: launch.py ROOT PROGRAM [ARGUMENT …]. The program itself is opened before the change of root, so it need not lie
below it. Standard library only; it replaces itself with the program.
"""

from __future__ import annotations

import os
import sys


def main(root: str, program: str, arguments: list[str]) -> None:
    """Change the root and become the program."""
    descriptor = os.open(program, os.O_RDONLY)
    os.chroot(root)
    os.chdir("/")
    os.execve(descriptor, [os.path.basename(program), *arguments], dict(os.environ))  # noqa: PTH119, S606 - the purpose


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
