"""A running cluster by its API: its nodes, and the releases that Helm keeps in secrets of the cluster."""

from __future__ import annotations

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coldaisle.adopt.facts import Untold
from coldaisle.adopt.live import AskError, Say, Taken, quiet

if TYPE_CHECKING:
    from lightkube import Client

HELM: Mapping[str, str] = {"owner": "helm", "status": "deployed"}
"""Labels of the secret that holds the newest release of a chart (Helm 3 and later, driver `secret`)."""
ALL = "*"


class ClusterLive:
    """A cluster with a client that has logged in; `where` names it in messages."""

    def __init__(self, where: str, client: Client) -> None:
        """Keep both."""
        self._where, self._client = where, client

    @property
    def name(self) -> str:
        """How it is called in messages."""
        return f"kubernetes {self._where}"

    def take(self, say: Say = quiet) -> Taken:
        """Read nodes, and releases where the user may read secrets; AskError where the API does not answer."""
        import httpx2  # noqa: PLC0415 - of lightkube
        from lightkube import ApiError  # noqa: PLC0415
        from lightkube.resources.core_v1 import Node, Secret  # noqa: PLC0415

        say("nodes")
        try:
            nodes = [{"kind": "Node", **node.to_dict()} for node in self._client.list(Node)]
        except (ApiError, httpx2.HTTPError) as error:
            raise AskError(f"{self.name}: {type(error).__name__}: {error}") from error
        untold: tuple[Untold, ...] = ()
        releases: list[dict[str, str]] = []
        say("releases of Helm")
        try:
            secrets = [it.data or {} for it in self._client.list(Secret, namespace=ALL, labels={**HELM})]
            releases = list(releases_of(secrets))
        except (ApiError, httpx2.HTTPError) as error:
            untold = (Untold("kubernetes", self._where, "operators that Helm installed", f"{error}"),)
        files = {"nodes.json": json.dumps({"kind": "NodeList", "items": nodes})}
        # Only names and versions are kept: the values of a release may hold secrets.
        files["releases.json"] = json.dumps({"kind": "HelmReleases", "releases": releases})
        return Taken({"kubernetes": files}, untold)


def releases_of(secrets: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    """Yield name, namespace, chart and versions of releases; a secret that holds none is passed over."""
    for data in secrets:
        release = _release(data.get("release", ""))
        about = (release.get("chart") or {}).get("metadata") or {}
        if release.get("name") and about.get("name"):
            shown = {"name": release["name"], "namespace": release.get("namespace"), "chart": about["name"],
                     "version": about.get("version"), "app_version": about.get("appVersion")}  # fmt: skip
            yield {key: str(value) for key, value in shown.items() if value}


def _release(text: str) -> dict[str, Any]:
    """Return a release: gzip in base64, as Helm keeps it, in base64 once more, as the API gives data of a secret."""
    try:
        found = json.loads(gzip.decompress(base64.b64decode(base64.b64decode(text))))
    except (binascii.Error, OSError, EOFError, zlib.error, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
