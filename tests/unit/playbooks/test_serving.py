"""Who may have a serving certificate, and what a kubelet is seen to answer with."""

from __future__ import annotations

import base64
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socket import create_server

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from ansible_collections.coldaisle.site.plugins.module_utils.serving import serving_certificate, why_not
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from lightkube.models.certificates_v1 import CertificateSigningRequestSpec
from lightkube.resources.certificates_v1 import CertificateSigningRequest

from sim.cluster import pki

NODE, ADDRESS = "r01-n01", "10.9.0.7"
USAGES = ["digital signature", "server auth"]


def request(
    *,
    name: str = f"system:node:{NODE}",
    group: str = "system:nodes",
    names: tuple[str, ...] = (NODE, ADDRESS),
    usages: list[str] = USAGES,
    asked_by: str = "system:nodes",
) -> CertificateSigningRequest:
    """Return a request as a kubelet makes it, or with one thing in it that no kubelet of ours asks for."""
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName([_alternative(each) for each in names]), False)
    asked = builder.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    pem = base64.b64encode(asked.public_bytes(serialization.Encoding.PEM)).decode()
    spec = CertificateSigningRequestSpec(
        request=pem, signerName="kubernetes.io/kubelet-serving", groups=[asked_by], usages=usages
    )
    return CertificateSigningRequest(spec=spec)


def _alternative(text: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(text))
    return x509.DNSName(text)


@pytest.mark.parametrize("names", [(NODE, ADDRESS), (ADDRESS,), (NODE,)])
def test_a_node_may_serve_by_its_planned_name_and_address(names: tuple[str, ...]) -> None:
    """Either of them, or both."""
    assert why_not(request(names=names), NODE, ADDRESS) is None


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (request(name="system:node:r01-n02"), "it is for the subject CN=system:node:r01-n02,O=system:nodes"),
        (request(group="system:masters"), "it is for the subject CN=system:node:r01-n01,O=system:masters"),
        (
            request(names=(ADDRESS, "10.9.0.8")),
            "it is for 10.9.0.8 too, and the plan has r01-n01 and 10.9.0.7",
        ),
        (
            request(names=(ADDRESS, "kubernetes.default")),
            "it is for kubernetes.default too, and the plan has r01-n01 and 10.9.0.7",
        ),
        (request(usages=["client auth", *USAGES]), "it is for client auth too"),
        (request(asked_by="system:authenticated"), "who asks is not one of system:nodes"),
    ],
)
def test_more_than_the_plan_gives_is_refused(asked: CertificateSigningRequest, why: str) -> None:
    """Another's name, another's address, another use: each is named."""
    assert why_not(asked, NODE, ADDRESS) == why


@contextmanager
def answering(certificate: Path, key: Path) -> Iterator[int]:
    """Serve TLS on the loopback while the caller works; yields the port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=_greet, args=(listener, context), daemon=True).start()
        yield listener.getsockname()[1]


def _greet(listener: object, context: ssl.SSLContext) -> None:
    with suppress(OSError):
        link, _ = listener.accept()  # type: ignore[attr-defined]
        context.wrap_socket(link, server_side=True).close()


@pytest.mark.parametrize(
    ("signer", "address", "seen"),
    [("ca", "127.0.0.1", "signed"), ("ca", "127.0.0.2", "self-signed"), ("other", "127.0.0.1", "self-signed")],
)
def test_a_certificate_counts_when_the_authority_signed_it_for_the_address(
    tmp_path: Path, signer: str, address: str, seen: str
) -> None:
    """One of another authority, or for another address, is as good as one of the kubelet's own making."""
    authorities = {
        name: pki.ensure_authority(tmp_path / f"{name}.crt", tmp_path / f"{name}.key", name) for name in ("ca", "other")
    }
    subject = pki.Subject(common_name="system:node:n", addresses=(address,))
    pki.ensure_pair(authorities[signer], tmp_path / "n.crt", tmp_path / "n.key", subject)
    trusted = ssl.create_default_context(cafile=str(tmp_path / "ca.crt"))
    with answering(tmp_path / "n.crt", tmp_path / "n.key") as port:
        assert serving_certificate("127.0.0.1", trusted, port) == seen


def test_a_kubelet_that_does_not_answer_is_not_known() -> None:
    """A closed port is no answer, and never a drift."""
    with create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with pytest.raises(FactError, match=f"no kubelet answers at 127.0.0.1:{port}"):
        serving_certificate("127.0.0.1", ssl.create_default_context(), port)
