"""The inputs of a Play: what they must look like, and every problem with them at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

HostFacts = dict[str, Any]
Hosts = dict[str, HostFacts]

DEFAULT_TIMEOUT_S = 3600
DEFAULT_FORKS = 25
ON_DELETE = ("undo", "forget")
KNOWN = frozenset({"site", "playbook", "codeDigest", "hosts", "timeoutS", "forks", "onDelete", "rollout"})


@dataclass(frozen=True, slots=True)
class PlayInputs:
    """
    A playbook on some hosts.

    `hosts` maps a host to its planned facts and `varsDigest`. `timeout_s` bounds one run of the playbook on all hosts.
    `on_delete` is `undo` (run the playbook's undo, refuse where it has none) or `forget` (leave the hosts as they are).
    `rollout` is the policy by which changes go through the hosts (`RolloutPlan` as JSON); None changes them at once.
    """

    site: str
    playbook: str
    code_digest: str
    hosts: Hosts = field(default_factory=dict)
    timeout_s: int = DEFAULT_TIMEOUT_S
    forks: int = DEFAULT_FORKS
    on_delete: str = "undo"
    rollout: dict[str, Any] | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> PlayInputs:
        """Take inputs that have been validated, or the outputs of an earlier run."""
        return cls(
            site=properties["site"],
            playbook=properties["playbook"],
            code_digest=properties.get("codeDigest", ""),
            hosts={host: dict(facts) for host, facts in properties.get("hosts", {}).items()},
            timeout_s=properties.get("timeoutS", DEFAULT_TIMEOUT_S),
            forks=properties.get("forks", DEFAULT_FORKS),
            on_delete=properties.get("onDelete", "undo"),
            rollout=properties.get("rollout"),
        )

    def outputs(self, hosts: Hosts) -> dict[str, Any]:
        """Return the outputs of the resource: the inputs, with the hosts as they were seen."""
        found = {
            "site": self.site,
            "playbook": self.playbook,
            "codeDigest": self.code_digest,
            "hosts": hosts,
            "timeoutS": self.timeout_s,
            "forks": self.forks,
            "onDelete": self.on_delete,
        }
        return found | ({"rollout": self.rollout} if self.rollout is not None else {})


class Unknown:
    """A value that the engine will know only when something else has been made."""


Failure = tuple[str, str]
"""A property's path, and what is wrong with it."""


def problems(properties: Mapping[str, Any], playbooks: Path) -> list[Failure]:
    """Return everything that is wrong with the inputs of a Play. Unknown values are left for the update to judge."""
    found = [_text_problem(properties, name) for name in ("site", "playbook", "codeDigest")]
    found += [_playbook_problem(properties.get("playbook"), playbooks)]
    found += [_count_problem(properties, name) for name in ("timeoutS", "forks")]
    if properties.get("onDelete", "undo") not in ON_DELETE:
        found.append(("onDelete", f"must be one of {', '.join(ON_DELETE)}, not {properties['onDelete']!r}"))
    found += [_rollout_problem(properties.get("rollout"))]
    found += [
        (name, f"is not an input of a Play; the inputs are {', '.join(sorted(KNOWN))}") for name in _extra(properties)
    ]
    return [problem for problem in found if problem] + _hosts_problems(properties.get("hosts"))


def _extra(properties: Mapping[str, Any]) -> list[str]:
    return sorted(name for name in properties if name not in KNOWN and not name.startswith("__"))


def _text_problem(properties: Mapping[str, Any], name: str) -> Failure | None:
    value = properties.get(name)
    if value is None:
        return (name, "is missing")
    return (
        (name, "must be a text that is not empty")
        if isinstance(value, int | float | list | dict) or value == ""
        else None
    )


def _playbook_problem(playbook: object, playbooks: Path) -> Failure | None:
    if not isinstance(playbook, str) or not playbook or (playbooks / f"{playbook}.yml").is_file():
        return None
    known = sorted(path.stem for path in playbooks.glob("*.yml"))
    return ("playbook", f"there is no {playbook}.yml in {playbooks}; there are {', '.join(known) or 'none'}")


def _count_problem(properties: Mapping[str, Any], name: str) -> Failure | None:
    value = properties.get(name, 1)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return None
    return (name, f"must be a whole number from 1 on, not {value!r}")


def _rollout_problem(rollout: object) -> Failure | None:
    if rollout is None or isinstance(rollout, Unknown):
        return None
    from coldaisle.waves.policies import policy_of  # noqa: PLC0415 - pydantic, and most plays have no policy

    try:
        policy_of(rollout if isinstance(rollout, Mapping) else {})
    except ValueError as error:
        return ("rollout", f"is no policy: {error}")
    return None


def _hosts_problems(hosts: object) -> list[Failure]:
    if hosts is None:
        return [("hosts", "is missing")]
    if not isinstance(hosts, Mapping):
        return [("hosts", "must map host names to their facts")]
    if not hosts:
        return [("hosts", "is empty: a play without hosts does nothing; leave the resource out")]
    return [problem for host, facts in hosts.items() for problem in _host_problems(host, facts)]


def _host_problems(host: str, facts: object) -> list[Failure]:
    if not isinstance(facts, Mapping):
        return [(f'hosts["{host}"]', "must map fact names to planned values")]
    flat = (str, int, float, bool, Unknown)
    return [
        (f'hosts["{host}"]["{name}"]', "must be a text, a number or a truth value: facts are flat")
        for name, value in facts.items()
        if not isinstance(value, flat)
    ]
