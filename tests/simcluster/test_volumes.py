"""The files of a pod that is a real process: secrets and the service account's token, at the paths that it asks for."""

from __future__ import annotations

import asyncio
import base64
import stat
from typing import TYPE_CHECKING, Any, cast

import pytest

from sim.cluster.volumes import NotYetError, write_volumes

if TYPE_CHECKING:
    from pathlib import Path

    from sim.cluster.api import Api

CONTAINER = {
    "name": "c",
    "volumeMounts": [{"name": "certs", "mountPath": "/certs"}, {"name": "sa", "mountPath": "/var/run/sa"}],
}
ACCOUNT = {
    "sources": [
        {"serviceAccountToken": {"path": "token", "expirationSeconds": 3607}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}]}},
    ]
}


class FakeApi:
    """Answers from a table, as the API server would."""

    def __init__(self, objects: dict[str, dict[str, Any]]) -> None:
        """Keep the objects by their path."""
        self._objects = objects

    async def get(self, path: str) -> dict[str, Any] | None:
        """Return an object, or None."""
        return self._objects.get(path)

    async def request(self, *_: object) -> dict[str, Any]:
        """Return a token, the only thing that is asked for in this way."""
        return {"status": {"token": "signed"}}


def test_files_are_where_the_pod_wants_them(tmp_path: Path) -> None:
    """A secret's keys, the token, the authority and the namespace lie below the pod's root, for root alone."""
    _write(tmp_path, with_secret=True, optional=False)
    found = {str(path.relative_to(tmp_path)): path.read_text() for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {
        "certs/tls.key": "key",
        "var/run/sa/token": "signed",
        "var/run/sa/ca.crt": "authority",
        "var/run/sa/namespace": "keda",
    }
    assert stat.S_IMODE((tmp_path / "certs" / "tls.key").stat().st_mode) == 0o600


def test_a_pod_waits_for_its_secret(tmp_path: Path) -> None:
    """A missing secret keeps the pod from starting, unless the volume is optional."""
    with pytest.raises(NotYetError, match="secret kedaorg-certs is not there"):
        _write(tmp_path, with_secret=False, optional=False)
    _write(tmp_path, with_secret=False, optional=True)
    assert list((tmp_path / "certs").iterdir()) == []


def _write(root: Path, *, with_secret: bool, optional: bool) -> None:
    volumes = [
        {"name": "certs", "secret": {"secretName": "kedaorg-certs", "optional": optional}},
        {"name": "sa", "projected": ACCOUNT},
    ]
    pod = {"metadata": {"name": "p", "namespace": "keda"}, "spec": {"volumes": volumes, "serviceAccountName": "keda"}}
    objects: dict[str, dict[str, Any]] = {
        "/api/v1/namespaces/keda/configmaps/kube-root-ca.crt": {"data": {"ca.crt": "authority"}}
    }
    if with_secret:
        data = {"tls.key": base64.b64encode(b"key").decode()}
        objects["/api/v1/namespaces/keda/secrets/kedaorg-certs"] = {"data": data}
    asyncio.run(write_volumes(cast("Api", FakeApi(objects)), pod, CONTAINER, root))
