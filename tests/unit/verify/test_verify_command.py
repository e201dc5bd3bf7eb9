"""`coldaisle verify cabling`: exit codes, JSON, the table, and files that cannot be used."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from coldaisle.cli import main
from tests.unit.verify.neighbours import as_planned, ethernet, lldpd_json, of, relinked, without


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the command line, and return its exit code."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "verify", "cabling", "case", *arguments])
    monkeypatch.setenv("COLUMNS", "220")
    with pytest.raises(SystemExit) as done:
        main()
    return int(done.value.code or 0)


@pytest.fixture
def leaf(site: Path) -> Path:
    """Return the folder of a site with what its first leaf sees, as planned."""
    Path("leaf01.lldp.json").write_bytes(lldpd_json(as_planned(ethernet()), "leaf01"))
    return site


@pytest.mark.usefixtures("leaf")
def test_as_planned(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A leaf whose neighbours are those of the plan ends with 0; its device follows from the file's name."""
    assert run(monkeypatch, "--device", "leaf01", "--seen", "leaf01.lldp.json") == 0
    assert "7 of 7 cables as planned, 0 findings" in capsys.readouterr().out


@pytest.mark.usefixtures("leaf")
def test_the_rest_could_not_be_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One leaf's answer says nothing of the other's cables: 3, with the reason."""
    assert run(monkeypatch, "--seen", "leaf01.lldp.json") == 3
    assert "neither end's neighbours were given" in capsys.readouterr().out


@pytest.mark.usefixtures("leaf")
def test_a_swap_is_told_with_rack_unit_and_port(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two swapped cables end with 5; the table has both plugs with rack, rack unit and port."""
    links = as_planned(ethernet())
    (one, first), (two, second) = of(links, "leaf01")[:2]
    changed = relinked(
        links, (f"leaf01:{one}", f"{second.device}:{second.port}"), (f"leaf01:{two}", f"{first.device}:{first.port}")
    )
    Path("table").write_bytes(lldpd_json(changed, "leaf01"))
    assert run(monkeypatch, "--device", "leaf01", "--seen", "leaf01=table") == 5
    said = capsys.readouterr().out
    assert "swapped" in said
    assert "r01 u40" in said
    assert f"leaf01:{one}" in said
    assert f"exchange the plugs at leaf01:{one} and leaf01:{two}" in said.replace("\n", "")


@pytest.mark.usefixtures("leaf")
def test_json(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON has the plan's hash, and both ends of each finding with their places."""
    links = as_planned(ethernet())
    peer = links[next(end for end in links if end.device == "leaf01" and links[end].device == "spine01")]
    Path("leaf01.json").write_bytes(lldpd_json(without(links, f"{peer.device}:{peer.port}"), "leaf01"))
    Path("spine01.json").write_bytes(lldpd_json(without(links, f"{peer.device}:{peer.port}"), "spine01"))
    assert run(monkeypatch, "--device", "leaf01", "--json", "--seen", "leaf01.json", "--seen", "spine01.json") == 5
    said = json.loads(capsys.readouterr().out)
    (found,) = said["findings"]
    assert len(said["plan"]) == 64
    assert found["kind"] == "missing"
    assert {(one["device"], one["rack"], one["unit"]) for one in found["ends"]} == {
        ("leaf01", "r01", 40),
        ("spine01", "r01", 41),
    }


@pytest.mark.usefixtures("leaf")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--seen", "nowhere.json"), "nowhere.json cannot be read: No such file"),
        (("--seen", "odd.txt"), "nothing says whose neighbours odd.txt holds"),
        (("--seen", "leaf01=odd.txt"), "odd.txt holds no neighbours of lldpd, EOS, SONiC or ibnetdiscover"),
        (("--seen", "leaf09=odd.txt"), "there is no device leaf09 in the plan"),
        (("--seen", "leaf01.lldp.json", "--device", "leaf9"), "there is no device leaf9 in the plan"),
        (("--seen", "leaf01=other.json"), "JSON with neither lldp (lldpd) nor lldpNeighbors (EOS)"),
    ],
)
def test_what_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    """Files that are missing, of nobody or of no known format end with 2 and say which and why."""
    Path("odd.txt").write_text("hello\n", encoding="utf-8")
    Path("other.json").write_text("{}", encoding="utf-8")
    assert run(monkeypatch, *arguments) == 2
    assert said in capsys.readouterr().err
