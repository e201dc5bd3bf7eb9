"""What is new in logs over Redfish: pages, links, Ids that are no numbers, and how little is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_log_redfish import redfish_unread
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_unread import NEWEST

from tests.unit.playbooks.tree_redfish import ROOT, Tree, at, collection, serve_tree

SYSTEM = f"{ROOT}/Systems/1"
LOG = f"{SYSTEM}/LogServices/SEL"
ENTRIES = f"{LOG}/Entries"


class Counted(Service):
    """A login that keeps which paths of entries were asked for."""

    def __init__(self, access: Access) -> None:
        """Begin with none."""
        super().__init__(access)
        self.asked: list[str] = []

    def find(self, path: str | None) -> dict[str, object] | None:
        """Ask for a page."""
        self._note(path)
        return super().find(path)

    def get(self, path: str) -> dict[str, object]:
        """Ask for an entry."""
        self._note(path)
        return super().get(path)

    def _note(self, path: str | None) -> None:
        if path and path.startswith(ENTRIES):
            self.asked.append(path.removeprefix(ENTRIES))


@pytest.fixture
def login() -> Iterator[Callable[[Tree], Counted]]:
    """Return a function that serves a tree and logs in to it."""
    with ExitStack() as stack:
        yield lambda tree: Counted(Access(f"http://127.0.0.1:{stack.enter_context(serve_tree(tree))}", "u", "p"))


def logging(**service: object) -> Tree:
    """Return a BMC with one log, whose entries are still to come."""
    tree: Tree = {ROOT: {"Systems": at(f"{ROOT}/Systems")}}
    tree |= collection(f"{ROOT}/Systems", **{"1": {"LogServices": at(f"{SYSTEM}/LogServices")}})
    return tree | collection(f"{SYSTEM}/LogServices", SEL={"Entries": at(ENTRIES), **service})


def entry(name: str, minute: int = 0) -> dict[str, str]:
    """Return a whole entry."""
    made = f"2026-11-28T10:{minute:02}:00Z"
    return {"@odata.id": f"{ENTRIES}/{name}", "Id": name, "Created": made, "Severity": "Critical", "Message": name}


def texts(service: Service, marks: Mapping[str, object]) -> tuple[list[str], Mapping[str, object]]:
    """Return what is new, and the next marks."""
    found = redfish_unread(service, marks)
    return [it.text for it in found.entries], found.marks


def test_of_links_only_the_new_ones_and_the_last_are_followed(login: Callable[[Tree], Counted]) -> None:
    """A BMC that lists links to a thousand entries is not asked for a thousand; its numbers are no words."""
    tree = logging()
    tree |= collection(ENTRIES, **{str(number): entry(str(number)) for number in range(1, 10)})
    service = login(tree)
    first, marks = texts(service, {})
    assert first == [str(number) for number in range(1, 10)]
    tree |= collection(ENTRIES, **{str(number): entry(str(number)) for number in range(1, 12)})
    service = login(tree)
    assert texts(service, marks)[0] == ["10", "11"]
    assert service.asked == ["", "/9", "/10", "/11"]


def test_pages_with_the_newest_first_are_read_back_to_the_last_one(login: Callable[[Tree], Counted]) -> None:
    """What lies behind was told; all is read where the last one is not there any more."""
    tree = logging()
    tree[ENTRIES] = {"Members": [entry("5", 5), entry("4", 4)], "Members@odata.nextLink": f"{ENTRIES}/older"}
    tree[f"{ENTRIES}/older"] = {"Members": [entry("3", 3), entry("2", 2)]}
    service = login(tree)
    path = ENTRIES
    assert texts(service, {path: {"Id": "4", "Created": entry("4", 4)["Created"]}})[0] == ["5"]
    assert service.asked == [""]
    assert texts(service, {path: {"Id": "4", "Created": "2026-11-27T00:00:00Z"}})[0] == ["2", "3", "4", "5"]


def test_of_a_long_log_with_the_newest_first_no_more_is_read_than_is_sent(login: Callable[[Tree], Counted]) -> None:
    """A log of ten thousand entries is two hundred pages, which nobody asks for at the first reading."""
    tree = logging()
    for page in range(1, 15):
        numbers = range(750 - 50 * (page - 1), 750 - 50 * page, -1)
        body = {"Members": [entry(str(number)) for number in numbers], "Members@odata.count": 750}
        tree[f"{ENTRIES}/p{page}"] = body | {"Members@odata.nextLink": f"{ENTRIES}/p{page + 1}"}
    tree[ENTRIES] = tree.pop(f"{ENTRIES}/p1")
    service = login(tree)
    first, _ = texts(service, {})
    assert (first[0], first[-1], len(first)) == ("251", "750", NEWEST)
    assert len(service.asked) == 10


def test_ids_that_are_no_numbers_go_by_when_they_were_made(login: Callable[[Tree], Counted]) -> None:
    """OpenBMC numbers the events of a second; other words say nothing of the order."""
    tree = logging()
    tree[ENTRIES] = {"Members": [entry("1700000000_10", 1), entry("1700000000_9", 1), entry("1600000000", 0)]}
    found, marks = texts(login(tree), {})
    assert found == ["1600000000", "1700000000_9", "1700000000_10"]
    assert texts(login(tree), marks)[0] == []
    tree[ENTRIES] = {"Members": [entry("b-7", 2), entry("a-9", 3), entry("c", 1)]}
    found, marks = texts(login(tree), marks)
    assert found == ["c", "b-7", "a-9"]
    tree[ENTRIES]["Members"].append(entry("0-x", 4))
    assert texts(login(tree), marks)[0] == ["0-x"]


@pytest.mark.parametrize(
    ("service", "full"),
    [
        ({"OverWritePolicy": "NeverOverWrites", "MaxNumberOfRecords": 2}, ["1/SEL"]),
        ({"OverWritePolicy": "WrapsWhenFull", "MaxNumberOfRecords": 2}, []),
        ({"OverWritePolicy": "NeverOverWrites", "MaxNumberOfRecords": 0}, []),
        ({"Overflow": True}, ["1/SEL"]),
        ({}, []),
    ],
)
def test_a_log_that_takes_no_more_is_named(
    login: Callable[[Tree], Counted], service: dict[str, object], full: list[str]
) -> None:
    """One that writes over its oldest entries is none, nor is one that does not say how many it takes."""
    tree = logging(**service)
    tree[ENTRIES] = {"Members": [entry("1"), entry("2")]}
    assert redfish_unread(login(tree), {}).full == full


def test_the_bmcs_time_is_its_logs_or_its_managers(login: Callable[[Tree], Counted]) -> None:
    """By it times of entries are corrected; an older service has none, and the manager that owns it does."""
    tree = logging(DateTime="2026-11-28T10:00:00+01:00")
    tree[ENTRIES] = {"Members": []}
    assert redfish_unread(login(tree), {}).now == "2026-11-28T10:00:00+01:00"
    manager = f"{ROOT}/Managers/1"
    tree = {ROOT: {"Managers": at(f"{ROOT}/Managers")}} | collection(
        f"{manager}/LogServices", Log={"Entries": at(f"{manager}/Log")}
    )
    tree |= collection(
        f"{ROOT}/Managers", **{"1": {"DateTime": "2026-11-28T09:00:00Z", "LogServices": at(f"{manager}/LogServices")}}
    )
    assert redfish_unread(login(tree), {}).now == "2026-11-28T09:00:00Z"
