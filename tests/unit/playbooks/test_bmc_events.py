"""The event subscription of a BMC as a setting: made, moved, read back, and apart from those of others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_beside import read_beside, settle_beside
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_events import destination, subscribe
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service

from tests.unit.playbooks.tree_redfish import ROOT, Tree, at, collection, serve_tree

FOLDER = f"{ROOT}/EventService/Subscriptions"
URL = "https://events.example.net/redfish"


@pytest.fixture
def tree() -> Tree:
    """Return a service with a subscription of somebody else's."""
    found: Tree = {
        ROOT: {"EventService": at(f"{ROOT}/EventService")},
        f"{ROOT}/EventService": {"Subscriptions": at(FOLDER)},
    }
    return found | collection(FOLDER, **{"1": {"Destination": "https://other.example.net/", "Context": "theirs"}})


@pytest.fixture
def address(tree: Tree) -> Iterator[str]:
    """Serve it."""
    with serve_tree(tree) as port:
        yield f"http://127.0.0.1:{port}"


def test_a_subscription_is_made_moved_and_read_back(tree: Tree, address: str) -> None:
    """A second time nothing is posted; another destination takes the place of the first; others' stay."""
    service = Service(Access(address, "u", "p"))
    assert destination(service) == "none"
    subscribe(service, URL)
    subscribe(service, URL)
    assert destination(service) == URL
    assert len(tree[FOLDER]["Members"]) == 2
    subscribe(service, f"{URL}/2")
    assert destination(service) == f"{URL}/2"
    assert {it["Context"] for path, it in tree.items() if path.startswith(f"{FOLDER}/")} == {"theirs", "coldaisle"}


def test_a_bmc_without_events_is_told(tree: Tree, address: str) -> None:
    """The fact could not be read, with its reason."""
    del tree[f"{ROOT}/EventService"]
    with pytest.raises(BmcError, match="no-events: the BMC has no EventService"):
        destination(Service(Access(address, "u", "p")))


def test_the_fact_is_settled_and_read_with_the_others(address: str, tmp_path: Path) -> None:
    """Check mode says what differs and posts nothing; a run makes it true; the next one has nothing to do."""
    (tmp_path / "bmc.yaml").write_text("{username: u, password: p}")
    params = {"address": address, "protocol": "redfish", "credentials": f"file:{tmp_path}/bmc.yaml"}
    wanted = {"event_destination": URL, "power": "on"}
    change = [{"fact": "event_destination", "seen": "none", "planned": URL}]
    assert settle_beside(params, wanted, check=True) == change
    assert settle_beside(params, wanted, check=False) == change
    assert settle_beside(params, wanted, check=False) == []
    assert read_beside(params, ["event_destination"]) == ({"event_destination": URL}, {})
    _seen, errors = read_beside({**params, "protocol": "ipmi"}, ["event_destination", "firmware.BMC"])
    assert set(errors) == {"event_destination", "firmware.BMC"}
