"""
What `coldaisle node` does to a node in its cluster: drained before a person works on it, given back, removed for good.

Evictions are the playbook's (drain.yml, uncordon.yml), as in waves: disruption budgets hold, and a node that somebody
else has cordoned stays so. A site without a cluster has no work that we know of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coldaisle.cli.bmc import refuse
from coldaisle.cli.collection import use_collection
from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.node_plays import run_playbook
from coldaisle.cli.node_steps import step
from coldaisle.life.journal import LifeError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lightkube import Client

    from coldaisle.cli.node_steps import Opened, Person
    from coldaisle.spec.journal import State, Step

DRAIN, UNCORDON = "drain", "uncordon"
EVICTED = "evicted"
DRAIN_S = 900
"""How long pods may take to go: as long as a wave waits by default."""


def take_out(
    known: Opened, to: State, person: Person, timeout_s: int | None, details: Mapping[str, Any] | None = None
) -> Step:
    """
    Take a node out of service, and drain it (not with None); return its last step, which says what had to leave.

    The step comes first: from then on nobody else moves the node, and no play touches it.

    Raises:
        typer.Exit: it is in `to`, and pods are left on it; the message names them, and what they wait for.

    """
    last = step(known, to, person, known.last, details)
    if timeout_s is None or known.plan.cluster is None:
        return last
    try:
        return step(known, to, person, last, {**last.details, DRAIN: drained(known, person.why, timeout_s)})
    except LifeError as error:
        state = f"{known.node.name} is in {to}, and not drained; run this again, or give --no-drain"
        refuse(f"{error}\n  {state}", ExitCode.COULD_NOT_TELL)


def drained(known: Opened, why: str, timeout_s: int = DRAIN_S) -> dict[str, Any]:
    """
    Cordon a node, evict its pods, and return what had to leave; without a cluster nothing is done.

    Raises:
        LifeError: pods are left, or the cluster does not answer.

    """
    if known.plan.cluster is None:
        return {}
    results = run_playbook(known, DRAIN, {"drain_why": why, "drain_timeout_s": timeout_s})
    return {EVICTED: [pod for result in results for pod in result.get(EVICTED, ())]}


def give_back(known: Opened) -> None:
    """
    Let work onto a node again, once the cluster says that it is ready.

    Raises:
        typer.Exit: it is not, and the node stays where it is.

    """
    if known.plan.cluster is None:
        return
    try:
        run_playbook(known, UNCORDON, {})
    except LifeError as error:
        state = known.state or "in service"
        refuse(f"{error}\n  {known.node.name} stays {state}, and cordoned; run this again", ExitCode.COULD_NOT_TELL)


def removed(known: Opened) -> dict[str, str]:
    """
    Delete a node from its cluster, which refuses it from now on; return what the journal keeps of that.

    Raises:
        LifeError: the cluster does not answer, or refuses.

    """
    if known.plan.cluster is None:
        return {}
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.removal import remove_node  # noqa: PLC0415

    there = in_cluster(known, remove_node)
    return {"cluster": "deleted, and refused" if there else "was not there, and is refused"}


def readmitted(known: Opened) -> None:
    """
    Let a node that was retired join its cluster again.

    Raises:
        typer.Exit: the cluster does not answer, or refuses; the node stays retired.

    """
    if known.plan.cluster is None:
        return
    use_collection()
    from ansible_collections.coldaisle.site.plugins.module_utils.removal import readmit_node  # noqa: PLC0415

    try:
        in_cluster(known, readmit_node)
    except LifeError as error:
        refuse(f"{error}\n  {known.node.name} stays retired; run this again", ExitCode.COULD_NOT_TELL)


def in_cluster(known: Opened, do: Callable[[Client, str], bool]) -> bool:
    """
    Do something to a node at the API server of its cluster.

    Raises:
        LifeError: the kubeconfig cannot be used, or the API server does not answer, or refuses.

    """
    use_collection()
    import httpx2  # noqa: PLC0415 - only where a cluster is asked
    from ansible_collections.coldaisle.site.plugins.module_utils.drain import told  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError  # noqa: PLC0415
    from ansible_collections.coldaisle.site.plugins.module_utils.node import Cluster  # noqa: PLC0415
    from lightkube import ApiError  # noqa: PLC0415

    cluster = known.plan.cluster
    if cluster is None:
        raise ValueError(f"site {known.plan.name} has no cluster")
    try:
        return do(Cluster(cluster.kubeconfig).client, known.node.name)
    except FactError as error:
        raise LifeError(f"{known.node.name} in cluster {cluster.name}: {error}") from error
    except (ApiError, httpx2.HTTPError) as error:
        raise LifeError(f"{known.node.name} in cluster {cluster.name}: {told(error)}") from error
