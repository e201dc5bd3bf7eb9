"""
The Kubernetes side of the simulated site.

A real etcd, API server, controller manager, scheduler and Prometheus; KWOK plays the pods of nodes whose hosts joined;
pods whose image matters (the engine, KEDA) are real processes at the pod's address.
"""

from sim.cluster.site import down, status, up

__all__ = ["down", "status", "up"]
