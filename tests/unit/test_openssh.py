"""The settings of ssh for a read: which key exchanges are offered, by what this machine's ssh knows."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coldaisle.openssh import write_config

OLD = ("curve25519-sha256", "ecdh-sha2-nistp256", "diffie-hellman-group1-sha1", "sntrup761x25519-sha512")


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (OLD, "KexAlgorithms ecdh-sha2-nistp256,curve25519-sha256"),
        ((*OLD, "mlkem768x25519-sha256"), "KexAlgorithms -sntrup761*"),
        (("of-a-later-decade",), "KexAlgorithms -sntrup761*"),
    ],
    ids=["an old ssh", "a new one", "one that has none of them"],
)
def test_the_cheapest_exchange_is_offered_first(
    known: tuple[str, ...], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P-256 is first where nothing as cheap guards better, and what is broken or dear is not offered."""
    (tmp_path / "ssh").write_text(f"#!/bin/sh\nprintf '%s\\n' {' '.join(known)}\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    write_config(tmp_path / "config")
    assert line in map(str.strip, (tmp_path / "config").read_text().splitlines())


def test_without_an_ssh_the_login_itself_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No trouble comes from the question: each host is told as one that cannot be logged in to."""
    monkeypatch.setenv("PATH", str(tmp_path))
    write_config(tmp_path / "config")
    assert "-sntrup761*" in (tmp_path / "config").read_text()


def test_the_real_ssh_takes_the_settings(tmp_path: Path) -> None:
    """What is written is what it says that it would offer."""
    write_config(tmp_path / "config")
    done = subprocess.run(
        ["ssh", "-G", "-F", str(tmp_path / "config"), "h1"], capture_output=True, text=True, check=True
    )
    [offered] = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("kexalgorithms ")]
    assert offered.split(",")[0] in {"ecdh-sha2-nistp256", "mlkem768x25519-sha256"}
    assert "sntrup761" not in offered
    assert "sha1" not in offered
