"""
What every section model shares: frozen, no unknown keys, and mistakes that say what to do about them.

References between sections (a pool's rack, a fabric's switch model) are checked while a field is validated, against the
names in the validation context. So one bad reference never hides another mistake, and all are reported at once.
"""

from __future__ import annotations

import ipaddress
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints, ValidationInfo
from pydantic_core import PydanticCustomError

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$", max_length=63)]
"""A name that is also a DNS label or a Kubernetes object name."""


class SpecModel(BaseModel):
    """A section, or a part of one. Frozen; a key that it does not know is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, validate_default=False)


@dataclass(frozen=True, slots=True)
class Names:
    """The names that a site defines, by kind (rack, system, image, endpoint, node, switch …)."""

    by_kind: Mapping[str, frozenset[str]] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)


def mistake(check: str, what: str, fix: str, have: str = "") -> PydanticCustomError:
    """
    Return an error for a validator to raise; it becomes a `Problem` where the value stands.

    Args:
        check: Stable id, documented in docs/errors.md.
        what: What is wrong, in the field's words.
        fix: What to do about it.
        have: What was found; empty means the value itself.
    """
    return PydanticCustomError(check, "{what}", {"what": what, "fix": fix, "have": have})


_DIGITS = re.compile(r"\d+")


def near_miss(name: str, known: frozenset[str] | list[str]) -> str:
    """Return advice for a misspelt name: the nearest known one, or those that there are."""
    # Names that differ in their numbers only are neighbours, not slips of the pen.
    words = sorted(other for other in known if _DIGITS.sub("", other) != _DIGITS.sub("", name))
    close = list(known) if len(known) == 1 else get_close_matches(name, words, n=1, cutoff=0.6)
    if close:
        return f"write {close[0]}"
    some = sorted(known)[:8]
    more = f" and {len(known) - len(some)} more" if len(known) > len(some) else ""
    return f"use one of {', '.join(some)}{more}" if some else "define one first"


def check_name(kind: str, value: str, info: ValidationInfo) -> None:
    """Raise a mistake when the site has no `kind` of that name; without a context every name passes."""
    names = info.context if isinstance(info.context, Names) else Names()
    known = names.by_kind.get(kind)
    if known is not None and value not in known:
        fix = f"{near_miss(value, known)}; {names.sources[kind]}"
        raise mistake(f"unknown-{kind}", f"there is no {kind} named {value}", fix)


def refers_to(kind: str) -> AfterValidator:
    """Return a validator for a field that holds the name of a `kind`; without a context it accepts any."""

    def known(value: str, info: ValidationInfo) -> str:
        check_name(kind, value, info)
        return value

    return AfterValidator(known)


def _parsed(parse: Callable[[str], Any], noun: str, example: str) -> AfterValidator:
    def parses(value: str) -> str:
        try:
            parse(value)
        except ValueError as error:
            what, fix = f"not {noun}: {error}", f"write {noun}, such as {example}"
            raise mistake("bad-value", what, fix, f'"{value}"') from None
        return value

    return AfterValidator(parses)


def _uuid(text: str) -> None:
    if str(uuid.UUID(text)) != text:
        raise ValueError("it has 32 hexadecimal digits, in groups of 8, 4, 4, 4 and 12")


def _mac(text: str) -> str:
    if not re.fullmatch(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}", text):
        raise ValueError("it has six pairs of hexadecimal digits, with colons between them")
    return text


Address = Annotated[str, _parsed(ipaddress.ip_address, "an IP address", "10.0.0.1")]
Subnet = Annotated[str, _parsed(ipaddress.ip_network, "a subnet", "10.0.0.0/24")]
Uuid = Annotated[
    str, StringConstraints(to_lower=True), _parsed(_uuid, "a UUID", "4c4c4544-0043-3510-8052-b4c04f4a5931")
]
Mac = Annotated[str, StringConstraints(to_lower=True), _parsed(_mac, "a MAC address", "52:54:00:01:02:03")]
HallRef = Annotated[str, refers_to("hall")]
ImageRef = Annotated[str, refers_to("image")]
RackRef = Annotated[str, refers_to("rack")]
SystemRef = Annotated[str, refers_to("system")]
SwitchRef = Annotated[str, refers_to("switch")]
