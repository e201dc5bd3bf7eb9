"""
The file of live sources: who is asked, and where the secrets for it are kept.

    redfish:
      - {addresses: [10.0.0.11-10.0.0.90], credentials: file:~/secrets/bmc.yaml, ca_file: ~/pki/bmc-ca.crt}
    ssh:
      - {hosts: [10.0.1.11-10.0.1.90], switches: [10.0.2.11], user: ops, key_file: ~/.ssh/id_ed25519}
    kubernetes:
      - {kubeconfig: "file:~/.kube/config"}
    netbox:
      - {url: "https://netbox.example.net", token: "env:NETBOX_TOKEN", site: ord1}

Secrets are named and never written here, so the file can be kept with the site.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from coldaisle.spec.problem import Problem

AT_ONCE = 32
"""Devices that are asked at the same time."""


def _reference(text: str) -> str:
    kind, mark, where = text.partition(":")
    if kind not in {"file", "env"} or not mark or not where:
        raise ValueError("write file:PATH or env:NAME; secrets are named here, not written")
    return text


def _web(text: str) -> str:
    if not text.startswith(("https://", "http://")):
        raise ValueError("write a whole address, such as https://netbox.example.net")
    return text.rstrip("/")


Reference = Annotated[str, AfterValidator(_reference)]
"""Where a secret is kept."""

Addresses = Annotated[tuple[str, ...], Field(min_length=1)]
"""Addresses, FIRST-LAST or subnets."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RedfishSource(_Strict):
    """BMCs that share their credentials."""

    addresses: Addresses
    credentials: Reference
    ca_file: str | None = None
    at_once: int = Field(default=AT_ONCE, ge=1, le=512)
    timeout_s: float = Field(default=20.0, gt=0)


class SshSource(_Strict):
    """
    Hosts and switches that one key opens.

    A host key that `known_hosts` does not have is refused: who answers there is not known to be the host.
    """

    hosts: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()
    user: str = "root"
    key_file: str | None = None
    known_hosts: str = "~/.ssh/known_hosts"
    port: int = Field(default=22, ge=1, le=65535)
    at_once: int = Field(default=AT_ONCE, ge=1, le=512)
    timeout_s: float = Field(default=30.0, gt=0)


class KubernetesSource(_Strict):
    """A cluster, by its kubeconfig."""

    kubeconfig: Reference


class NetBoxSource(_Strict):
    """A NetBox; `site` is the slug of the one site that is adopted, all that it has where it is left out."""

    url: Annotated[str, AfterValidator(_web)]
    token: Reference
    site: str | None = None
    ca_file: str | None = None
    page: int = Field(default=500, ge=1, le=1000)
    timeout_s: float = Field(default=30.0, gt=0)


class Sources(_Strict):
    """All sources of a file."""

    redfish: tuple[RedfishSource, ...] = ()
    ssh: tuple[SshSource, ...] = ()
    kubernetes: tuple[KubernetesSource, ...] = ()
    netbox: tuple[NetBoxSource, ...] = ()

    def __bool__(self) -> bool:
        """Tell whether anything is asked."""
        return bool(self.redfish or self.ssh or self.kubernetes or self.netbox)


def parse(value: object, file: str) -> tuple[Sources, tuple[Problem, ...]]:
    """Return the sources of a file's content, none of them and every problem where it cannot be used."""
    if not isinstance(value, dict):
        return Sources(), (_problem(file, "", "the file names no sources", "see docs/adopt.md for its form"),)
    try:
        return Sources.model_validate(value), ()
    except ValidationError as error:
        told = error.errors(include_url=False, include_input=False)
        return Sources(), tuple(_problem(file, _path(each["loc"]), each["msg"]) for each in told)


def _path(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc).lstrip(".")


def _problem(file: str, path: str, what: str, fix: str = "see docs/adopt.md for what it takes") -> Problem:
    return Problem(check="adopt-unreadable", where=file, path=path, what=what, have="", fix=fix)
