"""Sessions of switches as their configurations open them, on every operating system, against the plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.plan import plan_site
from coldaisle.plan.model import CablePlan, FabricPlan, SitePlan
from coldaisle.render.switches import switch_configs
from tests.unit.floor_sites import pool, site
from tests.unit.switch_readers import READERS, Read, Session

MODELS = {"cumulus": "sn5600", "sonic": "sn5600", "eos": "arista-7060x6-64pe", "frr": "sn5600"}
"""A switch model for each operating system; FRR runs on any, and no check is asked here."""

ADDRESSING = {
    4: {"fabric_links": {"subnet": "10.128.0.0/18"}, "loopbacks": {"subnet": "10.127.0.0/23"}},
    6: {"fabric_links": {"subnet": "fd00:128::/112"}, "loopbacks": {"subnet": "fd00:127::/120"}},
}


def planned(system: str, nodes: int, spines: int, breakout: int, version: int, **fabric_keys: Any) -> SitePlan:  # noqa: ANN401 - keys of a fabric
    """Return the plan of a rail-optimised RoCE fabric whose switches run an operating system."""
    switch = {"model": MODELS[system], **({"breakout": breakout} if breakout > 1 else {})}
    fabric: dict[str, Any] = {
        "kind": "roce",
        "topology": "leaf-spine",
        "connects": ["compute"],
        "rail_optimized": True,
        "rails": 8,
        "nodes_per_leaf_group": 4,
        "leaf": switch,
        "spine": {"model": MODELS[system], "count": spines},
        "mtu_bytes": 9214,
        "network_os": system,
        **fabric_keys,
    }
    addressing = {
        "management": {"subnet": "10.0.0.0/16"},
        "switches": {"subnet": "10.1.0.0/22", "gateway": "10.1.0.1"},
        "asn": {"spine": 4200000000, "leaf_first": 4200000001},
        **ADDRESSING[version],
    }
    return plan_site(site(addressing=addressing, fabrics={"f": fabric}, node_pools={"p": pool(f"n[01-{nodes:02d}]")}))


def read_back(plan: SitePlan, system: str) -> dict[str, Read]:
    """Return what each switch's configuration says, by the switch."""
    return {config.switch: READERS[system](config.text or "") for config in switch_configs(plan)}


def _bare(address: str | None) -> str:
    return (address or "").partition("/")[0]


def planned_sessions(fabric: FabricPlan) -> Iterator[Session]:
    """Yield the sessions of the plan, from both ends of each cable between two switches."""
    asns: Mapping[str, int | None] = {switch.name: switch.asn for switch in fabric.switches}
    for cable in fabric.cables:
        if cable.kind in {"leaf-spine", "spine-core"}:
            found = _session(cable, asns)
            yield found
            yield found.mirrored


def _session(cable: CablePlan, asns: Mapping[str, int | None]) -> Session:
    lower, upper = asns[cable.a.device], asns[cable.b.device]
    assert lower is not None
    assert upper is not None
    return Session(_bare(cable.a_address), lower, _bare(cable.b_address), upper)


@pytest.mark.parametrize("system", sorted(MODELS))
@settings(max_examples=8, deadline=None)
@given(
    nodes=st.integers(1, 9),
    spines=st.sampled_from([1, 2, 4]),
    breakout=st.sampled_from([1, 2]),
    version=st.sampled_from([4, 6]),
)
def test_every_planned_session_is_opened_from_both_ends(
    system: str, nodes: int, spines: int, breakout: int, version: int
) -> None:
    """Each session of the plan, and no other, has both ends, with mirrored addresses and numbers."""
    plan = planned(system, nodes, spines, breakout, version)
    read = read_back(plan, system)
    fabric = plan.fabrics["f"]
    assert {switch.name: switch.asn for switch in fabric.switches} == {name: found.asn for name, found in read.items()}
    opened = [session for found in read.values() for session in found.sessions]
    assert len(opened) == len(set(opened))
    assert set(opened) == {session.mirrored for session in opened}
    assert set(opened) == set(planned_sessions(fabric))


@pytest.mark.parametrize("system", sorted(MODELS))
def test_f17_unnumbered_sessions_have_both_ends(system: str) -> None:
    """Where links have no addresses, both ports of each cable between switches open a session to the other's number."""
    plan = planned(system, 5, 2, 2, 4, unnumbered=True)
    read = read_back(plan, system)
    fabric = plan.fabrics["f"]
    asns = {switch.name: switch.asn for switch in fabric.switches}
    wanted: dict[str, dict[str, int | None]] = {name: {} for name in read}
    for cable in fabric.cables:
        if cable.kind == "leaf-spine":
            assert (cable.a_address, cable.b_address) == (None, None)
            wanted[cable.a.device][cable.a.port] = asns[cable.b.device]
            wanted[cable.b.device][cable.b.port] = asns[cable.a.device]
    assert {name: dict(found.by_port) for name, found in read.items()} == wanted
    assert not any(found.sessions for found in read.values())
    assert all(found.addresses for name, found in read.items() if name.startswith("leaf"))


@pytest.mark.parametrize("system", sorted(MODELS))
def test_every_port_has_the_address_of_its_cable(system: str) -> None:
    """Ports, by the names that the operating system gives them, have the addresses that the plan gives their cables."""
    plan = planned(system, 5, 2, 2, 4)
    read = read_back(plan, system)
    wanted: dict[str, dict[str, str]] = {name: {} for name in read}
    for cable in plan.fabrics["f"].cables:
        for end, address in ((cable.a, cable.a_address), (cable.b, cable.b_address)):
            if end.device in wanted and address is not None:
                wanted[end.device][end.port] = address
    assert {name: dict(found.addresses) for name, found in read.items()} == wanted
    assert all(found.hostname == name for name, found in read.items())


def test_a_session_that_is_left_out_is_seen() -> None:
    """The reading back sees a session whose other end is gone, and one with another number."""
    plan = planned("eos", 4, 2, 1, 4)
    config = next(config for config in switch_configs(plan) if config.switch == "leaf01")
    text = config.text or ""
    whole = READERS["eos"](text).sessions
    first = next(line for line in text.splitlines() if line.startswith("   neighbor") and "remote-as" in line)
    assert len(READERS["eos"](text.replace(f"{first}\n", "")).sessions) == len(whole) - 1
    assert READERS["eos"](text.replace(first, f"{first}9")).sessions != whole
