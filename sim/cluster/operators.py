"""
What the operators' pods would do: say in their custom resource's status that all is ready, once they run themselves.

The pods of operators are played by KWOK and contain nothing, so this small controller stands in for them: a custom
resource becomes ready only while the operator's Deployment is available.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import aiohttp

from sim.cluster.api import MERGE, ApiError

if TYPE_CHECKING:
    from sim.cluster.api import Api

Json = dict[str, Any]
PERIOD_S = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Operator:
    """An operator: the label of its Deployment, and the custom resource that it answers for."""

    label: str
    resources: str


OPERATORS = (
    Operator(label="app.kubernetes.io/name=gpu-operator", resources="/apis/nvidia.com/v1/clusterpolicies"),
    Operator(
        label="app.kubernetes.io/name=network-operator", resources="/apis/mellanox.com/v1alpha1/nicclusterpolicies"
    ),
)


async def run(api: Api) -> None:
    """Keep the status of custom resources up to date for ever."""
    while True:
        for operator in OPERATORS:
            with suppress(ApiError, aiohttp.ClientError, TimeoutError):
                await _reconcile(api, operator)
        await asyncio.sleep(PERIOD_S)


async def _reconcile(api: Api, operator: Operator) -> None:
    listed = await api.get(operator.resources)
    if not listed or not listed["items"]:
        return
    deployments = await api.get(f"/apis/apps/v1/deployments?labelSelector={operator.label}")
    wanted = desired_state((deployments or {}).get("items", []))
    for item in listed["items"]:
        if item.get("status", {}).get("state") != wanted:
            path = f"{operator.resources}/{item['metadata']['name']}/status"
            await api.request("PATCH", path, {"status": status(wanted, item)}, MERGE)


def desired_state(deployments: list[Json]) -> str:
    """Return what an operator with these Deployments would write: ready, or notReady."""
    conditions = [condition for each in deployments for condition in each.get("status", {}).get("conditions", [])]
    available = any(each["type"] == "Available" and each["status"] == "True" for each in conditions)
    return "ready" if available else "notReady"


def status(state: str, item: Json) -> Json:
    """Return the status of a custom resource, in the form that both operators write."""
    good = state == "ready"
    condition = {
        "type": "Ready",
        "status": str(good),
        "reason": "Reconciled" if good else "OperandNotReady",
        "message": "" if good else "the operator is not available",
        "lastTransitionTime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "observedGeneration": item["metadata"].get("generation", 1),
    }
    return {"state": state, "conditions": [condition]}
