"""
Between the engine's messages and plain Python values.

A play on 80 hosts has a thousand values, and every one of them is checked and compared in every preview. The SDK's own
property values cost ten times what these few lines do, and say nothing that a play needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import struct_pb2  # type: ignore[import-untyped]

from components.provider.inputs import Unknown

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
SIGNATURE, SECRET = "4dabf18193072939515e22adb298388d", "1b47061264138c4ac30d75fd1eb44270"
"""Words of the protocol; the SDK has them in `pulumi.runtime.rpc`, which is slow to import."""

Plain = Any
"""None, bool, int, float, str, and lists and dictionaries of them."""


class SecretValueError(Exception):
    """A value that the program marked as secret: none may reach the provider."""


def plain_map(properties: struct_pb2.Struct) -> dict[str, Plain]:
    """
    Return the properties of a resource as a plain dictionary; whole numbers as integers.

    Raises:
        SecretValueError: one of them is marked as a secret.

    """
    return {key: _plain(value) for key, value in properties.fields.items()}


def _plain(value: struct_pb2.Value) -> Plain:
    kind = value.WhichOneof("kind")
    if kind == "string_value":
        return Unknown() if value.string_value == UNKNOWN else value.string_value
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "bool_value":
        return value.bool_value
    if kind == "struct_value":
        fields = value.struct_value.fields
        if SIGNATURE in fields and fields[SIGNATURE].string_value == SECRET:
            raise SecretValueError
        return {key: _plain(item) for key, item in fields.items()}
    if kind == "list_value":
        return [_plain(item) for item in value.list_value.values]
    return None


def engine_map(properties: Mapping[str, Plain]) -> struct_pb2.Struct:
    """Return a plain dictionary as the properties of a resource."""
    made = struct_pb2.Struct()
    for key, value in properties.items():
        _fill(made.fields[key], value)
    return made


def _fill(target: struct_pb2.Value, value: Plain) -> None:
    if isinstance(value, Mapping):
        target.struct_value.SetInParent()
        for key, item in value.items():
            _fill(target.struct_value.fields[str(key)], item)
    elif isinstance(value, list | tuple):
        target.list_value.SetInParent()
        for item in value:
            _fill(target.list_value.values.add(), item)
    elif isinstance(value, bool):
        target.bool_value = value
    elif isinstance(value, int | float):
        target.number_value = value
    elif value is None:
        target.null_value = 0
    else:
        target.string_value = value
