"""Building tools: once, whole or not at all, and with messages that help."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain import builder, pins
from coldaisle.toolchain.errors import FAULT, LACKING, SetupError
from coldaisle.toolchain.places import project_root
from coldaisle.toolchain.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.setup.conftest import Machine

ETCD = pins.tool("etcd")
KWOK = pins.tool("kwok")


def test_a_tool_is_built_with_the_pinned_go_and_its_stamp(machine: Machine, store: Store) -> None:
    """The pinned Go release is asked for whatever the user configured, and the version goes into the binary."""
    machine.go()
    assert builder.build([pins.tool("pulumi")], store) == ["pulumi"]
    (line,) = machine.builds()
    assert f"GOTOOLCHAIN={pins.GO_TOOLCHAIN} CGO_ENABLED=0 GOFLAGS=-buildvcs=false -trimpath" in line
    assert f"version.Version={pins.PULUMI}" in line
    assert line.startswith(str(project_root() / "tools" / "go" / "pulumi"))
    assert store.ready(pins.tool("pulumi"))


def test_a_second_run_builds_nothing(machine: Machine, store: Store) -> None:
    """What is ready is not built again, and Go is not even looked for."""
    machine.go()
    builder.build([ETCD, KWOK], store)
    (machine.bin / "go").unlink()
    assert builder.build([ETCD, KWOK], store) == []
    assert len(machine.builds()) == 2


def test_the_finished_tools_stay_when_a_later_one_fails(machine: Machine, store: Store) -> None:
    """A failed build names its module and log, exits as our fault, and leaves what was finished before it."""
    machine.go(behaviour='case "$3" in *kwok) echo "undefined: x" >&2; exit 1 ;; esac; ' + "echo > $2; chmod +x $2")
    with pytest.raises(SetupError) as caught:
        builder.build([ETCD, KWOK], store)
    assert caught.value.exit_code == FAULT
    assert caught.value.what == "`go build` failed in tools/go/kwok"
    assert caught.value.have == "undefined: x"
    assert store.ready(ETCD)
    assert not store.ready(KWOK)


def test_a_half_built_binary_is_never_used(machine: Machine) -> None:
    """A builder that dies in the middle leaves nothing under a tool's name, and the next run clears up."""
    machine.go(behaviour='printf half > "$2"; kill -9 $PPID')
    done = subprocess.run(
        [sys.executable, "-m", "coldaisle.toolchain", "build", "etcd"], cwd=project_root(), check=False
    )
    assert done.returncode == -9
    real = Store(next((machine.root / "cache" / "coldaisle" / "tools").glob("*/building-*")).parent)
    assert not real.ready(ETCD)
    assert not real.binary(ETCD).exists()
    machine.go()
    assert builder.build([ETCD], real) == ["etcd"]
    assert list(real.root.glob("building-*")) == []


def test_a_tool_of_the_same_pins_is_taken_from_another_key(machine: Machine, store: Store) -> None:
    """A change to one tool's pins does not build the other tools again."""
    machine.go()
    builder.build([ETCD], Store(store.root.with_name("older")))
    assert builder.build([ETCD], store) == []
    assert store.ready(ETCD)
    assert len(machine.builds()) == 1


def test_kedas_definitions_come_with_it(machine: Machine, store: Store) -> None:
    """KEDA's resource definitions are copied from its module, since its binary does not hold them."""
    machine.go()
    builder.build([pins.tool("keda-operator")], store)
    assert [path.name for path in builder.keda_crds(store).iterdir()] == ["keda.sh_scaledobjects.yaml"]


@pytest.mark.parametrize("version", [None, "1.19.8"])
def test_no_go_or_an_old_one_says_what_to_install(machine: Machine, store: Store, version: str | None) -> None:
    """Without a usable Go the message says what to install, and the exit code that the machine lacks something."""
    if version:
        machine.go(version=version)
    with pytest.raises(SetupError) as caught:
        builder.build([ETCD], store)
    assert caught.value.exit_code == LACKING
    assert caught.value.fix.startswith("install Go 1.21 or newer")
    assert (version or "no `go` on PATH") in caught.value.have


def test_a_go_release_that_cannot_be_fetched_is_told(machine: Machine, store: Store) -> None:
    """An unreachable module proxy is not shown as a failed build."""
    machine.go(behaviour='echo "go: download go1.27.3 for linux/amd64: toolchain not available" >&2; exit 1')
    with pytest.raises(SetupError, match=r"could not fetch its release go1\.27\.3") as caught:
        builder.build([ETCD], store)
    assert caught.value.exit_code == LACKING


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """Give a file system of 64 KiB."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=False).returncode != 0:
        pytest.skip("mounting a small file system needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_leaves_nothing(tiny_disk: Path, machine: Machine) -> None:
    """With the disk full the message says how much to free, and no half-built tool is there afterwards."""
    machine.go(behaviour='dd if=/dev/zero of="$2" bs=1k count=200')
    store = Store(tiny_disk / "tools" / "key")
    with pytest.raises(SetupError, match="the disk is full") as caught:
        builder.build([ETCD], store)
    assert caught.value.exit_code == LACKING
    assert "free 12 GiB" in caught.value.fix
    assert not store.binary(ETCD).exists()
    assert list(store.root.glob("building-*")) == []


def test_two_at_once_build_each_tool_once(machine: Machine) -> None:
    """The second builder waits for the first and then finds its work done."""
    machine.go(behaviour='sleep 0.5; echo > "$2"; chmod +x "$2"')
    command = [sys.executable, "-m", "coldaisle.toolchain", "build", "etcd", "kwok"]
    running = [subprocess.Popen(command, cwd=project_root(), env=dict(os.environ)) for _ in range(2)]
    assert [each.wait(timeout=60) for each in running] == [0, 0]
    assert len(machine.builds()) == 2
