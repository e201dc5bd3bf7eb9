"""
A fabric as an IBDM topology file, which UFM compares its fabric with and which its Cable Validation Tool reads.

Source: ibdm-topo-file(1), and the example of the tool's page "Topo File" (release 1.5), which has width and speed in
the arrow. A host's type is not documented: in the example hosts with adapters up to mlx5_2 are `HCA_mlx5_3`, so that
it is taken to be the number of adapters.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from coldaisle.plan import plan_hash
from coldaisle.plan.breakout import role_model
from coldaisle.plan.model import CablePlan, End, FabricPlan, SitePlan
from coldaisle.spec import SiteSpec

LANES = 4
"""Lanes of a port of an InfiniBand fabric that is not broken out (InfiniBand specification: 4x)."""


class _Names:
    """How the file names a fabric's systems and ports."""

    def __init__(self, spec: SiteSpec, fabric: FabricPlan) -> None:
        """
        Look everything up once.

        Raises:
            LookupError: the catalog does not say how a switch model is called there.
        """
        self.types: dict[str, str] = {}
        self._numbers: dict[str, dict[str, int]] = {}
        for role in dict.fromkeys(switch.role for switch in fabric.switches):
            model = role_model(spec.catalog, spec.fabrics[fabric.name], role)
            numbers = {port: at for at, port in enumerate(model.port_names(), 1)}
            for switch in (switch for switch in fabric.switches if switch.role == role):
                if model.ibdm_type is None:
                    raise LookupError(f"the catalog has no ibdm_type of {switch.model}, as UFM names it")
                self.types[switch.name], self._numbers[switch.name] = model.ibdm_type, numbers
        self._hosts: defaultdict[str, list[str]] = defaultdict(list)
        for end in (end for cable in fabric.cables for end in (cable.a, cable.b) if end.device not in self.types):
            self._hosts[end.device].append(end.port)

    def port(self, end: End) -> str:
        """Return a switch's port by its number, or a host's as the first port of its adapter."""
        if end.device in self._numbers:
            return f"P{self._numbers[end.device][end.port]}"
        return f"mlx5_{self._hosts[end.device].index(end.port)}/P1"

    def system(self, end: End) -> str:
        """Return a device's type and its name."""
        kind = self.types.get(end.device) or f"HCA_mlx5_{len(self._hosts[end.device])}"
        return f"{kind} {end.device}"


def ufm_files(spec: SiteSpec, plan: SitePlan, fabric: FabricPlan) -> Iterator[tuple[str, str]]:
    """
    Yield the topology file of an InfiniBand fabric: a part a switch, a line a cable.

    Raises:
        LookupError: the fabric is not InfiniBand, or the catalog does not say how UFM calls a model.
    """
    if fabric.kind != "infiniband":
        raise LookupError(f"fabric {fabric.name} is {fabric.kind}: UFM manages InfiniBand")
    names = _Names(spec, fabric)
    origin = f"# site {plan.name}, fabric {fabric.name}, plan {plan_hash(plan)}"
    yield f"{fabric.name}.topo", "\n\n".join([origin, *_systems(fabric, names), ""])


def _systems(fabric: FabricPlan, names: _Names) -> Iterator[str]:
    lines: defaultdict[str, list[tuple[int, str]]] = defaultdict(list)
    for cable in fabric.cables:
        for near, far in ((cable.a, cable.b), (cable.b, cable.a)):
            if near.device in names.types:
                port = names.port(near)
                lines[near.device].append(
                    (int(port[1:]), f"   {port} {_arrow(cable)} {names.system(far)} {names.port(far)}")
                )
    for switch in fabric.switches:
        head = f"{names.types[switch.name]} {switch.name}"
        yield "\n".join([head, *(line for _, line in sorted(lines[switch.name]))])


def _arrow(cable: CablePlan) -> str:
    return f"-{LANES}x-{cable.rate_gbps / LANES:g}G->"
