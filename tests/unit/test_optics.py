"""What is plugged into both ends of a cable: form factors, connectors, fibre, rates and reach."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from coldaisle.check.fabric.optics import check_optics
from coldaisle.check.fabric.plugs import Socket, Span, faults, known_ways, way_of
from coldaisle.plan import plan_site
from coldaisle.render.cabling import pack_of
from coldaisle.render.cabling.order import order_lines
from coldaisle.spec.links import FormFactor
from coldaisle.spec.media import LinkMedia
from tests.unit.floor_sites import catalog, facility, pool, site, superpod

NDR = Span("infiniband", Socket(("osfp-flat-top",)), Socket(("osfp",), ports=2), 400, 30.0)
"""From a ConnectX-7 to a QM9700: a flat top below, two ports of 400G in one cage above."""
MULTIMODE = LinkMedia(cable="mfp7e10", lower="mma4z00-ns400", upper="mma4z00-ns")

MEDIA = [
    pytest.param(LinkMedia(cable="mcp7y00"), (), id="copper that splits"),
    pytest.param(MULTIMODE, (), id="multimode"),
    pytest.param(LinkMedia(cable="mfp7e30", lower="mms4x00-ns400", upper="mms4x00-ns"), (), id="single-mode"),
    pytest.param(
        LinkMedia(cable="mfp7e10", lower="mma1z00-ns400", upper="mma4z00-ns"),
        ("QSFP112 does not fit into the lower port, which takes OSFP-FLAT-TOP",),
        id="QSFP112 into a flat top",
    ),
    pytest.param(
        LinkMedia(cable="mfp7e10", lower="mma4z00-ns", upper="mma4z00-ns"),
        ("OSFP does not fit into the lower port, which takes OSFP-FLAT-TOP",),
        id="fins into a flat top",
    ),
    pytest.param(
        LinkMedia(cable="mfp7e30", lower="mms4x00-ns400", upper="mms4x50-nm"),
        ("connectors LC-DUPLEX and MPO-12-APC do not fit each other",),
        id="MPO to LC",
    ),
    pytest.param(
        LinkMedia(cable="mfp7e10", lower="mma4z00-ns400", upper="mms4x00-ns"),
        ("multimode and single-mode do not go together",),
        id="two kinds of fibre",
    ),
    pytest.param(
        LinkMedia(cable="mfs1s00"),
        (
            "QSFP56 does not fit into the lower port, which takes OSFP-FLAT-TOP",
            "QSFP56 does not fit into the upper port, which takes OSFP",
            "the cable carries 200 Gb/s a link, and the ports run at 400",
        ),
        id="half the rate",
    ),
    pytest.param(LinkMedia(cable="mfp7e10"), ("MPO-12-APC does not fit", "MPO-12-APC", "fibre"), id="fibre alone"),
]


@pytest.mark.parametrize(("media", "wrong"), MEDIA)
def test_parts_fit_both_ports_and_each_other(media: LinkMedia, wrong: tuple[str, ...]) -> None:
    """Each way that does not fit is told with everything that is wrong, and one that fits with nothing."""
    found = list(faults(way_of(catalog(), media), NDR))
    assert len(found) == len(wrong)
    assert all(text.startswith(begin) for text, begin in zip(found, wrong, strict=True))


def test_a_twin_port_cable_joins_two_cages() -> None:
    """A cable of 2 x 400G between two cages of two ports carries 400G a link; its reach is its longest length."""
    span = replace(NDR, lower=Socket(("osfp",), ports=2))
    way = way_of(catalog(), LinkMedia(cable="mcp4y10"))
    assert list(faults(way, span)) == []
    assert way.reach_m == 2


def test_a_port_of_800g_takes_a_fibre_for_each_half() -> None:
    """Two transceivers of twin ports join two ports of 800G, with two fibres."""
    span = Span("ethernet", Socket(("osfp",)), Socket(("osfp",)), 800, 40.0)
    assert (
        list(faults(way_of(catalog(), LinkMedia(cable="mfp7e10", lower="mma4z00-ns", upper="mma4z00-ns")), span)) == []
    )


@pytest.mark.parametrize(
    ("cage", "fits"),
    [
        ("qsfp-dd", {"qsfp-dd", "qsfp56", "qsfp28"}),
        ("qsfp112", {"qsfp112", "qsfp56", "qsfp28"}),
        ("qsfp56", {"qsfp56", "qsfp28"}),
        ("qsfp28", {"qsfp28"}),
        ("osfp", {"osfp"}),
        ("osfp-flat-top", {"osfp-flat-top"}),
    ],
)
def test_a_cage_takes_older_modules_of_its_family(cage: FormFactor, fits: set[FormFactor]) -> None:
    """QSFP-DD and QSFP cages take older QSFP modules, never newer ones; OSFP cages take their own top only."""
    assert {plug for plug in get_args(FormFactor) if Socket((cage,)).holds(plug)} == fits


def test_only_ways_that_fit_are_known_for_a_real_port() -> None:
    """The catalog joins a ConnectX-7 to a QM9700 by copper of 3 m, multimode of 50 m and single-mode of 100 m."""
    fitting = [way for way in known_ways(catalog(), NDR) if not any(faults(way, NDR))]
    assert sorted({way.reach_m for way in fitting}) == [3, 50, 100]


def test_a_pod_is_told_of_parts_that_do_not_fit() -> None:
    """A SuperPOD that orders multimode below and single-mode above is told once, at the line that says so."""
    spec = superpod(
        32, managers=False, media={"node-leaf": {"cable": "mfp7e10", "lower": "mma4z00-ns400", "upper": "mms4x00-ns"}}
    )
    found = list(check_optics(spec, plan_site(spec)))
    assert [(f.check, f.path) for f in found] == [("optic-mismatch", "fabrics.compute.media[node-leaf]")]


@pytest.mark.parametrize(("away_m", "told"), [(60, []), (120, ["the longest that fits reaches 100 m"])])
def test_a_cable_beyond_every_reach_is_told(away_m: int, told: list[str]) -> None:
    """Without media, a cable that is longer than anything that fits both ports is told with what reaches furthest."""
    racks = [{"name": "r01", "position_m": 0}, {"name": "n01", "position_m": away_m}]
    compute = {
        "kind": "infiniband", "topology": "leaf-spine", "connects": ["compute"], "rail_optimized": True, "rails": 8,
        "leaf": {"model": "qm9700", "racks": ["n01"], "rack_units": list(range(1, 9))}, "spine": {"model": "qm9700"},
    }  # fmt: skip
    spec = site(facility=facility(racks), fabrics={"compute": compute}, node_pools={"p": pool("n1")})
    assert [finding.have for finding in check_optics(spec, plan_site(spec))] == told


def test_the_order_has_what_is_named() -> None:
    """Copper that splits is ordered once for two links, fibre with the transceivers of both ends, a cage each."""
    optics = {"cable": "mfp7e10", "lower": "mma4z00-ns", "upper": "mma4z00-ns"}
    spec = superpod(32, managers=False, media={"node-leaf": {"cable": "mcp7y00"}, "leaf-spine": optics})
    lines = [line for line in order_lines(spec, pack_of(spec, plan_site(spec))) if line.kind != "oob"]
    assert [(line.item, line.kind, line.count, line.fits) for line in lines] == [
        ("cable", "leaf-spine", 256, ("mfp7e10",)),
        ("cable", "node-leaf", 128, ("mcp7y00",)),
        ("transceiver", "leaf port", 128, ("mma4z00-ns",)),
        ("transceiver", "spine port", 128, ("mma4z00-ns",)),
    ]


def test_what_is_not_known_is_not_told() -> None:
    """A port whose form factor no document gives is taken to fit."""
    span = replace(NDR, lower=Socket())
    assert list(faults(way_of(catalog(), MULTIMODE), span)) == []
    spec = site(
        fabrics={"oob": {"kind": "ethernet", "topology": "single", "connects": ["bmc"], "switch": {"model": "sn2201"}}},
        node_pools={"p": pool("n[01-04]")},
    )
    assert list(check_optics(spec, plan_site(spec))) == []
