"""What is wrong with a statement, a key or a store, told like every message: where, what, have, fix."""

from __future__ import annotations


class EvidenceError(Exception):
    """Evidence that cannot be made, kept or believed."""

    def __init__(self, where: str, what: str, have: str, fix: str) -> None:
        """Keep the four parts; `where` is a file or a setting, `fix` is a sentence that starts with a verb."""
        super().__init__(where, what, have, fix)
        self.where = where
        self.what = what
        self.have = have
        self.fix = fix

    def __str__(self) -> str:
        """Return the lines that the command line prints."""
        return f"{self.where}\n  what: {self.what}\n  have: {self.have}\n  fix:  {self.fix}"
