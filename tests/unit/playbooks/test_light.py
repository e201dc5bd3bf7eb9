"""What runs on a host without AnsiballZ, whatever Python it has, and whether the host is the planned one."""

from __future__ import annotations

import ast
import json
import subprocess
import sys

import pytest
from ansible.plugins import loader
from ansible_collections.coldaisle.site.plugins.filter.facts import FilterModule
from ansible_collections.coldaisle.site.plugins.plugin_utils import packing
from ansible_collections.coldaisle.site.plugins.plugin_utils.light import HostAction
from ansible_collections.coldaisle.site.plugins.plugin_utils.waiting import not_up
from ansible_collections.coldaisle.site.plugins.plugin_utils.who import another_machine

PORTS = (
    "2: mgmt0: <UP> mtu 1500 state UP\\    link/ether 52:54:00:00:00:01 brd ff:ff:ff:ff:ff:ff\n"
    "3: rail0: <UP> mtu 9000 master bond0\\    link/ether 52:54:00:00:00:09 brd ff:ff:ff:ff:ff:ff "
    "permaddr 52:54:00:00:00:02\n"
)


def _answer(sent: bytes) -> dict[str, object]:
    done = subprocess.run([sys.executable, *packing.ARGUMENTS], input=sent, capture_output=True, check=True)
    found: dict[str, object] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("lost", ["sources", "codes"])
def test_a_program_runs_compiled_and_on_another_python_as_text(lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host whose Python is not of this one's bytecode takes the text, and answers the same; neither needs both."""
    codes, texts = packing.packed("read", packing.ALL)
    monkeypatch.setattr(packing, "packed", lambda *_: (b"", texts) if lost == "codes" else (codes, b""))
    if lost == "codes":
        monkeypatch.setattr(packing, "MAGIC_NUMBER", b"another")
    found = _answer(packing.script("read", {"facts": ["user.root", "nonsense"]}, check=False))
    assert found["facts"] == {"user.root": "present"}
    assert list(found["errors"]) == ["nonsense"]  # type: ignore[call-overload]


def test_every_import_of_our_modules_is_found() -> None:
    """Lines are looked at, which is quick; Python's own parser finds the same in every module, however written."""
    package = packing.PACKAGE
    wrapped = f"from {package} import (\n    one,  # noqa: X1\n    two as second,\n)\n"
    wrapped += f"def f():\n    from {package}.three import a\n"
    for source in [wrapped, *(path.read_text() for path in packing.MODULES.glob("*.py"))]:
        imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
        wanted = {alias.name for node in imports if node.module == package for alias in node.names}
        wanted |= {
            str(node.module).removeprefix(f"{package}.") for node in imports if f"{package}." in str(node.module)
        }
        assert set(packing.imported(source)) == wanted


@pytest.mark.parametrize("last_bytes", [(), ("01",), ("02",), ("0A", "09")])
def test_a_host_with_one_of_the_planned_ports_is_ours(last_bytes: tuple[str, ...]) -> None:
    """A port that a bond gave another address counts by its own, and a host without planned ports by none."""
    assert another_machine([f"52:54:00:00:00:{last}" for last in last_bytes], PORTS) == {}


def test_a_host_that_says_nothing_of_its_ports_is_not_accused() -> None:
    """Without iproute2 there is nothing to compare."""
    assert another_machine(["52:54:00:00:00:01"], "") == {}


def test_a_host_with_none_of_the_planned_ports_is_refused() -> None:
    """The message has both sides and where to look."""
    found = another_machine(["52:54:00:00:00:77"], PORTS)
    assert found["failed"]
    assert "it has the ports 52:54:00:00:00:01, 52:54:00:00:00:02, 52:54:00:00:00:09" in found["msg"]
    assert "planned 52:54:00:00:00:77" in found["msg"]
    assert "hardware.yaml" in found["msg"]


@pytest.mark.parametrize(
    ("servers", "told", "guess"),
    [(None, False, True), ("none", False, False), ("198.51.100.66 (52:54:00:66:66:66)", True, False)],
    ids=["nobody to ask", "no other", "another"],
)
def test_a_late_host_is_told_with_the_server_that_answers(servers: str | None, *, told: bool, guess: bool) -> None:
    """Another DHCP server is guessed where nobody could be asked, named where one answers, and else no word of it."""
    text = not_up(600.04, "No route to host", servers)
    assert text.startswith("not up after 600.04 s")
    assert "No route to host (look at " in text
    assert ("another DHCP server answers" in text and str(servers) in text and "pull that cable" in text) == told
    assert ("a cable is wrong or another server answers" in text) == guess


def test_an_action_packs_its_program_before_ansible_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is packed when the plugin is loaded is what each task sends, and filters are loaded: none does it again."""
    packing.packed.cache_clear()
    loaded: list[str] = []
    monkeypatch.setattr(loader.filter_loader, "get", loaded.append)

    class Reads(HostAction):
        PROGRAM = "read"

    before = packing.packed.cache_info().misses
    packing.script(Reads.PROGRAM, {}, check=False)
    assert packing.packed.cache_info().misses == before
    assert [name.removeprefix("coldaisle.site.") in FilterModule().filters() for name in loaded] == [True]
