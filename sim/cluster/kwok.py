"""
What KWOK plays: pods of nodes whose host joined, and nothing of the node itself.

A node's conditions and lease come from its host, so there is no node stage that beats a heart. Pods with an image that
the agent can really run become Running but not ready: readiness is the agent's probe of the real process.
"""

from __future__ import annotations

from typing import Any

from sim.cluster.addresses import ANNOTATION

REAL_IMAGES = r"(^|/)(vllm/vllm-openai|kedacore/keda|kedacore/keda-metrics-apiserver)(:|@|$)"
"""Images that get a real process at the pod's address."""

_PENDING: list[dict[str, Any]] = [
    {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
    {"key": f'.metadata.annotations["{ANNOTATION}"]', "operator": "Exists"},
    {"key": ".status.phase", "operator": "In", "values": ["Pending"]},
    {"key": '.status.conditions.[] | select( .type == "Ready" ) | .status', "operator": "NotIn", "values": ["True"]},
]

_STATUS = """
{{ $now := Now }}
conditions:
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: Initialized}
- {lastTransitionTime: {{ $now | Quote }}, status: "@READY@", type: Ready, reason: "@REASON@"}
- {lastTransitionTime: {{ $now | Quote }}, status: "@READY@", type: ContainersReady, reason: "@REASON@"}
{{ range .spec.readinessGates }}
- {lastTransitionTime: {{ $now | Quote }}, status: "True", type: {{ .conditionType | Quote }}}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: @BOOL@
  started: @BOOL@
  restartCount: 0
  state: {running: {startedAt: {{ $now | Quote }}}}
{{ end }}
initContainerStatuses:
{{ range .spec.initContainers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  state: {terminated: {exitCode: 0, finishedAt: {{ $now | Quote }}, reason: Completed, startedAt: {{ $now | Quote }}}}
{{ end }}
{{ $hostIPs := NodeIPsWith .spec.nodeName }}
{{ with $hostIPs }}
hostIP: {{ index . 0 | Quote }}
hostIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ $address := index .metadata.annotations "@ANNOTATION@" }}
podIP: {{ $address | Quote }}
podIPs:
- ip: {{ $address | Quote }}
phase: Running
startTime: {{ $now | Quote }}
"""

_COMPLETED = """
{{ $now := Now }}
{{ $root := . }}
containerStatuses:
{{ range $index, $item := .spec.containers }}
- image: {{ $item.image | Quote }}
  name: {{ $item.name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state: {terminated: {exitCode: 0, finishedAt: {{ $now | Quote }}, reason: Completed, startedAt: {{ $now | Quote }}}}
{{ end }}
phase: Succeeded
"""


def stages() -> list[dict[str, Any]]:
    """Return KWOK's stages as manifests."""
    real = f'.spec.containers.[].image | select( test("{REAL_IMAGES}") )'
    return [
        _stage("pod-ready", [*_PENDING, {"key": real, "operator": "DoesNotExist"}], _started(ready=True)),
        _stage("pod-started", [*_PENDING, {"key": real, "operator": "Exists"}], _started(ready=False)),
        _stage("pod-complete", _running_job(), {"statusTemplate": _COMPLETED}),
        _stage("pod-delete", [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], {"delete": True}),
        # KWOK looks after no node, and so after no pod, unless it has a stage of nodes. This one fits none.
        _stage("node-none", [{"key": ".metadata.name", "operator": "DoesNotExist"}], {"delete": False}, kind="Node"),
    ]


def _stage(name: str, match: list[dict[str, Any]], then: dict[str, Any], kind: str = "Pod") -> dict[str, Any]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": match},
            "next": then,
        },
    }


def _started(*, ready: bool) -> dict[str, Any]:
    text = _STATUS.replace("@READY@", str(ready)).replace("@BOOL@", str(ready).lower())
    text = text.replace("@ANNOTATION@", ANNOTATION)
    return {"statusTemplate": text.replace("@REASON@", "" if ready else "ContainersNotReady")}


def _running_job() -> list[dict[str, Any]]:
    return [
        {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
        {"key": ".status.phase", "operator": "In", "values": ["Running"]},
        {"key": ".metadata.ownerReferences.[].kind", "operator": "In", "values": ["Job"]},
    ]
