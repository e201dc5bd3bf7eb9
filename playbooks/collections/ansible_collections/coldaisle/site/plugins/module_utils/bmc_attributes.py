"""What an attribute registry says of BIOS attributes: the type of each, and which values it takes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Wire

WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Attribute:
    """An attribute: its type by the registry's word, and what bounds its values (None or empty: nothing does)."""

    name: str
    kind: str
    names: tuple[str, ...] = ()
    lowest: int | None = None
    highest: int | None = None
    shortest: int | None = None
    longest: int | None = None
    fixed: bool = False

    @classmethod
    def of_entry(cls, entry: Json) -> Attribute:
        """Return what an entry of a registry says; values may go by name and by what menus show."""
        values = entry.get("Value") or []
        names = tuple(str(value[key]) for key in ("ValueName", "ValueDisplayName") for value in values if key in value)
        return cls(
            name=str(entry.get("AttributeName")),
            kind=str(entry.get("Type")),
            names=names,
            lowest=entry.get("LowerBound"),
            highest=entry.get("UpperBound"),
            shortest=entry.get("MinLength"),
            longest=entry.get("MaxLength"),
            fixed=bool(entry.get("ReadOnly") or entry.get("Immutable")),
        )

    @classmethod
    def of_value(cls, name: str, value: Any) -> Attribute:  # noqa: ANN401  # JSON of a BMC
        """Return what the present value tells, for BMCs that keep no registry."""
        kind = "Boolean" if isinstance(value, bool) else "Integer" if isinstance(value, int) else "String"
        return cls(name, kind)

    def value(self, text: str) -> str | int | bool:
        """
        Return the plan's text as a value of the attribute's type.

        Raises:
            BmcError: the attribute does not take it.

        """
        if self.fixed:
            raise self._refusal(text, "it is read-only")
        if self.kind == "Password":
            raise self._refusal("a password", "passwords are no part of a plan")
        if self.kind == "Boolean":
            return self._boolean(text)
        if self.kind == "Integer":
            return self._integer(text)
        if self.names and text not in self.names:
            raise self._refusal(text, f"it takes {', '.join(dict.fromkeys(self.names))}")
        if not (self.shortest or 0) <= len(text) <= (self.longest or len(text)):
            raise self._refusal(text, f"it takes {self.shortest or 0} to {self.longest} characters")
        return text

    def _boolean(self, text: str) -> bool:
        if text.lower() not in WORDS:
            raise self._refusal(text, "it takes true or false")
        return WORDS[text.lower()]

    def _integer(self, text: str) -> int:
        if not text.removeprefix("-").isdigit():
            raise self._refusal(text, "it takes a whole number")
        number = int(text)
        low, high = (number if bound is None else bound for bound in (self.lowest, self.highest))
        if not low <= number <= high:
            raise self._refusal(text, f"it takes {self.lowest} to {self.highest}")
        return number

    def _refusal(self, text: str, why: str) -> BmcError:
        what = f"the plan wants {text} for {self.name}, and {why}"
        return BmcError("bios-value", what, "bmc.bios of the node's pool")


def attributes_of(wire: Wire, registries: str | None, name: str) -> dict[str, Attribute]:
    """
    Return the attributes of a registry by their names; none where the service does not keep it.

    Raises:
        BmcError: the BMC does not answer as it should.

    """
    for file in _files(wire, registries, name):
        registry = wire.find(file)
        entries = ((registry.body.get("RegistryEntries") or {}).get("Attributes") or []) if registry else []
        if entries:
            return {entry.name: entry for entry in map(Attribute.of_entry, entries)}
    return {}


def _files(wire: Wire, registries: str | None, name: str) -> Iterator[str]:
    """Yield the paths of a registry's texts, the English one first."""
    collection = wire.find(registries)
    paths = [str(member["@odata.id"]) for member in (collection.body.get("Members") or [])] if collection else []
    for path in (path for path in paths if _stem(path.rstrip("/").rpartition("/")[2]) == _stem(name)):
        locations = wire.get(path).body.get("Location") or []
        locations.sort(key=lambda location: not str(location.get("Language", "en")).startswith("en"))
        yield from (str(location["Uri"]) for location in locations if location.get("Uri"))


def _stem(name: str) -> str:
    """Return a registry's name without its version: Dell's collection has none, its BIOS names one."""
    return name.partition(".")[0]
