"""
Envelopes: a statement with its signature, in the form of the Dead Simple Signing Envelope.

Source of the form: secure-systems-lab/dsse, protocol.md (what is signed) and envelope.md (the JSON). What is signed is
the pre-authentication encoding of type and payload, so that nothing has to be parsed before it is believed. It is one
line; the Ed25519 below it is the library's.

An envelope is accepted in our own bytes only. DSSE leaves white space, the order of keys and `keyid` unsigned; here one
changed byte anywhere is a refusal.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from coldaisle.evidence.errors import EvidenceError
from coldaisle.evidence.keys import Signer
from coldaisle.evidence.statement import Statement, canonical, parse_statement

PAYLOAD_TYPE = "application/vnd.in-toto+json"

Trusted = Mapping[str, Ed25519PublicKey]
"""Public keys that a site believes, by their `key_id`."""


def pae(payload_type: str, payload: bytes) -> bytes:
    """Return what a signature covers: `DSSEv1 LEN(type) type LEN(payload) payload`, lengths in bytes, in decimal."""
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def sign(statement: Statement, signer: Signer) -> bytes:
    """Return a statement's envelope as JSON, ended by a newline. Ed25519 makes the same bytes every time."""
    payload = statement.payload()
    return _envelope(payload, signer.key_id, signer.key.sign(pae(PAYLOAD_TYPE, payload)))


def _envelope(payload: bytes, name: str, signature: bytes) -> bytes:
    signatures = [{"keyid": name, "sig": base64.b64encode(signature).decode()}]
    whole = {"payload": base64.b64encode(payload).decode(), "payloadType": PAYLOAD_TYPE, "signatures": signatures}
    return canonical(whole) + b"\n"


def verify(envelope: bytes, trusted: Trusted, where: str = "envelope") -> Statement:
    """
    Return the statement of an envelope.

    Raises:
        EvidenceError: it is not whole, was signed by a key that is not trusted, or was changed.
    """
    payload, name, signature = _parts(envelope, where)
    if name not in trusted:
        have = f"signed by {name}; trusted: {', '.join(sorted(trusted)) or 'none'}"
        fix = "add its public key to site.evidence.trusted_key_files, if it was the site's own key once"
        raise EvidenceError(where, "the key that signed it is not trusted", have, fix)
    changed = "do not rely on it: repeat what it tells of, and find out who can write there"
    try:
        trusted[name].verify(signature, pae(PAYLOAD_TYPE, payload))
    except InvalidSignature:
        raise EvidenceError(where, "the signature does not fit: it was changed", name, changed) from None
    if envelope != _envelope(payload, name, signature):  # of another type, too
        raise EvidenceError(where, "bytes outside of the payload were changed", name, changed)
    return parse_statement(payload, where)


def _parts(envelope: bytes, where: str) -> tuple[bytes, str, bytes]:
    """Return payload, key's name and signature of an envelope, whether or not they fit each other."""
    try:
        data = json.loads(envelope)
        (only,) = data["signatures"]
        return base64.b64decode(data["payload"], validate=True), str(only["keyid"]), base64.b64decode(only["sig"])
    except (ValueError, KeyError, TypeError, binascii.Error) as error:
        fix = "do not rely on it: it was cut short or changed, or is no evidence"
        raise EvidenceError(where, "it is no envelope of one signature", str(error), fix) from None
