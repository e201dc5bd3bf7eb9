"""
The kubelet's configuration file of a pool, as data and as the text that is written.

It is made in the plan, not by a role, so that its digest is a planned fact: drift then sees a changed file.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import yaml

from coldaisle.plan.model import ClusterPlan

PKI_FOLDER = "/etc/kubernetes/pki"
"""Where the join puts the cluster's CA, as kubeadm does."""


def kubelet_config(cluster: ClusterPlan) -> dict[str, Any]:
    """
    Return the KubeletConfiguration of a node.

    Memory Manager stays off: topology hints of GPUs and NICs come from the CPU and Device managers. Source of the
    fields: kubelet.config.k8s.io/v1beta1.
    """
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{PKI_FOLDER}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "cgroupDriver": "systemd",
        "clusterDNS": [cluster.cluster_dns],
        "clusterDomain": "cluster.local",
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "maxPods": cluster.max_pods,
        "podPidsLimit": -1,
        "rotateCertificates": True,
        "serverTLSBootstrap": cluster.kubelet_serving == "signed",
        "topologyManagerPolicy": cluster.topology_manager_policy,
    }


@cache
def kubelet_config_text(cluster: ClusterPlan) -> str:
    """Return the configuration as the YAML text that stands at /var/lib/kubelet/config.yaml."""
    return yaml.safe_dump(kubelet_config(cluster), sort_keys=True)


def digest(text: str) -> str:
    """Return the first 16 hexadecimal digits of the text's SHA-256: enough to see a change, short enough to read."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
