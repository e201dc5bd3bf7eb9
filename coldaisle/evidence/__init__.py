"""Signed statements about a site: what was found or done, by whom, when, and under which plan."""

from coldaisle.evidence.dsse import sign, verify
from coldaisle.evidence.errors import EvidenceError
from coldaisle.evidence.keys import Signer, key_id, load_public_key, load_signer
from coldaisle.evidence.place import EvidencePlace, evidence_place, open_store
from coldaisle.evidence.statement import Statement
from coldaisle.evidence.store import Kept, Store

__all__ = [
    "EvidenceError", "EvidencePlace", "Kept", "Signer", "Statement", "Store", "evidence_place", "key_id",
    "load_public_key", "load_signer", "open_store", "sign", "verify",
]  # fmt: skip
