"""
Who talks to the simulated API server: certificates and kubeconfigs of every component, and the bootstrap token.

Kubeconfigs are written as JSON, which is YAML too, so that the stand-in kubelet can read one without a YAML parser.
"""

from __future__ import annotations

import base64
import ipaddress
import json
import secrets
from typing import TYPE_CHECKING, Any

from sim.cluster import pki

if TYPE_CHECKING:
    from pathlib import Path

    from sim.cluster.layout import Layout

CLIENTS = {
    "admin": ("kubernetes-admin", ("system:masters",)),
    "controller-manager": ("system:kube-controller-manager", ()),
    "scheduler": ("system:kube-scheduler", ()),
    "kwok": ("coldaisle:kwok", ("system:masters",)),
    "agent": ("coldaisle:agent", ("system:masters",)),
}
"""User and groups of each component, by the name of its kubeconfig."""


def ensure_identities(layout: Layout) -> None:
    """Write every certificate, key, kubeconfig and the bootstrap token that does not exist yet."""
    site = pki.ensure_authority(layout.pki / "ca.crt", layout.pki / "ca.key", f"coldaisle {layout.site}")
    folder = certificates(layout)
    proxy = pki.ensure_authority(folder / "front-proxy-ca.crt", folder / "front-proxy-ca.key", "front-proxy-ca")
    _pair(layout, site, "apiserver", _api_server(layout))
    caller = pki.Subject(common_name="kube-apiserver-kubelet-client", groups=("system:masters",))
    _pair(layout, site, "apiserver-kubelet-client", caller)
    _pair(layout, proxy, "front-proxy-client", pki.Subject(common_name="front-proxy-client"))
    pki.ensure_signing_key(folder / "sa.key", folder / "sa.pub")
    for name, (user, groups) in CLIENTS.items():
        _pair(layout, site, name, pki.Subject(common_name=user, groups=groups))
        target = layout.admin_kubeconfig if name == "admin" else layout.kubeconfigs / f"{name}.json"
        pki.write(target, json.dumps(_client_kubeconfig(layout, name), indent=1).encode(), 0o600)
    if not layout.bootstrap_token.exists():
        pki.write(layout.bootstrap_token, new_token().encode(), 0o600)


def certificates(layout: Layout) -> Path:
    """Return the folder of the control plane's own certificates."""
    return layout.pki / "cluster"


def new_token() -> str:
    """Return a bootstrap token in Kubernetes' form: six characters, a dot, sixteen characters."""
    return f"{secrets.token_hex(3)}.{secrets.token_hex(8)}"


def _pair(layout: Layout, authority: pki.Authority, name: str, subject: pki.Subject) -> None:
    folder = certificates(layout)
    pki.ensure_pair(authority, folder / f"{name}.crt", folder / f"{name}.key", subject)


def _api_server(layout: Layout) -> pki.Subject:
    first = str(next(ipaddress.ip_network(layout.service_cidr).hosts()))
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
    return pki.Subject(
        common_name="kube-apiserver", names=(*names, "localhost"), addresses=(layout.api_address, first, "127.0.0.1")
    )


def _client_kubeconfig(layout: Layout, name: str) -> dict[str, Any]:
    folder = certificates(layout)
    user = {
        "client-certificate-data": _base64(folder / f"{name}.crt"),
        "client-key-data": _base64(folder / f"{name}.key"),
    }
    return kubeconfig(layout.site, layout.api_url, _base64(layout.pki / "ca.crt"), user)


def kubeconfig(cluster: str, server: str, ca_data: str, user: dict[str, str]) -> dict[str, Any]:
    """Return a kubeconfig with one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": cluster, "cluster": {"server": server, "certificate-authority-data": ca_data}}],
        "users": [{"name": "user", "user": user}],
        "contexts": [{"name": cluster, "context": {"cluster": cluster, "user": "user"}}],
        "current-context": cluster,
    }


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
