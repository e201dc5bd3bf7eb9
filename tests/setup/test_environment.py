"""The environment of Pulumi: what the user set stays, and stacks open with the passphrase that we set."""

from __future__ import annotations

import base64
import hashlib
import os
from typing import TYPE_CHECKING

import pytest
import yaml
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from coldaisle.toolchain import environment, lookup, pins
from coldaisle.toolchain.places import project_root

if TYPE_CHECKING:
    from pathlib import Path

    from tests.setup.conftest import Machine

PBKDF2_ROUNDS = 1_000_000
"""As the engine derives its key from a passphrase."""


def test_a_fresh_machine_gets_a_backend_in_the_state_folder(machine: Machine) -> None:
    """Without settings of the user, a stack's state is a folder of this machine, and nothing is downloaded."""
    set_here = environment.settings("sim", {"PATH": str(machine.bin)})
    folder = machine.root / "state" / "coldaisle" / "sim" / "pulumi"
    assert folder.is_dir()
    assert set_here["PULUMI_BACKEND_URL"] == f"file://{folder}"
    assert set_here["PULUMI_CONFIG_PASSPHRASE"] == ""
    assert set_here["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"
    assert set_here["PULUMI_HOME"] == str(machine.root / "state" / "coldaisle" / "pulumi-home")


def test_what_the_user_set_stays(machine: Machine) -> None:
    """A backend, a passphrase and a home that are set already are not touched."""
    given = {
        "PATH": str(machine.bin),
        "PULUMI_BACKEND_URL": "s3://states",
        "PULUMI_CONFIG_PASSPHRASE_FILE": "/run/passphrase",
        "PULUMI_HOME": "/opt/pulumi",
    }
    set_here = environment.settings("sim", given)
    assert set_here.keys() & given.keys() == {"PATH"}
    assert "PULUMI_CONFIG_PASSPHRASE" not in set_here


def test_the_official_engine_may_fetch_its_plugins(machine: Machine) -> None:
    """With the official engine its own home and plugin downloads stay as they are, and our host stays off PATH."""
    machine.program("pulumi", "v3.280.0")
    machine.program(pins.LANGUAGE_HOST, "")
    set_here = environment.settings("sim", {"PATH": str(machine.bin)})
    assert not {"PULUMI_HOME", "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"} & set_here.keys()
    assert "langhost" not in set_here["PATH"]


def test_the_chosen_tools_come_first_on_path_once(machine: Machine) -> None:
    """Asking twice adds nothing: an environment inside of an environment is the same one."""
    once = environment.path({"PATH": str(machine.bin)})
    assert once.split(os.pathsep)[0] == str(lookup.links_dir())
    assert environment.path({"PATH": once}) == once


def test_our_engine_finds_host_and_provider_beside_itself(machine: Machine) -> None:
    """The engine warns of what it finds on PATH, so ours gets both where it looks first."""
    cache = machine.root / "cache"
    found = [
        lookup.Found(tool=pins.tool(name), origin="cache", path=machine.program(name, "", folder=cache), version="1")
        for name in ("pulumi", lookup.PROVIDER)
    ]
    environment.complete_engine(found)
    lookup.link(found)
    assert os.access(cache / pins.LANGUAGE_HOST, os.X_OK)
    (provider,) = (environment.pulumi_home() / "plugins").glob("*/*")
    assert provider.resolve() == cache / lookup.PROVIDER
    assert [path.name for path in lookup.links_dir().iterdir()] == ["pulumi"]
    assert "langhost" not in environment.path({"PATH": str(machine.bin)})


@pytest.mark.parametrize("stack", sorted((project_root() / "stacks").glob("Pulumi.*.yaml")), ids=lambda path: path.name)
def test_committed_salts_open_with_the_empty_passphrase(stack: Path) -> None:
    """A salt of another passphrase would stop every fresh clone; without one, each command would rewrite the file."""
    _v1, salt, _v2, nonce, sealed = yaml.safe_load(stack.read_text())["encryptionsalt"].split(":")
    key = hashlib.pbkdf2_hmac("sha256", b"", base64.b64decode(salt), PBKDF2_ROUNDS, 32)
    assert AESGCM(key).decrypt(base64.b64decode(nonce), base64.b64decode(sealed), None) == b"pulumi"
