"""What a Kubernetes node says of itself, and what its silence means."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.node import is_ready, silence
from lightkube.models.core_v1 import NodeCondition, NodeStatus
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import Node


def node(status: str) -> Node:
    """Return a node whose condition Ready has a status."""
    changed = datetime(2026, 11, 28, 4, 40, 4, tzinfo=UTC)
    ready = NodeCondition(type="Ready", status=status, lastTransitionTime=changed)
    return Node(metadata=ObjectMeta(name="r01-n01"), status=NodeStatus(conditions=[ready]))


@pytest.mark.parametrize(("status", "ready"), [("True", True), ("False", False)])
def test_a_node_that_speaks_is_ready_or_not(status: str, ready: bool) -> None:  # noqa: FBT001 - a row of the table
    """True and False are answers, whichever they are."""
    assert is_ready(node(status)) is ready
    assert silence(node(status)) is None


def test_a_node_that_is_silent_is_neither_ready_nor_drifted() -> None:
    """Unknown is no answer: the reason says since when the kubelet has been silent."""
    assert silence(node("Unknown")) == "its kubelet is silent since 2026-11-28T04:40:04Z"
