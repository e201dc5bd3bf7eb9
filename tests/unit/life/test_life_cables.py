"""The cables of a retired node: nobody looks for them, and one that is seen all the same is told."""

from __future__ import annotations

from pathlib import Path

from coldaisle.check import open_site
from coldaisle.verify import compare, read, wanted
from tests.unit.life.sites import move
from tests.unit.verify.neighbours import Links, as_planned, lldpd_json

NODE = "r01-n01"


def test_cables_of_a_retired_node_are_not_looked_for(site: Path) -> None:
    """Off, it is silent and nothing is missing; on again, its cables are named as ones that nobody planned."""
    before = open_site(site)
    all_cables = wanted(before.spec, before.plan)
    everything = as_planned(all_cables)
    own = {end for link in everything.items() if NODE in {each.device for each in link} for end in link}
    assert own
    move(site, NODE, "maintenance", "retired")
    after = open_site(site)
    cables = wanted(after.spec, after.plan)
    assert len(all_cables.cables) - len(cables.cables) == len(own) // 2

    def told(links: Links) -> list[tuple[str, bool]]:
        answers = [read(lldpd_json(links, switch), f"{switch}.json", switch) for switch in sorted(cables.lldp_switches)]
        return [(one.kind, NODE in one.devices) for one in compare(cables, answers).findings]

    assert told({end: peer for end, peer in everything.items() if end not in own}) == []
    found = told(everything)
    assert found
    assert set(found) == {("extra", True)}
