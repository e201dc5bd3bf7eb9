"""
The Go tools: what each is for, its pin, and what its build costs.

The pins themselves are the go.mod and go.sum files under tools/go. A figure here is one of: a version that the
binary must report, or CPU seconds measured from an empty build cache on two cores, in the order below (a later tool
gains from the packages that an earlier one compiled).
"""

from __future__ import annotations

import hashlib
import platform
from dataclasses import dataclass
from functools import cache

from coldaisle.toolchain.places import project_root

GO_TOOLCHAIN = "go1.27.3"
"""The Go release that builds every tool; Go fetches it by itself through GOTOOLCHAIN."""

GO_FLOOR = (1, 21)
"""The first Go release that can fetch another one."""

KUBERNETES = "1.37.2"
KUBELET_API = "0.37.2"
PULUMI = "3.274.1"
PULUMI_FLOOR = "3.272.0"
PULUMI_KUBERNETES = "4.25.0"
KEDA = "2.21.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One executable: where its source is pinned, and when one that is already there will do."""

    name: str
    """Name of the executable."""
    module: str
    """Folder under tools/go that holds its go.mod."""
    package: str
    """Import path that is built."""
    version: str
    """Version that the pin gives."""
    purpose: str
    """What cannot be done without it."""
    build_cpu_s: float
    """CPU seconds of its build, measured from an empty cache in the order of TOOLS on two cores."""
    stamp: str = ""
    """Linker flags that write the version into the binary."""
    floor: str | None = None
    """Oldest version that will do when one is found on the machine; None: only our own build is used."""
    version_command: tuple[str, ...] = ("--version",)
    """Arguments that make the binary print its version."""


_K8S_STAMP = " ".join(
    f"-X {package}.{variable}={value}"
    for package, variable, value in (
        ("k8s.io/component-base/version", "gitVersion", f"v{KUBERNETES}"),
        ("k8s.io/component-base/version", "gitMajor", "1"),
        ("k8s.io/component-base/version", "gitMinor", "37"),
        ("k8s.io/client-go/pkg/version", "gitVersion", f"v{KUBERNETES}"),
    )
)


def _kubernetes(name: str, purpose: str, build_cpu_s: float, floor: str, *version_command: str) -> Tool:
    return Tool(
        name=name,
        module="kubernetes",
        package=f"k8s.io/kubernetes/cmd/{name}",
        version=KUBERNETES,
        purpose=purpose,
        build_cpu_s=build_cpu_s,
        stamp=_K8S_STAMP,
        floor=floor,
        version_command=version_command or ("--version",),
    )


def _keda(part: str, purpose: str, build_cpu_s: float) -> Tool:
    return Tool(
        name=f"keda-{part}",
        module="keda",
        package=f"github.com/kedacore/keda/v2/cmd/{part}",
        version=KEDA,
        purpose=purpose,
        build_cpu_s=build_cpu_s,
    )


# In the order of need. The controllers may not be newer than the API server, hence one floor for the three.
TOOLS: tuple[Tool, ...] = (
    Tool(
        name="pulumi",
        module="pulumi",
        package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
        version=PULUMI,
        purpose="previews and updates of any stack",
        build_cpu_s=620,
        stamp=f"-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={PULUMI}",
        floor=PULUMI_FLOOR,
        version_command=("version",),
    ),
    _kubernetes("kube-apiserver", "simulated cluster", 615, "1.37.0"),
    _kubernetes("kube-controller-manager", "simulated cluster", 243, "1.37.0"),
    _kubernetes("kube-scheduler", "simulated cluster", 18, "1.37.0"),
    _kubernetes("kubectl", "look at the simulated cluster by hand", 50, "1.36.0", "version", "--client"),
    Tool(
        name="etcd",
        module="etcd",
        package="coldaisle/tools/etcd",
        version="3.6.16",
        purpose="simulated cluster",
        build_cpu_s=65,
        floor="3.5.0",
    ),
    Tool(
        name="kwok",
        module="kwok",
        package="sigs.k8s.io/kwok/cmd/kwok",
        version="0.8.0",
        purpose="pods on the simulated cluster's nodes",
        build_cpu_s=186,
        floor="0.7.0",
    ),
    Tool(
        name="pulumi-resource-kubernetes",
        module="pulumi-kubernetes",
        package="coldaisle/tools/pulumi-kubernetes",
        version=PULUMI_KUBERNETES,
        purpose="objects that a stack puts into a cluster",
        build_cpu_s=1186,
        stamp=f"-X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={PULUMI_KUBERNETES}",
    ),
    Tool(
        name="kubelet",
        module="kubelet",
        package="k8s.io/kubernetes/cmd/kubelet",
        version=KUBERNETES,
        purpose="nodes of the simulated site that run pods for real",
        build_cpu_s=60,
        stamp=_K8S_STAMP,
    ),
    Tool(
        name="device-plugin",
        module="device-plugin",
        package="coldaisle/tools/device-plugin",
        version=KUBELET_API,
        purpose="simulated GPUs of nodes that run pods for real",
        build_cpu_s=2,
    ),
    _keda("operator", "scaling of model endpoints on the simulated cluster", 1000),
    _keda("adapter", "scaling of model endpoints on the simulated cluster", 200),
)

LANGUAGE_HOST = "pulumi-language-python"
"""The official Python language host; ours in tools/langhost stands in where it is not on PATH."""


def tool(name: str) -> Tool:
    """Return the tool of this name; KeyError when there is none."""
    return {each.name: each for each in TOOLS}[name]


@cache
def digest(wanted: Tool) -> str:
    """Return the digest of all that decides what the binary is: pins, main package, flags, Go release, platform."""
    folder = project_root() / "tools" / "go" / wanted.module
    parts = [GO_TOOLCHAIN, platform.system(), platform.machine(), wanted.package, wanted.stamp]
    sources = [path for path in sorted(folder.iterdir()) if path.suffix in {".go", ".mod", ".sum"}]
    sha = hashlib.sha256("\0".join(parts).encode())
    for path in sources:
        sha.update(path.name.encode() + b"\0" + path.read_bytes())
    return sha.hexdigest()


def key() -> str:
    """Return the name of the cache folder: a digest over all tools' digests."""
    return hashlib.sha256("".join(digest(each) for each in TOOLS).encode()).hexdigest()[:16]
