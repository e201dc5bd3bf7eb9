"""
From the words of a source for a model to the entry of the catalog that it is.

Words are compared without case, vendor and punctuation. What that does not settle an alias does, each with the document
that it is from, or the GPUs that a source counts: one chassis is in the catalog once for each GPU that it is sold with.
Nothing is guessed: a model that fits no entry, or several, is named with what there is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from coldaisle.spec.catalog import Catalog

VENDORS = ("nvidia", "mellanox", "supermicro", "super micro", "dell", "arista", "edgecore", "asterfusion", "dell inc.")


@dataclass(frozen=True, slots=True)
class Alias:
    """A pattern of normalised words for a model, the beginning of the catalog's entries, and where that is from."""

    pattern: str
    entry: str
    source: str


ALIASES = (
    Alias(r"m?qm9700.*", "qm9700", "NVIDIA Quantum-2 QM97X0 user manual, ordering part numbers MQM9700-NS2F and -NS2R"),
    Alias(r"m?sn3700.*", "sn3700", "NVIDIA Spectrum-2 SN3000 user manual, ordering part numbers begin with MSN3700"),
    Alias(
        r"m?sn4600c.*", "sn4600c", "NVIDIA Spectrum-3 SN4000 user manual, ordering part numbers begin with MSN4600-C"
    ),
    Alias(r"m?sn2201.*", "sn2201", "NVIDIA Spectrum SN2201 user manual, ordering part numbers begin with MSN2201"),
    Alias(r"poweredgexe9680", "dell-xe9680-", "netbox-community/devicetype-library, Dell/PowerEdge-XE9680"),
    Alias(r"poweredgexe9780", "dell-xe9780-", "Dell PowerEdge XE9780 data sheet: the model's whole name"),
    Alias(
        r"sys821getnhr", "supermicro-sys-821ge-tnhr-", "Supermicro SYS-821GE-TNHR product page: the model's whole name"
    ),
    Alias(
        r"as8125gstnhr", "supermicro-as-8125gs-tnhr-", "Supermicro AS-8125GS-TNHR product page: the model's whole name"
    ),
)
"""Words that are not the catalog's own. An entry that ends in `-` begins the names of one chassis with several GPUs."""


@dataclass(frozen=True, slots=True)
class Match:
    """The entry of a model, or why there is none: `candidates` are those that fit as well as each other."""

    kind: str = ""
    entry: str = ""
    candidates: tuple[str, ...] = ()


def normal(text: str) -> str:
    """Return a model's words in one form: lower case, without vendor and punctuation."""
    words = text.lower().strip()
    for vendor in sorted(VENDORS, key=len, reverse=True):
        words = words.removeprefix(vendor)
    return re.sub(r"[^a-z0-9]+", "", words) or re.sub(r"[^a-z0-9]+", "", text.lower())


def match(catalog: Catalog, model: str, gpu: str | None = None) -> Match:
    """
    Return the catalog's entry of a model.

    Args:
        catalog: Hardware facts, the site's own over those of the package.
        model: The model in a source's words.
        gpu: The GPU in a source's words, where one says it, for a chassis that is sold with several.
    """
    entries = [("systems", name) for name in catalog.systems] + [("switches", name) for name in catalog.switches]
    wanted = normal(model)
    exact = [entry for entry in entries if normal(entry[1]) == wanted]
    if len(exact) == 1:
        return Match(*exact[0])
    found = exact or [entry for entry in entries if _named(entry[1], wanted)]
    if len(found) > 1 and gpu:
        found = [entry for entry in found if _has(catalog, entry, gpu)] or found
    if len(found) == 1:
        return Match(*found[0])
    return Match(candidates=tuple(name for _, name in found))


def _named(entry: str, wanted: str) -> bool:
    """Tell whether an alias names an entry, or one of a chassis that is there with several GPUs."""
    return any(
        entry.startswith(alias.entry) if alias.entry.endswith("-") else entry == alias.entry
        for alias in ALIASES
        if re.fullmatch(alias.pattern, wanted)
    )


def _has(catalog: Catalog, entry: tuple[str, str], gpu: str) -> bool:
    """Tell whether a system has a GPU: `NVIDIA-H100-80GB-HBM3` is an h100-sxm5."""
    system = catalog.systems.get(entry[1]) if entry[0] == "systems" else None
    return bool(system and system.gpus and system.gpus.model.partition("-")[0] in normal(gpu))
