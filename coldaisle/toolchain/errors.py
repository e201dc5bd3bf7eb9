"""What stops a set-up, said the way every Coldaisle message is: what, have, fix."""

from __future__ import annotations

FAULT = 1
"""Exit code of our own fault: a build of a pinned tool that should have passed."""

USAGE = 2
"""Exit code of a command that does not exist or lacks an argument."""

LACKING = 4
"""Exit code of a check that failed: the machine lacks something that only its owner can give."""


class SetupError(Exception):
    """A set-up that cannot go on; nothing half-made is used after it."""

    def __init__(self, what: str, *, have: str, fix: str, exit_code: int = LACKING) -> None:
        """Keep the three sentences that the user reads and the exit code of the command."""
        super().__init__(what)
        self.what = what
        self.have = have
        self.fix = fix
        self.exit_code = exit_code

    def __str__(self) -> str:
        """Return the message as it is printed."""
        return f"what: {self.what}\nhave: {self.have}\nfix:  {self.fix}"
