"""What the provider needs of a site: the inventory of some hosts, the playbooks, and a folder for state."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coldaisle.inventories import given, load, part_of
from coldaisle.paths import packaged, state_dir
from coldaisle.words import JOURNAL_FILE

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PLAYBOOKS_VARIABLE = "COLDAISLE_PLAYBOOKS"

EXECUTION, EXECUTION_NODES = "execution", "execution_nodes"
"""Variables of the inventory, of all hosts and of one: the execution nodes, and those of the host in their order."""


class SiteProblemError(Exception):
    """The site's spec cannot be used; the message is complete."""


@dataclass(frozen=True, slots=True)
class ExecutionNode:
    """A machine that runs playbooks for hosts near it: how it is logged in to, its pinned key, and its Python."""

    name: str
    address: str
    port: int
    user: str
    host_key: str
    key_file: str
    python: str


@dataclass(frozen=True, slots=True)
class Site:
    """A site, as far as a play needs it. `inventory` is Ansible's YAML form; `retired` nodes are in no play."""

    name: str
    inventory: dict[str, Any]
    state: Path
    retired: frozenset[str] = frozenset()

    def has(self, host: str) -> bool:
        """Say whether the site has this host."""
        return host in self.inventory["all"]["hosts"]

    @property
    def execution_nodes(self) -> dict[str, ExecutionNode]:
        """Return the execution nodes by name; none where the runner itself reaches every host."""
        return {name: ExecutionNode(**node) for name, node in self._execution.get("nodes", {}).items()}

    @property
    def runner_stands_in(self) -> bool:
        """Say whether the runner itself takes the hosts of which all execution nodes are lost."""
        return bool(self._execution.get("runner_stands_in", True))

    def through(self, host: str) -> tuple[str, ...]:
        """Return the execution nodes of a host: the first is used, the others stand in for it."""
        return tuple(self.inventory["all"]["hosts"].get(host, {}).get(EXECUTION_NODES, ()))

    @property
    def _execution(self) -> dict[str, Any]:
        found: dict[str, Any] = self.inventory["all"].get("vars", {}).get(EXECUTION, {})
        return found

    def of_hosts(
        self,
        hosts: list[str],
        extra: dict[str, dict[str, Any]] | None = None,
        groups: Mapping[str, Collection[str]] | None = None,
    ) -> dict[str, Any]:
        """
        Return the inventory of just these hosts, in the groups that they are in, with more variables a host and groups.

        Raises:
            SiteProblemError: a host is not in the site.

        """
        known = self.inventory["all"]["hosts"]
        missing = [host for host in hosts if host not in known]
        if missing:
            raise SiteProblemError(
                f"site {self.name} has no host {', '.join(missing)}\n"
                f"  fix: take them out of the play, or put them back into the site's spec"
            )
        return part_of(self.inventory, hosts, extra, groups)


def playbooks_dir() -> Path:
    """Return the folder of the playbooks: of the environment's COLDAISLE_PLAYBOOKS, else the package's."""
    own = os.environ.get(PLAYBOOKS_VARIABLE)
    return Path(own) if own else packaged("playbooks")


def project_root() -> Path:
    """Return the folder of Pulumi.yaml, from the working directory upwards, or the working directory itself."""
    here = Path.cwd()
    return next((folder for folder in (here, *here.parents) if (folder / "Pulumi.yaml").is_file()), here)


def site_folder(site: str) -> Path:
    """Return the folder of a site: absolute, or relative to the project's root."""
    return project_root() / Path(site).expanduser()


def open_site(site: str) -> Site:
    """
    Load and plan a site, once as long as its files stay the same.

    Raises:
        SiteProblemError: with every problem of the spec.

    """
    if own := given():
        return _given(Path(site).name, own, own.stat().st_mtime_ns)
    folder = site_folder(site)
    if not folder.is_dir():
        raise SiteProblemError(
            f"there is no site folder {folder}\n  fix: 'site' is relative to the folder of Pulumi.yaml"
        )
    return _planned(folder, spec_stamp(folder))


def spec_stamp(folder: Path) -> tuple[tuple[str, int], ...]:
    """Return what changes when a file of a spec does: names and times."""
    files = [*folder.rglob("*.yaml"), *folder.glob(JOURNAL_FILE)]
    return tuple((str(path), path.stat().st_mtime_ns) for path in sorted(files))


@lru_cache(maxsize=4)
def _given(name: str, file: Path, _stamp: int) -> Site:
    """Return the site of an inventory's file, read once as long as it stays the same."""
    return Site(name, load(file), state_dir(name))


@lru_cache(maxsize=4)
def _planned(folder: Path, _stamp: tuple[tuple[str, int], ...]) -> Site:
    from coldaisle.check import open_site as checked_site  # noqa: PLC0415 - a preview without drift needs no plan
    from coldaisle.check.report import report  # noqa: PLC0415
    from coldaisle.render.ansible import inventory  # noqa: PLC0415
    from coldaisle.spec import SpecError  # noqa: PLC0415

    try:
        plan = checked_site(folder).plan
    except SpecError as error:
        raise SiteProblemError(f"the spec of {folder} has problems:\n{report(error.problems)}") from None
    retired = frozenset(node.name for node in plan.retired)
    return Site(plan.name, inventory(plan), state_dir(plan.name), retired)
