"""
What a fresh API server needs before hosts can join: the bootstrap token, and who may ask for a node's certificate.

The bindings are those that kubeadm makes, so that a host that joins here would join a kubeadm cluster as well.
"""

from __future__ import annotations

from typing import Any

BOOTSTRAPPERS = "system:bootstrappers"
_RBAC = "rbac.authorization.k8s.io"


def manifests(token: str) -> list[dict[str, Any]]:
    """Return the objects to apply once. `token` is a bootstrap token, `id.secret`."""
    return [
        _token(token),
        _binding("coldaisle:node-bootstrap", "system:node-bootstrapper", _group(BOOTSTRAPPERS)),
        _binding(
            "coldaisle:node-autoapprove",
            "system:certificates.k8s.io:certificatesigningrequests:nodeclient",
            _group(BOOTSTRAPPERS),
        ),
        _binding(
            "coldaisle:node-autoapprove-renewal",
            "system:certificates.k8s.io:certificatesigningrequests:selfnodeclient",
            _group("system:nodes"),
        ),
    ]


def _token(token: str) -> dict[str, Any]:
    identity, _, secret = token.partition(".")
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"bootstrap-token-{identity}", "namespace": "kube-system"},
        "type": "bootstrap.kubernetes.io/token",
        "stringData": {
            "token-id": identity,
            "token-secret": secret,
            "usage-bootstrap-authentication": "true",
            "usage-bootstrap-signing": "true",
        },
    }


def _group(name: str) -> dict[str, str]:
    return {"apiGroup": _RBAC, "kind": "Group", "name": name}


def _binding(name: str, role: str, subject: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [subject],
    }
