"""What a command's exit status means; the same for every command."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit status of every command."""

    CLEAN = 0
    """Everything is as it should be."""
    OUR_FAULT = 1
    """Coldaisle itself failed."""
    INVALID = 2
    """Wrong usage, or a spec that cannot be used."""
    COULD_NOT_TELL = 3
    """Something could not be read, so there is no answer."""
    CHECK_FAILED = 4
    """A check found an error."""
    CHANGED = 5
    """There are changes, or drift."""
    IN_USE = 6
    """Somebody else is at work on it: who, with what and since when was said, and nothing was done."""
