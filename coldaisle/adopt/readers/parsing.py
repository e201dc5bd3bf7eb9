"""
What readers share: JSON and YAML that may end early, and values that a source writes in several ways.

A source that is broken is told with its place; none of it is used, since a half-read export looks like a smaller site.
"""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from coldaisle.adopt.facts import Collector

Json = Any


def json_of(text: str, where: str, into: Collector) -> Json:
    """Return a file's JSON, or None and a problem where it ends early or is none."""
    if not text.strip():
        into.unreadable(where, "the file is empty", "export it again, and see that the export ends without an error")
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        line = getattr(error, "lineno", 1)
        what = f"the JSON ends early or is broken: {getattr(error, 'msg', error)}"
        into.unreadable(f"{where}:{line}", what, "export it again, and see that the export ends without an error")
        return None


def yaml_of(text: str, where: str, into: Collector) -> dict[str, Json]:
    """Return a file's YAML map; empty where there is none, with a problem where it is broken."""
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f"{where}:{mark.line + 1}" if mark else where
        into.unreadable(place, "the YAML is broken or ends early", "copy the file again from its repository")
        return {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        into.unreadable(where, "the file holds no variables", "give the file that the tool itself reads")
        return {}
    return value


def maps(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the mappings of a list; what is no mapping, or no list, is passed over."""
    yield from (each for each in value if isinstance(each, dict)) if isinstance(value, list) else ()


def text_of(value: Json) -> str | None:
    """Return a text without space around it, None where there is none; numbers are written out."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return str(value).strip() or None


def at(value: Json, *keys: str) -> Json:
    """Return what stands below some keys, None where one of them is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def number_of(value: Json) -> int | float | None:
    """Return a number, also one that is written as text (NetBox writes decimals so); whole ones as int."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return int(number) if number == int(number) else number


def mac_of(value: Json) -> str | None:
    """Return a MAC address in lower case with colons, None where the value is none."""
    digits = "".join(char for char in str(value or "").lower() if char in "0123456789abcdef")
    plain = str(value or "").strip().lower().translate(str.maketrans("", "", ":-."))
    if len(digits) != 12 or digits != plain:  # noqa: PLR2004 - six bytes
        return None
    return ":".join(digits[place : place + 2] for place in range(0, 12, 2))


def interface_of(value: Json) -> str | None:
    """Return an address with its prefix length, None where it is none or has no prefix."""
    text = text_of(value)
    if text is None or "/" not in text:
        return None
    try:
        return str(ipaddress.ip_interface(text))
    except ValueError:
        return None


def address_of(value: Json) -> str | None:
    """Return an address without its prefix length, None where the value is none."""
    text = text_of(value)
    try:
        return str(ipaddress.ip_interface(text).ip) if text else None
    except ValueError:
        return None


def subnet_of(value: Json) -> str | None:
    """Return a subnet, without host bits; None where the value is none."""
    text = text_of(value)
    try:
        return str(ipaddress.ip_network(text, strict=False)) if text else None
    except ValueError:
        return None


def slug(value: Json) -> str | None:
    """Return a name as a spec writes it: lower case, without spaces and what no DNS label holds."""
    text = text_of(value)
    return re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-.") or None if text else None


def short(name: str) -> tuple[str, str | None]:
    """Return the first label of a host's name in lower case, and the domain behind it; an address is no name."""
    if address_of(name):
        return name, None
    host, _, domain = name.strip().lower().partition(".")
    return host, domain or None
