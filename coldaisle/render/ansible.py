"""
The plan as an Ansible inventory: groups, and the variables of each host.

Every variable starts with the name of the role that takes it, and each role's argument_specs says which there are, so
a value reaches a role from the plan or not at all. Secrets are named (`file:`, `env:`), never given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml

from coldaisle.paths import packaged, state_dir
from coldaisle.plan.host_side import host_side
from coldaisle.plan.model import (
    ExecutionPlan,
    FabricPlan,
    Facts,
    NodePlan,
    PoolPlan,
    ProvisioningPlan,
    SitePlan,
    SwitchPlan,
)
from coldaisle.plan.plays import API_SYSTEMS, VERBS, foreign_dhcp_fact, host_facts, plan_plays
from coldaisle.plan.rollout import shared_of
from coldaisle.render import boot, host_files
from coldaisle.render.files import HostFile, bare_address, files_digest
from coldaisle.render.switch_facts import PREFIX, applied_configs, effective_facts
from coldaisle.spec.journal import UNTOUCHED

Vars = dict[str, Any]

SHARED = "rollout_shared"
"""A host's variable with what it shares with others; the provider makes waves of it, and no role takes it."""

EXECUTION, EXECUTION_NODES = "execution", "execution_nodes"
"""Variables of all hosts and of one, for the provider: the execution nodes, and those of the host in their order."""


def code_digest(playbook: str) -> str:
    """
    Return the SHA-256 of all that a run of `playbook` executes: the playbook, its roles and our collection.

    Raises:
        FileNotFoundError: there is no such playbook.

    """
    folder = packaged("playbooks")
    path = folder / f"{playbook}.yml"
    found = [path, *_files(folder / "collections")]
    for role in _roles_of(path):
        found += _files(folder / "roles" / role)
    total = hashlib.sha256()
    for file in found:
        total.update(f"{file.relative_to(folder)}\0".encode() + file.read_bytes() + b"\0")
    return total.hexdigest()


def inventory(plan: SitePlan, touch: Collection[str] = (), hosts: Collection[str] | None = None) -> Vars:
    """
    Return the inventory in the form of Ansible's YAML inventory plugin; each group lists its hosts in order.

    Args:
        plan: The site.
        hosts: Those that it is to have; all unless they are named. One that the plan has not is left out.
        touch: Nodes that plays may touch although their state forbids it (in maintenance, say). Others of such a state
            are in the group `left_alone` and in none that a playbook works on.
    """
    alone = {node.name for node in plan.nodes if node.state in UNTOUCHED} - set(touch)
    provisioners = [plan.provisioning.host] if plan.provisioning else []
    switches = _switch_vars(plan)
    workable = [node.name for node in plan.nodes if node.name not in alone]
    groups: dict[str, list[str]] = {"nodes": workable, "provisioners": provisioners, "switches": []}
    for switch, found in switches.items():
        groups.setdefault("api_switches" if "fabric_api_config" in found else "switches", []).append(switch)
    for node in plan.nodes:
        verbs = ("left_alone",) if node.name in alone else _verb_groups(plan, node)
        for group in (f"pool_{node.pool}", f"rack_{node.rack}", *verbs):
            groups.setdefault(_group_name(group), []).append(node.name)
    shared = shared_of(plan)
    through = plan.execution.through if plan.execution else {}
    return {
        "all": {
            **({"vars": {EXECUTION: _execution(plan.execution)}} if plan.execution else {}),
            "hosts": {
                host: {
                    **variables,
                    **({SHARED: shared[host]} if host in shared else {}),
                    **({EXECUTION_NODES: list(through[host])} if host in through else {}),
                }
                for host, variables in _all_vars(plan, switches, hosts)
            },
            "children": {
                group: {"hosts": {key: {} for key in members if hosts is None or key in hosts}}
                for group, members in groups.items()
            },
        }
    }


def _execution(execution: ExecutionPlan) -> Vars:
    """Return the execution nodes as the provider takes them."""
    nodes = {node.name: asdict(node) for node in execution.nodes}
    for node in nodes.values():
        del node["halls"]
    return {"nodes": nodes, "runner_stands_in": execution.runner_stands_in}


def _all_vars(
    plan: SitePlan, switches: Mapping[str, Vars], hosts: Collection[str] | None
) -> Iterator[tuple[str, Vars]]:
    """Give each host, of those that are wanted, with its variables: the provisioner, switches, nodes."""
    if plan.provisioning and (hosts is None or plan.provisioning.host in hosts):
        yield plan.provisioning.host, _provisioner_vars(plan, plan.provisioning)
    yield from ((name, found) for name, found in switches.items() if hosts is None or name in hosts)
    for node in plan.nodes:
        if hosts is None or node.name in hosts:
            yield node.name, _node_vars(plan, node)


def host_vars(plan: SitePlan, host: str) -> Vars:
    """
    Return the variables of one host.

    Raises:
        KeyError: the plan has no such host.

    """
    for _, variables in _all_vars(plan, _switch_vars(plan), [host]):
        return variables
    raise KeyError(f"site {plan.name} has no host {host}")


def config_of(variables: Vars) -> str | None:
    """Return the configuration among a switch's variables; of another host, None."""
    return variables.get("fabric_config") or variables.get("fabric_api_config")


def _switch_vars(plan: SitePlan) -> dict[str, Vars]:
    """Return the variables of all switches that playbooks configure."""
    found: dict[str, Vars] = {}
    for play in plan.plays:
        for name, config in applied_configs(plan, play).items():
            fabric = plan.fabrics[play.name.removeprefix(PREFIX)]
            switch = next(switch for switch in fabric.switches if switch.name == name)
            by_api = switch.network_os in API_SYSTEMS
            found[name] = _api_vars(fabric, switch, config) if by_api else _ssh_vars(plan, fabric, switch, config)
            effective = effective_facts(fabric, switch.network_os or "")
            found[name] |= {} if by_api else {"fabric_facts": {**play.facts[name], **effective}}
    return found


def _ssh_vars(plan: SitePlan, fabric: FabricPlan, switch: SwitchPlan, config: str) -> Vars:
    user = fabric.switch_access.ssh_user if fabric.switch_access and switch.network_os == "sonic" else "root"
    login: Vars = {} if user == "root" else {"ansible_user": user, "ansible_become": True}
    return _connection_vars(plan, switch.management_address or "") | {
        **login,
        "fabric_system": switch.network_os,
        "fabric_config": config,
        "fabric_keep_extra": fabric.unplanned_config == "keep",
        "fabric_commit_timer_s": fabric.commit_timer_s,
    }


def _api_vars(fabric: FabricPlan, switch: SwitchPlan, config: str) -> Vars:
    """Return how a switch is reached from the deploy host, on which every task of its play runs."""
    reached = fabric.switch_access
    access: Vars = {"system": switch.network_os, "address": switch.management_address}
    if reached is not None:
        ca_file = reached.ca_file and str(Path(reached.ca_file).expanduser())
        access |= {"port": reached.port, "credentials": reached.credentials, "ca_file": ca_file}
    return {
        "fabric_api_access": access,
        "read_switch_access": access,
        "fabric_api_config": config,
        "fabric_api_keep_extra": fabric.unplanned_config == "keep",
        "fabric_api_commit_timer_s": fabric.commit_timer_s,
    }


def _node_vars(plan: SitePlan, node: NodePlan) -> Vars:
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    written = role_files(plan, node)
    facts = {verb: {**found, **record_facts(verb, written)} for verb, found in host_facts(plan, node).items()}
    found = _connection_vars(plan, node.management_address) | _bmc_vars(node, pool) | _os_vars(node, pool)
    found |= {"up_disk_records": str(state_dir(plan.name) / "disks")} if _has_own_disk(plan, node, pool) else {}
    found |= {"up_provisioner": asked} if (asked := _asked_when_late(plan.provisioning)) else {}
    found |= {f"{verb}_facts": dict(facts[verb]) for verb in VERBS if verb in facts and verb != "verify"}
    found |= {f"{verb}_files": [file.as_dict() for file in files] for verb, files in written.items()}
    found |= _kubernetes_vars(plan, node, unaccepted=pool.acceptance is not None)
    wanted = {name: value for verb in facts for name, value in facts[verb].items()}
    return found | {"verify_facts": wanted}


def _connection_vars(plan: SitePlan, address: str) -> Vars:
    """
    How Ansible reaches a host.

    A host's SSH key is taken at first sight and must stay the same after that: the file is the site's own.
    """
    known_hosts = state_dir(plan.name) / "known_hosts"
    options = f"-o UserKnownHostsFile={known_hosts} -o StrictHostKeyChecking=accept-new -o ConnectTimeout=10"
    found: Vars = {
        "ansible_host": address.split("/", maxsplit=1)[0],
        "ansible_user": "root",
        "ansible_python_interpreter": "/usr/bin/python3",
        "ansible_ssh_common_args": options,
    }
    key = plan.admin_private_key_file
    return found | ({"ansible_ssh_private_key_file": str(Path(key).expanduser())} if key else {})


def _bmc_vars(node: NodePlan, pool: PoolPlan) -> Vars:
    if node.bmc is None:
        return {}
    access = {
        "address": node.bmc.address,
        "protocol": node.bmc.protocol,
        "credentials": node.bmc.credentials,
        "ca_file": node.bmc.ca_file and str(Path(node.bmc.ca_file).expanduser()),
    }
    found: Vars = {"bmc_access": access, "read_bmc_access": access}
    if node.bmc.default_credentials:
        found["bmc_accounts_default"] = node.bmc.default_credentials
        found |= {"bmc_accounts_machine": machine} if (machine := _machine(node)) else {}
    if pool.firmware:
        # A rack is what a bad update may take down, and no more.
        items = [{key: value for key, value in asdict(item).items() if value is not None} for item in pool.firmware]
        found |= {"bmc_firmware_items": items, "bmc_firmware_domain": node.rack}
        found |= {"bmc_firmware_machine": machine} if (machine := _machine(node)) else {}
    return found


def _provisioner_vars(plan: SitePlan, provisioning: ProvisioningPlan) -> Vars:
    """Files to write on the provisioner, and files to copy there from the image folders of the deploy host."""
    facts = next(play.facts[provisioning.host] for play in plan_plays(plan) if play.playbook == "pxe")
    return _connection_vars(plan, provisioning.host_address) | {
        "pxe_facts": dict(facts),
        "pxe_files": [file.as_dict() for file in boot.pxe_files(plan, provisioning)],
        "pxe_images": boot.image_copies(provisioning),
        "pxe_links": boot.program_links(provisioning),
    }


def _asked_when_late(provisioning: ProvisioningPlan | None) -> Vars:
    """Return who is asked, and for what, when a node does not come up in time; nothing where nobody can tell."""
    name = foreign_dhcp_fact(provisioning) if provisioning else None
    return {"address": bare_address(provisioning.host_address), "fact": name} if provisioning and name else {}


def _has_own_disk(plan: SitePlan, node: NodePlan, pool: PoolPlan) -> bool:
    """Tell whether a node boots from its own disk: a root in memory may have a new machine id at every boot."""
    images = plan.provisioning.images if plan.provisioning else ()
    in_memory = any(image.name == pool.image and image.kind == "squashfs" for image in images)
    return node.boot == "image-installed" or not in_memory


def _machine(node: NodePlan) -> Vars:
    """Return what the delivery list says of the machine itself, by the names of its BMC's facts."""
    settings = node.bmc.settings if node.bmc else {}
    return {name: settings[name] for name in ("machine_uuid", "machine_serial") if name in settings}


def _os_vars(node: NodePlan, pool: PoolPlan) -> Vars:
    return {
        "up_timeout_s": pool.os.boot_timeout_s,
        "up_macs": [nic.mac for nic in node.nics if nic.mac],
        **({"up_machine": machine} if (machine := _machine(node)) else {}),
        "os_links": [{"name": nic.name, "mac": nic.mac} for nic in node.nics if nic.mac],
    }


def role_files(plan: SitePlan, node: NodePlan) -> dict[str, tuple[HostFile, ...]]:
    """Return, by role, the files whose record a host keeps."""
    pool = next(pool for pool in plan.pools if pool.name == node.pool)
    found = {"os": host_files.os_files(node, pool, host_side(plan, node.name))}
    found |= {"rdma": host_files.rdma_files(node, pool.rdma)} if pool.rdma else {}
    return found | ({"gpu": host_files.gpu_files(plan, node, pool.gpu)} if pool.gpu else {})


def record_facts(role: str, written: Mapping[str, tuple[HostFile, ...]]) -> Facts:
    """Return the fact that a role's files are as it wrote them, which is named by what it writes."""
    return {f"files.{role}": files_digest(written[role])} if role in written else {}


def _kubernetes_vars(plan: SitePlan, node: NodePlan, *, unaccepted: bool) -> Vars:
    cluster = plan.cluster
    if cluster is None:
        return {}
    offers = dict(next(pool for pool in plan.pools if pool.name == node.pool).offers)
    return {
        "kubernetes_files": [
            file.as_dict() for file in host_files.kubernetes_files(node, cluster, unaccepted=unaccepted)
        ],
        "kubernetes_bootstrap_kubeconfig": host_files.bootstrap_kubeconfig(cluster),
        "kubernetes_node_name": node.name,
        "kubernetes_node_address": bare_address(node.management_address),
        "read_node_access": {"name": node.name, "kubeconfig": cluster.kubeconfig},
        "drain_node": {"name": node.name, "kubeconfig": cluster.kubeconfig, **({"offers": offers} if offers else {})},
        "kubernetes_kubeconfig": cluster.kubeconfig,
        "kubernetes_bootstrap_token": cluster.bootstrap_token,
    }


def _verb_groups(plan: SitePlan, node: NodePlan) -> Iterator[str]:
    for verb in host_facts(plan, node):
        if verb in {"bmc_firmware", "bmc", "rdma", "gpu", "kubernetes"}:
            yield f"{verb}_nodes"


def _group_name(name: str) -> str:
    return name.replace("-", "_")


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def _roles_of(playbook: Path) -> list[str]:
    plays = yaml.safe_load(playbook.read_text(encoding="utf-8"))
    roles = [role for play in plays for role in play.get("roles", [])]
    imports = [task.get("ansible.builtin.import_role") for play in plays for task in play.get("tasks", [])]
    named = [role if isinstance(role, str) else str(role["role"]) for role in roles]
    return [*named, *(str(role["name"]) for role in imports if role)]
