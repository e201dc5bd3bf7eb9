"""Sensors and logs over Redfish, newer and older resources, and BMCs that lack a part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log import Entry, redfish_log
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_sensors import Sensor, redfish_sensors
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service

from tests.unit.playbooks.tree_redfish import ROOT, Tree, at, collection, serve_tree

Login = Callable[[Tree], Service]
OK = {"State": "Enabled", "Health": "OK"}


@pytest.fixture
def login() -> Iterator[Login]:
    """Return a function that serves a tree and logs in to it."""
    with ExitStack() as stack:
        yield lambda tree: Service(Access(f"http://127.0.0.1:{stack.enter_context(serve_tree(tree))}", "u", "p"))


def test_sensors_of_the_newer_collection_are_taken_before_thermal(login: Login) -> None:
    """A chassis with Sensors is read by them alone; one without by Thermal and Power; one with neither is no error."""
    first = f"{ROOT}/Chassis/1"
    tree: Tree = {ROOT: {"Chassis": at(f"{ROOT}/Chassis")}}
    newer: dict[str, Any] = {"Sensors": at(f"{first}/Sensors"), "Thermal": at(f"{first}/Thermal")}
    older: dict[str, Any] = {"Thermal": at(f"{ROOT}/Chassis/2/Thermal"), "Power": None}
    tree |= collection(f"{ROOT}/Chassis", **{"1": newer, "2": older, "3": {}})
    inlet = {"Name": "Inlet", "Reading": 24.5, "ReadingUnits": "Cel", "Status": OK}
    supply = {"Name": "PSU 1", "Reading": None, "ReadingUnits": "W", "Status": {"State": "Absent"}}
    tree |= collection(f"{first}/Sensors", t1=inlet, p1=supply)
    tree[f"{first}/Thermal"] = {"Temperatures": [{"Name": "Inlet", "ReadingCelsius": 99}]}
    failed = {"Name": "Fan 1", "Reading": 900, "Status": {"Health": "Critical"}}
    fans = [failed, {"MemberId": "7", "Reading": 40, "ReadingUnits": "Percent"}]
    tree[f"{ROOT}/Chassis/2/Thermal"] = {"Temperatures": None, "Fans": fans}
    assert redfish_sensors(login(tree)) == [
        Sensor("Inlet", 24.5, "Cel", "ok", ("Enabled",)),
        Sensor("PSU 1", None, "W", "unknown", ("Absent",)),
        Sensor("Fan 1", 900.0, "RPM", "critical"),
        Sensor("7", 40.0, "%", "unknown"),
    ]


def test_logs_of_all_owners_are_one_and_the_newest_are_last(login: Login) -> None:
    """System, manager and chassis may each have logs, whole members in a collection included; pages are followed."""
    system, manager = f"{ROOT}/Systems/1", f"{ROOT}/Managers/1"
    tree: Tree = {ROOT: {"Systems": at(f"{ROOT}/Systems"), "Managers": at(f"{ROOT}/Managers"), "Chassis": None}}
    tree |= collection(f"{ROOT}/Systems", **{"1": {"LogServices": at(f"{system}/LogServices")}})
    tree |= collection(f"{ROOT}/Managers", **{"1": {"LogServices": at(f"{manager}/LogServices")}})
    tree |= collection(f"{system}/LogServices", SEL={"Entries": at(f"{system}/SEL/Entries")}, Empty={})
    tree |= collection(f"{manager}/LogServices", Log={"Entries": at(f"{manager}/Log/Entries")})
    hot = {"Created": "2026-05-02T00:00:00Z", "Severity": "Warning", "Message": "hot"}
    page = {"Members": [{"@odata.id": f"{system}/SEL/2", **hot}], "Members@odata.nextLink": f"{system}/SEL/More"}
    tree[f"{system}/SEL/Entries"] = page
    oldest = {"Created": "2026-05-01T00:00:00Z", "Severity": "OK", "MessageId": "X.1"}
    tree |= collection(f"{system}/SEL/More", a=oldest)
    tree |= collection(f"{manager}/Log/Entries", b={"Created": "2026-05-03T00:00:00Z", "Message": "login"})
    service = login(tree)
    assert redfish_log(service, 2) == [
        Entry("2026-05-02T00:00:00Z", "warning", "hot", "1/SEL"),
        Entry("2026-05-03T00:00:00Z", "unknown", "login", "1/Log"),
    ]
    assert len(redfish_log(service, 50)) == 3
