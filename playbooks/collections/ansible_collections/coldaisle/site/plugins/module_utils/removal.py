"""
Taking a retired node out of its cluster for good, and letting it in again.

Deleting its Node is not enough: a kubelet that starts once more makes it anew with the certificate that is still on its
disk, and Kubernetes knows no revoked certificates. So the API server is told to refuse what such a kubelet begins with:
its Node, its lease, and its request for the next certificate (Validating Admission Policy, Kubernetes 1.30 and later).
"""

from __future__ import annotations

import time

from ansible_collections.coldaisle.site.plugins.module_utils.drain import GONE
from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, wait_until
from lightkube import ApiError, Client
from lightkube.models.admissionregistration_v1 import (
    MatchCondition,
    MatchResources,
    NamedRuleWithOperations,
    ValidatingAdmissionPolicyBindingSpec,
    ValidatingAdmissionPolicySpec,
    Validation,
)
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.admissionregistration_v1 import ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding
from lightkube.resources.core_v1 import Node

FIRST_STEPS = {"": ["nodes"], "coordination.k8s.io": ["leases"], "certificates.k8s.io": ["certificatesigningrequests"]}
"""What a kubelet makes before it does anything else, by API group."""

IN_FORCE_S = 30.0
"""An API server takes up a policy when it looks next, each second (`policySource` of k8s.io/apiserver 0.34)."""

LOOK_S = 1.5
"""Longer than an API server waits between two looks: another of them may be behind the one that was asked."""


def remove_node(client: Client, name: str) -> bool:
    """
    Refuse a node to its cluster from now on, and delete it there; return whether there was one.

    Raises:
        FactError: the node is not refused in time, or comes back.
        ApiError: the API server refuses.

    """
    _refuse(client, name)
    if not wait_until(lambda: _is_refused(client, name), IN_FORCE_S, LOOK_S):
        raise FactError(
            f"policy {policy_of(name)} is there, and a Node {name} could still be made after {IN_FORCE_S:g} s"
        )
    there = _delete(client, Node, name)
    if there:
        time.sleep(LOOK_S)
        if not wait_until(lambda: not _delete(client, Node, name), IN_FORCE_S, LOOK_S):
            raise FactError(f"Node {name} was deleted, and is there again after {IN_FORCE_S:g} s")
    return there


def readmit_node(client: Client, name: str) -> bool:
    """Let a node join again that `remove_node` has refused; return whether it was refused."""
    policy = policy_of(name)
    _delete(client, ValidatingAdmissionPolicyBinding, policy)
    return _delete(client, ValidatingAdmissionPolicy, policy)


def _is_refused(client: Client, name: str) -> bool:
    """Try to make the Node, without making it, and tell whether the policy is what refuses it."""
    try:
        client.create(Node(metadata=ObjectMeta(name=name)), dry_run=True)
    except ApiError as error:
        return policy_of(name) in str(error)
    return False


def policy_of(name: str) -> str:
    """Return what the policy that refuses a node is called."""
    return f"coldaisle-retired-{name}"


def _refuse(client: Client, name: str) -> None:
    policy = policy_of(name)
    itself = f"request.userInfo.username == 'system:node:{name}'"
    its_node = (
        f"(request.resource.resource == 'nodes' && has(object.metadata.name) && object.metadata.name == '{name}')"
    )
    rules = [
        NamedRuleWithOperations(apiGroups=[group], apiVersions=["v1"], operations=["CREATE"], resources=resources)
        for group, resources in FIRST_STEPS.items()
    ]
    told = f"{name} is retired; coldaisle node enroll brings it back"
    client.apply(
        ValidatingAdmissionPolicy(
            metadata=ObjectMeta(name=policy),
            spec=ValidatingAdmissionPolicySpec(
                failurePolicy="Fail",
                matchConstraints=MatchResources(resourceRules=rules),
                matchConditions=[MatchCondition(name="retired-node", expression=f"{itself} || {its_node}")],
                validations=[Validation(expression="false", message=told)],
            ),
        ),
        force=True,
    )
    client.apply(
        ValidatingAdmissionPolicyBinding(
            metadata=ObjectMeta(name=policy),
            spec=ValidatingAdmissionPolicyBindingSpec(policyName=policy, validationActions=["Deny"]),
        ),
        force=True,
    )


def _delete(
    client: Client,
    kind: type[Node | ValidatingAdmissionPolicy | ValidatingAdmissionPolicyBinding],
    name: str,
) -> bool:
    try:
        client.delete(kind, name)
    except ApiError as error:
        if error.status.code == GONE:
            return False
        raise
    return True
