"""Which of several executables is used."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.toolchain import lookup, pins

if TYPE_CHECKING:
    import pytest

    from coldaisle.toolchain.store import Store
    from tests.setup.conftest import Machine

ETCD = pins.tool("etcd")


def _built(store: Store, machine: Machine, name: str = "etcd") -> None:
    store.root.mkdir(parents=True, exist_ok=True)
    store.accept(pins.tool(name), machine.program(name, "built", folder=machine.root / "fresh"))


def test_path_comes_before_assets_and_cache(machine: Machine, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A good enough program on PATH is used, whatever else there is."""
    assets = machine.root / "assets"
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    on_path = machine.program("etcd", "etcd Version: 3.6.1")
    machine.program("etcd", "etcd Version: 3.6.2", folder=assets)
    _built(store, machine)
    found = lookup.find(ETCD, in_store=store)
    assert (found.origin, found.path, found.version) == ("PATH", on_path, "3.6.1")


def test_assets_come_before_the_cache(machine: Machine, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """KUBEBUILDER_ASSETS is where users have control planes for tests already."""
    assets = machine.root / "assets"
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))
    machine.program("etcd", "etcd Version: 3.6.2", folder=assets)
    _built(store, machine)
    assert lookup.find(ETCD, in_store=store).origin == "KUBEBUILDER_ASSETS"


def test_an_old_program_is_passed_over_and_named(machine: Machine, store: Store) -> None:
    """An older program than the floor is not used, and the reason can be told."""
    old = machine.program("etcd", "etcd Version: 3.4.9")
    _built(store, machine)
    found = lookup.find(ETCD, in_store=store)
    assert found.origin == "cache"
    assert found.rejected == (f"{old} is 3.4.9, 3.5.0 is the oldest that will do",)


def test_a_program_that_fails_is_passed_over(machine: Machine, store: Store) -> None:
    """A program that cannot say its version is not used, even when it prints one."""
    machine.script("etcd", "#!/bin/sh\necho 3.6.1\nexit 1\n")
    assert lookup.find(ETCD, in_store=store).origin == "missing"


def test_a_binary_of_other_pins_is_not_used(machine: Machine, store: Store) -> None:
    """What is in the cache counts only with the stamp of today's pins."""
    _built(store, machine)
    store.stamp(ETCD).write_text("another digest")
    assert not lookup.find(ETCD, in_store=store).usable


def test_our_links_are_not_taken_for_the_users_tools(
    machine: Machine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With our folder on PATH, as in a shell after `coldaisle env`, a tool still comes from the cache."""
    machine.program("etcd", "etcd Version: 3.6.1", folder=lookup.links_dir())
    monkeypatch.setenv("PATH", f"{lookup.links_dir()}{os.pathsep}{machine.bin}")
    _built(store, machine)
    assert lookup.find(ETCD, in_store=store).origin == "cache"


def test_links_name_the_chosen_ones_and_nothing_else(machine: Machine, store: Store) -> None:
    """The folder of links follows the choice: what is no longer chosen goes."""
    chosen = machine.program("etcd", "etcd Version: 3.6.1")
    folder = lookup.link([lookup.find(ETCD, in_store=store)])
    assert [(path.name, path.readlink()) for path in folder.iterdir()] == [("etcd", chosen)]
    chosen.unlink()
    assert list(lookup.link([lookup.find(ETCD, in_store=store)]).iterdir()) == []


def test_an_engine_is_official_with_its_language_host(machine: Machine) -> None:
    """An engine without the official Python host, such as one of ours, is not the official one."""
    engine = machine.program("pulumi", "v3.280.0")
    assert lookup.official_engine() is None
    machine.program(pins.LANGUAGE_HOST, "")
    assert lookup.official_engine() == engine


def test_the_official_engine_fetches_its_own_provider(machine: Machine, store: Store) -> None:
    """With the official engine the Kubernetes provider is not built: the engine downloads that very version."""
    provider = pins.tool("pulumi-resource-kubernetes")
    assert lookup.find(provider, in_store=store).origin == "missing"
    machine.program("pulumi", "v3.280.0")
    machine.program(pins.LANGUAGE_HOST, "")
    assert lookup.find(provider, in_store=store).origin == "engine"


def test_an_installed_provider_is_used(machine: Machine, store: Store) -> None:
    """A provider in the user's plugin folder is found by its version."""
    folder = Path(machine.root, "home", ".pulumi", "plugins", f"resource-kubernetes-v{pins.PULUMI_KUBERNETES}")
    machine.program("pulumi-resource-kubernetes", "", folder=folder)
    assert lookup.find(pins.tool("pulumi-resource-kubernetes"), in_store=store).origin == "plugins"
