"""Settling facts: what follows from others is waited for, and read no oftener than it has to be."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import facts, run_settle
from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, Fact, Value


class PlayedFacts(dict[str, Fact]):
    """A fact that is set, and one that follows from it at the second look after that."""

    def __init__(self) -> None:
        """Begin with nothing set and nothing read."""
        self.value, self.looks = 0, list[Value]()
        super().__init__(mtu=Fact(lambda _: self.value, self._set), gid=Fact(self._follow, None, follows=True))

    def _set(self, _name: str, planned: Value, _context: Context) -> None:
        self.value = int(planned)

    def _follow(self, _name: str) -> Value:
        self.looks.append(self.value and len(self.looks) > 1)
        return "there" if self.looks[-1] else "none"


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> PlayedFacts:
    """Return the facts of a host that is played."""
    found = PlayedFacts()
    monkeypatch.setattr(facts, "HOST_FACTS", found)
    return found


def settled(planned: dict[str, Any]) -> dict[str, Any]:
    """Settle facts as the module does."""
    return run_settle.run({"facts": planned, "links": []}, check=False)


def test_what_follows_is_read_until_it_is_there_and_not_again(played: PlayedFacts) -> None:
    """One look before, then looks until it follows, of which the last is what is told."""
    planned = {"mtu.rail0": 9000, "gid.rail0": "there"}
    found = settled(planned)
    assert (found["facts"], found["changed"], "failed" in found) == (planned, True, False)
    assert len(played.looks) == 3  # before; too early; there


def test_where_nothing_was_set_nothing_is_waited_for(played: PlayedFacts) -> None:
    """A follower that differs alone fails at once: it is looked at before, and once more."""
    found = settled({"mtu.rail0": 0, "gid.rail0": "there"})
    assert found["failed"]
    assert found["msg"].startswith("gid.rail0 is none, planned there")
    assert len(played.looks) == 2
