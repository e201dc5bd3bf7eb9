"""What was found against the BMCs of the plan: where each is, which were not expected, and which are silent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from coldaisle.discovery.probe import Found

if TYPE_CHECKING:
    from coldaisle.plan.model import SitePlan

Answer = Literal["expected", "wrong-address", "wrong-mac", "unexpected", "silent"]


@dataclass(frozen=True, slots=True)
class Place:
    """One BMC: what the plan has there, what was found, and how the two fit."""

    answer: Answer
    node: str | None
    planned_address: str | None
    planned_mac: str | None
    found: Found | None

    @property
    def text(self) -> str:
        """Return the answer in words, empty where all is as planned."""
        address = self.found.address if self.found else None
        mac = self.found.mac if self.found else None
        words = {
            "expected": "",
            "wrong-address": f"planned at {self.planned_address}, answers at {address}",
            "wrong-mac": f"planned with MAC {self.planned_mac}, answers with {mac}",
            "unexpected": "not in the plan",
            "silent": f"nothing answers at {self.planned_address}",
        }
        return words[self.answer]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every BMC of the plan, and every one that was found, each once."""

    places: tuple[Place, ...]

    def of(self, *answers: Answer) -> list[Place]:
        """Return the places with these answers."""
        return [place for place in self.places if place.answer in answers]

    @property
    def gaps(self) -> int:
        """How many of the found BMCs did not tell everything."""
        return sum(bool(place.found and place.found.gaps) for place in self.places)

    def as_json(self) -> dict[str, Any]:
        """Return the comparison for programs."""
        counts = {name: len(self.of(name)) for name in ANSWERS}
        return {"counts": counts, "with_gaps": self.gaps, "bmcs": [asdict(place) for place in self.places]}


ANSWERS: tuple[Answer, ...] = ("expected", "wrong-address", "wrong-mac", "unexpected", "silent")


def compare(plan: SitePlan, found: Sequence[Found], asked: Iterable[str]) -> Comparison:
    """
    Compare what was found with the plan.

    A planned BMC is silent only where its address was asked; one is known by its MAC address before its address, since
    a BMC in the wrong rack unit gets its neighbour's place and not its neighbour's identity. That of a retired node may
    answer as long as it has power, and may be gone.

    Args:
        plan: The site's plan.
        found: The BMCs that answered.
        asked: The addresses that were asked.
    """
    everyone, retired = (*plan.nodes, *plan.retired), {node.name for node in plan.retired}
    planned = [(node.name, node.bmc.address.partition("/")[0], node.bmc.mac) for node in everyone if node.bmc]
    by_mac = {bmc.mac: bmc for bmc in found if bmc.mac}
    by_address = {bmc.address: bmc for bmc in found}
    looked_at, others_macs = set(asked), {mac for _, _, mac in planned if mac}
    places, used = [], set()
    for node, address, mac in planned:
        there = by_address.get(address)
        # Who answers here may be another node's BMC, which is told at that node.
        here = there if there and there.mac not in others_macs - {mac} else None
        bmc = (by_mac.get(mac) if mac else None) or here
        if bmc is None:
            if address in looked_at and node not in retired:
                places.append(Place("silent", node, address, mac, None))
            continue
        used.add(bmc.address)
        places.append(Place(_answer(address, mac, bmc), node, address, mac, bmc))
    others = [Place("unexpected", None, None, None, bmc) for bmc in found if bmc.address not in used]
    return Comparison((*places, *others))


def _answer(address: str, mac: str | None, bmc: Found) -> Answer:
    if mac and bmc.mac and bmc.mac != mac:
        return "wrong-mac"
    return "expected" if bmc.address == address else "wrong-address"
