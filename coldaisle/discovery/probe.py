"""Asks addresses whether a BMC is there: Redfish's service root and IPMI's capabilities, both without a login."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from typing import Any

import httpx

from coldaisle.discovery import rmcp
from coldaisle.discovery.sources import Candidate, normal_mac

ROOT = "/redfish/v1/"
HTTPS = 443
AT_ONCE = 64
TIMEOUT_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A BMC that answers. What it does not tell without a login is None, and `gaps` says what is missing and why."""

    address: str
    redfish: str | None = None
    ipmi: str | None = None
    vendor: str | None = None
    model: str | None = None
    serial: str | None = None
    mac: str | None = None
    gaps: tuple[str, ...] = field(default=())


Details = Callable[[Found], Found]
"""What a login adds to a BMC that was found."""


def probe_all(
    candidates: Sequence[Candidate],
    progress: Callable[[int], None],
    details: Details | None = None,
    at_once: int = AT_ONCE,
    timeout_s: float = TIMEOUT_S,
) -> list[Found]:
    """Return the BMCs among the candidates, in their order; `progress` is told how many have been asked."""
    found: dict[str, Found] = {}
    with ThreadPoolExecutor(at_once) as pool:
        asked = {pool.submit(_probe, candidate, timeout_s, details): candidate for candidate in candidates}
        for done, future in enumerate(as_completed(asked), start=1):
            bmc = future.result()
            if bmc is not None:
                found[bmc.address] = bmc
            progress(done)
    return [found[candidate.address] for candidate in candidates if candidate.address in found]


def _probe(candidate: Candidate, timeout_s: float, details: Details | None) -> Found | None:
    root = service_root(candidate.address, timeout_s)
    answer = rmcp.ask(candidate.address, timeout_s)
    if root is None and answer is None:
        return None
    told = from_root(candidate.address, root or {}, candidate.mac)
    ipmi = (answer.version or "rmcp") if answer else None
    bmc = replace(told, ipmi=ipmi, vendor=told.vendor or (answer.vendor if answer else None))
    bmc = details(bmc) if details else bmc
    return _with_gaps(bmc)


def service_root(address: str, timeout_s: float) -> dict[str, Any] | None:
    """
    Return Redfish's service root, None where there is none.

    The certificate is not looked at: nothing secret is sent, and a BMC that was just unpacked has its own.
    """
    host = f"[{address}]" if ":" in address else address
    try:
        answer = httpx.get(f"https://{host}:{HTTPS}{ROOT}", verify=False, timeout=timeout_s, follow_redirects=True)  # noqa: S501 - see above
        body = answer.json() if answer.status_code == httpx.codes.OK else None
    except (httpx.HTTPError, ValueError, OSError):
        return None
    return body if isinstance(body, dict) and "RedfishVersion" in body else None


def from_root(address: str, root: dict[str, Any], lease_mac: str | None) -> Found:
    """Return what a service root tells: the standard's keys first, then what Dell and HPE add of their own."""
    oem = root.get("Oem") or {}
    dell, hpe = oem.get("Dell") or {}, oem.get("Hpe") or oem.get("Hp") or {}
    managers = hpe.get("Manager") or [{}]
    vendor = root.get("Vendor") or next((name for name in ("Dell", "Hpe", "Supermicro", "Ami") if name in oem), None)
    return Found(
        address=address,
        redfish=root.get("RedfishVersion"),
        vendor=vendor,
        model=root.get("Product") or hpe.get("Moniker", {}).get("PRODGEN") or managers[0].get("ManagerType"),
        serial=dell.get("ServiceTag") or None,
        mac=normal_mac(str(dell.get("ManagerMACAddress") or "")) or lease_mac,
    )


def _with_gaps(bmc: Found) -> Found:
    """Say what is missing: a BMC of which something is not known is kept, and so is that."""
    told = " ".join(bmc.gaps)
    missing = [name for name in ("vendor", "model", "serial", "mac") if getattr(bmc, name) is None and name not in told]
    gaps = (*bmc.gaps, *(f"{name}: not told without a login" for name in missing))
    return replace(bmc, gaps=gaps)
