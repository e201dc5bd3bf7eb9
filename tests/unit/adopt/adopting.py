"""Sites taken through their sources and back: exports read, a spec made, and what nobody knew filled in."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from coldaisle.adopt.estate import Estate
from coldaisle.adopt.facts import Source
from coldaisle.adopt.identify import Sighting
from coldaisle.adopt.outcome import estate_of
from coldaisle.adopt.readers import READERS
from coldaisle.adopt.site import Adopted, adopted
from coldaisle.adopt.told import Unknown, plain, unknowns
from coldaisle.cli.adopt_sources import read_all
from coldaisle.plan import plan_site
from coldaisle.plan.model import SitePlan
from coldaisle.spec import SiteSpec, load_site
from coldaisle.spec.ranges import expand
from tests.unit.adopt.netbox_export import NetBox
from tests.unit.adopt.tool_exports import deepops, kayobe, kubernetes, lldp, maas, redfish, ssh

SITES = Path(__file__).parents[3] / "inventory"
EVERY: tuple[Source, ...] = ("netbox", "maas", "kubernetes", "kayobe", "deepops", "redfish", "ssh", "lldp")
Data = Any


@cache
def site(name: str) -> tuple[SiteSpec, SitePlan]:
    """Return a site of the project with its plan."""
    spec = load_site(SITES / name)
    return spec, plan_site(spec)


@cache
def exported(name: str, source: str) -> Mapping[str, str]:
    """Return what a source would tell of a site, as files."""
    spec, plan = site(name)
    if source == "lldp":
        return lldp(plan)
    if source == "netbox":
        return NetBox(spec, plan).files()
    writers = {"maas": maas, "kubernetes": kubernetes, "kayobe": kayobe, "deepops": deepops, "redfish": redfish}
    writers["ssh"] = ssh
    return writers[source](spec, plan)


def understood(name: str, sources: Mapping[Source, Mapping[str, str]], scratch: Path | None = None) -> Estate:
    """Return what sources know together; LLDP goes over files, as its forms are read by the command line."""
    readings = [READERS[source](files) for source, files in sources.items() if source in READERS]
    sightings: list[Sighting] = []
    if "lldp" in sources and scratch is not None:
        folder = scratch / "lldp"
        lay(folder, sources["lldp"])
        told = read_all([f"lldp={folder}"])
        readings += told.readings
        sightings = told.sightings
    return estate_of(readings, sightings, site(name)[0].catalog)


def lay(folder: Path, files: Mapping[str, str]) -> Path:
    """Write files below a folder."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return folder


@cache
def from_netbox(name: str) -> tuple[Estate, Adopted]:
    """Return what NetBox alone makes of a site."""
    estate = understood(name, {"netbox": exported(name, "netbox")})
    return estate, adopted(estate, name)


# -- what nobody knew ---------------------------------------------------------------------------------------------
def original(name: str) -> dict[str, Data]:
    """Return a site's own files as plain data."""
    data: dict[str, Data] = {}
    for path in (SITES / name).glob("*.yaml"):
        if path.name != "allocations.yaml":
            data |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def filled(spec: Adopted, name: str, folder: Path) -> SiteSpec:
    """Return the spec with the site's own values in its gaps, and nowhere else; written to a folder and read again."""
    data, own = plain(dict(spec.sections)), original(name)
    for unknown in unknowns(spec.sections):
        fill(data, own, unknown)
    folder.mkdir(parents=True, exist_ok=True)
    for section, value in data.items():
        (folder / f"{section}.yaml").write_text(yaml.safe_dump({section: value}, sort_keys=False), encoding="utf-8")
    (folder / "allocations.yaml").write_text(yaml.safe_dump(plain(dict(spec.allocations))), encoding="utf-8")
    shutil.copy(SITES / name / "catalog.yaml", folder)
    return load_site(folder)


def fill(data: Data, own: Data, unknown: Unknown) -> None:
    """Copy one gap's value from the site's own data, where it has one."""
    here, there = data, own
    for part in unknown.loc[:-1]:
        here = here[part]
        there = matching(here, part, there)
        if there is None:
            return
    last = unknown.loc[-1]
    if isinstance(there, dict) and last in there:
        here[last] = there[last]


def matching(here: Data, part: str | int, there: Data) -> Data:
    """Return the original of a part: of a list by the name that the adopted part has, or a name of its range."""
    if isinstance(there, dict):
        return there.get(part)
    names = expand(str(here["name"]))
    return next((each for each in there if names[0] in expand(str(each["name"]))), None)
