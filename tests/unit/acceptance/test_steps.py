"""Which test runs on which host, with which words, in which order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coldaisle.acceptance import DOMAINS, Selection, Step, floors, plan_steps
from coldaisle.acceptance.parsers import PARSERS
from coldaisle.acceptance.steps import rounds
from coldaisle.acceptance.suite import SUITE
from coldaisle.acceptance.wire import read_outputs, role_variables
from coldaisle.plan import SitePlan
from coldaisle.spec.acceptance import TestName
from coldaisle.spec.load import load_catalog

Steps = Callable[..., tuple[Step, ...]]


def test_local_tests_come_first_and_the_fabric_last(steps_of: Steps) -> None:
    """Rounds do not go down, and within what hosts do by themselves domains stand in their order."""
    steps = steps_of(phase="full")
    assert [step.round for step in steps] == sorted(step.round for step in steps)
    own = [DOMAINS.index(step.domain) for step in steps if step.round == 0]
    assert own == sorted(own)
    assert all((step.domain == "fabric") == (step.round > 0) for step in steps)


def test_every_test_has_a_parser_and_ids_are_single(steps_of: Steps) -> None:
    """The neighbours' parser is the command's own, since it reads what `verify cabling` reads."""
    assert {trial.parser for trial in SUITE} <= {*PARSERS, "neighbours"}
    for phase in ("quick", "full", "soak"):
        ids = [step.id for step in steps_of(phase=phase)]
        assert len(set(ids)) == len(ids)


def test_the_spec_knows_the_tests_by_their_names() -> None:
    """A policy of waves names tests, and the spec is read before the suite is there."""
    assert set(get_args(TestName)) == {trial.name for trial in SUITE}


def test_a_later_phase_has_the_longer_form_only(steps_of: Steps) -> None:
    """DCGM runs once a phase, at its level."""
    levels = {
        phase: [step.argv[3] for step in steps_of(phase=phase) if step.argv[0] == "dcgmi" and step.host == "r01-n01"]
        for phase in ("quick", "full", "soak")
    }
    assert levels == {"quick": ["1"], "full": ["3"], "soak": ["4"]}


def test_selections_are_kept(steps_of: Steps) -> None:
    """By node and domain; a lone node is in no pair and no group."""
    assert {step.host for step in steps_of(phase="full", nodes=frozenset({"r01-n02"}))} == {"r01-n02"}
    assert {step.domain for step in steps_of(phase="full", domains=("gpu",))} == {"gpu"}
    assert not steps_of(phase="full", nodes=frozenset({"r01-n02"}), domains=("fabric",))


def test_a_pair_meets_by_management_and_moves_by_rail(steps_of: Steps) -> None:
    """The server has the client's words without the address; the device is asked of each host itself."""
    pair = next(step for step in steps_of(phase="full") if step.test == "rdma-write")
    assert pair.argv[:5] == ("ib_write_bw", "-d", "@rdma:rail0", "-p", "18515")
    assert pair.argv[:-1] == pair.serve
    assert pair.argv[-1].startswith("100.97.")
    assert pair.expects["cables"][pair.hosts[1]][0] == "leaf01"


def test_amd_has_its_own_tools(plan: SitePlan) -> None:
    """No tool of NVIDIA's is asked of a pool of AMD's GPUs, and RCCL is told its GPU by ROCm's variable."""
    pools = tuple(replace(pool, gpu=replace(pool.gpu, vendor="AMD")) for pool in plan.pools if pool.gpu)
    steps = plan_steps(replace(plan, pools=pools), {}, Selection(phase="soak"))
    tools = {step.argv[0] for step in steps}
    assert {"amd-smi", "rocm-bandwidth-test", "rvs", "all_reduce_perf"} <= tools
    assert not tools & {"nvidia-smi", "dcgmi", "nvbandwidth", "gpu_burn", "nvidia-container-cli"}
    assert any("HIP_VISIBLE_DEVICES=0" in step.argv for step in steps)


def test_groups_prove_rdma(steps_of: Steps) -> None:
    """Each asks for NCCL's log, and for a network that is RDMA on every host."""
    groups = [step for step in steps_of(phase="full") if step.test.startswith("all-reduce-r")]
    assert {step.test for step in groups} == {"all-reduce-rail", "all-reduce-rack"}
    for step in groups:
        assert "NCCL_DEBUG=INFO" in step.argv
        assert step.expects["transport"] == "rdma"
        assert list(step.hosts) == step.expects["hosts"]
    rail = next(step for step in groups if step.test == "all-reduce-rail")
    assert "NCCL_IB_HCA=@rdma:rail0" in rail.argv
    assert "CUDA_VISIBLE_DEVICES=0" in rail.argv


@given(st.integers(0, 40))
def test_in_a_round_a_host_is_once_and_all_meet(count: int) -> None:
    """The whole matrix has each pair once."""
    names = [f"n{at}" for at in range(count)]
    found = list(rounds(names, 0))
    for couples in found:
        hosts = [host for couple in couples for host in couple]
        assert len(set(hosts)) == len(hosts)
    pairs = [frozenset(couple) for couples in found for couple in couples]
    assert sorted(map(sorted, pairs)) == sorted(map(sorted, itertools.combinations(names, 2)))


def test_rounds_end_where_asked() -> None:
    """Three partners each are enough to tell two ends apart."""
    assert len(list(rounds([f"n{at}" for at in range(16)], 3))) == 3


def test_limits_have_a_document(steps_of: Steps) -> None:
    """Every value has a source; a metric without one stays without a value."""
    limits = [limit for step in steps_of(phase="full") for limit in step.limits]
    assert all((limit.value is None) == (limit.source is None) for limit in limits)
    assert {limit.kind for limit in limits} == {"floor", "ceiling"}


def test_the_catalog_gives_limits_by_system() -> None:
    """Figures of the catalog's own entries; a figure that no document gives is absent."""
    found = floors(load_catalog()[0])
    assert found["dgx-h100"]["all_reduce_node_gb_s"][0] == 460
    assert "AzureHPC" in found["dgx-h100"]["all_reduce_node_gb_s"][1]
    assert "hpl_gflops" not in found["dgx-h100"]
    assert "dgx-b200" not in found


def test_a_sites_entry_goes_over_the_catalogs() -> None:
    """Figure by figure, for the systems that it names."""
    catalog = load_catalog()[0]
    own = catalog.acceptance["hgx-h100"].model_copy(
        update={"systems": ["dgx-h100"], "rdma_write_gbps": 390, "all_reduce_node_gb_s": None, "source": "our contract"}
    )
    found = floors(catalog.model_copy(update={"acceptance": {**catalog.acceptance, "ours": own}}))
    assert found["dgx-h100"]["rdma_write_gbps"] == (390, "our contract")
    assert found["dgx-h100"]["all_reduce_node_gb_s"][0] == 460
    assert found["dell-xe9680-h100"]["rdma_write_gbps"][0] == 375


def test_the_role_is_given_own_steps_and_rounds(steps_of: Steps) -> None:
    """Each round has a serving end for each pair; a later rail's server waits for the rails before it."""
    steps = steps_of(phase="full")
    found = role_variables(steps, "/keep")
    assert sorted(found["accept_steps"]) == [f"r01-n0{at}" for at in range(1, 5)]
    first = found["accept_rounds"][0]
    assert sorted([*first["serve"], *first["run"]]) == sorted(found["accept_steps"]) == found["accept_paired"]
    (served,) = next(iter(first["serve"].values()))
    assert served["serve_s"] == served["timeout_s"]
    planned = {step.id for step in steps}
    ran = {
        one["id"]
        for each in (found["accept_steps"], *(it["run"] for it in found["accept_rounds"]))
        for it in each.values()
        for one in it
    }
    assert ran == planned
    assert role_variables([step for step in steps if not step.round], "/keep")["accept_paired"] == []


def test_a_serving_end_that_failed_is_what_is_told() -> None:
    """Whichever end wrote first; a line that a killed run left is passed over."""
    bad = '{"id": "a", "text": "", "status": null, "seconds": 1, "why": "the serving end: gone", "whole": true}'
    good = '{"id": "a", "text": "no connection", "status": 1, "seconds": 1, "why": "", "whole": true}'
    for lines in ([bad, good], [good, bad], [good, bad, '{"id": "b", "te']):
        assert read_outputs(lines)["a"].why == "the serving end: gone"
        assert set(read_outputs(lines)) == {"a"}


@pytest.mark.parametrize("trial", SUITE, ids=lambda trial: trial.name)
def test_tests_need_gpus_where_they_name_a_vendor(trial: object) -> None:
    """A line of the suite is whole: words, an end, and metrics that its parser can give."""
    assert trial.argv  # type: ignore[attr-defined]
    assert trial.timeout_s > 0  # type: ignore[attr-defined]
