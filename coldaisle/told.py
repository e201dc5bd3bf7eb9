"""An error as every message tells it: where, what, have, fix."""

from __future__ import annotations


class ToldError(Exception):
    """Something that cannot be done: where it stands, what is wrong, what was found, and how to go on."""

    def __init__(self, where: str, what: str, have: str, fix: str) -> None:
        """Keep the four parts; `where` is a step, a setting or a path, `fix` is a sentence that starts with a verb."""
        super().__init__(where, what, have, fix)
        self.where = where
        self.what = what
        self.have = have
        self.fix = fix

    def __str__(self) -> str:
        """Return the four lines that the command line prints."""
        return f"{self.where}\n  what: {self.what}\n  have: {self.have}\n  fix:  {self.fix}"
