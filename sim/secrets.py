"""Keys and passwords of a simulated site: made at random at its first start, readable by their owner only."""

from __future__ import annotations

import secrets as random_secrets

import yaml

from coldaisle.plan.model import SitePlan
from sim.cluster.pki import Subject, ensure_authority, ensure_pair
from sim.shell import find, run
from sim.state import State

BMC_USER = "admin"
PASSWORD_CHARS = 16
"""IPMI 2.0 takes up to 20 bytes; many BMCs stop at 16."""


def ensure_secrets(plan: SitePlan, state: State) -> None:
    """Make what does not exist yet: keys of SSH and of evidence, the BMCs' password, authority and certificates."""
    if not state.ssh_key.exists():
        comment = f"coldaisle {state.site}"
        run([find("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", state.ssh_key])
    if not state.evidence_key.exists():
        comment = f"coldaisle {state.site} evidence"
        make = [find("ssh-keygen", "openssh-client"), "-q", "-t", "ed25519", "-N", "", "-C", comment]
        run([*make, "-f", state.evidence_key])
    if not state.bmc_credentials.exists():
        password = random_secrets.token_urlsafe(PASSWORD_CHARS)[:PASSWORD_CHARS]
        state.bmc_credentials.touch(mode=0o600)
        state.bmc_credentials.write_text(yaml.safe_dump({"username": BMC_USER, "password": password}))
    authority = ensure_authority(state.pki / "ca.crt", state.pki / "ca.key", f"coldaisle {state.site}")
    for node in plan.nodes:
        if node.bmc is not None:
            folder, address = state.pki / "bmc", node.bmc.address.split("/")[0]
            subject = Subject(common_name=f"{node.name}-bmc", names=(f"{node.name}-bmc",), addresses=(address,))
            ensure_pair(authority, folder / f"{node.name}.crt", folder / f"{node.name}.key", subject)
