"""Every kind of entry of the catalog, and NetBox files that disagree with it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.cli import main
from coldaisle.cli.catalog import Kind
from coldaisle.render.catalog import KINDS
from coldaisle.spec.base import SpecModel
from coldaisle.spec.catalog import Catalog
from coldaisle.spec.load import load_catalog
from coldaisle.spec.netbox import imported

QM9700: dict[str, Any] = {
    "manufacturer": "Nvidia",
    "model": "QM9700",
    "u_height": 1,
    "weight": 14.8,
    "weight_unit": "kg",
    "power-ports": [{"name": "psu0"}, {"name": "psu1"}],
    # As the public library lists it: Ethernet ports, of which P22.1 and P23.0 are absent.
    "interfaces": [
        {"name": f"P{cage}.{lane}", "type": "400gbase-x-osfp"}
        for cage in range(32)
        for lane in (0, 1)
        if (cage, lane) not in {(22, 1), (23, 0)}
    ],
}
PDU: dict[str, Any] = {
    "manufacturer": "Acme",
    "model": "PDU 42",
    "u_height": 0,
    "power-ports": [{"name": "inlet", "type": "iec-60309-3p-e-9h", "maximum_draw": 43500}],
    "power-outlets": [
        *({"name": f"A{at}", "type": "iec-60320-c13", "feed_leg": "A"} for at in range(3)),
        *({"name": f"B{at}", "type": "eaton-c39"} for at in range(2)),
        {"name": "strange", "type": "dc-terminal"},
    ],
}


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    """Return the catalog of the package."""
    return load_catalog()[0]


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "catalog", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


def written(folder: Path, data: dict[str, Any]) -> str:
    """Write a device type to a file, and return its path."""
    file = folder / f"{data['model']}.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    return str(file)


def models(of: type[SpecModel] = SpecModel) -> set[type[SpecModel]]:
    """Return all models of the spec and the catalog."""
    return {model for child in of.__subclasses__() for model in (child, *models(child))}


def test_every_kind_can_be_listed(catalog: Catalog) -> None:
    """The command line knows each kind that the catalog has, and the package has entries of each."""
    assert tuple(Kind) == KINDS
    assert all(getattr(catalog, kind) for kind in KINDS)


def test_no_two_models_share_a_name() -> None:
    """An editor's schema holds the models of spec and catalog side by side, by name."""
    counts = Counter(model.__name__ for model in models())
    assert [name for name, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("kind", list(Kind))
def test_a_list_shows_the_figures_of_its_kind(
    kind: Kind, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each kind has a table of its own figures, and each name stands in it whole."""
    monkeypatch.setenv("COLUMNS", "250")
    assert run(monkeypatch, "list", "--kind", kind.value) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in getattr(load_catalog()[0], kind.value))


def test_optics_are_explained_and_compared(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A reach and a draw come with their documents, and what differs between two optics has a star."""
    assert run(monkeypatch, "compare", "mma4z00-ns", "mms4x00-ns", "--json") == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    reach = [fact for entry in entries for fact in entry["facts"] if fact["figure"] == "reach_m"]
    assert [(fact["value"], fact["source"][:2]) for fact in reach] == [("50", "P:"), ("100", "P:")]
    assert run(monkeypatch, "explain", "mcp4y10") == 0
    said = capsys.readouterr().out
    assert "lengths_m: 0.5, 1, 1.5, 2\n" in said
    assert "inventory/catalog/cables.yaml:" in said


def test_a_missing_figure_of_a_plant_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A coolant unit whose document gives no flow says so."""
    assert run(monkeypatch, "explain", "boyd-rol4000") == 0
    assert "flow_l_per_min: missing; no document of the catalog gives it" in capsys.readouterr().out


def test_capacities_are_what_volts_and_amperes_give(catalog: Catalog) -> None:
    """A PDU carries no more than its inlet, at the volts as they are measured, and a shelf what its supplies give."""
    for pdu in catalog.pdus.values():
        factor = 1.0 if pdu.phases == 1 else sqrt(3) if pdu.voltage_reference == "line-to-line" else 3.0
        assert pdu.capacity_w == pytest.approx(factor * pdu.voltage_v * pdu.inlet_a, rel=0.01)
    assert all(shelf.capacity_w == shelf.psus * shelf.psu_w for shelf in catalog.power_shelves.values())


def test_every_source_says_how_it_was_read(catalog: Catalog) -> None:
    """Each source begins with P, S or C: read at the vendor's, read elsewhere, computed."""
    for kind in KINDS:
        for name, entry in getattr(catalog, kind).items():
            sources = [entry.source] if isinstance(entry.source, str) else entry.source.values()
            assert all(source[:3] in {"P: ", "S: ", "C: "} for source in sources), (kind, name)


def test_a_rack_of_nvl72_is_the_sum_of_what_stands_in_it(catalog: Catalog) -> None:
    """18 trays, nine NVLink trays and eight shelves draw, weigh and warm the air as the whole rack does."""
    rack = catalog.systems["dgx-gb200-nvl72"]
    parts = [(catalog.systems["gb200-compute-tray"], 18), (catalog.systems["gb200-nvlink-trays"], 1)]
    parts.append((catalog.systems["gb200-power-shelves"], 2))
    draws = [(part.max_power_w or 0, part.air_share or 0, part.weight_kg or 0, count) for part, count in parts]
    assert sum(power * count for power, _, _, count in draws) == rack.max_power_w
    assert sum(weight * count for _, _, weight, count in draws) == pytest.approx(rack.weight_kg, abs=0.5)
    air_w = sum(power * share * count for power, share, _, count in draws)
    assert air_w == pytest.approx((rack.max_power_w or 0) * (rack.air_share or 0), rel=0.01)


def test_f19_a_file_that_lacks_two_ports_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A library lists 62 of the 64 ports of a QM9700, as Ethernet: the names and both differences are told."""
    assert run(monkeypatch, "import", written(tmp_path, QM9700), "--as", "switch") == 0
    said = capsys.readouterr().out
    assert "# note: the file skips P22.1, P23.0: see whether the device has them\n" in said
    assert "# note: the catalog's qm9700 has kind infiniband, and the file ethernet: see which is right\n" in said
    assert "# note: the catalog's qm9700 has ports 64, and the file 62: see which is right\n" in said
    assert "height_u" not in "".join(line for line in said.splitlines() if line.startswith("# note"))


def test_a_pdu_keeps_its_outlets_and_lacks_the_rest() -> None:
    """Outlets are counted by type; volts, amperes and breakers are named as missing, and outlets without a phase."""
    found = imported(PDU, "pdus", "the file")
    assert found.entry == {
        "vendor": "Acme",
        "description": "PDU 42",
        "height_u": 0,
        "inputs": 1,
        "outlets": {"c13": 3, "c13-c19": 2},
        "source": "the file",
    }
    assert {"phases", "voltage_v", "voltage_reference", "inlet_a", "banks", "bank_breaker_a"} <= found.missing.keys()
    assert found.missing["capacity_w"].startswith("the file gives 43 500 W over 1 inlet")
    assert found.missing["outlets of other types"] == "the catalog has no word for dc-terminal"
    assert "3 of 6 outlets name no feed_leg: their phase stays unknown" in found.notes
    assert "outlets" in imported({**PDU, "power-outlets": []}, "pdus", "the file").missing
