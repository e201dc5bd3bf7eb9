"""Between the engine's property values and plain Python ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pulumi.provider.experimental.property_value import Computed, PropertyValue

Plain = Any
"""None, bool, int, float, str, and lists and dictionaries of them."""


class Unknown:
    """A value that the engine will know only when something else has been made."""


class SecretValueError(Exception):
    """A value that the program marked as secret: none may reach the provider."""


def plain(value: PropertyValue) -> Plain:
    """
    Return a property value as a plain one; whole numbers as integers.

    Raises:
        SecretValueError: it is marked as a secret.

    """
    if value.is_secret:
        raise SecretValueError
    inner = value.value
    if isinstance(inner, Computed):
        return Unknown()
    if isinstance(inner, Mapping):
        return {key: plain(item) for key, item in inner.items()}
    if isinstance(inner, float) and inner.is_integer():
        return int(inner)
    if isinstance(inner, Sequence) and not isinstance(inner, str):
        return [plain(item) for item in inner]
    return inner


def plain_map(properties: Mapping[str, PropertyValue]) -> dict[str, Plain]:
    """Return the properties of a resource as a plain dictionary."""
    return {key: plain(value) for key, value in properties.items()}


def engine_value(value: Plain) -> PropertyValue:
    """Return a plain value as a property value."""
    if isinstance(value, Mapping):
        return PropertyValue({str(key): engine_value(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return PropertyValue([engine_value(item) for item in value])
    if isinstance(value, int) and not isinstance(value, bool):
        return PropertyValue(float(value))
    return PropertyValue(value)


def engine_map(properties: Mapping[str, Plain]) -> dict[str, PropertyValue]:
    """Return a plain dictionary as the properties of a resource."""
    return {key: engine_value(value) for key, value in properties.items()}
