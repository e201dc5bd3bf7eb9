"""
What a stack must hold to, as policies.

A program that builds its stack without `coldaisle check` is held to the same checks here, and resources that no plan
made (another program's, another language's) to the same limits. Numbers arrive as floats, and unknown values raise
when they are looked at, so that a rule reads only what it needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pulumi_policy import (
    ReportViolation,
    ResourceValidationArgs,
    ResourceValidationPolicy,
    StackValidationArgs,
    StackValidationPolicy,
)

from coldaisle.check import open_site
from coldaisle.plan.json import plan_hash
from coldaisle.spec import SpecError

MAX_RESOURCES = 300
"""Past this an update with a file backend costs more in checkpoints than in work."""

MAX_HOSTS = 250
"""Hosts of one play: past this one failed host holds back too many others, and a diff is no longer read."""

DEPLOYMENT = "kubernetes:apps/v1:Deployment"
SCALED_OBJECT = "kubernetes:keda.sh/v1alpha1:ScaledObject"
POD_SECURITY = "pod-security.kubernetes.io/enforce"


def site_checks(args: StackValidationArgs, report: ReportViolation) -> None:
    """Report every error that the checks find in the site of the stack, and a plan that is not the site's."""
    for datacenter in (found for found in args.resources if found.resource_type == "coldaisle:site:Datacenter"):
        try:
            checked = open_site(_project_root() / datacenter.props["site"])
        except SpecError as error:
            report(str(error), datacenter.urn)
            continue
        for finding in checked.errors:
            report(finding.text(), datacenter.urn)
        if datacenter.props.get("planHash") != plan_hash(checked.plan):
            report("the stack was built from another plan than that of its site; run it again", datacenter.urn)


def _project_root() -> Path:
    """Return the folder of Pulumi.yaml: the engine starts a pack in the folder of the program."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), here)


def stack_size(args: StackValidationArgs, report: ReportViolation) -> None:
    """Report a stack of too many resources."""
    if len(args.resources) > MAX_RESOURCES:
        have = f"the stack has {len(args.resources)} resources, and more than {MAX_RESOURCES} make every update slow"
        report(f"{have}; hold some layers in a stack of their own (coldaisle:layers)", None)


def one_owner_of_replicas(args: StackValidationArgs, report: ReportViolation) -> None:
    """Report a Deployment that says how many replicas it has although a ScaledObject owns that number."""
    scaled = {
        _key(found.props, found.props["spec"]["scaleTargetRef"]["name"])
        for found in args.resources
        if found.resource_type == SCALED_OBJECT
    }
    for found in args.resources:
        if found.resource_type == DEPLOYMENT and found.props["spec"].get("replicas") is not None:
            name = found.props["metadata"].get("name")
            if _key(found.props, name) in scaled:
                report(f"an autoscaler owns the replicas of {name}; leave spec.replicas out", found.urn)


def _key(props: Mapping[str, Any], name: str) -> tuple[str, str]:
    return props["metadata"].get("namespace", "default"), name


def rack_power(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Report a rack with a circuit that carries more than it may, now or after the loss of another one."""
    if args.resource_type != "coldaisle:facility:Rack":
        return
    for name, feed in args.props["feeds"].items():
        for state, key in (("", "loadW"), (" when another feed fails", "loadAfterLossW")):
            load = feed.get(key)
            if load is not None and load > feed["capacityW"]:
                report(f"feed {name} carries {load:.0f} W{state}, and may carry {feed['capacityW']:.0f} W", None)


def play_size(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Report a play on too many hosts."""
    if args.resource_type == "coldaisle:ansible:Play" and len(args.props["hosts"]) > MAX_HOSTS:
        report(f"one play runs on {len(args.props['hosts'])} hosts; split the pool at {MAX_HOSTS}", None)


def kubeconfig_is_a_path(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Report a kubeconfig that is given as content, which would stand in the state."""
    if args.resource_type == "pulumi:providers:kubernetes":
        kubeconfig = args.props.get("kubeconfig") or ""
        if "\n" in kubeconfig or kubeconfig.lstrip().startswith("{"):
            report("kubeconfig holds the content of a kubeconfig; give the path of the file", None)


def namespace_security(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Report a namespace that does not say what its pods may do."""
    if args.resource_type == "kubernetes:core/v1:Namespace":
        labels = args.props["metadata"].get("labels") or {}
        if POD_SECURITY not in labels:
            report(f"namespace {args.props['metadata'].get('name')} has no label {POD_SECURITY}", None)


def pinned_and_limited(args: ResourceValidationArgs, report: ReportViolation) -> None:
    """Report a container whose image may change by itself, or which has no limits."""
    if args.resource_type != DEPLOYMENT:
        return
    for container in args.props["spec"]["template"]["spec"]["containers"]:
        for problem in _container_problems(container):
            report(f"container {container['name']}: {problem}", None)


def _container_problems(container: Mapping[str, Any]) -> Iterator[str]:
    image = container.get("image", "")
    name, _, tag = image.rpartition("/")[2].partition("@")[0].partition(":")
    if "@sha256:" not in image and tag in {"", "latest"}:
        yield f"image {image or name} is not pinned; name a release or a digest"
    if not (container.get("resources") or {}).get("limits"):
        yield "no resources.limits"


POLICIES = (
    StackValidationPolicy("site-checks", "The checks of the site find no error.", site_checks),
    StackValidationPolicy("stack-size", f"A stack has at most {MAX_RESOURCES} resources.", stack_size),
    StackValidationPolicy("one-owner-of-replicas", "What an autoscaler owns is not set.", one_owner_of_replicas),
    ResourceValidationPolicy("rack-power", "No circuit of a rack is overloaded.", rack_power),
    ResourceValidationPolicy("play-size", f"A play runs on at most {MAX_HOSTS} hosts.", play_size),
    ResourceValidationPolicy("kubeconfig-path", "A kubeconfig is a path.", kubeconfig_is_a_path),
    ResourceValidationPolicy("namespace-security", "A namespace has a pod security level.", namespace_security),
    ResourceValidationPolicy("pinned-and-limited", "Containers are pinned and limited.", pinned_and_limited),
)
