"""The catalog as people read it, and NetBox device types as entries of it: nothing that is missing counts as zero."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.cli import main
from coldaisle.spec.catalog import Switch
from coldaisle.spec.load import load_catalog
from coldaisle.spec.netbox import NotADeviceTypeError, blocks, holes, imported

SWITCH: dict[str, Any] = {
    "manufacturer": "Acme",
    "model": "Leaf 64 X",
    "slug": "acme-leaf-64-x",
    "u_height": 2,
    "airflow": "rear-to-front",
    "weight": 44.1,
    "weight_unit": "lb",
    "power-ports": [{"name": "PSU1", "maximum_draw": 1200}, {"name": "PSU2", "maximum_draw": 1200}],
    "interfaces": [
        {"name": "eth0", "type": "1000base-t", "mgmt_only": True},
        *({"name": f"swp{port}", "type": "800gbase-x-osfp"} for port in range(1, 65)),
        {"name": "swp65", "type": "25gbase-x-sfp28"},
        {"name": "console", "type": "other"},
    ],
}
SERVER: dict[str, Any] = {
    "manufacturer": "Acme",
    "model": "GPU8",
    "u_height": 8.5,
    "module-bays": [{"name": "PSU1"}, {"name": "PSU2"}, {"name": "Fan1"}],
    "interfaces": [{"name": "BMC", "type": "1000base-t", "mgmt_only": True}, {"name": "p0", "type": "400gbase-x-osfp"}],
}


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "catalog", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


def test_a_switch_keeps_what_netbox_says() -> None:
    """Height, weight in kilograms, management port and runs of like ports come from the file."""
    found = imported(SWITCH, "switches", "the file")
    assert found.name == "leaf-64-x"
    assert found.entry == {
        "vendor": "Acme",
        "height_u": 2,
        "weight_kg": 20.003,
        "management_port": "eth0",
        "management_gbps": 1.0,
        "kind": "ethernet",
        "ports": [
            {"count": 64, "rate_gbps": 800.0},
            {"count": 1, "rate_gbps": 25.0, "name": "swp65"},
        ],
        "source": "the file",
    }
    Switch.model_validate(found.entry)


def test_missing_figures_are_named() -> None:
    """The draws of the inlets are told, and counted neither as the device's draw nor as zero."""
    found = imported(SWITCH, "switches", "the file")
    assert found.missing == {
        "max_power_w": "the file gives 2 400 W over 2 inlets, which is not the device's draw where a supply is spare; "
        "take what the device draws at most from the vendor's document",
        "psus": "the file gives 2 inlets, and not how many are needed; write count and needed",
        "ports of other types": "no rate is known of console (other); add them to ports by hand",
        "max_mtu_bytes": "NetBox does not say it; take it from the vendor's document",
    }
    assert found.notes == ("airflow is rear-to-front: see that it fits the aisle",)


def test_a_server_lacks_more() -> None:
    """Of a server, NetBox knows neither the role of its ports, nor its GPUs, nor half a rack unit as whole ones."""
    found = imported(SERVER, "systems", "the file")
    assert found.entry["nics"] == {"BMC": {"rate_gbps": 1.0, "role": "bmc"}}
    assert found.missing["height_u"] == "the file has a u_height of 8.5; give whole rack units"
    assert found.missing["nics"] == "the file names 1 port (p0) without their role; list them"
    assert found.missing["psus"].startswith("the file gives 2 bays for supplies, and not how many are needed")
    assert found.missing["max_power_w"].startswith("the file gives no draw;")
    assert {"weight_kg", "air_share", "gpus", "architecture", "firmware"} <= found.missing.keys()


def test_ports_that_a_file_skips_are_told() -> None:
    """A library lists 62 of a switch's 64 ports: the two that are skipped are named (F19)."""
    names = [f"P{cage}.{lane}" for cage in range(1, 33) for lane in (0, 1)]
    names = [name for name in names if name not in {"P22.1", "P23.0"}]
    assert holes(names) == ("P22.1", "P23.0")
    record = {**SWITCH, "interfaces": [{"name": name, "type": "infiniband-ndr"} for name in names]}
    found = imported(record, "switches", "the file")
    switch = Switch.model_validate(found.entry)
    assert list(switch.port_names()) == names
    assert switch.port_count == 62
    assert "the file skips P22.1, P23.0: see whether the device has them" in found.notes


@pytest.mark.parametrize("data", [None, [], {"model": "x"}, {"manufacturer": 1, "model": "x"}])
def test_what_is_no_device_type(data: object) -> None:
    """A file without manufacturer and model is refused."""
    with pytest.raises(NotADeviceTypeError, match="no manufacturer and model"):
        imported(data, "switches", "the file")


@pytest.mark.parametrize("count", [1, 2, 33])
def test_names_survive_the_blocks(count: int) -> None:
    """Whatever the names are, the blocks give them back in order."""
    names = [f"Ethernet1/{port}/{lane}" for port in range(1, count + 1) for lane in (1, 2, 3, 4)]
    interfaces = [{"name": name, "type": "100gbase-x-qsfp28"} for name in [*names, "x", "y{port}", "mgmt007"]]
    found = imported({**SWITCH, "interfaces": interfaces}, "switches", "the file")
    switch = Switch.model_validate(found.entry)
    assert list(switch.port_names()) == [*names, "x", "y{port}", "mgmt007"]
    assert not list(blocks([]))


def test_import_prints_an_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is printed is YAML for a site's catalog.yaml, and says in comments what is missing."""
    file = tmp_path / "leaf.yaml"
    file.write_text(yaml.safe_dump(SWITCH), encoding="utf-8")
    assert run(monkeypatch, "import", str(file), "--as", "switch") == 0
    said = capsys.readouterr().out
    assert said.startswith("# missing max_power_w: ") or "\n# missing max_power_w: " in said
    entry = yaml.safe_load(said)["catalog"]["switches"]["leaf-64-x"]
    assert entry["source"] == "NetBox device type leaf.yaml"
    assert "max_power_w" not in entry


def test_import_of_another_file_ends_with_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that is no device type, or none at all, ends with 2 and one line."""
    file = tmp_path / "no.yaml"
    file.write_text("a: [", encoding="utf-8")
    for path in (file, tmp_path / "absent.yaml"):
        assert run(monkeypatch, "import", str(path), "--as", "system") == 2
        assert capsys.readouterr().err.startswith(f"{path} is no device type of NetBox: ")


def test_every_fact_has_a_source(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Each figure of each entry says which document gives it and where it stands."""
    assert run(monkeypatch, "list", "--json") == 0
    entries = json.loads(capsys.readouterr().out)["entries"]
    assert {entry["name"] for entry in entries} >= set(load_catalog()[0].systems)
    assert all(fact["source"] and ".yaml:" in fact["where"] for entry in entries for fact in entry["facts"])


def test_list_names_what_is_missing(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Supplies and weights that no document gives are listed as missing."""
    assert run(monkeypatch, "list", "--kind", "systems", "--json") == 0
    missing = {entry["name"]: entry["missing"] for entry in json.loads(capsys.readouterr().out)["entries"]}
    assert missing["dgx-b300"] == ["psus"]
    assert missing["dgx-gb300-nvl72"] == ["weight_kg"]
    assert missing["dgx-b200"] == []


def test_compare_marks_what_differs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Two systems stand side by side, with a star where they differ, and the sources below."""
    assert run(monkeypatch, "compare", "dgx-h100", "dgx-b200") == 0
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if "max_power_w" in line)
    assert "*" in line
    assert "10200" in line
    assert "14300" in line
    assert "P: NVIDIA DGX B200 User Guide, Power Specifications: 14.3 kW" in said


def test_explain_of_a_misspelt_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that the catalog lacks ends with 2 and the nearest name."""
    assert run(monkeypatch, "explain", "dxg-b200") == 2
    assert capsys.readouterr().err.startswith("the catalog has nothing named dxg-b200: write dgx-")


@pytest.mark.usefixtures("site")
def test_a_sites_own_entries(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With --site, a site's own entries are there too, at the lines of its file."""
    assert run(monkeypatch, "explain", "sim-guest", "--site", "case") == 0
    assert capsys.readouterr().out.startswith("sim-guest (systems), inventory/case/catalog.yaml:")
