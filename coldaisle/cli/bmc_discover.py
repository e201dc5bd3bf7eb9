"""The work of `coldaisle bmc discover`: where to look, with progress, and the table of what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.progress import progress
from coldaisle.discovery import (
    Candidate,
    Comparison,
    Found,
    SourceError,
    compare,
    from_leases,
    from_list,
    from_range,
    probe_all,
)
from coldaisle.discovery.sources import normal_mac

if TYPE_CHECKING:
    from coldaisle.plan.model import BmcPlan, SitePlan


def candidates(plan: SitePlan, leases: Sequence[Path], ranges: Sequence[str], lists: Sequence[Path]) -> list[Candidate]:
    """Return the addresses to ask, each once; every source that cannot be used is told at once."""
    found: dict[str, Candidate] = {}
    problems: list[str] = []
    read: list[tuple[str, Callable[[], list[Candidate]]]] = [
        *((str(path), lambda path=path: from_leases(path.read_text())) for path in leases),
        *((str(path), lambda path=path: from_list(path.read_text())) for path in lists),
        *((text, lambda text=text: from_range(text)) for text in ranges),
    ]
    for name, source in read:
        try:
            found |= {it.address: it for it in source() if it.mac or it.address not in found}
        except (OSError, UnicodeDecodeError, SourceError) as error:
            problems.append(f"{name}: {error}")
    for problem in problems:
        typer.echo(problem, err=True)
    if problems:
        raise typer.Exit(ExitCode.INVALID)
    return list(found.values()) if read else [Candidate(bmc.address.partition("/")[0]) for bmc in _bmcs(plan)]


def _bmcs(plan: SitePlan) -> list[BmcPlan]:
    return [node.bmc for node in plan.nodes if node.bmc]


def run(plan: SitePlan, where: Sequence[Candidate], *, at_once: int, timeout_s: float, login: bool) -> Comparison:
    """Ask all addresses and compare with the plan."""
    details = _logged_in(_bmcs(plan)) if login else None
    with progress("asking for BMCs") as say:
        found = probe_all(where, lambda done: say(f"{done} of {len(where)} addresses"), details, at_once, timeout_s)
    return compare(plan, found, (candidate.address for candidate in where))


def print_comparison(result: Comparison, asked: int) -> None:
    """Print every BMC with its answer, and a closing line that counts them."""
    for place in result.places:
        bmc = place.found
        address = bmc.address if bmc else place.planned_address
        kind = " ".join(filter(None, (bmc.vendor, bmc.model, bmc.serial, bmc.mac))) if bmc else ""
        line = f"{place.answer:14} {place.node or '-':16} {address or '':16} {kind}".rstrip()
        typer.echo(f"{line}  ({place.text})" if place.text else line)
        for gap in bmc.gaps if bmc else ():
            typer.echo(f"{'':14} {'':16} {'':16} {gap}")
    counts = ", ".join(f"{count} {name}" for name, count in result.as_json()["counts"].items() if count)
    typer.echo(f"{asked} addresses asked: {counts or 'no BMC'}")


def _logged_in(bmcs: Sequence[BmcPlan]) -> Callable[[Found], Found]:
    """Return what adds the identity that a login shows; a BMC that does not let us in is kept with that as its gap."""
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.bmc_service import Service  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_credentials  # noqa: PLC0415

    username, password = read_credentials(bmcs[0].credentials) if bmcs else ("", "")
    ca_file = str(Path(bmcs[0].ca_file).expanduser()) if bmcs and bmcs[0].ca_file else None

    def details(bmc: Found) -> Found:
        if bmc.redfish is None:
            return replace(bmc, gaps=("serial, model: no Redfish here",))
        try:
            with closing(Service(Access(bmc.address, username, password, ca_file, 10.0))) as service:
                return with_identity(bmc, service)
        except BmcError as error:
            return replace(bmc, gaps=(f"serial, model, mac: {error}",))

    return details


def with_identity(bmc: Found, service: Any) -> Found:  # noqa: ANN401 - a Service of the collection
    """Return a BMC with its system's model and serial and its own port's MAC address; what is missing is a gap."""
    root = service.get("/redfish/v1/")
    system: dict[str, Any] = next(service.members((root.get("Systems") or {}).get("@odata.id")), {})
    macs = list(_macs_at(bmc.address, service, root))
    gaps = [] if macs else [f"mac: no port of the manager has the address {bmc.address}"]
    return replace(
        bmc,
        vendor=system.get("Manufacturer") or bmc.vendor,
        model=system.get("Model") or bmc.model,
        serial=system.get("SerialNumber") or bmc.serial,
        mac=macs[0] if macs else bmc.mac,
        gaps=tuple(gaps),
    )


def _macs_at(address: str, service: Any, root: dict[str, Any]) -> Iterator[str]:  # noqa: ANN401 - as above
    """Yield the MAC addresses of the managers' ports that have an address; many list ports without it, or none."""
    for manager in service.members((root.get("Managers") or {}).get("@odata.id")):
        for port in service.members((manager.get("EthernetInterfaces") or {}).get("@odata.id")):
            has = [it.get("Address") for key in ("IPv4Addresses", "IPv6Addresses") for it in port.get(key) or []]
            mac = normal_mac(str(port.get("MACAddress") or port.get("PermanentMACAddress") or ""))
            if address in has and mac:
                yield mac
