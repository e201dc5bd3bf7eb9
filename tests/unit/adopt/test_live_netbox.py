"""NetBox asked live, of a server that answers as its REST API does: every page, one site, a token that stays secret."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from coldaisle.adopt.live import AskError
from coldaisle.adopt.live.netbox import NetBoxLive
from coldaisle.adopt.live.sources import NetBoxSource
from coldaisle.adopt.readers import netbox
from tests.unit.adopt.adopting import exported
from tests.unit.adopt.netbox_server import OLD_TOKEN, TOKEN, Shelf, served


@pytest.fixture
def server() -> Iterator[tuple[str, Shelf]]:
    """Serve the simulated site's export."""
    with served(exported("sim", "netbox")) as found:
        yield found


def live(url: str, token: str = TOKEN, **given: object) -> NetBoxLive:
    """Return the source."""
    return NetBoxLive(NetBoxSource.model_validate({"url": url, "token": "env:T", **given}), token)


@pytest.mark.parametrize("token", [TOKEN, OLD_TOKEN])
def test_what_is_asked_live_is_what_an_export_holds(server: tuple[str, Shelf], token: str) -> None:
    """Facts and cables are those of the same site's export, over pages smaller than any table, with either token."""
    url, shelf = server
    shelf.largest = 7
    taken = live(url, token, page=20).take()
    assert netbox.read(taken.files["netbox"]) == netbox.read(exported("sim", "netbox"))
    assert sum("/dcim/interfaces/" in path for path in shelf.asked) == -(-len(shelf.tables["interfaces"]) // 7)


def test_only_one_sites_addresses_and_prefixes_are_kept(server: tuple[str, Shelf]) -> None:
    """Another site's address, and a prefix that holds none of ours, are left where they are."""
    url, shelf = server
    other = {"id": 9001, "address": "203.0.113.9/24", "assigned_object": {"id": 1, "device": {"name": "far"}}}
    shelf.tables["ip-addresses"].append(other)
    shelf.tables["prefixes"].append({"id": 9002, "prefix": "203.0.113.0/24", "role": None})
    taken = live(url, site="sim").take().files["netbox"]
    assert "203.0.113" not in taken["ip-addresses.json"] + taken["prefixes.json"]
    assert json.loads(taken["prefixes.json"])["count"] > 0
    assert all("site=sim" in path or "slug=sim" in path for path in shelf.asked if "/dcim/" in path)
    with pytest.raises(AskError, match="there is no site nowhere"):
        live(url, site="nowhere").take()


def test_a_table_that_changes_between_pages_is_not_read_in_part(server: tuple[str, Shelf]) -> None:
    """Half of an old table and half of a new one look like a whole one."""
    url, shelf = server
    shelf.grows = "cables"
    with pytest.raises(AskError, match="dcim/cables changed while it was read"):
        live(url, page=10).take()


def test_a_wrong_token_and_a_wrong_place_are_told_without_the_token(server: tuple[str, Shelf]) -> None:
    """What is printed says what to look at; the token is in none of it."""
    url, _ = server
    wrong = "nbt_wrong.correct-horse"
    for source, said in ((live(url, wrong), "403: look at the token"), (live(f"{url}/nowhere"), "look at the url")):
        with pytest.raises(AskError) as told:
            source.take()
        assert said in str(told.value)
        assert wrong not in f"{told.value!r} {source!r}"
