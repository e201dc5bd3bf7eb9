"""
Two configurations of a switch by their sections, compared and told of; the same for every operating system.

Standard library only: it runs on switches and on the deploy host.
"""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.host import wait_until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Sections = dict[str, str]


def changes_of(before: Sections, wanted: Sections) -> dict[str, tuple[str, str]]:
    """Return the text before and after of each section that changes."""
    pairs = {name: (before.get(name, ""), wanted.get(name, "")) for name in {**before, **wanted}}
    return {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}


def diff_of(changes: dict[str, tuple[str, str]]) -> list[dict[str, str]]:
    """Return changes in the form that Ansible shows."""
    return [
        {"before_header": name, "after_header": name, "before": f"{old}\n", "after": f"{new}\n"}
        for name, (old, new) in changes.items()
    ]


def lost_sessions(stay: Iterable[str], established: Callable[[], set[str]], sessions_s: float) -> list[str]:
    """Return the sessions of `stay` that are still not up after `sessions_s` seconds."""
    wanted = set(stay)
    missing = set(wanted)

    def all_up() -> bool:
        missing.clear()
        missing.update(wanted - established())
        return not missing

    if wanted:
        wait_until(all_up, sessions_s, interval_s=0.5)
    return sorted(missing)


def why_not_kept(lost: list[str], wrong: list[str]) -> str:
    """Return what keeps a configuration from being kept: sessions that stay away, sections that were not taken."""
    said = [f"sessions that were up did not come back: {', '.join(lost)}"] if lost else []
    return "; ".join([*said, *([f"the switch did not take {', '.join(wrong)} as written"] if wrong else [])])
