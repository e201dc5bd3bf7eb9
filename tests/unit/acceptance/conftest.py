"""A site of four nodes in one rack, planned once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from coldaisle.acceptance import Output, Selection, Step, floors, plan_steps
from coldaisle.plan import SitePlan, plan_site
from coldaisle.spec import load_site
from coldaisle.spec.sections import SiteSpec
from sim.hall.spec import write

NODES = 4


@pytest.fixture(scope="session")
def spec(tmp_path_factory: pytest.TempPathFactory) -> SiteSpec:
    """Return the spec of four nodes with eight GPUs and one rail each."""
    return load_site(write(tmp_path_factory.mktemp("accept") / "site", NODES, "accept"))


@pytest.fixture(scope="session")
def plan(spec: SiteSpec) -> SitePlan:
    """Return its plan."""
    return plan_site(spec)


@pytest.fixture(scope="session")
def steps_of(spec: SiteSpec, plan: SitePlan) -> Callable[..., tuple[Step, ...]]:
    """Return a function that plans the steps of a selection."""
    limits = floors(spec.catalog)
    return lambda **wanted: plan_steps(plan, limits, Selection(**wanted))


def said(step: Step, text: str, status: int | None = 0, why: str = "") -> Output:
    """Return an output of a step."""
    return Output(id=step.id, text=text, status=status, why=why)
