"""
One failure domain after the other, over all processes of the deploy host.

What may take a machine down is done to the machines of one domain (a rack) at once, and to no other. When it goes wrong
on one of them, no other domain is begun until that machine is right or an hour has gone by.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import (
    held,
    read_record,
    record_path,
    write_record,
)
from ansible_collections.coldaisle.site.plugins.module_utils.steady import age_s, moment, stamp

POLL_S = 0.5
STOPPED_FOR_S = 3600.0
UNTOUCHED = "held"
"""Kind of the error of a machine whose power somebody else holds (bmc_lease)."""


@contextlib.contextmanager
def turn(work: str, domain: str, member: str, timeout_s: float) -> Iterator[None]:
    """
    Wait until no other domain is being worked on, and keep others off meanwhile.

    Args:
        work: What is done, such as `firmware`; each kind of work has turns of its own.
        domain: The failure domain, such as a rack.
        member: The machine, for messages and to clear its own failure.
        timeout_s: How long to wait.

    Raises:
        BmcError: a machine of another domain failed, or the wait took too long.

    """
    place = record_path("turns", work)
    deadline = time.monotonic() + timeout_s
    while not _entered(place, domain, member):
        if time.monotonic() > deadline:
            holder = read_record(place).get("domain")
            raise BmcError("turn", f"{domain} waited {timeout_s:g} s for {holder}", "the run that works on that domain")
        time.sleep(POLL_S)
    failure: str | None = "the run was killed"
    try:
        yield
        failure = None
    except Exception as error:
        # A machine that somebody else holds was not touched, so nothing went wrong with it.
        failure = None if getattr(error, "kind", None) == UNTOUCHED else str(error)
        raise
    finally:
        _leave(place, domain, member, failure)


def _entered(place: Path, domain: str, member: str) -> bool:
    """Enter a domain where it is its turn."""
    with held([place.with_suffix(".lock")], timeout_s=30):
        record = _current(read_record(place))
        for failed, failure in record["failed"].items():
            if failure["domain"] != domain:
                text = f"{failed} in {failure['domain']} failed ({failure['why']}), so {domain} is not begun"
                raise BmcError("stopped", text, f"{failed} first; a run that makes it right lets the others go on")
        if record["members"] and record["domain"] != domain:
            return False
        write_record(place, {**record, "domain": domain, "members": {**record["members"], member: os.getpid()}})
        return True


def _leave(place: Path, domain: str, member: str, failure: str | None) -> None:
    with held([place.with_suffix(".lock")], timeout_s=30):
        record = _current(read_record(place))
        record["members"].pop(member, None)
        record["failed"].pop(member, None)
        if failure is not None:
            record["failed"][member] = {"domain": domain, "why": failure, **stamp(moment())}
        write_record(place, record)


def _current(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record without members whose process is gone and without failures that are long past."""
    members = {member: pid for member, pid in record.get("members", {}).items() if Path(f"/proc/{pid}").exists()}
    now, known = moment(), record.get("failed", {})
    failed = {member: failure for member, failure in known.items() if age_s(failure, now) < STOPPED_FOR_S}
    return {"domain": record.get("domain"), "members": members, "failed": failed}
