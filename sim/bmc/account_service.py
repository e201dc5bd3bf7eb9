"""Redfish's AccountService of the simulated BMCs, on the accounts of the board; sushy-tools has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import flask
from sushy_tools import error

from sim.bmc.accounts import LOCKOUT_S, LOCKOUT_THRESHOLD, LONGEST_PASSWORD, SHORTEST_PASSWORD, Account
from sim.bmc.board import Board

SERVICE = "/redfish/v1/AccountService"
FOLDER = f"{SERVICE}/Accounts"
FIELDS = {"UserName": "name", "Password": "password", "Enabled": "enabled", "RoleId": "administrator"}


def add_accounts(app: flask.Flask, board: Callable[[], Board]) -> None:
    """Add the service, its collection and its accounts to an application."""

    def service() -> dict[str, Any]:
        return {
            "@odata.type": "#AccountService.v1_10_0.AccountService",
            "@odata.id": SERVICE,
            "Id": "AccountService",
            "Name": "Account Service",
            "ServiceEnabled": True,
            "AccountLockoutThreshold": LOCKOUT_THRESHOLD,
            "AccountLockoutDuration": int(LOCKOUT_S),
            "MinPasswordLength": SHORTEST_PASSWORD,
            "MaxPasswordLength": LONGEST_PASSWORD,
            "Accounts": {"@odata.id": FOLDER},
        }

    def folder() -> Any:  # noqa: ANN401 - flask takes several forms
        if flask.request.method == "POST":
            return _create(board())
        places = [place for place, account in board().accounts.all().items() if account.name]
        members = [{"@odata.id": f"{FOLDER}/{place}"} for place in places]
        head = {"@odata.id": FOLDER, "Name": "Accounts", "Members@odata.count": len(members)}
        return {"@odata.type": "#ManagerAccountCollection.ManagerAccountCollection", **head, "Members": members}

    def account(place: str) -> Any:  # noqa: ANN401 - flask takes several forms
        return _account(board(), place)

    app.add_url_rule(SERVICE, "account_service", service)
    app.add_url_rule(FOLDER, "accounts", folder, methods=["GET", "POST"])
    app.add_url_rule(f"{FOLDER}/<place>", "account", account, methods=["GET", "PATCH", "DELETE"])


def link_service(name: str, path: str) -> Callable[[flask.Response], flask.Response]:
    """Return what puts a link to a service of ours into the service root."""

    def linked(response: flask.Response) -> flask.Response:
        if flask.request.path.rstrip("/") == "/redfish/v1" and response.status_code == 200:  # noqa: PLR2004 - HTTP OK
            response.set_data(json.dumps(json.loads(response.get_data()) | {name: {"@odata.id": path}}))
        return response

    return linked


def account_to_change(board: Board, user: str, environ: Mapping[str, Any]) -> str | None:
    """Return the account whose password must be changed before this request is answered, None where it may be."""
    account = board.accounts.named(user)
    if account is None or not account.must_change:
        return None
    own = f"{FOLDER}/{account.place}"
    return None if environ.get("PATH_INFO", "").rstrip("/") in {own, "/redfish/v1"} else own


def must_change(path: str) -> dict[str, Any]:
    """Return the error of Redfish's base registry that names the account to change."""
    text = f"the password of the account {path} must be changed first"
    message = {"MessageId": "Base.1.18.PasswordChangeRequired", "Message": text, "MessageArgs": [path]}
    return {"code": message["MessageId"], "message": text, "@Message.ExtendedInfo": [message]}


def _create(board: Board) -> Any:  # noqa: ANN401 - flask takes several forms
    asked = _asked()
    if not {"name", "password"} <= asked.keys():
        raise error.BadRequest("an account needs UserName and Password")
    if board.accounts.named(asked["name"]):
        raise error.Conflict(f"there is an account {asked['name']} already")
    free = [place for place, account in board.accounts.all().items() if place > 1 and not account.name]
    if not free:
        raise error.BadRequest("there is no room for another account")
    made = board.accounts.change(free[0], **{"enabled": True, **asked})
    return _shown(made), 201, {"Location": f"{FOLDER}/{made.place}"}


def _account(board: Board, place: str) -> Any:  # noqa: ANN401 - flask takes several forms
    there = board.accounts.all().get(int(place)) if place.isdigit() else None
    if there is None or not there.name:
        raise error.NotFound(f"there is no account {place}")
    if flask.request.method == "DELETE":
        board.accounts.free(there.place)
        return "", 204
    if flask.request.method == "PATCH":
        there = board.accounts.change(there.place, **_asked())
    return _shown(there)


def _asked() -> dict[str, Any]:
    """Return what a request wants of an account, in the board's words."""
    body = flask.request.get_json(silent=True) or {}
    unknown = sorted(set(body) - set(FIELDS))
    if unknown:
        raise error.BadRequest(f"{', '.join(unknown)} cannot be changed")
    found = {FIELDS[key]: value for key, value in body.items()}
    if "administrator" in found:
        found["administrator"] = found["administrator"] == "Administrator"
    if not SHORTEST_PASSWORD <= len(found.get("password", "x" * SHORTEST_PASSWORD)) <= LONGEST_PASSWORD:
        raise error.BadRequest(f"a password has {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters")
    return found


def _shown(account: Account) -> dict[str, Any]:
    role = "Administrator" if account.administrator else "ReadOnly"
    return {
        "@odata.type": "#ManagerAccount.v1_8_0.ManagerAccount",
        "@odata.id": f"{FOLDER}/{account.place}",
        "Id": str(account.place),
        "Name": "Account",
        "UserName": account.name,
        "Password": None,
        "RoleId": role,
        "Enabled": account.enabled,
        "Locked": account.locked_until > 0,
        "PasswordChangeRequired": account.must_change,
    }
