"""
The command line of every process of the control plane: pure functions from a layout to the supervisor's records.

etcd → API server → controllers, scheduler, KWOK, Prometheus, agent. All of them listen on the control plane's own
address or on the namespace's loopback, never on every address: pod addresses live in the same namespace.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from sim.cluster.identity import certificates
from sim.cluster.supervisor import Process

if TYPE_CHECKING:
    from collections.abc import Callable

    from sim.cluster.layout import Layout

ETCD = "127.0.0.1:2379"
NODE_GRACE_S = 25
"""How long a node may stay silent before the controllers call it NotReady; Kubernetes' default is 50."""


def processes(layout: Layout, find: Callable[[str], str]) -> list[Process]:
    """Return all processes, in the order of their start. `find` gives the path of a program by its name."""
    control_plane = [
        _etcd(layout, find),
        _api_server(layout, find),
        _controller_manager(layout, find),
        _scheduler(layout, find),
    ]
    players = [] if layout.real_nodes else [_kwok(layout, find), _agent(layout), _prometheus(layout, find)]
    return control_plane + players


def _flags(**values: object) -> list[str]:
    return [f"--{name.replace('_', '-')}={value}" for name, value in values.items()]


def _etcd(layout: Layout, find: Callable[[str], str]) -> Process:
    peer = "http://127.0.0.1:2380"
    flags = _flags(
        name="sim",
        data_dir=layout.folder / "etcd",
        listen_client_urls=f"http://{ETCD}",
        advertise_client_urls=f"http://{ETCD}",
        listen_peer_urls=peer,
        initial_advertise_peer_urls=peer,
        initial_cluster=f"sim={peer}",
        unsafe_no_fsync="true",  # a simulated site is made anew; it need not survive a power cut
        auto_compaction_retention="10m",
        log_level="warn",
    )
    return Process("etcd", [find("etcd"), *flags], listens=ETCD)


def _api_server(layout: Layout, find: Callable[[str], str]) -> Process:
    own = certificates(layout)
    flags = _flags(
        advertise_address=layout.api_address,
        bind_address=layout.api_address,
        secure_port=layout.api_port,
        etcd_servers=f"http://{ETCD}",
        service_cluster_ip_range=layout.service_cidr,
        authorization_mode="Node,RBAC",
        enable_admission_plugins="NodeRestriction",
        enable_bootstrap_token_auth="true",  # noqa: S106 - a flag
        allow_privileged="true",
        profiling="false",
        client_ca_file=layout.pki / "ca.crt",
        tls_cert_file=own / "apiserver.crt",
        tls_private_key_file=own / "apiserver.key",
        kubelet_client_certificate=own / "apiserver-kubelet-client.crt",
        kubelet_client_key=own / "apiserver-kubelet-client.key",
        kubelet_certificate_authority=layout.pki / "ca.crt",
        kubelet_preferred_address_types="InternalIP",  # nothing resolves the names of nodes
        service_account_issuer="https://kubernetes.default.svc.cluster.local",
        service_account_key_file=own / "sa.pub",
        service_account_signing_key_file=own / "sa.key",
    )
    process = [find("kube-apiserver"), *flags, *_aggregator_flags(layout)]
    return Process(
        "kube-apiserver",
        process,
        listens=f"{layout.api_address}:{layout.api_port}",
        ready_path="/readyz",
        needs=["etcd"],
    )


def _aggregator_flags(layout: Layout) -> list[str]:
    """Return what lets the API server forward to KEDA's metrics server, at its pod: nothing routes Services."""
    own = certificates(layout)
    return _flags(
        enable_aggregator_routing="true",
        requestheader_client_ca_file=own / "front-proxy-ca.crt",
        requestheader_allowed_names="front-proxy-client",
        requestheader_extra_headers_prefix="X-Remote-Extra-",
        requestheader_group_headers="X-Remote-Group",
        requestheader_username_headers="X-Remote-User",
        proxy_client_cert_file=own / "front-proxy-client.crt",
        proxy_client_key_file=own / "front-proxy-client.key",
    )


def _component(layout: Layout, name: str, port: int) -> list[str]:
    kubeconfig = layout.kubeconfigs / f"{name}.json"
    return _flags(
        kubeconfig=kubeconfig,
        authentication_kubeconfig=kubeconfig,
        authorization_kubeconfig=kubeconfig,
        bind_address="127.0.0.1",
        secure_port=port,
        cert_dir=layout.folder / "certificates",
        leader_elect="false",
        profiling="false",
    )


def _controller_manager(layout: Layout, find: Callable[[str], str]) -> Process:
    own = certificates(layout)
    flags = _flags(
        cluster_name=layout.site,
        controllers="*,bootstrapsigner,tokencleaner",
        use_service_account_credentials="true",
        service_account_private_key_file=own / "sa.key",
        root_ca_file=layout.pki / "ca.crt",
        cluster_signing_cert_file=layout.pki / "ca.crt",
        cluster_signing_key_file=layout.pki / "ca.key",
        **_pod_ranges(layout),
        node_monitor_grace_period=f"{NODE_GRACE_S}s",
        node_monitor_period="2s",
        horizontal_pod_autoscaler_sync_period="5s",
    )
    argv = [find("kube-controller-manager"), *flags, *_component(layout, "controller-manager", 10257)]
    return Process("kube-controller-manager", argv, listens="127.0.0.1:10257", needs=["kube-apiserver"])


def _pod_ranges(layout: Layout) -> dict[str, str]:
    """Return the flags by which nodes that run pods themselves get a range each; played pods share one."""
    if not layout.real_nodes:
        return {"allocate_node_cidrs": "false"}
    return {"allocate_node_cidrs": "true", "cluster_cidr": layout.pod_cidr}


def _scheduler(layout: Layout, find: Callable[[str], str]) -> Process:
    argv = [find("kube-scheduler"), *_component(layout, "scheduler", 10259)]
    return Process("kube-scheduler", argv, listens="127.0.0.1:10259", needs=["kube-apiserver"])


def _kwok(layout: Layout, find: Callable[[str], str]) -> Process:
    flags = _flags(
        kubeconfig=layout.kubeconfigs / "kwok.json",
        config=layout.folder / "kwok.yaml",
        manage_nodes_with_annotation_selector="kwok.x-k8s.io/node=fake",
        cidr=layout.pod_cidr,
        server_address="127.0.0.1:10247",
        node_lease_duration_seconds=0,  # a node's lease is its own host's work
    )
    return Process("kwok", [find("kwok"), *flags], listens="127.0.0.1:10247", needs=["kube-apiserver"])


def _agent(layout: Layout) -> Process:
    root = Path(__file__).resolve().parents[2]
    argv = [sys.executable, "-m", "sim.cluster.agent", str(layout.folder)]
    mirror = f"{layout.api_address}:{layout.mirror_port}"
    return Process("agent", argv, {"PYTHONPATH": str(root)}, listens=mirror, needs=["kube-apiserver"])


def _prometheus(layout: Layout, find: Callable[[str], str]) -> Process:
    address = f"{layout.api_address}:{layout.prometheus_port}"
    flags = [
        f"--config.file={layout.folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={layout.folder / 'prometheus'}",
        "--storage.tsdb.retention.time=2h",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    return Process("prometheus", [find("prometheus"), *flags], listens=address, needs=["agent"])
