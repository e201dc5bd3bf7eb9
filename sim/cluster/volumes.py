"""
The files and the environment that a pod's container sees: secrets, config maps and the service account's token.

They are written below a folder that becomes the root of the pod's process, at the paths that the pod asks for, so that
a program's arguments are used as they are.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from sim.cluster.pki import write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from sim.cluster.api import Api

Json = dict[str, Any]
TOKEN_S = 3600 * 24


class NotYetError(Exception):
    """Something that the pod needs is not there yet: it waits, as ContainerCreating does."""


async def write_volumes(api: Api, pod: Json, container: Json, root: Path) -> None:
    """Write every volume that a container mounts below `root`. Raises NotYetError when one is not there yet."""
    volumes = {volume["name"]: volume for volume in pod["spec"].get("volumes", [])}
    (root / "tmp").mkdir(parents=True, exist_ok=True)
    for mount in container.get("volumeMounts", []):
        target = root / mount["mountPath"].lstrip("/")
        target.mkdir(parents=True, exist_ok=True)
        for name, content in (await _content(api, pod, volumes[mount["name"]])).items():
            write(target / name, content, 0o600)


async def _content(api: Api, pod: Json, volume: Json) -> dict[str, bytes]:
    if "secret" in volume:
        return await _secret(api, pod, volume["secret"])
    if "configMap" in volume:
        return await _config_map(api, pod, volume["configMap"])
    if "projected" in volume:
        found: dict[str, bytes] = {}
        for source in volume["projected"]["sources"]:
            found |= await _projected(api, pod, source)
        return found
    return {}


async def _projected(api: Api, pod: Json, source: Json) -> dict[str, bytes]:
    if "serviceAccountToken" in source:
        return {source["serviceAccountToken"]["path"]: await _token(api, pod, source["serviceAccountToken"])}
    if "configMap" in source:
        return await _config_map(api, pod, source["configMap"])
    if "secret" in source:
        return await _secret(api, pod, {**source["secret"], "secretName": source["secret"]["name"]})
    items = source.get("downwardAPI", {}).get("items", [])
    return {item["path"]: field(pod, item["fieldRef"]["fieldPath"]).encode() for item in items}


async def _secret(api: Api, pod: Json, source: Json) -> dict[str, bytes]:
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/secrets/{source['secretName']}"
    found = await api.get(path)
    if found is None and not source.get("optional"):
        raise NotYetError(f"secret {source['secretName']} is not there")
    data = (found or {}).get("data") or {}
    return {name: base64.b64decode(text) for name, text in data.items()}


async def _config_map(api: Api, pod: Json, source: Json) -> dict[str, bytes]:
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/configmaps/{source['name']}"
    found = await api.get(path)
    if found is None and not source.get("optional"):
        raise NotYetError(f"config map {source['name']} is not there")
    return {name: text.encode() for name, text in ((found or {}).get("data") or {}).items()}


async def _token(api: Api, pod: Json, source: Json) -> bytes:
    account = pod["spec"].get("serviceAccountName", "default")
    path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/serviceaccounts/{account}/token"
    audiences = [source["audience"]] if source.get("audience") else []
    spec = {"audiences": audiences, "expirationSeconds": TOKEN_S}
    made = await api.request(
        "POST", path, {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    )
    return str(made["status"]["token"]).encode()


def field(pod: Json, path: str) -> str:
    """Return a field of a pod by its path, such as metadata.namespace or status.podIP."""
    found: Any = pod
    for step in path.split("."):
        found = found.get(step, {}) if isinstance(found, dict) else {}
    return found if isinstance(found, str) else ""


def environment(pod: Json, container: Json, api_host: str, api_port: int) -> Mapping[str, str]:
    """Return a container's environment: its own entries, and where the API server is."""
    own = {entry["name"]: _value(pod, entry) for entry in container.get("env", [])}
    host = {"KUBERNETES_SERVICE_HOST": api_host, "KUBERNETES_SERVICE_PORT": str(api_port)}
    return {**host, "HOSTNAME": str(pod["metadata"]["name"]), **own}


def _value(pod: Json, entry: Json) -> str:
    reference = entry.get("valueFrom", {}).get("fieldRef")
    return field(pod, reference["fieldPath"]) if reference else str(entry.get("value", ""))
