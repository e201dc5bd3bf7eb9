"""The site's own section: its name, its domain, its clock, and where its secrets are read from."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from coldaisle.spec.base import Name, SpecModel

SecretRef = Annotated[str, Field(pattern=r"^(file:.+|env:[A-Z][A-Z0-9_]*)$")]
"""Where a secret is read from: `file:PATH` or `env:PREFIX`. A secret itself never stands in a spec."""


class EvidenceSpec(SpecModel):
    """Keys and folder of what is signed about a site: acceptance, wipes, changes of a node's life."""

    signing_key_file: str | None = None
    """Ed25519 private key that signs evidence; its public half is beside it, with the ending `.pub`."""
    trusted_key_files: list[str] = Field(default_factory=list)
    """Public keys that are believed too: those of earlier signing keys, and of other runners."""
    folder: str | None = None
    """Where evidence is kept; left out, the folder `evidence` beside the spec."""


class SiteSection(SpecModel):
    """Names and clock of a site, its administrators, and the credentials of its BMCs."""

    name: Name
    domain: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$")
    timezone: str = "Etc/UTC"
    ntp_servers: list[str] = Field(default_factory=list)
    admin_user: str = Field(default="ops", pattern=r"^[a-z_][a-z0-9_-]*$")
    admin_key_file: str
    """SSH private key of the administrators; its public half is beside it, with the ending `.pub`."""
    bmc_credentials: SecretRef
    bmc_default_credentials: SecretRef | None = None
    """What BMCs come with: from it the `bmc` play rotates to `bmc_credentials`; left out, nothing is rotated."""
    bmc_event_destination: Annotated[str, Field(pattern=r"^https?://[^\s/]+/\S*$")] | None = None
    """Where BMCs that speak Redfish send their events; left out, no subscription is made or compared."""
    bmc_ca_file: str | None = None
    """Authority that signed the BMCs' certificates; null accepts none but those that the system trusts."""
    evidence: EvidenceSpec | None = None
    """Who signs what is found and done; left out, nothing can be accepted with evidence."""
    prometheus_url: Annotated[str, Field(pattern=r"^https?://[^\s/]+(/\S*)?$")] | None = None
    """Where the deploy host asks Prometheus while changes go through; left out, `cluster.prometheus_url`."""
    zone: str | None = None
    """Topology zone of the nodes; left out, the site's name."""
    region: str | None = None
