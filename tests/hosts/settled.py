"""A host that its roles have set up, and what the plan wants of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

import pytest

from coldaisle.drift import CouldNotTell, Drifted, compare
from tests.hosts.breaks import OTHERS, Break
from tests.hosts.host import Host

Json = dict[str, Any]
ROLES = ("os", "rdma", "gpu")

needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("nsenter"), reason="makes namespaces, which takes root and util-linux"
)


class Settled:
    """A host that its roles have set up, with what the plan wants of it by role."""

    def __init__(self, host: Host, variables: Json) -> None:
        """Keep host and variables."""
        self.host, self.variables = host, variables
        self.bare: dict[str, tuple[set[str], Json, Mapping[str, object]]] = {}
        self.facts: dict[str, Json] = {role: variables[f"{role}_facts"] for role in ROLES}
        self.facts["others"] = {row.fact: row.planned for row in OTHERS}

    def planned(self, row: Break) -> Json:
        """Return the facts of a row's role; a row may plan something else."""
        return self.facts[row.role] | ({row.fact: row.planned} if row.planned is not None else {})

    def read(self, facts: Json) -> dict[str, Drifted | CouldNotTell]:
        """Read the facts in one task, and return what is not the same."""
        said = self.host.program("read", {"facts": list(facts)})
        answers = compare(facts, said["facts"], said["errors"])
        return {name: answer for name, answer in answers.items() if isinstance(answer, Drifted | CouldNotTell)}

    def run_role(self, role: str, facts: Json, *, check: bool = False) -> tuple[set[str], Json]:
        """Run what a role runs, and return the facts and records that it calls changed, and its task's result."""
        params = {"facts": facts, "links": self.variables["os_links"]}
        if (record := f"files.{role}") in facts:
            params |= {"files": self.variables[f"{role}_files"], "record": {"name": role, "digest": facts[record]}}
        result = self.host.program("set_up" if record in facts else "settle", params, check=check)
        changed = {change["fact"] for change in result.get("changes", [])}
        return changed | ({record} if result.get("paths") else set()), result
