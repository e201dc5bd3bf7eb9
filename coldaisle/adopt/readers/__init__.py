"""
One reader a source: texts of its files in, facts out.

Readers are pure and know nothing of a spec. All take files by their path in what was given, so that a folder and a
single file are read alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from coldaisle.adopt.facts import Reading, Source
from coldaisle.adopt.readers import deepops, kayobe, kubernetes, maas, netbox, redfish, ssh

Reader = Callable[[Mapping[str, str]], Reading]

READERS: Mapping[Source, Reader] = {
    "netbox": netbox.read,
    "maas": maas.read,
    "kubernetes": kubernetes.read,
    "redfish": redfish.read,
    "ssh": ssh.read,
    "kayobe": kayobe.read,
    "deepops": deepops.read,
}
"""Every source but LLDP, whose forms `coldaisle.verify` reads; the command line hands over what it saw."""
