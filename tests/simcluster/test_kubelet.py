"""The stand-in kubelet's pure parts: its YAML, durations, taints and resource patches."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import sim

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

LOCAL = Path(sim.__file__).parent / "image" / "files" / "usr" / "local"
CONFIG: dict[str, Any] = {
    "apiVersion": "kubelet.config.k8s.io/v1beta1",
    "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": "/etc/kubernetes/pki/ca.crt"}},
    "clusterDNS": ["198.19.128.10"],
    "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
    "maxPods": 64,
    "empty": {},
    "nothing": None,
    "podPidsLimit": -1,
    "quoted": "yes: it's",
    "registerWithTaints": [{"key": "a", "effect": "NoSchedule"}, {"key": "b", "effect": "NoExecute"}],
}


@pytest.fixture
def kubelet(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """Load the program as a module, with the libraries that lie beside it on a host."""
    monkeypatch.syspath_prepend(str(LOCAL / "lib" / "coldaisle"))
    before = set(sys.modules)
    loader = importlib.machinery.SourceFileLoader("kubelet_program", str(LOCAL / "bin" / "kubelet"))
    spec = importlib.util.spec_from_loader("kubelet_program", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    yield module
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("indent", [2, 4])
def test_it_reads_what_a_yaml_library_writes(kubelet: ModuleType, indent: int) -> None:
    """A configuration comes back as it was, whatever the indent, and as JSON too."""
    assert kubelet.parse_document(yaml.safe_dump(CONFIG, indent=indent)) == CONFIG
    assert kubelet.parse_document(json.dumps(CONFIG)) == CONFIG


def test_it_reads_a_templated_kubeconfig(kubelet: ModuleType) -> None:
    """Comments, a document mark, and lists that start at their key's indent are read."""
    text = "---\n# by a role\nusers:\n- name: u\n  user:\n    token: abc.def  # from a file\ncurrent-context: 'x'\n"
    assert kubelet.parse_document(text) == yaml.safe_load(text)


@pytest.mark.parametrize("text", ["a: |\n  x\n", "a: *b\n", "just text\n", "a: 1\n   b: 2\n"])
def test_it_refuses_what_it_cannot_read(kubelet: ModuleType, text: str) -> None:
    """YAML of another kind is an error that shows the line, never a wrong value."""
    with pytest.raises(ValueError, match=r"line|YAML"):
        kubelet.parse_document(text)


@pytest.mark.parametrize(("text", "expected_s"), [("10s", 10), ("1m30s", 90), ("500ms", 0.5), (None, 7), ("", 7)])
def test_durations(kubelet: ModuleType, text: str | None, expected_s: float) -> None:
    """A Go duration is read in seconds; without one the default holds."""
    assert kubelet.duration_s(text, 7) == expected_s


def test_taints(kubelet: ModuleType) -> None:
    """Taints of the flag may have a value or none."""
    assert kubelet.parse_taints("a=b:NoSchedule,c:NoExecute") == [
        {"key": "a", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "value": "", "effect": "NoExecute"},
    ]


def test_a_lost_resource_is_removed(kubelet: ModuleType) -> None:
    """A resource that the host no longer has goes away from the Node, since a patch alone would keep it."""
    assert kubelet.with_removed({"nvidia.com/gpu": "8", "cpu": "2"}, {"cpu": "4"}) == {
        "nvidia.com/gpu": None,
        "cpu": "4",
    }


def test_memory_for_pods_is_less_than_memory(kubelet: ModuleType) -> None:
    """Huge pages and the eviction threshold are not for pods."""
    made = kubelet.allocatable({"memory": "1048576Ki", "hugepages-2Mi": "16Mi", "cpu": "2"})
    assert made == {"memory": f"{1048576 - 16 * 1024 - 100 * 1024}Ki", "hugepages-2Mi": "16Mi", "cpu": "2"}
