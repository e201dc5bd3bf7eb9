"""
Two hosts of a plan as whole machines, back to back, and the RDMA traffic between them.

What needs kernel modules (bonds, VLANs, soft RoCE) cannot run in a namespace of this machine: the guests bring Debian's
generic kernel along.
"""
