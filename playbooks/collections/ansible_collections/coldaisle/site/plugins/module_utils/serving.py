"""
The certificate that a kubelet serves with: whether the cluster's authority signed it, and who may have one.

Kubernetes signs such a certificate only once somebody approved its request, and leaves to the operator whom to trust.
Here the plan decides: a node may have one for its own name and its planned address, and for nothing else.
"""

from __future__ import annotations

import base64
import socket
import ssl
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError
from cryptography import x509
from cryptography.x509.oid import NameOID
from lightkube.models.certificates_v1 import CertificateSigningRequestCondition, CertificateSigningRequestStatus
from lightkube.resources.certificates_v1 import CertificateSigningRequest, CertificateSigningRequestApproval

if TYPE_CHECKING:
    from lightkube import Client

KUBELET_PORT = 10250
SIGNER = "kubernetes.io/kubelet-serving"
GROUP = "system:nodes"
USAGES = {"digital signature", "key encipherment", "server auth"}
"""What a serving certificate is for (Kubernetes docs, Certificates and Certificate Signing Requests)."""

SIGNED, SELF_SIGNED, NONE = "signed", "self-signed", "none"
TIMEOUT_S = 10.0


def serving_certificate(address: str, authority: ssl.SSLContext, port: int = KUBELET_PORT) -> str:
    """
    Return what a kubelet answers with: `signed` for its address, `self-signed` or for another name, or `none` yet.

    Raises:
        FactError: nobody answers there.

    """
    try:
        link = socket.create_connection((address, port), TIMEOUT_S)
        with link, authority.wrap_socket(link, server_hostname=address):
            return SIGNED
    except ssl.SSLCertVerificationError:
        return SELF_SIGNED
    except ssl.SSLError:
        return NONE
    except OSError as error:
        raise FactError(f"no kubelet answers at {address}:{port}: {error}") from error


def pending_requests(client: Client, node: str) -> Iterator[CertificateSigningRequest]:
    """Yield the requests of a node for a serving certificate that nobody has decided on."""
    for request in client.list(CertificateSigningRequest, fields={"spec.signerName": SIGNER}):
        decided = request.status is not None and request.status.conditions
        if request.spec.username == f"system:node:{node}" and not decided:
            yield request


def why_not(request: CertificateSigningRequest, node: str, address: str) -> str | None:
    """Return why a request is more than the plan gives the node, or None for one that may be approved."""
    asked = x509.load_pem_x509_csr(base64.b64decode(request.spec.request))
    if not asked.is_signature_valid:
        return "it is not signed with its own key"
    names = {(name.oid, name.value) for name in asked.subject}
    if names != {(NameOID.COMMON_NAME, f"system:node:{node}"), (NameOID.ORGANIZATION_NAME, GROUP)}:
        return f"it is for the subject {asked.subject.rfc4514_string()}"
    if GROUP not in (request.spec.groups or []):
        return f"who asks is not one of {GROUP}"
    if foreign := set(request.spec.usages or []) - USAGES:
        return f"it is for {', '.join(sorted(foreign))} too"
    if foreign := _alternative_names(asked) - {node, address}:
        return f"it is for {', '.join(sorted(foreign))} too, and the plan has {node} and {address}"
    return None


def approve(client: Client, request: CertificateSigningRequest) -> None:
    """Approve a request; the controllers sign it, and the kubelet fetches what they signed."""
    condition = CertificateSigningRequestCondition(
        type="Approved", status="True", reason="Planned", message="The name and the address are those of the plan."
    )
    status = CertificateSigningRequestStatus(conditions=[condition])
    made = CertificateSigningRequestApproval(metadata=request.metadata, spec=request.spec, status=status)
    client.replace(made, name_of(request))


def name_of(request: CertificateSigningRequest) -> str:
    """Return the name of a request."""
    return (request.metadata.name if request.metadata else None) or ""


def _alternative_names(asked: x509.CertificateSigningRequest) -> set[str]:
    """Return every name and address that a certificate is asked for."""
    try:
        found = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return set()
    return {str(name.value) for name in found}
