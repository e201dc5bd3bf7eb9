"""The table of tools agrees with the pinned modules, and the cache's key follows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from coldaisle.toolchain import pins
from coldaisle.toolchain.places import project_root

if TYPE_CHECKING:
    from pathlib import Path

MODULES = {
    "pulumi": "github.com/pulumi/pulumi/pkg/v3",
    "kubernetes": "k8s.io/kubernetes",
    "etcd": "go.etcd.io/etcd/server/v3",
    "kwok": "sigs.k8s.io/kwok",
    "kubelet": "k8s.io/kubernetes",
    "device-plugin": "k8s.io/kubelet",
    "keda": "github.com/kedacore/keda/v2",
}


@pytest.mark.parametrize("tool", pins.TOOLS, ids=lambda tool: tool.name)
def test_versions_of_the_table_are_those_of_the_modules(tool: pins.Tool) -> None:
    """A new pin in go.mod without its version in the table would stamp and report the wrong one."""
    module = MODULES.get(tool.module)
    text = (project_root() / "tools" / "go" / tool.module / "go.mod").read_text()
    if module is None:  # the provider's module has a commit for a version; its schema states the release
        assert f'"version":"{tool.version}"' in (project_root() / "tools/go" / tool.module / "main.go").read_text()
    else:
        assert f"{module} v{tool.version}" in text


def test_no_registry_is_named_in_the_modules() -> None:
    """Where modules come from is the machine's own setting."""
    for path in (project_root() / "tools" / "go").rglob("go.mod"):
        assert "://" not in path.read_text()


def test_the_digest_follows_the_pins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another go.sum gives another digest, and so another place in the cache."""
    folder = tmp_path / "tools" / "go" / "etcd"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module x\n")
    monkeypatch.setattr(pins, "project_root", lambda: tmp_path)
    digest = pins.digest.__wrapped__
    before = digest(pins.tool("etcd"))
    assert before == digest(pins.tool("etcd"))
    (folder / "go.sum").write_text("x v1 h1:abc=\n")
    assert digest(pins.tool("etcd")) != before
