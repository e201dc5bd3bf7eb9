"""
Logging in over IPMI: cipher suites in order, the one that worked remembered, and errors that say what was tried.

Some BMCs offer cipher suite 17 and answer in suite 3, some refuse it, some fall silent (ipmitool's issues 363 and 376).
So each suite is a login of its own. A wrong password ends it at once: more logins would lock the account. pyghmi gives
up after two packets and 2.5 s; a BMC, or a network, that is busy for three seconds is common.
"""

from __future__ import annotations

import itertools
import time
from importlib.metadata import version
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Habits, Identity
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi_wait import close_the_gap
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import habits_of, vendor_of
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import change_record, read_record, record_path
from pyghmi.exceptions import PyghmiException
from pyghmi.ipmi.private.session import Session

close_the_gap()

DEFAULT_PORT = 623
HASHES = {17: 256, 3: 1}
"""pyghmi's name of the hash of each cipher suite that it speaks (IPMI 2.0, table 22-20)."""

PRIVILEGES = {"operator": 3, "administrator": 4}
NO_RESOURCES = {0x01, 0x0B}
"""Status codes of an open session response that say nothing of the suite (table 13-15): the BMC has no room."""

RAKP2_HASH_AT = 40
"""Where the BMC's hash begins in its second message of the login (table 13-12)."""

HASH_BYTES = {256: 32, 1: 20}


class _LoginError(Exception):
    def __init__(self, text: str, *, answered: bool) -> None:
        super().__init__(text)
        self.answered = answered


class SuiteSession(Session):  # type: ignore[misc]  # pyghmi carries no types
    """A session of one cipher suite: pyghmi's own falls back by itself, in one case of several."""

    hash_name: int
    attemptedhash: int

    def __init__(self, **login: Any) -> None:  # noqa: ANN401  # pyghmi's
        """Log in."""
        try:
            super().__init__(**login)
        except PyghmiException as error:
            answered = getattr(self, "sessioncontext", None) is not None
            said = error.args[0] if error.args and error.args[0] else "timeout"
            raise _LoginError(str(said), answered=answered) from error

    def _initsession(self) -> None:
        super()._initsession()
        self.attemptedhash = self.hash_name

    def _got_rmcp_response(self, data: Any) -> Any:  # noqa: ANN401  # pyghmi's bytes and codes
        if data[0] == self.rmcptag and data[1] and data[1] not in NO_RESOURCES and self.attemptedhash == HASHES[17]:
            self.onlogon({"error": f"no matching cipher suite (status {data[1]:#04x})"})
            return None
        return super()._got_rmcp_response(data)

    def _got_rakp2(self, data: Any) -> Any:  # noqa: ANN401  # pyghmi's bytes and codes
        known = data[1] == 0 and len(data) in {RAKP2_HASH_AT + length for length in HASH_BYTES.values()}
        if known and len(data) != RAKP2_HASH_AT + HASH_BYTES[self.attemptedhash]:
            self.onlogon({"error": "the BMC took one cipher suite and answers in another"})
            return None
        return super()._got_rakp2(data)


_KINDS = {suite: type(f"Suite{suite}", (SuiteSession,), {"hash_name": name}) for suite, name in HASHES.items()}


def open_session(access: Access, vendor: str = "any") -> Session:
    """
    Log in with the suite and privilege that worked the last time, else with each in the order of the quirk table.

    Raises:
        BmcError: none worked, or the BMC does not know user or password.

    """
    place = record_path("ipmi", access.address)
    failed: list[str] = []
    lower = False
    pairs = _pairs(read_record(place), habits_of(Identity(vendor_of(vendor))))
    for suite, privilege in pairs:
        if privilege != pairs[0][1] and not lower:
            continue
        try:
            session = _patient(access, suite, privilege)
        except (_LoginError, OSError) as error:
            failed.append(f"suite {suite} as {privilege}: {error}")
            lower = lower or _wants_less(error)
            if not (lower or _wants_another_suite(error)):
                break
        else:
            change_record(place, suite=suite, privilege=privilege)
            return session
    raise login_error("; ".join(failed))


def _pairs(remembered: dict[str, Any], habits: Habits) -> list[tuple[int, str]]:
    """Return suites and privileges as they are tried: the remembered pair, then the BMC's order."""
    first = (remembered.get("suite"), remembered.get("privilege"))
    pairs = [(suite, privilege) for privilege, suite in itertools.product(habits.ipmi_privileges, habits.ipmi_suites)]
    return sorted(pairs, key=lambda pair: pair != first)


def _wants_less(error: Exception) -> bool:
    """Tell whether a lower privilege may help; `unauthorized name` is also said of a user who may not be that much."""
    return login_error(str(error)).kind == "no-privilege" or "unauthorized name" in str(error).lower()


def _wants_another_suite(error: Exception) -> bool:
    """Tell whether another suite may help; a BMC that never answered has none."""
    kind = login_error(str(error)).kind
    return kind == "cipher" or (kind == "no-answer" and getattr(error, "answered", False))


def split(address: str) -> tuple[str, int]:
    """Return host and port of an address, which may name a port."""
    host, _, port = address.partition(":")
    return host, int(port or DEFAULT_PORT)


def _patient(access: Access, suite: int, privilege: str) -> Session:
    """Log in; a BMC that says nothing is asked again for half of its time, as one over Redfish is connected to."""
    deadline = time.monotonic() + access.timeout_s / 2
    while True:
        try:
            return _login(access, suite, privilege)
        except _LoginError as error:
            if error.answered or login_error(str(error)).kind != "no-answer" or time.monotonic() > deadline:
                raise


def _login(access: Access, suite: int, privilege: str) -> Session:
    host, port = split(access.address)
    # As bytes: pyghmi forgets a session that did not come up by this key, and would hand that one out again.
    return _KINDS[suite](
        bmc=host,
        userid=access.username.encode(),
        password=access.password.encode(),
        port=port,
        privlevel=PRIVILEGES[privilege],
        keepalive=False,
    )


def login_error(text: str) -> BmcError:
    """Return the error class of pyghmi's words; MAAS keeps a table like this one for ipmitool's."""
    lowered = text.lower()
    told = f"{text} (pyghmi {version('pyghmi')})"
    return next(
        (BmcError(kind, told, look) for kind, signs, look in _SIGNS if any(sign in lowered for sign in signs)),
        BmcError("no-connection", told, "its address, and whether IPMI over LAN is switched on"),
    )


_SIGNS = (
    (
        "wrong-credentials",
        ("password", "unauthorized name", "rakp4", "invalid name"),
        "the credentials file, and that the user may use IPMI over LAN",
    ),
    ("no-privilege", ("role", "priv"), "the user's privilege level on the LAN channel"),
    ("session-limit", ("resources",), "other programs that hold sessions; they end after a minute of silence"),
    (
        "cipher",
        ("cipher", "algorithm", "integrity"),
        "the cipher suites that the BMC allows: suite 3 or 17 is needed",
    ),
    (
        "no-answer",
        ("timeout", "no longer connected", "failed to initialize"),
        "its cable and address, and whether IPMI over LAN is switched on",
    ),
)
"""Kind, signs in pyghmi's words, and where to look; the first that fits. `as administrator` is no sign of a role."""
