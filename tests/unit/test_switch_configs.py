"""Configurations of switches: the whole text, against schemas, and as the command writes them."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it has no types of its own
import pytest
import yaml

from coldaisle.check import check_site, open_site
from coldaisle.cli import main
from coldaisle.plan import plan_hash, plan_site
from coldaisle.plan.breakout import port_plans
from coldaisle.plan.model import SitePlan
from coldaisle.render.switches import SwitchConfig, switch_configs
from coldaisle.spec import load_site
from coldaisle.spec.fabrics import FabricSpec
from coldaisle.spec.load import load_catalog
from coldaisle.spec.sections import SiteSpec

HERE = Path(__file__).parent
INVENTORY = HERE.parents[1] / "inventory"
GOLDEN = HERE / "switch_configs"
ARISTA = "arista-7060x6-64pe"


def on_arista(fabric: FabricSpec) -> FabricSpec:
    """Return a fabric with Arista's switch for all of its own, and the frames that this one takes."""
    groups = {role: getattr(fabric, role).model_copy(update={"model": ARISTA}) for role in ("leaf", "spine")}
    return fabric.model_copy(update={**groups, "mtu_bytes": 9214})


def with_fabrics(spec: SiteSpec, fabrics: Mapping[str, FabricSpec]) -> SiteSpec:
    """Return a site with other fabrics."""
    return replace(spec, sections=spec.sections.model_copy(update={"fabrics": {**spec.fabrics, **fabrics}}))


@cache
def plan_of(name: str, system: str) -> SitePlan:
    """Return the plan of an example site whose compute and storage fabrics run an operating system."""
    spec = load_site(INVENTORY / name)
    if system == "eos":
        spec = with_fabrics(spec, {fabric: on_arista(spec.fabrics[fabric]) for fabric in ("compute", "storage")})
    elif name != "sim":
        chosen = {fabric: one.model_copy(update={"network_os": system}) for fabric, one in spec.fabrics.items()}
        spec = with_fabrics(spec, {fabric: chosen[fabric] for fabric in ("compute", "storage", "inband")})
    return plan_site(spec)


@cache
def configs(name: str, system: str) -> Mapping[str, SwitchConfig]:
    """Return the configurations of a site, by the switch."""
    return {config.switch: config for config in switch_configs(plan_of(name, system))}


@pytest.mark.parametrize(
    ("name", "system", "switch"),
    [
        ("b200-roce", "cumulus", "leaf01"),
        ("b200-roce", "cumulus", "inband-leaf01"),
        ("b200-roce", "sonic", "storage-spine02"),
        ("b200-roce", "sonic", "inband-spine01"),
        ("b200-roce", "sonic", "inband-leaf02"),
        ("b200-roce", "eos", "leaf01"),
        ("sim", "frr", "leaf01"),
        ("sim", "frr", "spine02"),
    ],
)
def test_the_whole_text(name: str, system: str, switch: str) -> None:
    """A configuration is this text, to the byte but for the plan's hash; COLDAISLE_ACCEPT=1 writes it anew."""
    config = configs(name, system)[switch]
    text = (config.text or "").replace(plan_hash(plan_of(name, system)), "HASH-OF-THE-PLAN")
    golden = GOLDEN / f"{name}.{config.file_name}"
    if os.environ.get("COLDAISLE_ACCEPT"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "system"), [("b200-roce", "cumulus"), ("b200-roce", "sonic"), ("b200-roce", "eos"), ("sim", "frr")]
)
def test_each_names_the_plan_that_it_came_from(name: str, system: str) -> None:
    """A configuration has the hash of the site's plan, which the report and the stack show too."""
    digest = plan_hash(plan_of(name, system))
    for config in configs(name, system).values():
        if config.text is not None:
            assert digest in config.text


def _schema(name: str) -> Any:  # noqa: ANN401 - JSON
    return json.loads((HERE / "schemas" / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("system", ["cumulus", "sonic"])
def test_configurations_fit_the_schemas(system: str) -> None:
    """NVUE's YAML and SONiC's JSON have only the keys and values that their documentation gives."""
    readers: Mapping[str, Any] = {
        "cumulus": (yaml.safe_load, "nvue-startup.schema.json"),
        "sonic": (json.loads, "sonic-config-db.schema.json"),
    }
    read, schema = readers[system]
    validator = jsonschema.Draft202012Validator(_schema(schema))
    texts = [config.text for config in configs("b200-roce", system).values() if config.system == system and config.text]
    assert len(texts) >= 20
    for text in texts:
        assert not [error.message for error in validator.iter_errors(read(text))]


def test_a_schema_finds_a_misspelt_key() -> None:
    """The schemas refuse what they do not know."""
    text = configs("b200-roce", "sonic")["leaf01"].text or ""
    wrong = json.loads(text.replace('"speed"', '"sped"'))
    assert not jsonschema.Draft202012Validator(_schema("sonic-config-db.schema.json")).is_valid(wrong)
    text = configs("b200-roce", "cumulus")["leaf01"].text or ""
    wrong = yaml.safe_load(text.replace("remote-as:", "remote-asn:"))
    assert not jsonschema.Draft202012Validator(_schema("nvue-startup.schema.json")).is_valid(wrong)


def test_f12_the_class_of_roce_is_the_plans_on_every_system() -> None:
    """F12: marks, priorities, thresholds and pauses are those of the plan, and no other mark is lossless."""
    spec = load_site(INVENTORY / "b200-roce")
    roce = spec.fabrics["compute"].roce.model_copy(
        update={
            "dscp": 24,
            "priority": 2,
            "cnp_dscp": 46,
            "cnp_priority": 5,
            "ecn_min_bytes": 1000,
            "ecn_max_bytes": 2000,
        }
    )
    chosen = {
        system: spec.fabrics["compute"].model_copy(update={"roce": roce, "network_os": system})
        for system in ("cumulus", "sonic")
    } | {"eos": on_arista(spec.fabrics["compute"]).model_copy(update={"roce": roce})}
    texts = {
        system: next(switch_configs(plan_site(with_fabrics(spec, {"compute": fabric})), ("compute",))).text or ""
        for system, fabric in chosen.items()
    }
    qos = yaml.safe_load(texts["cumulus"])[0]["set"]["qos"]
    marks = {mark: row["switch-priority"] for mark, row in qos["mapping"]["default-global"]["dscp"].items()}
    assert {mark: priority for mark, priority in marks.items() if priority} == {"24": 2, "46": 5}
    assert qos["pfc"]["default-global"]["switch-priority"] == {"2": {}}
    tables = json.loads(texts["sonic"])
    marks = tables["DSCP_TO_TC_MAP"]["COLDAISLE"]
    assert {mark: tc for mark, tc in marks.items() if tc != "0"} == {"24": "2", "46": "5"}
    assert {row["pfc_enable"] for row in tables["PORT_QOS_MAP"].values()} == {"2"}
    assert tables["WRED_PROFILE"]["COLDAISLE"]["green_max_threshold"] == "2000"
    eos = texts["eos"]
    assert "qos map dscp 24 to traffic-class 2\n" in eos
    assert "qos map dscp 46 to traffic-class 5\n" in eos
    assert "   priority-flow-control priority 2 no-drop\n" in eos
    assert "minimum-threshold 1000 bytes maximum-threshold 2000 bytes max-mark-probability 100" in eos


def test_ports_are_broken_out_as_planned() -> None:
    """A leaf of 64 ports halves 32 of them, and each system names the halves its own way, with their lanes."""
    nvue = yaml.safe_load(configs("b200-roce", "cumulus")["leaf01"].text or "")[0]["set"]["interface"]
    halved = [name for name, port in nvue.items() if port.get("link", {}).get("breakout") == {"2x": {}}]
    assert sorted(halved, key=lambda name: int(name[3:])) == [f"swp{port}" for port in range(1, 33)]
    tables = json.loads(configs("b200-roce", "sonic")["leaf01"].text or "")
    assert tables["BREAKOUT_CFG"]["Ethernet8"] == {"brkout_mode": "2x400G"}
    assert tables["BREAKOUT_CFG"]["Ethernet504"] == {"brkout_mode": "1x800G"}
    half = tables["PORT"]["Ethernet12"]
    assert (half["lanes"], half["alias"], half["index"], half["speed"]) == ("12,13,14,15", "etp2b", "2", "400000")
    lanes = [lane for port in tables["PORT"].values() for lane in port["lanes"].split(",")]
    assert sorted(map(int, lanes)) == list(range(512))
    eos = configs("b200-roce", "eos")["leaf01"].text or ""
    speeds = dict(re.findall(r"^interface (\S+)\n   speed (\S+)$", eos, re.MULTILINE))
    assert (speeds["Ethernet1/1"], speeds["Ethernet1/5"], speeds["Ethernet64/1"]) == ("400g-4", "400g-4", "800g-8")


def test_sites_with_other_systems_pass_the_checks() -> None:
    """The example site has no finding of its fabrics when they run SONiC, or stand on Arista's switches."""
    spec = load_site(INVENTORY / "b200-roce")
    for fabric in (
        on_arista(spec.fabrics["compute"]),
        spec.fabrics["compute"].model_copy(update={"network_os": "sonic"}),
    ):
        other = with_fabrics(spec, {"compute": fabric})
        found = [finding.check for finding in check_site(other, plan_site(other)) if finding.path.startswith("fabrics")]
        assert found == []


LANES = {
    # Model: broken out into, and of one port its name, lanes, alias and index, as SONiC's platform files have them.
    "sn3700": (1, ("Ethernet124", "124,125,126,127", "etp32", "32")),
    "sn2201": (1, ("Ethernet52", "196,197,198,199", "etp50", "50")),
    "sn5400": (1, ("Ethernet504", "504,505,506,507,508,509,510,511", "etp64", "64")),
    "sn4700": (2, ("Ethernet12", "12,13,14,15", "etp2b", "2")),
    "arista-7060x6-64pe": (2, ("Ethernet260", "277,278,279,280", "Ethernet33/5", "33")),
    "edgecore-as9817-64d": (1, ("Ethernet256", "17,18,19,20,21,22,23,24", "Eth33(Port33)", "33")),
}


@pytest.mark.parametrize("model", sorted(LANES))
def test_sonic_has_the_lanes_of_the_platform_files(model: str) -> None:
    """Every model whose platform file was read has its lanes, each once, and its names on the front."""
    breakout, (name, lanes, alias, index) = LANES[model]
    catalog = load_catalog()[0]
    group = {"model": model, "breakout": breakout, "breakout_ports": 33 if breakout == 2 and model != "sn4700" else 2}
    fabric = FabricSpec.model_validate(
        {
            "kind": "ethernet",
            "topology": "leaf-spine",
            "connects": ["management"],
            "leaf": group if breakout > 1 else {"model": model},
            "spine": {"model": model},
            "network_os": "sonic",
        }
    )
    ports = port_plans(catalog, fabric, "leaf")
    (port,) = (port for port in ports if port.name == name)
    assert (",".join(map(str, port.chip_lanes)), port.alias, str(port.cage)) == (lanes, alias, index)
    every = [lane for port in ports for lane in port.chip_lanes]
    assert len(every) == len(set(every))
    assert all(port.chip_lanes for port in ports)
    assert len({port.alias for port in ports}) == len(ports)


def test_a_switch_without_lanes_has_no_configuration_for_sonic() -> None:
    """Where no platform file gives the lanes of the chip, SONiC gets no configuration, and the reason is said."""
    spec = load_site(INVENTORY / "b200-roce")
    storage = spec.fabrics["storage"]
    groups = {
        role: getattr(storage, role).model_copy(update={"model": "asterfusion-cx864e-n"}) for role in ("leaf", "spine")
    }
    plan = plan_site(with_fabrics(spec, {"storage": storage.model_copy(update=groups)}))
    found = list(switch_configs(plan, ("storage",)))
    assert {config.text for config in found} == {None}
    assert found[0].why == "the catalog does not say which lanes of its chip the ports of asterfusion-cx864e-n have"


# -- the command ------------------------------------------------------------------------------------------------
def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "fabric", "configs", *arguments])
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.mark.usefixtures("site")
def test_the_command_writes_a_file_for_each_switch(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files lie in a folder for each fabric, and a switch that has none is told of with the reason."""
    assert run(monkeypatch, "case", "--output", "out") == 0
    said = capsys.readouterr()
    names = [f"out/compute/{switch}.frr.conf" for switch in ("leaf01", "leaf02", "spine01", "spine02")]
    assert said.out.splitlines() == names
    assert all(Path(name).is_file() for name in names)
    assert said.err.startswith("oob/oob01: no configuration: oob01 does not route")


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--system", "eos"], 3, "compute: left out: not all of its switches run eos, by the catalog"),
        (["--fabric", "storage"], 2, "there is no Ethernet fabric storage; there are: compute, oob"),
    ],
)
def test_the_command_says_what_it_cannot_write(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    """A system that no switch runs, and a fabric that is not there, write nothing and say why."""
    assert run(monkeypatch, "case", "--output", "out", *arguments) == code
    assert message in capsys.readouterr().err
    assert not Path("out").exists()


def test_nothing_is_written_for_a_site_with_an_error(monkeypatch: pytest.MonkeyPatch, site: Path) -> None:
    """A finding that is an error ends with 4 before any file is written."""
    text = (site / "fabrics.yaml").read_text(encoding="utf-8")
    (site / "fabrics.yaml").write_text(
        text.replace("    kind: roce\n", "    kind: roce\n    network_os: eos\n"), encoding="utf-8"
    )
    assert [finding.check for finding in open_site(site).errors] == ["network-os"]
    assert run(monkeypatch, "case", "--output", "out") == 4
    assert not Path("out").exists()
