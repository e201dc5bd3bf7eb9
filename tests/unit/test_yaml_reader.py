"""How YAML is read: the core schema, anchors, and files that are broken in every way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.spec.yaml_reader import Reader, compose


def read(text: str, folder: Path) -> tuple[Any, list[str]]:
    """Return the data of a text, and what is wrong with it by id and place."""
    path = folder / "f.yaml"
    path.write_text(text, encoding="utf-8")
    root, problems = compose(path, "f.yaml")
    reader = Reader("f.yaml")
    data = reader.data(root) if root is not None else None
    return data, [f"{problem.check} {problem.where}" for problem in (*problems, *reader.problems)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("~", None),
        ("", None),
        ("012", 12),
        ("0x10", 16),
        ("0o10", 8),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("10:20:30:40:50:59", "10:20:30:40:50:59"),
        ("2026-11-28", "2026-11-28"),
        ("'5'", "5"),
        ("v1.2.3", "v1.2.3"),
        ("1_000", "1_000"),
    ],
)
def test_scalars(tmp_path: Path, text: str, value: object) -> None:
    """Scalars follow the core schema of YAML 1.2: words stay words, and a MAC address is no number."""
    data, problems = read(f"key: {text}\n", tmp_path)
    assert (data, problems) == ({"key": value}, [])
    assert type(data["key"]) is type(value)


def test_anchors_and_merges(tmp_path: Path) -> None:
    """An alias repeats its anchor, and a key of one's own wins over a merged one."""
    data, problems = read("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: {<<: [*a, {z: 4}]}\n", tmp_path)
    assert problems == []
    assert data == {"a": {"x": 1, "y": 2}, "b": {"x": 1, "y": 3}, "c": {"x": 1, "y": 2, "z": 4}}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", "duplicate-key f.yaml:3:1"),
        ("a: [1, 2\nb: 3\n", "yaml-syntax f.yaml:2:2"),
        ("a:\n\tb: 1\n", "yaml-syntax f.yaml:2:1"),
        ("a: &x [*x]\n", "yaml-syntax f.yaml:1:4"),
        ("a: !thing 1\n", "yaml-tag f.yaml:1:4"),
        ("? [1]\n: 2\n", "yaml-syntax f.yaml:1:3"),
        ("a: 1\n---\nb: 2\n", "yaml-syntax f.yaml:2:1"),
        ("a: *nothing\n", "yaml-syntax f.yaml:1:4"),
        ('a: "\x01"\n', "yaml-syntax f.yaml:1:5"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, problem: str) -> None:
    """What is broken is told with its line and column, both from 1."""
    assert read(text, tmp_path)[1] == [problem]


def test_laughs_stay_small(tmp_path: Path) -> None:
    """Anchors of anchors are read once each, so that a short file cannot fill the memory."""
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    data, problems = read("\n".join(lines), tmp_path)
    assert problems == []
    assert data["a29"][0] is data["a29"][8]


@given(st.text(max_size=200))
def test_no_text_makes_it_fall_over(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    """Whatever stands in a file, the answer is data or problems, never an exception."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    read(text, tmp_path_factory.mktemp("yaml"))
