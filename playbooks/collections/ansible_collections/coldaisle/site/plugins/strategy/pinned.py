"""The strategy `pinned`: Ansible's host_pinned, at a cost a host that does not grow with the number of hosts."""

from __future__ import annotations

from typing import Any

from ansible.plugins.strategy.host_pinned import StrategyModule as HostPinned

DOCUMENTATION = r"""
name: pinned
short_description: Each host goes to its end on its own, and those at their end are left alone
description:
  - Does what P(ansible.builtin.host_pinned#strategy) does. That one looks at all hosts that are done already each time
    something happens, from the first one on, so that a thousand hosts cost several times as much each as a hundred.
author:
  - The Coldaisle authors
"""


class StrategyModule(HostPinned):  # type: ignore[misc]  # Ansible carries no types
    """Ansible's name for a strategy."""

    def __init__(self, tqm: Any) -> None:  # noqa: ANN401 - Ansible carries no types
        """Start with no host begun, and none done."""
        super().__init__(tqm)
        self._begun: set[str] = set()
        self._done: set[str] = set()

    def get_hosts_left(self, iterator: Any) -> list[Any]:  # noqa: ANN401 - see above
        """Return the hosts that have something left to do; at the end of the play all, since Ansible wants some."""
        hosts = super().get_hosts_left(iterator)
        for host in (host for host in hosts if host.name in self._begun and not self._blocked_hosts.get(host.name)):
            if iterator.get_next_task_for_host(host, peek=True)[1] is None:
                self._done.add(host.name)
        self._begun -= self._done
        return [host for host in hosts if host.name not in self._done] or hosts

    def _queue_task(self, host: Any, task: Any, task_vars: Any, play_context: Any) -> None:  # noqa: ANN401 - see above
        self._begun.add(host.name)
        super()._queue_task(host, task, task_vars, play_context)
