"""
Below a feed: which supply is plugged in at which breaker bank, and what each bank and each phase carries in amperes.

A feed under its total can still overload one bank or one phase. Currents of a phase are added with their angles, since
a load between two phases loads both, 30 degrees before one and 30 behind the other.
"""

from __future__ import annotations

from cmath import exp
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import acos, pi, sqrt

from coldaisle.plan.model import BankPlan, PhasePlan
from coldaisle.plan.placement import Placed
from coldaisle.plan.power.arithmetic import feed_shares, spread_psus, worst
from coldaisle.spec.power import Bank, PowerFeed

PHASES = ("L1", "L2", "L3")
_UNITS = {phase: exp(-2j * pi * at / 3) for at, phase in enumerate(PHASES)}
_DECIMALS = 6
NOTHING: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Supply:
    """
    A power supply of a device on a feed; `part` is its share of what the device draws through this feed.

    `bank` is None for one that no bank has an outlet for.
    """

    device: Placed
    number: int
    part: float
    bank: str | None

    @property
    def label(self) -> str:
        """Return the supply as a label says it, counted from 1: `r01-n01 psu2`."""
        return f"{self.device.placement.device} psu{self.number}"


@dataclass(frozen=True, slots=True)
class FeedBanks:
    """A feed's banks and phases, and the supplies that no bank has an outlet for."""

    banks: tuple[BankPlan, ...] = ()
    phases: tuple[PhasePlan, ...] = ()
    unplugged: tuple[str, ...] = ()


def plug_in(feed: PowerFeed, at: int, feeds: int, devices: Sequence[Placed]) -> tuple[Supply, ...] | None:
    """
    Return where each supply on a feed is plugged in, from the lowest rack unit up; None where a count is not known.

    Args:
        feed: The feed with its banks.
        at: Its place among the feeds of the rack.
        feeds: How many feeds the rack has.
        devices: What stands in the rack, by rack unit.
    """
    taken = {bank.name: 0 for bank in feed.banks}
    supplies: list[Supply] = []
    for device in devices:
        if device.psus is None:
            return None
        count = spread_psus(device.psus.count, feeds)[at]
        for index in range(count):
            bank = _free_bank(feed.banks, device.placement.rack_unit, taken)
            supplies.append(Supply(device, at + 1 + index * feeds, 1 / count, bank))
            if bank is not None:
                taken[bank] += 1
    return tuple(supplies)


def _free_bank(banks: Sequence[Bank], rack_unit: int, taken: Mapping[str, int]) -> str | None:
    """Return the bank that a device's supply goes to: of those for its rack unit, the one with fewest so far."""
    near = [bank for bank in banks if bank.rack_units and bank.rack_units[0] <= rack_unit <= bank.rack_units[1]]
    near = near or [bank for bank in banks if not bank.rack_units]
    free = [bank.name for bank in near if bank.outlets is None or taken[bank.name] < bank.outlets]
    return min(free, key=lambda name: taken[name], default=None)


def plan_banks(  # noqa: PLR0913, PLR0917 - a feed, its place, what hangs on it, and what may be lost
    feed: PowerFeed, at: int, feeds: int, devices: Sequence[Placed], derating: float, losses: Sequence[frozenset[int]]
) -> FeedBanks:
    """Return banks and phases of a feed in full and after the worst of some losses; empty where it names no banks."""
    if not feed.banks:
        return FeedBanks()
    supplies = plug_in(feed, at, feeds, devices)
    states = [_state(feed, at, devices, supplies, _Lost(feeds, lost)) for lost in (NOTHING, *losses)]
    banks = [_bank(feed, bank, derating, supplies, [state.banks[bank.name] for state in states]) for bank in feed.banks]
    phases = [
        PhasePlan(
            name=phase,
            capacity_a=feed.breaker_a * derating,
            load_a=states[0].phases[phase],
            load_after_loss_a=worst(state.phases[phase] for state in states),
        )
        for phase in (PHASES if feed.phases != 1 else ())
    ]
    unplugged = tuple(supply.label for supply in supplies or () if supply.bank is None)
    return FeedBanks(tuple(banks), tuple(phases), unplugged)


def _bank(
    feed: PowerFeed, bank: Bank, derating: float, supplies: tuple[Supply, ...] | None, states: Sequence[_BankState]
) -> BankPlan:
    return BankPlan(
        name=bank.name,
        phase=bank.phase if feed.phases != 1 else None,
        breaker_a=bank.breaker_a,
        capacity_a=bank.breaker_a * derating,
        load_w=states[0].load_w,
        load_a=states[0].load_a,
        load_after_loss_a=worst(state.load_a for state in states),
        outlets=bank.outlets,
        supplies=tuple(supply.label for supply in supplies or () if supply.bank == bank.name),
    )


# -- one state of the feeds -----------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class _Lost:
    """How many feeds a rack has, and which of them are lost."""

    feeds: int
    lost: frozenset[int]


@dataclass(frozen=True, slots=True)
class _BankState:
    load_w: float | None
    load_a: float | None
    current: complex | None


@dataclass(frozen=True, slots=True)
class _State:
    banks: Mapping[str, _BankState]
    phases: Mapping[str, float | None]


def _state(
    feed: PowerFeed, at: int, devices: Sequence[Placed], supplies: tuple[Supply, ...] | None, lost: _Lost
) -> _State:
    if supplies is None or any(_plugged_over(device, at, lost) for device in devices):
        unknown = _BankState(None, None, None)
        return _State({bank.name: unknown for bank in feed.banks}, dict.fromkeys(PHASES))
    draws = [(supply, _draw_w(supply, at, lost)) for supply in supplies]
    banks = {
        bank.name: _bank_state(feed, bank, [(s, watts) for s, watts in draws if s.bank == bank.name])
        for bank in feed.banks
    }
    astray = any(watts != 0 for supply, watts in draws if supply.bank is None)
    return _State(banks, dict.fromkeys(PHASES) if astray else phase_currents_a(feed.banks, banks))


def _plugged_over(device: Placed, at: int, lost: _Lost) -> bool:
    """Tell whether a device that has no supply on a feed must be plugged over to it: into which bank, nobody knows."""
    count = device.psus.count if device.psus else 0
    return not spread_psus(count, lost.feeds)[at] and feed_shares(count, lost.feeds, lost.lost)[at] > 0 and count > 0


def _draw_w(supply: Supply, at: int, lost: _Lost) -> float | None:
    """Return what a supply draws with some feeds lost."""
    draw_w, psus = supply.device.placement.max_power_w, supply.device.psus
    if draw_w is None or psus is None:
        return None
    return draw_w * feed_shares(psus.count, lost.feeds, lost.lost)[at] * supply.part


def _bank_state(feed: PowerFeed, bank: Bank, draws: Sequence[tuple[Supply, float | None]]) -> _BankState:
    volts = bank_voltage_v(feed, bank)
    load_w, current = 0.0, 0j
    for supply, draw_w in draws:
        if draw_w is None:
            return _BankState(None, None, None)
        load_w += draw_w
        power_factor = supply.device.power_factor or feed.power_factor
        current += draw_w / power_factor * exp(-1j * acos(power_factor)) / (volts or 1)
    if volts is None and load_w:
        return _BankState(load_w, None, None)
    return _BankState(round(load_w, _DECIMALS), round(abs(current), _DECIMALS), current)


def bank_voltage_v(feed: PowerFeed, bank: Bank) -> float | None:
    """
    Return what watts of a bank are divided by to give its amperes, in volts; None where its phase is not known.

    One phase: volts to neutral. Two: volts line to line. Three: sqrt(3) times these. A feed of one phase: its volts.
    """
    if feed.phases == 1:
        return feed.voltage_v
    if bank.phase is None:
        return None
    to_neutral = feed.voltage_v / (sqrt(3) if feed.voltage_reference == "line-to-line" else 1)
    return to_neutral * {1: 1.0, 2: sqrt(3), 3: 3.0}[len(bank.phase.split("-"))]


def phase_currents_a(banks: Sequence[Bank], states: Mapping[str, _BankState]) -> dict[str, float | None]:
    """Return the amperes of each conductor; None where a load on it, or the phase of any loaded bank, is not known."""
    currents: dict[str, complex | None] = dict.fromkeys(PHASES, 0j)
    for bank in banks:
        state = states[bank.name]
        if bank.phase is None and state.load_w != 0:
            return dict.fromkeys(PHASES)
        for phase, unit in _conductors(bank):
            so_far = currents[phase]
            currents[phase] = None if so_far is None or state.current is None else so_far + state.current * unit
    return {phase: None if found is None else round(abs(found), _DECIMALS) for phase, found in currents.items()}


def _conductors(bank: Bank) -> Iterator[tuple[str, complex]]:
    """Yield the conductors that a bank loads, each with the direction of its current at a power factor of 1."""
    names = bank.phase.split("-") if bank.phase else []
    if len(names) == 2:  # noqa: PLR2004 - line to line: out on one, back on the other
        unit = (_UNITS[names[0]] - _UNITS[names[1]]) / sqrt(3)
        yield names[0], unit
        yield names[1], -unit
    else:
        yield from ((name, _UNITS[name]) for name in names)
