"""Versions as programs print them."""

from __future__ import annotations

import pytest

from coldaisle.toolchain import versions


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v3.274.1", (3, 274, 1)),
        ("Kubernetes v1.37.2", (1, 37, 2)),
        ("Client Version: v1.32.4-dispatcher\nKustomize Version: v5.5.0", (1, 32, 4)),
        ("etcd Version: 3.6.16\nGit SHA: Not provided", (3, 6, 16)),
        ("go version go1.21 linux/amd64", (1, 21, 0)),
        ("no version here", None),
    ],
)
def test_first_version_of_a_text_is_read(text: str, version: tuple[int, int, int] | None) -> None:
    """The first version that a program prints is its own; a missing patch number is 0."""
    assert versions.parse(text) == version


@pytest.mark.parametrize(
    ("have", "floor", "enough"),
    [
        ("3.274.1", "3.272.0", True),
        ("1.37.0", "1.37.0", True),
        ("1.9.0", "1.37.0", False),
        ("1.37", "1.37.0", True),
        ("unknown", "1.0.0", False),
    ],
)
def test_versions_compare_as_numbers(have: str, floor: str, enough: bool) -> None:  # noqa: FBT001 - a parameter of the table
    """1.9 is older than 1.37, and what has no version is never new enough."""
    assert versions.at_least(have, floor) is enough
