"""What differs between the hosts as they were last seen and the hosts as they are now planned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.drift.equality import same
from coldaisle.words import LIFE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from components.provider.inputs import HostFacts, PlayInputs

OPTIONS = ("timeoutS", "forks", "onDelete", "rollout")
"""Inputs that say how a play runs; a change of them alone touches no host."""

ADD, DELETE, UPDATE = "add", "delete", "update"


def detailed(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, str]:
    """
    Return the kind of change by property path, such as `hosts["r01-n03"]["mtu.rail0"]`.

    Args:
        old: The outputs of the last run or the last read: comparing inputs would never show drift.
        new: The inputs now.

    """
    found = {name: UPDATE for name in ("site", "playbook", "codeDigest", *OPTIONS) if _changed(old, new, name)}
    return found | dict(_host_changes(old.get("hosts", {}), new.get("hosts", {})))


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> bool:
    return name in new and old.get(name) != new[name]


def _host_changes(old: Mapping[str, HostFacts], new: Mapping[str, HostFacts]) -> Iterator[tuple[str, str]]:
    for host in sorted({*old, *new}):
        path = f'hosts["{host}"]'
        if host not in new:
            yield path, DELETE
        elif host not in old:
            yield path, ADD
        else:
            yield from ((f'{path}["{name}"]', kind) for name, kind in fact_changes(old[host], new[host]))


def fact_changes(old: HostFacts, new: HostFacts) -> Iterator[tuple[str, str]]:
    """Yield the facts of one host that the plan owns and that are not as planned, or that it no longer owns."""
    for name, planned in new.items():
        if name not in old:
            yield name, ADD
        elif not same(name, planned, old[name]):
            yield name, UPDATE
    yield from ((name, DELETE) for name in old if name not in new)


def owned(seen: HostFacts, planned: HostFacts) -> HostFacts:
    """Return the facts that the plan (still) owns."""
    return {name: value for name, value in seen.items() if name in planned}


def same_code(old: PlayInputs, new: PlayInputs) -> bool:
    """Say whether the same playbook of the same site would run."""
    return (old.code_digest, old.playbook, old.site) == (new.code_digest, new.playbook, new.site)


def hosts_to_run(old: PlayInputs | None, new: PlayInputs) -> list[str]:
    """
    Return the hosts that the playbook has to run on: all where the code is another, else those that differ.

    Hosts that the plan leaves alone (in maintenance, say) are never among them.
    """
    hosts = {host: facts for host, facts in new.hosts.items() if LIFE not in facts}
    if old is None or not same_code(old, new):
        return sorted(hosts)
    return sorted(host for host, facts in hosts.items() if differs(old.hosts.get(host), facts))


def left_alone(play: PlayInputs) -> dict[str, HostFacts]:
    """Return the hosts that the plan leaves alone, with what stands for their facts."""
    return {host: facts for host, facts in play.hosts.items() if LIFE in facts}


def differs(old: HostFacts | None, new: HostFacts) -> bool:
    """Say whether a host is not as planned; what the plan no longer owns does not count."""
    return old is None or any(kind != DELETE for _, kind in fact_changes(old, new))
