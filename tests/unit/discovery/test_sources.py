"""Addresses to look at: lease files of three servers, lists, and ranges."""

from __future__ import annotations

import pytest

from coldaisle.discovery import Candidate, SourceError, from_leases, from_list, from_range

DNSMASQ = """\
1790000000 52:54:00:01:01:00 198.51.100.9 idrac-ABC *
1790000001 A0-36-9F-00-00-01 198.51.100.10 * 01:a0:36:9f:00:00:01
duid 00:01:00:01:2a
1790000002 52:54:00:01:01:07 198.51.100.9 idrac-ABC *
"""
ISC = """\
lease 198.51.100.9 {
  starts 4 2026/05/01 10:00:00;
  binding state active;
  hardware ethernet 52:54:00:01:01:00;
}
lease 198.51.100.8 {
  binding state free;
  hardware ethernet 52:54:00:01:01:08;
}
"""
KEA = """\
address,hwaddr,client_id,valid_lifetime,expire
198.51.100.9,52:54:00:01:01:00,,3600,1790000000
"""


def test_lease_files_are_told_by_their_content() -> None:
    """dnsmasq, dhcpd and Kea give the same; the last line of an address is the newest, free leases are nobody's."""
    newest = [Candidate("198.51.100.9", "52:54:00:01:01:07"), Candidate("198.51.100.10", "a0:36:9f:00:00:01")]
    assert from_leases(DNSMASQ) == newest
    assert from_leases(ISC) == from_leases(KEA) == [Candidate("198.51.100.9", "52:54:00:01:01:00")]
    assert from_leases("") == []
    with pytest.raises(SourceError, match="no lease file"):
        from_leases("hello\n")


def test_a_list_may_have_comments_and_macs() -> None:
    """A line that holds no address is told with its number."""
    text = "# BMCs of r01\n198.51.100.9 52:54:00:01:01:00\n\n2001:db8::7 # no MAC yet\n"
    assert from_list(text) == [Candidate("198.51.100.9", "52:54:00:01:01:00"), Candidate("2001:db8::7")]
    with pytest.raises(SourceError, match="line 2: r01-n01 is no address"):
        from_list("198.51.100.9\nr01-n01\n")


@pytest.mark.parametrize(
    ("text", "count"), [("198.51.100.7", 1), ("198.51.100.7-198.51.101.6", 256), ("198.51.100.0/24", 254)]
)
def test_a_range_has_both_its_ends(text: str, count: int) -> None:
    """A subnet's first and last are no hosts."""
    assert len(from_range(text)) == count


@pytest.mark.parametrize("text", ["198.51.100.9-198.51.100.8", "10.0.0.0/8", "somewhere", "198.51.100.9-2001:db8::1"])
def test_a_range_that_is_none_is_refused(text: str) -> None:
    """The text is in the message."""
    with pytest.raises(SourceError):
        from_range(text)
