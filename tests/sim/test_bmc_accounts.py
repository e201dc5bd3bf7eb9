"""Rotation of a BMC's credentials, over both protocols, against accounts that lock after three failed logins."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.testing import patch_module_args
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts import RESCUE, Accounts, rotate
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_ipmi import IpmiAccounts
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_login import rotate_and_see
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_accounts_redfish import RedfishAccounts
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_state import record_path
from ansible_collections.coldaisle.site.plugins.modules import bmc

from sim.bmc.accounts import LOCKOUT_THRESHOLD
from sim.bmc.board import Board
from tests.sim.bmc_boards import ipmi_of, make_board, redfish_of
from tests.unit.playbooks.ipmi_bmcs import free_port

DEFAULT, MANAGED = "0penBmc!", "managed-secret-1"  # of a BMC that lives for one test


CHANGES = {"create", "set_password", "enable", "disable", "remove"}
"""Where a crash makes a difference, beside logins: one while something is read is one before the next change."""


class CrashError(Exception):
    """The run was killed."""


class Hall:
    """One BMC, the two logins to rotate between, and how its accounts stand."""

    def __init__(self, folder: Path, address: str, managed_user: str) -> None:
        """Keep the address; the default account is `root`."""
        self.board = make_board(folder, "root", DEFAULT)
        self.old = Access(address, "root", DEFAULT, timeout_s=5)
        self.managed = Access(address, managed_user, MANAGED, timeout_s=5)

    def names(self) -> dict[str, bool]:
        """Return the names of all accounts, and whether each is enabled."""
        return {account.name: account.enabled for account in self.board.accounts.all().values() if account.name}

    def failed(self) -> int:
        """Return the most failed logins in a row that any account has had."""
        return most_failed(self.board)


def most_failed(board: Board) -> int:
    """Return the failed logins in a row that count now; a locked account counts as the threshold."""
    accounts = board.accounts.all().values()
    return max(LOCKOUT_THRESHOLD if account.locked_until else account.failed for account in accounts)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Wait for nothing, and remember below the test's folder."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture(params=["admin", "root"])
def hall(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hall]:
    """Return a BMC over Redfish, once with a new user name and once with the same."""
    folder = tmp_path / "bmc"
    board = make_board(folder, "root", DEFAULT)
    with redfish_of(board, folder) as address:
        yield Hall(folder, address, request.param)


def crashing(login: Callable[[Access], Accounts], at: int, *, before: bool) -> Callable[[Access], Any]:
    """Return a login whose call number `at`, counted over all of its connections, kills the run."""
    calls = iter(range(1, 1000))

    class Proxy:
        def __init__(self, access: Access) -> None:
            self._inner = tick(lambda: login(access))

        def __getattr__(self, name: str) -> Callable[..., Any]:
            method = getattr(self._inner, name)
            return (lambda *given: tick(lambda: method(*given))) if name in CHANGES else method

    def tick(call: Callable[[], Any]) -> Any:  # noqa: ANN401 - what the call returns
        number = next(calls)
        if number == at and before:
            raise CrashError(number)
        try:
            return call()
        finally:
            if number == at:
                raise CrashError(number)

    return Proxy


def test_default_becomes_managed_and_is_locked_out(hall: Hall) -> None:
    """The managed login works, the default one does not, and a second run changes nothing."""
    assert rotate(RedfishAccounts, hall.old, hall.managed)
    assert hall.names() == ({"root": True} if hall.managed.username == "root" else {"root": False, "admin": True})
    assert hall.board.lets_in(hall.managed.username, MANAGED)
    assert not hall.board.lets_in("root", DEFAULT)
    assert rotate(RedfishAccounts, hall.old, hall.managed) == []


@pytest.mark.parametrize("before", [True, False])
def test_a_crash_at_any_step_is_made_good_by_the_next_run(hall: Hall, *, before: bool) -> None:
    """Killed before or after any request, somebody is let in, and the next run ends as planned without a lockout."""
    crashed = 0
    for at in range(1, 40):
        for place in hall.board.accounts.all():
            hall.board.accounts.free(place)
        hall.board.accounts.change(2, name="root", password=DEFAULT, enabled=True, administrator=True)
        record_path("accounts", hall.managed.address).unlink(missing_ok=True)
        try:
            rotate(crashing(RedfishAccounts, at, before=before), hall.old, hall.managed)
        except CrashError:
            crashed += 1
        assert hall.failed() < LOCKOUT_THRESHOLD
        rotate(RedfishAccounts, hall.old, hall.managed)
        assert hall.failed() < LOCKOUT_THRESHOLD
        assert hall.names() == ({"root": True} if hall.managed.username == "root" else {"root": False, "admin": True})
        assert hall.board.accounts.lets_in(hall.managed.username, MANAGED)
        if crashed < at:
            break
    assert crashed >= 5, "the crashes covered the whole run"
    assert crashed < 39


def test_wrong_credentials_never_lock_an_account(hall: Hall) -> None:
    """However often it is tried: after two failed logins an account is left alone, and the message says until when."""
    wrong_old, wrong_new = (Access(hall.old.address, "root", f"guess-guess-{n}", timeout_s=5) for n in "12")
    kinds = []
    for _ in range(5):
        with pytest.raises(BmcError) as caught:
            rotate(RedfishAccounts, wrong_old, wrong_new)
        kinds.append(caught.value.kind)
    assert kinds == ["wrong-credentials", *["held-back"] * 4]
    assert "guess-guess" not in str(caught.value)
    assert str(record_path("accounts", hall.old.address)) in str(caught.value)
    assert hall.failed() < LOCKOUT_THRESHOLD
    assert hall.board.accounts.lets_in("root", DEFAULT)


def test_a_password_that_would_be_cut_off_is_refused_before_anything_changes(hall: Hall) -> None:
    """The BMC's own limits count, and nothing is touched."""
    longer = Access(hall.old.address, hall.managed.username, "x" * 21, timeout_s=5)
    with pytest.raises(BmcError, match=r"password-length: .* has 21 bytes, and this BMC takes 8 to 20"):
        rotate(RedfishAccounts, hall.old, longer)
    assert hall.names() == {"root": True}
    assert hall.board.accounts.lets_in("root", DEFAULT)


def test_old_account_stays_where_the_new_login_is_not_proved(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A BMC that says yes and keeps another password locks nobody out: the old login still works."""
    change = hall.board.accounts.change

    def forgetful(place: int, **values: Any) -> Any:  # noqa: ANN401 - the board's own
        return change(place, **({**values, "password": "something-else"} if "password" in values else values))

    served = make_board(Path(hall.board.machine.folder), "root", DEFAULT)
    monkeypatch.setattr(type(served.accounts), "change", lambda _self, place, **values: forgetful(place, **values))
    with pytest.raises(BmcError, match="wrong-credentials"):
        rotate(RedfishAccounts, hall.old, hall.managed)
    monkeypatch.undo()
    assert hall.board.accounts.lets_in("root", DEFAULT)


def by_reference(hall: Hall, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the access options of a module for a BMC, with both logins in the environment."""
    for prefix, access in (("DEFAULT", hall.old), ("MANAGED", hall.managed)):
        monkeypatch.setenv(f"{prefix}_USERNAME", access.username)
        monkeypatch.setenv(f"{prefix}_PASSWORD", access.password)
    references = {"credentials": "env:MANAGED", "default_credentials": "env:DEFAULT"}
    return {"address": hall.old.address, "protocol": "redfish", "ca_file": None, "timeout_s": 5.0, **references}


def test_after_a_rotation_the_managed_account_tells_whose_bmc_it_is(
    hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any BMC takes the default account, another machine's too: whose it is, is seen anew, and what was done told."""
    params, other = by_reference(hall, monkeypatch), {"machine_uuid": "00000000-0000-4000-8000-000000000000"}
    assert rotate_and_see(params, other, check=True)
    with pytest.raises(BmcError, match=r"another-machine: .*; nothing but its accounts was changed"):
        rotate_and_see(params, other, check=False)
    assert hall.board.lets_in(hall.managed.username, MANAGED)
    with pytest.raises(BmcError, match=r"another-machine: .*; nothing was changed"):
        rotate_and_see(params, other, check=False)
    assert rotate_and_see(params, {}, check=False) == []


def test_one_module_lets_the_managed_account_in_and_settles(
    hall: Hall, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check mode tells the steps of the account alone; then one call rotates, turns on and reads back, once."""
    options = by_reference(hall, monkeypatch) | {"facts": {"power": "on"}}

    def told(**more: bool) -> dict[str, Any]:
        with patch_module_args(options | more), pytest.raises(SystemExit):
            bmc.main()
        answer: dict[str, Any] = json.loads(capsys.readouterr().out)
        return answer

    would, done, again = told(_ansible_check_mode=True), told(), told()
    assert (would["changed"], would["changes"], would["steps"]) == (True, [], done["steps"][: len(would["steps"])])
    assert (done["changed"], done["facts"]) == (True, {"power": "on"})
    assert [change["fact"] for change in done["changes"]] == ["power"]
    assert (again["changed"], again["steps"], again["changes"]) == (False, [], [])
    assert MANAGED not in str((would, done, again))


def test_check_mode_says_what_would_be_done_and_does_nothing(hall: Hall) -> None:
    """The steps are told, and the BMC stays as it was."""
    steps = rotate(RedfishAccounts, hall.old, hall.managed, check=True)
    assert steps[0] == f"set the password of {hall.managed.username}"
    assert hall.names() == {"root": True}
    assert hall.board.accounts.lets_in("root", DEFAULT)


@pytest.mark.parametrize("user", ["admin", "root"])
def test_a_default_that_must_be_changed_first_is(tmp_path: Path, user: str) -> None:
    """A BMC that lets its default account change its password and nothing else ends as every other one."""
    folder = tmp_path / "bmc"
    board = make_board(folder, "root", DEFAULT)
    board.accounts.change(2, must_change=True)
    with redfish_of(board, folder) as address:
        hall = Hall(folder, address, user)
        assert rotate(RedfishAccounts, hall.old, hall.managed)
        assert hall.names() == ({"root": True} if user == "root" else {"root": False, "admin": True})
        assert hall.board.accounts.lets_in(user, MANAGED)
        assert hall.failed() == 0


@pytest.mark.parametrize("user", ["admin", "root"])
def test_ipmi_rotates_by_its_user_commands(tmp_path: Path, user: str) -> None:
    """The same order over IPMI: users named, enabled, tested, and proved by a new session."""
    folder = tmp_path / "bmc"
    with ipmi_of(folder, "root", DEFAULT, free_port()) as address:
        hall = Hall(folder, address, user)
        assert rotate(IpmiAccounts, hall.old, hall.managed)
        assert hall.names() == ({"root": True} if user == "root" else {"root": False, "admin": True})
        assert RESCUE not in hall.names()
        assert hall.board.accounts.lets_in(user, MANAGED)
        assert rotate(IpmiAccounts, hall.old, hall.managed) == []
        assert hall.failed() == 0
