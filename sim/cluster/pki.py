"""
Certificates of the simulated site, made with `cryptography`: one authority for the site, one for the front proxy.

The site's authority is shared: BMCs are signed by it too, so that one file is all that a client must trust. Files that
exist are kept; keys are readable by their owner only.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

LIFETIME_DAYS = 3650
CLOCK_SKEW = dt.timedelta(minutes=5)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority: its certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Who a certificate is for: a name, groups (Kubernetes reads O as group), and what a server answers to."""

    common_name: str
    groups: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


def ensure_authority(certificate: Path, key: Path, common_name: str) -> Authority:
    """Return the authority in two PEM files, which are made when they are not there."""
    if not (certificate.exists() and key.exists()):
        _write_authority(certificate, key, common_name)
    loaded = serialization.load_pem_private_key(key.read_bytes(), None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise TypeError(f"{key}: an EC key is needed, have {type(loaded).__name__}; delete both files to make new ones")
    return Authority(x509.load_pem_x509_certificate(certificate.read_bytes()), loaded)


def ensure_pair(authority: Authority, certificate: Path, key: Path, subject: Subject) -> None:
    """Write a certificate for client and server use with its key, unless both files exist."""
    if certificate.exists() and key.exists():
        return
    own = _new_key(key)
    built = _builder(subject, authority.certificate.subject, own)
    built = built.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    built = built.add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH]), critical=False
    )
    alternatives = list(_alternative_names(subject))
    if alternatives:
        built = built.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    write(certificate, _pem(built.sign(authority.key, hashes.SHA256())), 0o644)


def ensure_signing_key(key: Path, public: Path) -> None:
    """Write the key pair that signs service account tokens, unless it exists."""
    if key.exists() and public.exists():
        return
    own = _new_key(key)
    pem = own.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    write(public, pem, 0o644)


def write(path: Path, content: bytes, mode: int) -> None:
    """Write a file with its mode from the start, in a folder that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        file.write(content)


def _write_authority(certificate: Path, key: Path, common_name: str) -> None:
    own = _new_key(key)
    subject = Subject(common_name=common_name)
    usage = x509.KeyUsage(
        digital_signature=True, key_cert_sign=True, crl_sign=True, content_commitment=False, key_encipherment=False,
        data_encipherment=False, key_agreement=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip
    built = _builder(subject, _name(subject), own)
    built = built.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    built = built.add_extension(usage, critical=True)
    built = built.add_extension(x509.SubjectKeyIdentifier.from_public_key(own.public_key()), critical=False)
    write(certificate, _pem(built.sign(own, hashes.SHA256())), 0o644)


def _builder(subject: Subject, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(_name(subject))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + dt.timedelta(days=LIFETIME_DAYS))
    )


def _name(subject: Subject) -> x509.Name:
    groups = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in subject.groups]
    return x509.Name([*groups, x509.NameAttribute(NameOID.COMMON_NAME, subject.common_name)])


def _alternative_names(subject: Subject) -> Iterable[x509.GeneralName]:
    yield from (x509.DNSName(name) for name in subject.names)
    yield from (x509.IPAddress(ipaddress.ip_address(address)) for address in subject.addresses)


def _new_key(path: Path) -> ec.EllipticCurvePrivateKey:
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    write(path, pem, 0o600)
    return key


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
