"""
Repairs on a hall from the failing acceptance to the return into service: a GPU, an adapter, a whole machine.

Real SSH to light hosts, BMCs that answer, and a cluster whose API server is real: work is evicted, and comes back last.
"""

from __future__ import annotations

import json
import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from coldaisle.check import open_site
from coldaisle.plan import plan_hash
from coldaisle.spec.journal import Step
from sim import faults
from sim.machines import NAMESPACE_UUID
from sim.parts import DIMMS, dimms, gpu_slot, serial_of
from sim.replaced import new_mac, new_name, new_uuid
from tests.hall.test_life import lldp, node, states
from tests.hall_cluster import hall_cluster, kubectl, touch
from tests.hall_sites import Hall, hall
from tests.simcluster.live_cluster import wait

pytestmark = pytest.mark.drill

NODE, IPMI, OTHER = "r01-n01", "r01-n02", "r01-n03"
NEW_GPU = "CDNEW0000042"
ALICE = "alice@deploy"


@pytest.fixture(scope="module")
def clustered() -> Iterator[Hall]:
    """Return a hall of three hosts in order and in a cluster; its delivery list names every part."""
    with hall(3, name=f"r{os.getpid() % 100000}", serials=True) as found:
        file = found.folder / "site.yaml"
        sections = yaml.safe_load(file.read_text())
        for name, delivered in sections["hardware"].items():
            delivered["uuid"] = str(uuid.uuid5(NAMESPACE_UUID, name))
        file.write_text(yaml.safe_dump(sections, sort_keys=False))
        with hall_cluster(found):
            found.plays("prepare")
            assert found.plays("apply")["reasons"] == {}
            yield found


def accept(floor: Hall, name: str, *words: str) -> tuple[int, dict[str, Any], str]:
    """Test a node whatever its state, and return the exit status, what was found, and the file of evidence."""
    touch(floor, name)
    command = [sys.executable, "-m", "coldaisle", "accept", str(floor.folder), "--node", name, "--who", ALICE, "--json"]
    done = floor.run(*command, *words, check=False)
    assert done.stdout.startswith("{"), done.stdout[-2000:] + done.stderr[-2000:]
    told = json.loads(done.stdout)
    file = floor.state.folder / "evidence" / told["evidence"][0].rpartition("/")[2]
    return done.returncode, told["nodes"][name], str(file)


def cordoned(floor: Hall, name: str) -> bool:
    """Tell whether the cluster puts no work on a node."""
    found = json.loads(kubectl(floor, "get", "node", name, "-o", "json").stdout)
    return bool(found["spec"].get("unschedulable"))


def last(floor: Hall, name: str) -> Step:
    """Return the last step of a node."""
    return open_site(floor.folder).spec.journal.last[name]


def hurt(floor: Hall, name: str, fault: str, **options: object) -> None:
    """Put a fault on a node."""
    faults.inject(faults.find_target(floor.plan, floor.state, name), fault, options)


def mend(floor: Hall, name: str, fault: str) -> None:
    """Take a fault back."""
    faults.clear(faults.find_target(floor.plan, floor.state, name), fault)


def work_on(floor: Hall, name: str) -> None:
    """Put a pod on a node that runs until it is evicted."""
    container = {"name": "c", "image": "registry.k8s.io/pause:3.10.1"}
    spec: dict[str, Any] = {"nodeName": name, "containers": [container], "terminationGracePeriodSeconds": 0}
    spec["automountServiceAccountToken"] = False
    manifest = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train-0"}, "spec": spec}
    file = floor.folder.with_name("pod.json")
    file.write_text(json.dumps(manifest))
    kubectl(floor, "create", "serviceaccount", "default", check=False)
    kubectl(floor, "apply", "-f", str(file))


def addresses(floor: Hall) -> list[tuple[str, str]]:
    """Return every node with its address."""
    return [(each.name, each.management_address) for each in open_site(floor.folder).plan.nodes]


def test_a_gpu_from_the_failing_acceptance_back_into_service(clustered: Hall) -> None:
    """The evidence that refuses it is the reason of the repair; the new serial is a stranger until the RMA names it."""
    floor, slot, old = clustered, gpu_slot(3), serial_of(NODE, gpu_slot(3))
    before = addresses(floor)
    work_on(floor, NODE)
    hurt(floor, NODE, "gpu-missing", index=3)
    status, body, refusal = accept(floor, NODE, "--domain", "gpu")
    assert status == 4
    assert any("sees 7 of 8 GPUs" in reason["what"] for reason in body["reasons"])

    said = node(floor, "repair", NODE, "--evidence", refusal, "--why", "RMA 4711", "--who", ALICE)
    assert f"refused by acceptance (quick), 1 time in a row\n- {NODE} GPU 3: dcgmi diag sees 7 of 8 GPUs" in said
    assert cordoned(floor, NODE)
    assert last(floor, NODE).details["drain"] == {"evicted": ["default/train-0"]}
    assert Path(refusal).name in last(floor, NODE).details["ticket"]
    mend(floor, NODE, "gpu-missing")
    hurt(floor, NODE, "gpu-replaced", index=3, serial=NEW_GPU)
    said = node(floor, "inspect", NODE, code=5)
    assert f"another GPU is in slot {slot}: {NEW_GPU}, planned {old}" in said
    node(floor, "replace", NODE, "--gpu", f"{slot}={NEW_GPU}", "--why", "RMA 4711", "--who", ALICE)
    node(floor, "inspect", NODE)

    status, body, passed = accept(floor, NODE, "--domain", "gpu")
    assert (status, body["result"], cordoned(floor, NODE)) == (0, "accepted", True)
    plan = plan_hash(open_site(floor.folder).plan)
    node(floor, "accept", NODE, "--why", "RMA 4711 done", "--who", ALICE, "--evidence", passed)
    assert not cordoned(floor, NODE)
    assert addresses(floor) == before
    step = last(floor, NODE)
    assert (step.state, step.who, step.why) == ("in-service", ALICE, "RMA 4711 done")
    assert step.plan == plan
    assert step.details["evidence"]["file"] == Path(passed).name
    assert set(open_site(floor.folder).spec.journal.gone) == {old.lower()}


def test_an_adapter_is_replaced_and_set_up_anew(clustered: Hall) -> None:
    """The port of the new adapter is a stranger to inspection and plays; its name and its address stay."""
    floor, new = clustered, new_mac(NODE, "rail0")
    before = addresses(floor)
    node(floor, "repair", NODE, "--why", "RMA 4712", "--who", ALICE)
    hurt(floor, NODE, "nic-replaced", port="rail0")
    said = node(floor, "inspect", NODE, code=5)
    assert "network port rail0 (52:54:01:00:00:02) is missing" in said
    assert f"network port {new} is not in the delivery list" in said
    node(floor, "replace", NODE, "--mac", f"rail0={new}", "--why", "RMA 4712", "--who", ALICE)
    assert states(floor, NODE)[-1] == "inspect"
    in_service(floor, NODE, "RMA 4712 done", plays=("bmc", "os"), domains=("nic",))
    assert addresses(floor) == before


def test_a_whole_machine_is_replaced_and_keeps_name_and_address(clustered: Hall) -> None:
    """Another BMC, board, disk, every part: plays refuse it until the delivery list names it, and then set it up."""
    floor, stranger = clustered, new_name(OTHER, {})
    before = addresses(floor)
    node(floor, "repair", OTHER, "--why", "RMA 4713", "--who", ALICE)
    hurt(floor, OTHER, "machine-replaced")
    said = node(floor, "inspect", OTHER, code=5)
    assert f"chassis ({serial_of(OTHER)}) is missing" in said
    parts = ["--serial", serial_of(stranger), "--uuid", new_uuid(OTHER, {}), "--bmc-mac", new_mac(OTHER, "bmc")]
    for option, slots in (("--gpu", map(gpu_slot, range(8))), ("--dimm", (dimm["slot"] for dimm in dimms(OTHER)))):
        parts += [word for slot in slots for word in (option, f"{slot}={serial_of(stranger, slot)}")]
    parts += [word for port in ("mgmt0", "rail0") for word in ("--mac", f"{port}={new_mac(OTHER, port)}")]
    node(floor, "replace", OTHER, *parts, "--why", "RMA 4713", "--who", ALICE)
    in_service(floor, OTHER, "RMA 4713 done", plays=(), domains=("host", "gpu"))
    assert addresses(floor) == before
    left = [step.node for step in open_site(floor.folder).spec.journal.gone.values()]
    assert left.count(OTHER) == len(("serial", "uuid", "bmc_mac", "mgmt0", "rail0")) + 8 + DIMMS


def test_a_retired_node_is_out_of_its_cluster_until_it_is_enrolled(clustered: Hall) -> None:
    """Its Node is deleted, and what its kubelet would begin with is refused, until a person brings it back."""
    floor = clustered
    node(floor, "retire", IPMI, "--keep-disks", "it has none", "--why", "lease ends", "--who", ALICE)
    assert last(floor, IPMI).details["cluster"] == "deleted, and refused"
    assert kubectl(floor, "get", "node", IPMI, check=False).returncode == 1
    wait(lambda: f"{IPMI} is retired; coldaisle node enroll brings it back" in kubelet(floor, IPMI))
    node(floor, "enroll", IPMI, "--why", "bought back", "--who", ALICE)
    wait(lambda: f"node/{IPMI} created" in kubelet(floor, IPMI))


def kubelet(floor: Hall, name: str) -> str:
    """Do what the kubelet of a node begins with, by its own name, and return what the API server says."""
    file = floor.folder.with_name("node.json")
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}))
    itself = ("--as", f"system:node:{name}", "--as-group", "system:nodes", "--as-group", "system:authenticated")
    done = kubectl(floor, *itself, "create", "-f", str(file), check=False)
    return done.stdout + done.stderr


def in_service(floor: Hall, name: str, why: str, *, plays: tuple[str, ...], domains: tuple[str, ...]) -> None:
    """Take a node from its inspection back into service, and see that it is cordoned until then."""
    node(floor, "inspect", name, "--who", ALICE, *lldp(floor, floor.folder.parent))
    assert states(floor, name)[-2:] == ["verify", "provision"]
    touch(floor)
    floor.plays("prepare")
    assert floor.plays("apply", *plays)["reasons"] == {}
    status, body, passed = accept(floor, name, *(word for each in domains for word in ("--domain", each)))
    assert (status, body["reasons"], cordoned(floor, name)) == (0, [], True)
    node(floor, "accept", name, "--why", why, "--who", ALICE, "--evidence", passed)
    assert (states(floor, name)[-1], cordoned(floor, name)) == ("in-service", False)
