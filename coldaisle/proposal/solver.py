"""
Which racks take what: a small integer program for HiGHS, with one variable for each way to fill a group of alike racks.

One thread, a fixed seed and no time limit: the same spec gives the same answer on every machine (docs/adr/0009).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import highspy

from coldaisle.proposal.patterns import Pattern
from coldaisle.proposal.shared import Key

_OPTIONS = {
    "output_flag": False,
    "threads": 1,
    "random_seed": 1,
    "mip_rel_gap": 0.0,
    "mip_abs_gap": 0.5,  # every objective is a whole number
    "mip_feasibility_tolerance": 1e-9,
    "primal_feasibility_tolerance": 1e-9,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """
    What is to be solved.

    `racks` has the number of racks of each group, `wanted` the number of nodes of each pool, and `slack` what each
    shared limit can still take.
    """

    patterns: Sequence[Pattern]
    racks: Sequence[int]
    wanted: Sequence[int]
    slack: Mapping[Key, float]


def solve(problem: Problem, *, tidy: bool = True) -> tuple[int, ...]:
    """
    Return how many racks are filled in each way.

    As many nodes as can be, up to what is wanted. Then, of all answers that place as many: the fewest warnings,
    the fewest racks that are meant for something else, the fewest racks, and the first groups filled first.

    Args:
        problem: What is to be solved.
        tidy: False when only the number of nodes matters.
    """
    if not problem.patterns:
        return ()
    model = highspy.Highs()  # type: ignore[no-untyped-call]  # its types lack this
    for name, value in _OPTIONS.items():
        model.setOptionValue(name, value)
    counts = [
        model.addVariable(lb=0, ub=problem.racks[pattern.group], type=highspy.HighsVarType.kInteger)
        for pattern in problem.patterns
    ]
    _constrain(model, counts, problem)
    solution = _optimum(model, counts, problem.patterns, lambda pattern: -len(pattern.units))
    goals: tuple[Callable[[Pattern], int], ...] = (
        lambda pattern: pattern.noise,
        lambda pattern: int(pattern.foreign),
        lambda _: 1,
        lambda pattern: pattern.rank,
        lambda pattern: pattern.rank * len(pattern.units),
    )
    for goal in goals if tidy else ():
        solution = _optimum(model, counts, problem.patterns, goal)
    return solution


def _constrain(model: highspy.Highs, counts: list[highspy.highs_var], problem: Problem) -> None:
    groups: defaultdict[int, list[int]] = defaultdict(list)
    pools: defaultdict[int, list[int]] = defaultdict(list)
    limits: defaultdict[Key, list[int]] = defaultdict(list)
    for at, pattern in enumerate(problem.patterns):
        groups[pattern.group].append(at)
        pools[pattern.pool].append(at)
        for key in pattern.adds:
            limits[key].append(at)
    for group, members in groups.items():
        model.addConstr(model.qsum(counts[at] for at in members) <= problem.racks[group])
    for pool, members in pools.items():
        nodes = (len(problem.patterns[at].units) * counts[at] for at in members)
        model.addConstr(model.qsum(nodes) <= problem.wanted[pool])
    for key, members in limits.items():
        # In units of the largest addend, so that the solver's tolerance is small against one node.
        largest = max(abs(problem.patterns[at].adds[key]) for at in members)
        added = (problem.patterns[at].adds[key] / largest * counts[at] for at in members)
        model.addConstr(model.qsum(added) <= max(problem.slack[key], 0.0) / largest)


def _optimum(
    model: highspy.Highs,
    counts: list[highspy.highs_var],
    patterns: Sequence[Pattern],
    cost: Callable[[Pattern], int],
) -> tuple[int, ...]:
    """Return the counts with the lowest cost, and hold that cost for what is asked next."""
    terms = [(cost(pattern), count) for pattern, count in zip(patterns, counts, strict=True)]
    total = model.qsum(weight * count for weight, count in terms if weight)
    model.minimize(total)
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError(f"the solver ended with {model.modelStatusToString(model.getModelStatus())}")
    solution = tuple(round(value) for value in model.vals(counts))
    best = sum(weight * count for (weight, _), count in zip(terms, solution, strict=True))
    if any(weight for weight, _ in terms):
        model.addConstr(total <= best)
    return solution
