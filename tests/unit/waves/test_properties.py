"""What holds for every rollout, whatever fails, stops, or is killed on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.plan.model import RolloutPlan, TelemetryPlan, WaveAcceptancePlan
from coldaisle.waves import Change, Go, Reported, Resume, State, Stop, Target, Tick, begin, from_json, step, to_json
from coldaisle.waves.records import AT_ONCE
from coldaisle.waves.state import Action, Event
from tests.unit.waves.floors import NOON, driver, policy

AMOUNTS = st.one_of(st.integers(1, 6), st.sampled_from(["10%", "25%", "50%", "100%"]))
STARTS = frozenset({"drain", "apply", "reboot"})
TROUBLES = ("none", "none", "none", "fails", "stop", "killed")


@st.composite
def floors(draw: st.DrawFn) -> list[Target]:
    """Draw hosts in racks with two feeds, and pairs of switches that stand in for each other."""
    racks, nodes = draw(st.integers(1, 4)), draw(st.integers(1, 5))
    hosts = [
        Target(
            name=f"r{rack}-n{node}",
            domains={"rack": (f"r{rack}",), "feed": (f"ups-{rack % 2}",), "pool": (f"p{node % 2}",)},
        )
        for rack in range(racks)
        for node in range(nodes)
    ]
    pairs = draw(st.integers(0, 2))
    leaves = [Target(name=f"leaf{n}{side}", domains={}, partners=(f"pair{n}",)) for n in range(pairs) for side in "ab"]
    return hosts + leaves


TESTS = WaveAcceptancePlan(phase="quick", domains=(), tests=(), max_loss_percent=5)
QUERY = TelemetryPlan(name="xids", url="http://p", query="xids", max=0, min=None)


@st.composite
def policies(draw: st.DrawFn) -> RolloutPlan:
    """Draw a policy without windows: time is tested apart."""
    kinds = draw(st.sets(st.sampled_from(["rack", "feed", "pool"])))
    return policy(
        canary=draw(st.one_of(st.integers(0, 3), st.just("20%"))),
        wave_by=draw(st.sampled_from(["rack", "feed", "pool"])),
        max_at_once=draw(AMOUNTS),
        max_unavailable={kind: draw(AMOUNTS) for kind in sorted(kinds)},
        max_failed=draw(st.integers(0, 3)),
        on_regression=draw(st.sampled_from(["stop", "roll-back"])),
        drain=draw(st.booleans()),
        soak_s=draw(st.sampled_from([0, 60])),
        acceptance=draw(st.sampled_from([None, TESTS])),
        telemetry=draw(st.sampled_from([(), (QUERY,)])),
    )


class Watch:
    """Drives a rollout through drawn troubles, and holds it to its limits at every step."""

    def __init__(self, data: st.DataObject, state: State) -> None:
        """Watch a rollout that has not begun."""
        self.data, self.state, self.now = data, state, NOON
        self.begun: list[str] = []
        self.broken: set[str] = set()
        self.calm = False
        self.resumes = 0

    def give(self, event: Event) -> Action | None:
        """Give an event, and return what is asked for."""
        before = self.state
        self.state, actions = step(from_json(to_json(before)), event, self.now)
        assert (self.state, actions) == step(before, event, self.now)
        for action in actions:
            self._holds(before, event, action)
        return actions[-1] if actions else None

    def _holds(self, before: State, event: Event, action: Action) -> None:
        if before.stopping and not isinstance(event, Resume):
            assert action.kind not in STARTS or isinstance(event, Go)
        if action.kind == "apply" and not isinstance(event, Go | Resume):
            assert not [host for host in action.hosts if before.status(host) in {"done", "failed"}]
            self.begun += action.hosts
        if action.kind == "uncordon":
            assert not self.broken & set(action.hosts)
        out = {*self.state.cordoned, *self.state.with_status("touched", "failed", "again")}
        working = set(action.hosts) if action.kind in STARTS else set()
        for name, allowed in self.state.limits.allowed.items():
            counted = working if name == AT_ONCE else working | out
            assert sum(name in self.state.limits.counted[host] for host in counted) <= allowed, name

    def run(self) -> None:
        """Drive the rollout to its end; after some resumes nothing goes wrong any more."""
        action = self.give(Go())
        while True:
            assert action is not None
            if action.kind == "done":
                return
            if action.kind == "stopped":
                self.resumes += 1
                self.calm = self.resumes > 3
                action = self.give(Resume())
            elif action.kind == "wait":
                self.now = action.until or self.now
                action = self.give(Tick())
            else:
                action = self.give(self._report(action))

    def _report(self, action: Action) -> Event:
        assert action.kind != "wait"
        assert action.kind != "stopped"
        assert action.kind != "done"
        trouble = "none" if self.calm else self.data.draw(st.sampled_from(TROUBLES))
        if trouble == "killed":
            return Go()
        if trouble == "stop":
            self.give(Stop("^C"))
        bad = self.data.draw(st.sampled_from(action.hosts)) if trouble == "fails" and action.hosts else None
        if action.kind in {"verify", "roll-back"}:
            self.broken -= set(action.hosts)
        if bad and action.kind in {"apply", "reboot", "verify", "accept", "roll-back"}:
            self.broken.add(bad)
        return Reported(action.kind, {host: "broken" if host == bad else None for host in action.hosts})


@settings(max_examples=150, deadline=None)
@given(targets=floors(), rules=policies(), data=st.data())
def test_limits_hold_and_every_host_ends_as_planned(
    targets: list[Target], rules: RolloutPlan, data: st.DataObject
) -> None:
    """Limits hold at every step; after a stop nothing starts; at the end every host is done, or failed and allowed."""
    reboots = data.draw(st.booleans())
    watch = Watch(data, begin(driver(targets, reboots=reboots), rules, targets))
    watch.run()
    left = watch.state.with_status("failed")
    assert len(left) <= rules.max_failed
    assert sorted((*watch.state.with_status("done"), *left)) == sorted(target.name for target in targets)
    assert set(watch.state.cordoned) <= set(left)
    if not watch.resumes:
        assert sorted(watch.begun) == sorted(set(watch.begun))


@settings(max_examples=150, deadline=None)
@given(targets=floors(), rules=policies())
def test_waves_have_every_host_once_and_the_canary_first(targets: list[Target], rules: RolloutPlan) -> None:
    """Waves are the same whatever the order of the changes; partners are never in one wave; canaries lead."""
    changes = driver(targets)
    waves = begin(changes, rules, targets).waves
    assert waves == begin(changes[::-1], rules, targets[::-1]).waves
    assert sorted(host for wave in waves for host in wave.hosts) == sorted(target.name for target in targets)
    flags = [wave.canary for wave in waves]
    assert flags == sorted(flags, reverse=True)
    by_name: Mapping[str, Target] = {target.name: target for target in targets}
    for wave in waves:
        groups = [name for host in wave.hosts for name in by_name[host].partners]
        assert len(groups) == len(set(groups))
        if not wave.canary:
            assert len({by_name[host].domains.get(rules.wave_by) for host in wave.hosts}) == 1


@settings(max_examples=50, deadline=None)
@given(targets=floors(), rules=policies(), at=st.integers(0, 30))
def test_a_host_that_failed_before_is_the_canary(targets: list[Target], rules: RolloutPlan, at: int) -> None:
    """What stopped the last rollout is tried first in the next one."""
    changes: list[Change] = driver(targets)
    chosen = at % len(changes)
    changes[chosen] = replace(changes[chosen], retry=True)
    waves: Any = begin(changes, rules, targets).waves
    if waves[0].canary:
        assert changes[chosen].target.name in {host for wave in waves if wave.canary for host in wave.hosts}
