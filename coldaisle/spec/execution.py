"""Machines that run playbooks for the halls near them, beside the runner of the site."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from coldaisle.spec.base import HallRef, Name, SpecModel, mistake

HostKey = Annotated[
    str, Field(pattern=r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)) [A-Za-z0-9+/]{40,}={0,2}$")
]
"""A public host key as `ssh-keyscan` prints it, without the name: its type and its text."""


class ExecutionNodeSpec(SpecModel):
    """One execution node: how it is logged in to, its host key, and the halls whose hosts it works on."""

    name: Name
    address: str = Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$")
    port: int = Field(default=22, ge=1, le=65535)
    user: str = Field(pattern=r"^[a-z_][a-z0-9_-]*$")
    host_key: HostKey
    """Nothing is sent to a machine that shows another one."""
    key_file: str | None = None
    """SSH private key that logs in; left out, the administrators' (`site.admin_key_file`)."""
    python: str = "python3"
    """Python on the node that has ansible-runner and ansible-core in the runner's versions."""
    halls: list[HallRef] = Field(min_length=1)

    @field_validator("halls")
    @classmethod
    def _halls_differ(cls, value: list[str]) -> list[str]:
        for name in sorted({name for name in value if value.count(name) > 1}):
            raise mistake("duplicate-name", f"hall {name} is named twice", "name it once")
        return value


class ExecutionSpec(SpecModel):
    """Which machines run playbooks for which halls; hosts of other halls are the runner's own."""

    nodes: list[ExecutionNodeSpec] = Field(min_length=1)
    when_lost: Literal["runner", "stop"] = "runner"
    """Who takes a hall of which every node is lost: the runner itself, or nobody until the next run."""

    @field_validator("nodes")
    @classmethod
    def _nodes_differ(cls, value: list[ExecutionNodeSpec]) -> list[ExecutionNodeSpec]:
        names = [node.name for node in value]
        for name in sorted({name for name in names if names.count(name) > 1}):
            raise mistake("duplicate-name", f"two execution nodes are named {name}", "give each its own name")
        return value
