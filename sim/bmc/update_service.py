"""Redfish's UpdateService and TaskService of the simulated BMCs, on the firmware of the board."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask
from sushy_tools import error

from sim.bmc.board import Board

SERVICE = "/redfish/v1/UpdateService"
INVENTORY = f"{SERVICE}/FirmwareInventory"
UPDATE = f"{SERVICE}/Actions/UpdateService.SimpleUpdate"
TASK_SERVICE = "/redfish/v1/TaskService"
TASKS = f"{TASK_SERVICE}/Tasks"
ALIVE = {"New", "Starting", "Running"}


def add_updates(app: flask.Flask, board: Callable[[], Board]) -> None:
    """Add both services to an application; sushy-tools' own UpdateService and TaskService give way."""

    def service() -> dict[str, Any]:
        action = {"target": UPDATE, "TransferProtocol@Redfish.AllowableValues": ["HTTP", "HTTPS"]}
        return {
            **_head("UpdateService", "v1_11_0", SERVICE),
            "ServiceEnabled": True,
            "Status": {"State": "Enabled", "Health": "OK"},
            "FirmwareInventory": {"@odata.id": INVENTORY},
            "Actions": {"#UpdateService.SimpleUpdate": action},
        }

    def inventory() -> dict[str, Any]:
        return _collection("SoftwareInventory", INVENTORY, board().firmware.versions())

    def item(name: str) -> dict[str, Any]:
        versions = board().firmware.versions()
        if name not in versions:
            raise error.NotFound(f"there is no firmware {name}")
        head = _head("SoftwareInventory", "v1_4_0", f"{INVENTORY}/{name}")
        return {**head, "Version": versions[name], "Updateable": True}

    def tasks() -> dict[str, Any]:
        return _collection("Task", TASKS, board().firmware.shown_tasks())

    def task(number: str) -> Any:  # noqa: ANN401 - flask takes several forms
        return _task(board(), number)

    def task_service() -> dict[str, Any]:
        return {**_head("TaskService", "v1_2_0", TASK_SERVICE), "Tasks": {"@odata.id": TASKS}}

    def update() -> Any:  # noqa: ANN401 - flask takes several forms
        return _update(board())

    # sushy-tools has these three already, fixed ones.
    theirs = {"UpdateService.update_service_resource": service, "simple_task_service": task_service,
              "UpdateService.update_service_simple_update": update}  # fmt: skip
    app.view_functions.update(theirs)
    ours: dict[str, Callable[..., Any]] = {
        INVENTORY: inventory,
        f"{INVENTORY}/<name>": item,
        TASKS: tasks,
        f"{TASKS}/<number>": task,
    }
    for path, view in ours.items():
        app.add_url_rule(path, f"coldaisle_{view.__name__}", view)


def _update(board: Board) -> Any:  # noqa: ANN401 - flask takes several forms
    asked = flask.request.get_json(silent=True) or {}
    targets = [str(target).rpartition("/")[2] for target in asked.get("Targets") or []]
    if len(targets) != 1 or targets[0] not in board.firmware.versions() or not asked.get("ImageURI"):
        raise error.BadRequest("name an ImageURI and one of the firmware inventory in Targets")
    if board.firmware.busy():
        raise error.Conflict("an update is going on")
    number = board.firmware.begin(targets[0], asked["ImageURI"])
    body, _status = _task(board, number)
    return body, 202, {"Location": f"{TASKS}/{number}"}


def _task(board: Board, number: str) -> tuple[dict[str, Any], int]:
    task = board.firmware.shown_tasks().get(number)
    if task is None:
        raise error.NotFound(f"there is no task {number}")
    state = board.firmware.state(task)
    problem = [{"MessageId": "Update.1.0.TransferFailed", "Message": task["problem"]}] if state == "Exception" else []
    body = {**_head("Task", "v1_7_0", f"{TASKS}/{number}"), "TaskState": state, "Messages": problem}
    return body, 200


def _head(kind: str, version: str, path: str) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    return {"@odata.type": f"#{kind}.{version}.{kind}", "@odata.id": path, "Id": name, "Name": name}


def _collection(kind: str, path: str, names: Any) -> dict[str, Any]:  # noqa: ANN401 - anything with names
    members = [{"@odata.id": f"{path}/{name}"} for name in names]
    head = {"@odata.type": f"#{kind}Collection.{kind}Collection", "@odata.id": path, "Name": f"{kind}s"}
    return {**head, "Members": members, "Members@odata.count": len(members)}
