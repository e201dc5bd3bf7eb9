"""
Keys that sign evidence: Ed25519, as `ssh-keygen -t ed25519` or OpenSSL write them.

A private key is read from its file when something is signed and goes nowhere else: an error names the file and never
what is in it.
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from coldaisle.evidence.errors import EvidenceError

MAKE_ONE = "make one with ssh-keygen -t ed25519 -N '' -f FILE, readable by its owner alone"


@dataclass(frozen=True, slots=True, repr=False)
class Signer:
    """A private key and the name that its signatures carry. Its text form shows neither."""

    key: Ed25519PrivateKey
    key_id: str


def key_id(key: Ed25519PublicKey) -> str:
    """Return a public key's fingerprint, as `ssh-keygen -l` prints it: `SHA256:` and base64 without padding."""
    line = key.public_bytes(serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH)
    digest = hashlib.sha256(base64.b64decode(line.split()[1])).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def load_signer(path: Path) -> Signer:
    """
    Return the signing key of a file: OpenSSH's own form, or PEM (PKCS #8).

    Raises:
        EvidenceError: there is none, others may read it, it has a passphrase, or it is no Ed25519 key.
    """
    text = _read(path, "the signing key cannot be read", MAKE_ONE)
    if path.stat().st_mode & 0o077:
        raise EvidenceError(str(path), "others than its owner can read the signing key", "", f"run chmod 600 {path}")
    openssh = b"BEGIN OPENSSH PRIVATE KEY" in text
    load = serialization.load_ssh_private_key if openssh else serialization.load_pem_private_key
    try:
        key = load(text, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # The library's own message is left out: it may quote what it could not read.
        what = "the file holds no private key that can be used without a passphrase"
        raise EvidenceError(str(path), what, "", MAKE_ONE) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise EvidenceError(str(path), "the signing key is not Ed25519", type(key).__name__, MAKE_ONE)
    return Signer(key, key_id(key.public_key()))


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Return the public key of a file: a line of OpenSSH (`ssh-ed25519 …`), or PEM. Raises EvidenceError."""
    text = _read(path, "the public key cannot be read", "ssh-keygen -y -f KEY > KEY.pub writes it")
    pem = b"BEGIN PUBLIC KEY" in text
    try:
        key = serialization.load_pem_public_key(text) if pem else serialization.load_ssh_public_key(text)
    except (ValueError, UnsupportedAlgorithm) as error:
        raise EvidenceError(str(path), "the file holds no public key", str(error), "name a .pub file") from None
    if not isinstance(key, Ed25519PublicKey):
        raise EvidenceError(str(path), "the public key is not Ed25519", type(key).__name__, MAKE_ONE)
    return key


def _read(path: Path, what: str, fix: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvidenceError(str(path), what, error.strerror or "", fix) from None
