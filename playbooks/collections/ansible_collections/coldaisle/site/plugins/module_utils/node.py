"""A Kubernetes node's labels, taints and readiness, by the cluster's API from the deploy host."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Iterable, Mapping
from typing import Any

import httpx2
import yaml
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, Value
from ansible_collections.coldaisle.site.plugins.module_utils.secrets import read_secret
from ansible_collections.coldaisle.site.plugins.module_utils.serving import (
    approve,
    name_of,
    pending_requests,
    serving_certificate,
    why_not,
)
from lightkube import ApiError, Client, KubeConfig
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import LoadResourceError
from lightkube.models.core_v1 import Taint
from lightkube.resources.core_v1 import Node

FIELD_MANAGER = "coldaisle"
TIMEOUT_S = 15
ACCESS_OPTIONS: dict[str, dict[str, Any]] = {
    "name": {"type": "str", "required": True},
    "kubeconfig": {"type": "str", "required": True, "no_log": False},
}
"""Options of a node and its cluster. `kubeconfig` is a reference, so it may be shown."""

SERVING = "kubelet_serving"
"""The fact of the certificate that a kubelet answers with."""

UNACCEPTED = "coldaisle.dev/unaccepted"
"""The taint of a node that has to be accepted before it takes work; the plan has its name for the kubelet."""

OWN_TAINT_PREFIXES = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", UNACCEPTED)
"""Taints that Kubernetes, or acceptance, puts on and takes off: they are no part of what is planned for a node."""


class Cluster:
    """The nodes of a cluster."""

    def __init__(self, kubeconfig: str) -> None:
        """
        Log in with a kubeconfig that is given by reference.

        Raises:
            FactError: the kubeconfig cannot be read or says nothing.

        """
        try:
            config = _current(KubeConfig.from_dict(yaml.safe_load(read_secret(kubeconfig))))
            timeout = httpx2.Timeout(TIMEOUT_S)
            self._client = Client(config=config, field_manager=FIELD_MANAGER, timeout=timeout, trust_env=False)
            self._cluster = config.cluster
        except (TypeError, KeyError, ValueError, yaml.YAMLError, LoadResourceError) as error:
            raise FactError(f"{kubeconfig}: not a kubeconfig ({error})") from error

    @property
    def client(self) -> Client:
        """Return the client of the cluster's API."""
        return self._client

    def node(self, name: str) -> Node | None:
        """
        Return a node, or None where the cluster has none of this name.

        Raises:
            FactError: the API does not answer, or refuses.

        """
        try:
            return self._client.get(Node, name)
        except ApiError as error:
            if error.status.code == httpx2.codes.NOT_FOUND:
                return None
            raise FactError(f"the API server refuses: {error}") from error
        except httpx2.HTTPError as error:
            raise FactError(f"no answer of the API server: {type(error).__name__}: {error}") from error

    def patch(self, name: str, labels: Mapping[str, str], taints: list[Taint] | None) -> None:
        """Set labels, and where given all taints, of a node."""
        change: dict[str, Any] = {"metadata": {"labels": dict(labels)}}
        if taints is not None:
            change["spec"] = {"taints": [taint.to_dict() for taint in taints] or None}
        try:
            self._client.patch(Node, name, change)
        except (ApiError, httpx2.HTTPError) as error:
            raise FactError(f"cannot change node {name}: {error}") from error

    def set_accepted(self, name: str, node: Node, *, accepted: bool) -> bool:
        """Take the taint off a node that is accepted, or put it on; return whether that changed it."""
        others = [taint for taint in _taints(node) if taint.key != UNACCEPTED]
        if accepted == (len(others) == len(_taints(node))):
            return False
        self.patch(name, {}, others if accepted else [*others, Taint(key=UNACCEPTED, effect="NoSchedule")])
        return True

    def set_conditions(self, name: str, conditions: list[dict[str, str]]) -> None:
        """Set conditions of a node's status by their types; others stay, and the kubelet leaves these alone."""
        change: dict[str, Any] = {"status": {"conditions": conditions}}
        try:
            self._client.patch(Node.Status, name, change)
        except (ApiError, httpx2.HTTPError) as error:
            raise FactError(f"cannot set conditions of node {name}: {error}") from error

    def own_conditions(self) -> dict[str, list[dict[str, str]]]:
        """
        Return the conditions of every node that we have set, by the API server's own record of who set what.

        Raises:
            FactError: the API does not answer, or refuses.

        """
        try:
            return {_name(node): set_by(node, FIELD_MANAGER) for node in self._client.list(Node)}
        except (ApiError, httpx2.HTTPError) as error:
            raise FactError(f"cannot list the cluster's nodes: {error}") from error

    def facts(self, node: Node, names: Iterable[str]) -> tuple[dict[str, Value], dict[str, str]]:
        """Return the facts of a node, and why one could not be read: its kubelet is asked for its certificate."""
        found, errors = node_facts(node, names), {}
        if SERVING in names:
            try:
                found[SERVING] = serving_certificate(internal_address(node), self._authority())
            except FactError as error:
                errors[SERVING] = str(error)
        return found, errors

    def approve_serving(self, name: str, address: str) -> None:
        """
        Approve what a node asks for to serve with.

        Raises:
            FactError: it asks for more than its planned name and address, or the API refuses.

        """
        try:
            for request in pending_requests(self._client, name):
                if wrong := why_not(request, name, address):
                    raise FactError(
                        f"its request {name_of(request)} for a serving certificate is not approved: {wrong}"
                    )
                approve(self._client, request)
        except (ApiError, httpx2.HTTPError) as error:
            raise FactError(f"cannot approve what {name} asks for: {error}") from error

    def _authority(self) -> ssl.SSLContext:
        data = self._cluster.certificate_auth_data
        text = base64.b64decode(data).decode() if data else None
        return ssl.create_default_context(cafile=self._cluster.certificate_auth, cadata=text)


def read_node(params: Mapping[str, Any], names: list[str]) -> tuple[dict[str, Value], dict[str, str]]:
    """Return the facts of a node that its cluster told, and for each other one why not."""
    try:
        cluster = Cluster(params["kubeconfig"])
        node = cluster.node(params["name"])
        if node is None:  # a positive answer: nothing of it is ready, and no label is set
            return {name: False if name == "node_ready" else "no such node" for name in names}, {}
        seen, errors = cluster.facts(node, names)
        if (why := silence(node)) and seen.pop("node_ready", None) is not None:
            errors["node_ready"] = why
    except FactError as error:
        return {}, dict.fromkeys(names, str(error))
    return seen, errors


def _current(config: KubeConfig) -> SingleConfig:
    """Return the cluster and the user that a kubeconfig chooses; KeyError when it chooses none."""
    chosen = config.get()
    if chosen is None:
        raise KeyError("current-context")
    return chosen


def internal_address(node: Node) -> str:
    """
    Return the address that a node tells for itself.

    Raises:
        FactError: it has told none.

    """
    addresses = (node.status.addresses if node.status else None) or []
    found = next((each.address for each in addresses if each.type == "InternalIP"), None)
    if found is None:
        raise FactError("the node has told no address yet")
    return found


def node_facts(node: Node, names: Iterable[str]) -> dict[str, Value]:
    """Return the facts of a node; a label that it lacks is `none`."""
    labels = (node.metadata.labels if node.metadata else None) or {}
    found: dict[str, Value] = {}
    for name in names:
        kind, _, rest = name.partition(".")
        if kind == "label":
            found[name] = labels.get(rest, "none")
        elif kind == "taints":
            found[name] = ",".join(sorted(_taint_text(taint) for taint in planned_taints(node)))
        elif kind == "node_ready":
            found[name] = is_ready(node)
    return found


def set_by(node: Node, manager: str) -> list[dict[str, str]]:
    """Return the conditions of a node whose status was last changed by a field manager, as Kubernetes has them."""
    entries = (node.metadata.managedFields if node.metadata else None) or []
    fields = [entry.to_dict().get("fieldsV1", {}) for entry in entries if entry.manager == manager]
    marked = [found.get("f:status", {}).get("f:conditions", {}) for found in fields]
    own = {key for found in marked for key, parts in found.items() if "f:status" in parts}
    conditions = (node.status.conditions if node.status else None) or []
    return [condition.to_dict() for condition in conditions if f'k:{{"type":"{condition.type}"}}' in own]


def is_ready(node: Node) -> bool:
    """Return whether the node's condition Ready is true."""
    conditions = (node.status.conditions if node.status else None) or []
    return any(condition.type == "Ready" and condition.status == "True" for condition in conditions)


def silence(node: Node) -> str | None:
    """Return why it is not known whether the node is ready, or None: Kubernetes itself says Unknown of a silent one."""
    conditions = (node.status.conditions if node.status else None) or []
    ready = next((condition for condition in conditions if condition.type == "Ready"), None)
    if ready is None or ready.status != "Unknown":
        return None
    return f"its kubelet is silent since {ready.lastTransitionTime:%Y-%m-%dT%H:%M:%SZ}"


def planned_taints(node: Node) -> list[Taint]:
    """Return the taints that somebody decided on, without the ones of Kubernetes itself."""
    return [taint for taint in _taints(node) if not taint.key.startswith(OWN_TAINT_PREFIXES)]


def own_taints(node: Node) -> list[Taint]:
    """Return the taints that Kubernetes, or acceptance, put on."""
    return [taint for taint in _taints(node) if taint.key.startswith(OWN_TAINT_PREFIXES)]


def parsed_taints(text: str) -> list[Taint]:
    """
    Return the taints of `key=value:Effect,…`.

    Raises:
        FactError: a part has another form.

    """
    found = []
    for part in (part for part in text.split(",") if part):
        pair, _, effect = part.partition(":")
        key, _, value = pair.partition("=")
        if not (key and effect):
            raise FactError(f"taint {part}: write key=value:Effect")
        found.append(Taint(key=key, value=value or None, effect=effect))
    return found


def _name(node: Node) -> str:
    return (node.metadata.name if node.metadata else None) or ""


def _taints(node: Node) -> list[Taint]:
    return list((node.spec.taints if node.spec else None) or [])


def _taint_text(taint: Taint) -> str:
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
