"""What outputs mean: passed, failed with the part, measured, or could not tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from coldaisle.acceptance import Output, Result, Step, judge, outcomes
from coldaisle.acceptance.matrix import culprits
from coldaisle.acceptance.parts import bus
from tests.unit.acceptance import forms
from tests.unit.acceptance.conftest import said

Steps = Callable[..., tuple[Step, ...]]
LIKE = {f"r01-n0{at}": "hall-light" for at in range(1, 5)}
ROW = "{at}, 16505230000{host}{at}, 00000000:{bus:02X}:00.0, 0, 16, 16, 31, Not Active\n"


def gpus(host: int, lost: int | None = None) -> str:
    """Return a table of eight GPUs, as nvidia-smi numbers them: those that are there, from 0."""
    slots = [0x40 + 8 * at for at in range(8) if at != lost]
    return "".join(ROW.format(at=at, host=host, bus=slot) for at, slot in enumerate(slots))


def peers(slow: int) -> str:
    """Return nvbandwidth's table of eight GPUs, of which one copies at a quarter of its rate."""
    columns = "".join(f"{at:10}" for at in range(8))
    cells = [["N/A" if at == to else "90.00" if at == slow else "371.20" for to in range(8)] for at in range(8)]
    rows = "".join(f"{at:2}{''.join(f'{cell:>10}' for cell in row)}\n" for at, row in enumerate(cells))
    name = "device_to_device_memcpy_read_ce"
    return f"Running {name}.\nmemcpy CE bandwidth (GB/s)\n  {columns}\n{rows}\nSUM {name} 1.00\n"


def only(steps: tuple[Step, ...], test: str, host: str = "r01-n01") -> Step:
    """Return the step of a test on a host."""
    return next(step for step in steps if step.test == test and step.host == host)


def one(step: Step, output: Output | None, *more: tuple[Step, Output]) -> Result:
    """Judge a step, with others beside it."""
    steps = [step, *(each for each, _ in more)]
    outputs = {step.id: output} if output else {}
    return judge(steps, outputs | {each.id: it for each, it in more}, LIKE)[0]


def words(result: Result) -> list[tuple[str, str | None]]:
    """Return reasons as words and part."""
    return [(reason.what, reason.part.text() if reason.part else None) for reason in result.reasons]


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (None, "r01-n01 did not run it"),
        (("", None, "nvidia-smi is not installed"), "nvidia-smi is not installed"),
        (("", None, "nvidia-smi did not end within 60 s"), "did not end"),
        (("", 127, ""), "is not installed"),
        (("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.", 9, ""), "exit status 9"),
        ((gpus(1), 1, ""), "ended with 1 and told no fault"),
    ],
)
def test_what_is_not_known_is_never_a_pass(
    steps_of: Steps, output: tuple[str, int | None, str] | None, why: str
) -> None:
    """A tool that did not run, did not end, is not there, or whose status its words do not explain."""
    step = only(steps_of(phase="quick"), "gpu-state")
    result = one(step, said(step, *output) if output else None)
    assert result.status == "could-not-tell"
    assert why in result.reasons[0].what


def test_an_output_that_is_too_long_is_not_judged(steps_of: Steps) -> None:
    """Its beginning is not kept."""
    step = only(steps_of(phase="quick"), "gpu-state")
    cut = Output(id=step.id, text=gpus(1), status=0, whole=False)
    assert one(step, cut).status == "could-not-tell"


def test_a_figure_under_its_floor_names_gpu_serial_and_slot(steps_of: Steps) -> None:
    """Serial and slot come from what the host said in another test."""
    steps = steps_of(phase="full")
    copies, state = only(steps, "peer-copies"), only(steps, "gpu-state")
    result = one(copies, said(copies, peers(slow=5)), (state, said(state, gpus(1))))
    assert result.status == "failed"
    assert words(result) == [
        (
            "device_to_device_gb_s is 90, under the floor of 350 (simulated: chosen for this site)",
            "r01-n01 GPU 5, serial 1650523000015, slot 00000000:68:00.0",
        )
    ]


def test_the_slot_of_a_lost_gpu_follows_from_a_like_host(steps_of: Steps) -> None:
    """nvidia-smi numbers seven GPUs from 0 to 6: only another host tells that slot 58 is the empty one."""
    steps = steps_of(phase="quick")
    lame, whole = only(steps, "gpu-state"), only(steps, "gpu-state", "r01-n02")
    result = one(lame, said(lame, gpus(1, lost=3)), (whole, said(whole, gpus(2))))
    assert words(result) == [("nvidia-smi sees 7 of 8 GPUs", "r01-n01 GPU, slot 00000000:58:00.0")]
    assert words(one(lame, said(lame, gpus(1, lost=3)))) == [("nvidia-smi sees 7 of 8 GPUs", None)]


def test_an_xid_names_the_gpu_by_its_bus_address(steps_of: Steps) -> None:
    """The kernel writes four digits of the domain, nvidia-smi eight."""
    steps = steps_of(phase="quick")
    log, state = only(steps, "kernel-log"), only(steps, "gpu-state")
    text = "[    9.0] NVRM: Xid (PCI:0000:58:00): 48, pid=1\n"
    result = one(log, said(log, text), (state, said(state, gpus(1))))
    assert words(result)[0][1] == "r01-n01 GPU 3, serial 1650523000013, slot 00000000:58:00.0"
    assert bus("0000:58:00") == bus("00000000:58:00.0")


def test_a_figure_without_a_limit_is_measured(steps_of: Steps) -> None:
    """It is neither passed nor failed, and says what is missing."""
    step = only(steps_of(phase="full"), "hpl")
    bare = replace(step, limits=tuple(replace(limit, value=None, source=None) for limit in step.limits))
    result = one(bare, said(bare, forms.HPL))
    assert result.status == "measured"
    assert "measured, not judged" in result.reasons[0].what
    assert result.measured[0].value == 247730.0


def test_a_limit_whose_figure_is_missing_is_no_pass(steps_of: Steps) -> None:
    """Fio that wrote where it should have read."""
    step = only(steps_of(phase="full"), "disk-write")
    result = one(step, said(step, forms.FIO))
    assert (result.status, result.reasons[0].what) == ("measured", "disk_write_mb_s was not measured")


def write(gbps: float) -> str:
    """Return what ib_write_bw prints at a rate."""
    return forms.PERFTEST.replace("392.91", f"{gbps:.2f}")


def fabric(steps_of: Steps, rates: Mapping[str, float | None]) -> list[Result]:
    """Judge the whole matrix of four hosts: a pair is as fast as its slower end; None connects with nobody."""
    steps = [step for step in steps_of(phase="full", rounds=0, domains=("fabric",)) if step.test == "rdma-write"]
    outputs = {}
    for step in steps:
        ends = [rates.get(host, 9.7) for host in step.hosts]
        slowest = None if None in ends else min(rate for rate in ends if rate is not None)
        refused = said(step, f" Couldn't connect to {step.argv[-1]}:18515\n", 1)
        outputs[step.id] = refused if slowest is None else said(step, write(slowest))
    return list(judge(steps, outputs, LIKE))


def test_the_slow_end_of_pairs_is_to_blame(steps_of: Steps) -> None:
    """Three pairs of r01-n02 are slow, three others are not: it is r01-n02's cable, and nobody else's."""
    results = fabric(steps_of, {"r01-n02": 2.4})
    parts = {reason.part.text() for result in results for reason in result.reasons if reason.part}
    assert sum(result.status == "failed" for result in results) == 3
    assert parts == {"cable r01-n02:rail0 to leaf01:swp2"}
    verdicts = {each.node: each.verdict for each in outcomes(results, {})}
    assert verdicts == {"r01-n01": "accepted", "r01-n02": "refused", "r01-n03": "accepted", "r01-n04": "accepted"}


def test_an_end_that_connects_with_nobody_failed(steps_of: Steps) -> None:
    """There is no figure, and it is a failure all the same."""
    verdicts = {each.node: each.verdict for each in outcomes(fabric(steps_of, {"r01-n03": None}), {})}
    assert verdicts["r01-n03"] == "refused"
    assert set(verdicts.values()) == {"accepted", "refused"}


def test_two_ends_that_nothing_tells_apart_are_both_named() -> None:
    """One pair alone; and two bad ends with each other."""
    a, b, c = ("n1", "rail0"), ("n2", "rail0"), ("n3", "rail0")
    assert culprits({frozenset((a, b)): False}) == {frozenset((a, b)): (a, b)}
    all_bad = {frozenset(pair): False for pair in ((a, b), (a, c), (b, c))}
    assert set(culprits(all_bad).values()) == {(a, b), (a, c), (b, c)}


def test_a_group_that_names_its_host_clears_the_others(steps_of: Steps) -> None:
    """One host that fell back to sockets fails; the rest of the rail is accepted."""
    step = next(step for step in steps_of(phase="full") if step.test == "all-reduce-rail")
    networks = {host: "Socket/0" if host == "r01-n04" else "IB/0" for host in step.hosts}
    text = forms.all_reduce(networks, gb_s=9.0)
    own = [each for each in steps_of(phase="quick") if each.test == "gpu-state"]
    told = {step.id: said(step, text)} | {each.id: said(each, gpus(int(each.host[-1]))) for each in own}
    found = outcomes(judge([*own, step], told, LIKE), {})
    assert {each.node: each.verdict for each in found} == {
        "r01-n01": "accepted",
        "r01-n02": "accepted",
        "r01-n03": "accepted",
        "r01-n04": "refused",
    }


def test_a_slow_group_that_names_nobody_keeps_all_from_being_accepted(steps_of: Steps) -> None:
    """Somebody is slow, and nothing says who: the pairs tell."""
    step = next(step for step in steps_of(phase="full") if step.test == "all-reduce-rack")
    text = forms.all_reduce(dict.fromkeys(step.hosts, "IB/0"), gb_s=0.4)
    found = outcomes(judge([step], {step.id: said(step, text)}, LIKE), {})
    assert {each.verdict for each in found} == {"refused"}


def test_what_could_not_be_told_of_a_node_is_not_accepted(steps_of: Steps) -> None:
    """A host that was not reached has run nothing."""
    steps = steps_of(phase="quick", nodes=frozenset({"r01-n01"}))
    (found,) = outcomes(judge(steps, {}, LIKE), {"r01-n01": 2})
    assert (found.verdict, found.event, found.failures) == ("could-not-tell", "could-not-tell", 2)
