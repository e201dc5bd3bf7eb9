"""
A playbook applied to hosts, as a resource: the program's side of `coldaisle:ansible:Play`.

A play is the one custom resource of bring-up. It holds a rack's or a pool's hosts in one map, since a stack has to stay
under 300 resources; a preview still names each host and fact that changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pulumi

DEFAULT_TIMEOUT_S = 3600
DEFAULT_FORKS = 25

HostArgs = Mapping[str, str | int | float | bool]
"""What a host must look like: its planned facts, and `varsDigest`, the digest of its variables."""


class Play(pulumi.CustomResource):
    """A playbook that has been run on hosts, and the facts of the hosts as they were last seen."""

    site: pulumi.Output[str]
    playbook: pulumi.Output[str]
    code_digest: pulumi.Output[str]
    hosts: pulumi.Output[Mapping[str, HostArgs]]

    def __init__(  # noqa: PLR0913 - a resource's inputs
        self,
        name: str,
        *,
        site: pulumi.Input[str],
        playbook: pulumi.Input[str],
        code_digest: pulumi.Input[str],
        hosts: pulumi.Input[Mapping[str, HostArgs]],
        timeout_s: int = DEFAULT_TIMEOUT_S,
        forks: int = DEFAULT_FORKS,
        on_delete: str = "undo",
        rollout: Mapping[str, Any] | None = None,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        """
        Declare the play.

        Args:
            name: Name of the resource.
            site: Folder of the site, absolute or relative to the folder of Pulumi.yaml.
            playbook: Name of a playbook, without `.yml`.
            code_digest: Digest of the playbook with its roles (`coldaisle.render.ansible.code_digest`); another one
                runs the playbook on every host.
            hosts: By host, its planned facts and `varsDigest`. No secrets: they would stand in the state.
            timeout_s: Longest time of one run on all hosts, in seconds.
            forks: Hosts that are worked on at once.
            on_delete: `undo` runs the playbook's undo and refuses where it has none; `forget` leaves the hosts alone.
            rollout: The policy by which changes go through hosts that were set up before
                (`coldaisle.waves.policies.policy_json`); without one, all of them change at once.
            opts: Options of the resource.

        """
        inputs: dict[str, Any] = {
            "site": site,
            "playbook": playbook,
            "codeDigest": code_digest,
            "hosts": hosts,
            "timeoutS": timeout_s,
            "forks": forks,
            "onDelete": on_delete,
        }
        if rollout is not None:
            inputs["rollout"] = rollout
        super().__init__("coldaisle:ansible:Play", name, inputs, opts)
