"""Where BMCs may be: addresses from DHCP leases (dnsmasq, ISC dhcpd, Kea), from a range, or from a list."""

from __future__ import annotations

import csv
import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MOST_OF_A_RANGE = 65_536
"""A range of more addresses is a mistake of somebody's: at 64 at a time it would take hours."""

MAC = re.compile(r"(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b")
_ISC_LEASE = re.compile(r"lease\s+(\S+)\s*\{(.*?)\}", re.DOTALL)


class SourceError(ValueError):
    """A list of addresses cannot be used; the text says where and why."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """An address to look at, and the MAC address that a DHCP server saw there."""

    address: str
    mac: str | None = None


def from_leases(text: str) -> list[Candidate]:
    """
    Return the addresses of a lease file: dnsmasq's, ISC dhcpd's or Kea's CSV, told by its content.

    Raises:
        SourceError: it is none of the three.
    """
    if text.startswith("address,"):
        return _unique(_kea(text))
    if _ISC_LEASE.search(text):
        return _unique(_isc(text))
    lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("duid ")]
    if all(len(parts) >= 4 and parts[0].isdigit() and _is_address(parts[2]) for parts in lines):  # noqa: PLR2004 - time, MAC, address, name
        return _unique(Candidate(parts[2], normal_mac(parts[1])) for parts in lines)
    raise SourceError("it is no lease file of dnsmasq, ISC dhcpd or Kea (memfile CSV)")


def from_list(text: str) -> list[Candidate]:
    """
    Return the addresses of a list, one a line, with a MAC address behind it where it is known; `#` begins a comment.

    Raises:
        SourceError: a line holds no address.
    """
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        if not _is_address(words[0]):
            raise SourceError(f"line {number}: {words[0]} is no address")
        found.append(Candidate(words[0], normal_mac(words[1]) if len(words) > 1 else None))
    return _unique(found)


def from_range(text: str) -> list[Candidate]:
    """
    Return the addresses of FIRST-LAST or of a subnet, whose first and last are left out.

    Raises:
        SourceError: it is neither, or has too many addresses.
    """
    try:
        if "/" in text:
            network = ipaddress.ip_network(text, strict=False)
            _see_size(network.num_addresses)
            return [Candidate(str(address)) for address in network.hosts()]
        first, _, last = text.partition("-")
        begin, end = ipaddress.ip_address(first.strip()), ipaddress.ip_address(last.strip() or first.strip())
    except ValueError as error:
        raise SourceError(f"{text}: {error}. Write FIRST-LAST or a subnet") from None
    if int(end) < int(begin) or begin.version != end.version:
        raise SourceError(f"{text}: the last address comes before the first")
    _see_size(int(end) - int(begin) + 1)
    return [Candidate(str(begin + step)) for step in range(int(end) - int(begin) + 1)]


def normal_mac(text: str) -> str | None:
    """Return a MAC address as the plan writes it, None where there is none."""
    found = MAC.search(text)
    return found.group().lower().replace("-", ":") if found else None


def _see_size(count: int) -> None:
    if count > MOST_OF_A_RANGE:
        raise SourceError(f"a range of {count} addresses is too large; {MOST_OF_A_RANGE} are the most")


def _kea(text: str) -> Iterator[Candidate]:
    for row in csv.DictReader(text.splitlines()):
        if _is_address(row.get("address") or ""):
            yield Candidate(row["address"], normal_mac(row.get("hwaddr") or ""))


def _isc(text: str) -> Iterator[Candidate]:
    for address, body in _ISC_LEASE.findall(text):
        if _is_address(address) and not re.search(r"binding state free;", body):
            yield Candidate(address, normal_mac(body))


def _unique(found: Iterable[Candidate]) -> list[Candidate]:
    """Return each address once, in order; the last line of a lease file is the newest."""
    by_address = {candidate.address: candidate for candidate in found}
    return sorted(by_address.values(), key=_in_order)


def _in_order(candidate: Candidate) -> tuple[int, int]:
    address = ipaddress.ip_address(candidate.address)
    return address.version, int(address)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
