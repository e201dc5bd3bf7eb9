"""Sets one host up for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sim.machines import hardware_record
from tests.hosts.breaks import PREPARE_OTHERS
from tests.hosts.files import lay_out
from tests.hosts.host import started
from tests.hosts.settled import ROLES, Settled
from tests.hosts.site import planned_host


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settled]:
    """Start a host, and let its roles set it up from nothing."""
    folder = tmp_path_factory.mktemp("host")
    plan, node, variables = planned_host(folder)
    lay_out(folder / "files", hardware_record(plan, node))
    with started(folder / "files", folder) as host:
        found = Settled(host, variables)
        for command in PREPARE_OTHERS:
            host.shell(command)
        for role in ROLES:
            found.bare[role] = (*found.run_role(role, found.facts[role], check=True), found.read(found.facts[role]))
        for role in ROLES:
            _changed, result = found.run_role(role, found.facts[role])
            assert not result.get("failed"), (role, result["msg"])
        yield found
