"""What every task takes whose program runs on a host."""

from __future__ import annotations


class ModuleDocFragment:
    """The option to wait for the host."""

    DOCUMENTATION = r"""
options:
  up:
    description:
      - Whether to wait for the host first, and to look whose it is, as M(coldaisle.site.wait) does with the host's
        variables C(up_timeout_s), C(up_macs), C(up_machine), C(up_disk_records) and C(up_provisioner).
      - In check mode a host that is not up is left alone; C(up) of the result says so.
    type: bool
    default: false
"""
