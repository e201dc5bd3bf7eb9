"""Exchanges with BMCs of every vendor, written from documentation and public mockups: no device has answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils import bmc_settle
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import read_fact
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

from tests.unit.playbooks.bmc_replay import FOLDER, PASSWORD, USER, Exchange, ReplayedBmc

NAMES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
WANTED = {
    "ami", "dell-idrac9", "dell-idrac10", "hpe-ilo5", "hpe-ilo6", "lenovo-xcc", "nvidia-bluefield", "nvidia-gb200",
    "openbmc", "supermicro-x11", "supermicro-x12", "supermicro-x13", "supermicro-x14",
}  # fmt: skip

Play = Callable[[str, str], tuple[RedfishBmc, ReplayedBmc]]


@cache
def exchange(name: str) -> Exchange:
    """Return one file, read once."""
    return Exchange(name)


def _scenarios() -> list[tuple[str, str]]:
    return [(name, scenario) for name in NAMES for scenario in exchange(name).scenarios]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Return a function that plays a scenario and logs in to the BMC."""
    for name in ("RETRY_S", "POLL_S", "SETTLE_AFTER_OFF_S", "RESEND_S"):
        monkeypatch.setattr(bmc_module, name, 0.001)
    monkeypatch.setattr(bmc_settle, "APPLY_POLL_S", 0.001)
    running: list[ReplayedBmc] = []

    def plays(name: str, scenario: str) -> tuple[RedfishBmc, ReplayedBmc]:
        running.append(ReplayedBmc(exchange(name), scenario))
        return RedfishBmc(Access(running[-1].url, USER, PASSWORD, timeout_s=5)), running[-1]

    yield plays
    for bmc in running:
        bmc.stop()


def test_every_vendor_has_an_exchange() -> None:
    """The vendors of a mixed hall are all there."""
    assert set(NAMES) == WANTED


@pytest.mark.parametrize("name", NAMES)
def test_an_exchange_says_where_it_is_from(name: str) -> None:
    """Each has its sources, and the table knows whose BMC it is."""
    assert exchange(name).sources
    assert all(len(source) > len("https://") for source in exchange(name).sources)


@pytest.mark.parametrize(("name", "scenario"), _scenarios())
def test_exchange(play: Play, name: str, scenario: str) -> None:
    """What is planned is settled with exactly the requests that the exchange has, and a second time with none."""
    bmc, there = play(name, scenario)
    assert bmc.identity.vendor == exchange(name).vendor
    wanted = there.scenario
    if "inventory" in wanted:
        found = bmc.inventory()
        shown = {kind: parts for kind, parts in found.parts.items() if kind in wanted["inventory"]}
        assert shown == wanted["inventory"]
        assert found.gaps == wanted.get("gaps", {})
    elif "reads" in wanted:
        assert {fact: _read(bmc, fact) for fact in wanted["reads"]} == wanted["reads"]
    elif "fails" in wanted:
        with pytest.raises(BmcError, match=wanted["fails"]):
            _settle(bmc, wanted)
    else:
        seen = {change["fact"]: change["seen"] for change in _settle(bmc, wanted)}
        assert seen == wanted["seen"]
        assert there.left == []
        left = {change["fact"]: change["seen"] for change in _settle(bmc, wanted)}
        assert left == wanted.get("pending", {})
    assert there.unexpected == []
    assert there.left == []


def _read(bmc: RedfishBmc, fact: str) -> str:
    """Return what a fact reads, or the class of what is wrong."""
    try:
        return read_fact(bmc, fact).text
    except BmcError as error:
        return f"? {error.kind}"


def _settle(bmc: RedfishBmc, wanted: dict[str, Any]) -> list[dict[str, Any]]:
    return settle_bmc(
        bmc, wanted["settle"], 2, check=False, may_reset=wanted.get("may_reset", False), apply_timeout_s=2
    )
