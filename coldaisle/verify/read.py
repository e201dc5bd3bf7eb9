"""Which format a file has, told from the file itself, so that nobody has to say it."""

from __future__ import annotations

import json
from typing import Any

from coldaisle.verify.ibnetdiscover import HEAD as IB_HEAD
from coldaisle.verify.ibnetdiscover import ibnetdiscover
from coldaisle.verify.lldp import eos, lldpd
from coldaisle.verify.seen import Answer, Told
from coldaisle.verify.tables import HEAD as SONIC_HEAD
from coldaisle.verify.tables import sonic


class UnknownFormatError(ValueError):
    """A file holds none of the formats that can be read."""


def tells_of_many(text: str) -> bool:
    """Tell whether a file describes a whole subnet, so that it is no single device's."""
    return not text.lstrip().startswith(("{", "[")) and IB_HEAD.search(text) is not None


def read(data: bytes, source: str, device: str = "") -> Answer:
    """
    Read a file of neighbours.

    Args:
        data: The file. What is no UTF-8 in it is dropped, text by text, and noted.
        source: How to name the file in notes.
        device: Whose neighbours they are; not needed for `ibnetdiscover`, which names everybody.

    Raises:
        UnknownFormatError: it is none of the known formats.
    """
    text = data.decode(errors="replace")
    if not text.strip():
        return _nothing(source, device, "it is empty")
    if tells_of_many(text):
        return ibnetdiscover(text, source)
    if SONIC_HEAD.search(text):
        return sonic(text, source, device)
    if not text.lstrip().startswith(("{", "[")):
        raise UnknownFormatError(f"{source} holds no neighbours of lldpd, EOS, SONiC or ibnetdiscover")
    try:
        value = json.loads(text)
    except ValueError:
        return _nothing(source, device, "its JSON ends early or is broken")
    return _json(value, source, device)


def _json(value: Any, source: str, device: str) -> Answer:  # noqa: ANN401 - JSON
    for part in _parts(value):
        if "lldp" in part:
            return lldpd(part, source, device)
        if "lldpNeighbors" in part:
            return eos(part, source, device)
    raise UnknownFormatError(f"{source} is JSON with neither lldp (lldpd) nor lldpNeighbors (EOS) in it")


def _parts(value: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - JSON
    """Return the mappings that may hold neighbours: the file's own, or those of an answer of EOS' command API."""
    outer = value if isinstance(value, list) else [value]
    whole = [part for part in outer if isinstance(part, dict)]
    inner = [part for one in whole if isinstance(one.get("result"), list) for part in one["result"]]
    return [*whole, *(part for part in inner if isinstance(part, dict))]


def _nothing(source: str, device: str, why: str) -> Answer:
    return Answer(source, "lldp", (Told(device),), (), whole=False, notes=(f"{source}: {why}",))
