"""Parsers on recorded forms: good, bad, and cut short. What is not known never passes."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coldaisle.acceptance.parsers import PARSERS
from coldaisle.acceptance.records import CannotTellError, Measured, Reading, Where
from tests.unit.acceptance import forms

TWO = {"gpus": 2}
COPIES = ["host_to_device_memcpy_ce", "device_to_device_memcpy_read_ce"]
PORTS = {"ports": ["rail0", "rail1"], "fabric": "roce"}
GROUP = {"transport": "rdma", "hosts": ["n1", "n2"]}
RDMA = {"n1": "IB/0/GDRDMA", "n2": "IB/0/GDRDMA"}

GOOD: dict[str, tuple[str, dict[str, Any], str]] = {
    "dcgm": (forms.dcgm(), TWO, "dcgm_diag"),
    "gpu-burn": (forms.GPU_BURN, TWO, "gpu_burn"),
    "nvbandwidth": (forms.NVBANDWIDTH, {**TWO, "tests": COPIES}, "nvbandwidth"),
    "all-reduce": (forms.all_reduce(RDMA), GROUP, "all_reduce"),
    "perftest": (forms.PERFTEST, {}, "perftest"),
    "fio": (forms.FIO, {"directory": "/var/tmp"}, "fio"),  # noqa: S108
    "memory-errors": (forms.MEMORY_ERRORS, {}, "memory_errors"),
    "stressapptest": (forms.STRESSAPPTEST, {}, "stressapptest"),
    "hpl": (forms.HPL, {}, "hpl"),
    "gpu-state": (forms.GPU_STATE, TWO, "gpu_state"),
    "container": (forms.CONTAINER, TWO, "container_gpus"),
    "amd-list": (forms.AMD_LIST, TWO, "amd_smi_list"),
    "rocm-bandwidth": (forms.ROCM_BANDWIDTH, TWO, "rocm_bandwidth"),
    "rvs": (forms.RVS, TWO, "rvs"),
    "rdma-links": (forms.RDMA_LINKS, PORTS, "rdma_links"),
    "infiniband-links": (forms.INFINIBAND_LINKS, {**PORTS, "fabric": "infiniband"}, "rdma_links"),
}


def read(name: str, text: str | None = None, **expects: object) -> Reading:
    """Read a form by its parser, or another text in its place."""
    form, wanted, parser = GOOD[name]
    return PARSERS[parser](form if text is None else text, {**wanted, **expects})


def faults(found: Reading) -> list[tuple[str, str | None]]:
    """Return the faults as words and part."""
    return [(fault.what, fault.where.name if fault.where else None) for fault in found.faults]


@pytest.mark.parametrize("name", GOOD)
def test_a_good_output_has_no_fault(name: str) -> None:
    """Each form as its documentation has it."""
    assert read(name).faults == ()


@pytest.mark.parametrize("name", GOOD)
def test_an_output_that_ends_early_is_no_pass(name: str) -> None:
    """
    Cut off anywhere in its first three fifths, it is refused, or tells of fewer GPUs than there are.

    What is cut behind the last figure or verdict takes nothing away.
    """
    form = GOOD[name][0]
    for at in range(0, len(form) * 3 // 5, 7):
        try:
            found = read(name, form[:at])
        except CannotTellError:
            continue
        assert found.faults, form[:at]


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("text", ["", "\n", "command not found\n", "{}", "[]", "null", '{"a": 1}'])
def test_what_is_not_known_is_no_pass(name: str, text: str) -> None:
    """Nothing, another tool's words, and JSON of another form."""
    try:
        found = read(name, text)
    except CannotTellError:
        return
    assert found.faults


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(GOOD)), st.data())
def test_no_garbage_ends_a_parser(name: str, data: st.DataObject) -> None:
    """A line of noise anywhere gives a reading or a refusal, never another error."""
    lines = GOOD[name][0].splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines)))
    noise = data.draw(st.text(max_size=40))
    with contextlib.suppress(CannotTellError):
        read(name, "".join([*lines[:at], f"{noise}\n", *lines[at:]]))


def test_dcgm_names_test_error_and_gpu() -> None:
    """A failing memory test of GPU 1, with the number of its error."""
    found = read("dcgm", forms.dcgm(("pcie", 1, "replays exceed the limit")))
    assert faults(found) == [("pcie: replays exceed the limit (error 3)", "1")]


def test_dcgm_3_is_read_too() -> None:
    """Its root, its gpu_id and its words are others."""
    assert faults(read("dcgm", forms.DCGM_3)) == [("GPU Memory: a DBE was seen", "1")]


def test_dcgm_that_skipped_everything_is_no_pass() -> None:
    """No test ran: nothing is known."""
    with pytest.raises(CannotTellError, match="no test"):
        read("dcgm", forms.dcgm().replace('"Pass"', '"Skip"'))
    with pytest.raises(CannotTellError, match="status"):
        read("dcgm", forms.dcgm().replace('"Pass"', '"Perhaps"'))
    broken = json.loads(forms.dcgm())
    broken["DCGM Diagnostic"]["runtime_error"] = "cannot connect to the host engine"
    with pytest.raises(CannotTellError, match="host engine"):
        read("dcgm", json.dumps(broken))


@pytest.mark.parametrize("name", ["dcgm", "gpu-burn", "nvbandwidth", "gpu-state", "container", "amd-list"])
def test_seven_of_eight_are_not_eight(name: str) -> None:
    """G6: a tool that is content with the GPUs that it found does not say how many there should be."""
    assert any("sees 2 of 8 GPUs" in what for what, _ in faults(read(name, gpus=8)))


def test_more_gpus_than_planned_are_not_judged() -> None:
    """The plan is of another machine."""
    with pytest.raises(CannotTellError, match="tells of 2 GPUs, and the plan has 1"):
        read("gpu-state", gpus=1)


def test_gpu_burn_names_the_faulty_and_the_hottest() -> None:
    """One GPU that computes wrong, and the highest temperature of each over the whole run."""
    found = read("gpu-burn", forms.GPU_BURN.replace("GPU 1: OK", "GPU 1: FAULTY"))
    assert faults(found) == [("gpu_burn computed wrong results under load", "1")]
    assert [figure.value for figure in found.measured] == [66.0, 71.0]


def test_gpu_burn_with_a_verdict_too_few_is_refused() -> None:
    """It says that it tested two."""
    with pytest.raises(CannotTellError, match="verdicts on 1"):
        read("gpu-burn", forms.GPU_BURN.replace("\tGPU 1: OK\n", ""))


def test_nvbandwidth_gives_the_slowest_of_each_gpu() -> None:
    """By column from the host, by row between GPUs."""
    found = {(figure.metric, figure.where): figure.value for figure in read("nvbandwidth").measured}
    assert found["host_to_device_gb_s", Where("gpu", "1")] == 54.02
    assert found["device_to_device_gb_s", Where("gpu", "1")] == 369.9


def test_nvbandwidth_that_left_a_test_out_is_refused() -> None:
    """A test that it waived has no figure."""
    with pytest.raises(CannotTellError, match="device_to_host_memcpy_ce"):
        read("nvbandwidth", tests=["device_to_host_memcpy_ce"])


def test_sockets_are_found_by_host() -> None:
    """A good figure does not hide that one host left the RDMA path."""
    found = read("all-reduce", forms.all_reduce({"n1": "IB/0", "n2": "Socket/0"}))
    assert faults(found) == [("NCCL went over Socket and not over RDMA alone (NET/IB)", "n2")]
    assert found.measured == (Measured("bus_bandwidth_gb_s", 480.5),)


def test_a_log_without_transport_is_no_proof() -> None:
    """NCCL_DEBUG was not in force, on all hosts or on one."""
    with pytest.raises(CannotTellError, match="tells no network"):
        read("all-reduce", forms.all_reduce({}))
    with pytest.raises(CannotTellError, match="of n2"):
        read("all-reduce", forms.all_reduce({"n1": "IB/0"}))


def test_wrong_values_are_a_fault() -> None:
    """Fast and wrong is failed."""
    assert faults(read("all-reduce", forms.all_reduce(RDMA, wrong=7))) == [
        ("all_reduce_perf counted 7 wrong values", None)
    ]


def test_an_mpi_prefix_hides_no_socket() -> None:
    """Open MPI puts the rank before each line where it was told to."""
    text = "".join(
        f"[1,{at}]<stdout>:{line}\n" if "NCCL INFO" in line else f"{line}\n"
        for at, line in enumerate(forms.all_reduce({"n1": "IB/0", "n2": "Socket/0"}).splitlines())
    )
    assert [where for _, where in faults(read("all-reduce", text))] == ["n2"]


def test_perftest_rates_are_in_one_unit() -> None:
    """392.91 Gb/s as such; 11,000 MB/s are of 2^20 bytes."""
    assert read("perftest").measured == (Measured("rdma_write_gbps", 392.91),)
    text = forms.PERFTEST.replace("Gb/sec", "MB/sec").replace("392.91", "11000.00")
    assert read("perftest", text).measured[0].value == pytest.approx(92.27, abs=0.01)


def test_perftest_without_a_connection_says_so() -> None:
    """Its own words are the reason."""
    with pytest.raises(CannotTellError, match=r"Couldn't connect to 10\.0\.0\.2:18515"):
        read("perftest", " Couldn't connect to 10.0.0.2:18515\nUnable to open file descriptor for socket connection")


def test_fio_counts_the_direction_that_ran() -> None:
    """6.5 GB/s of reads, nothing of writes; an error of the kernel is a fault of the folder's disk."""
    assert [(figure.metric, figure.value) for figure in read("fio").measured] == [("disk_read_mb_s", 6500.0)]
    found = read("fio", forms.FIO.replace('"error": 0', '"error": 5'))
    assert faults(found) == [("fio ended with Input/output error", "/var/tmp")]  # noqa: S108
    with pytest.raises(CannotTellError, match="no I/O"):
        read("fio", forms.FIO.replace("57220", "0"))


def test_uncorrected_errors_name_the_dimm() -> None:
    """Corrected ones are kept as a figure."""
    found = read("memory-errors", forms.MEMORY_ERRORS.replace("DIMM#0\t0\t0", "DIMM#0\t0\t2"))
    assert faults(found) == [("2 uncorrected memory errors", "CPU_SrcID#1_MC#2_DIMM#0")]
    assert found.measured[0] == Measured("corrected_memory_errors", 3.0, Where("dimm", "CPU_SrcID#0_MC#0_DIMM#0"))


def test_miscompares_name_the_dimm() -> None:
    """Where stressapptest knows it; a pass with a miscompare before it is none."""
    assert faults(read("stressapptest", forms.MISCOMPARE)) == [("memory did not hold what was written", "CPU0_DIMM_A1")]
    unknown = forms.MISCOMPARE.replace("CPU0_DIMM_A1", "Unknown")
    assert faults(read("stressapptest", unknown)) == [("memory did not hold what was written", None)]
    assert read("stressapptest", forms.MISCOMPARE.replace("Status: FAIL", "Status: PASS")).faults


def test_hpl_with_a_wrong_result_fails() -> None:
    """The rate is read, and the residual decides."""
    assert read("hpl").measured == (Measured("hpl_gflops", 247730.0),)
    assert faults(read("hpl", forms.HPL.replace("PASSED", "FAILED")))[0][0].startswith("1 of 1 residuals")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("43:00.0, 0,", "43:00.0, 4,", "4 uncorrectable ECC errors since the driver was loaded"),
        ("16, 16, 33", "8, 16, 33", "its PCIe link has 8 of 16 lanes"),
        ("33, Not Active", "33, Active", "it is slowed down for heat"),
    ],
)
def test_the_state_of_a_gpu_is_told(old: str, new: str, what: str) -> None:
    """ECC, lanes and heat, each of GPU 1."""
    assert faults(read("gpu-state", forms.GPU_STATE.replace(old, new))) == [(what, "1")]


def test_ecc_that_is_off_is_not_told_as_none() -> None:
    """Nothing is known of errors that nobody counts."""
    with pytest.raises(CannotTellError, match="is ECC on"):
        read("gpu-state", forms.GPU_STATE.replace("43:00.0, 0,", "43:00.0, [N/A],"))


def test_xids_of_programs_are_no_fault_of_a_gpu() -> None:
    """G18: a burst of Xid 45 when jobs end hits healthy GPUs; 79 is a GPU that fell off the bus."""
    line = "[    9.0] NVRM: Xid (PCI:0000:43:00): {}, pid='<unknown>'\n"
    log = PARSERS["kernel_log"]
    assert log(line.format(45) * 40 + line.format(13), {}).faults == ()
    assert faults(log(line.format(45) + line.format(79), {})) == [("the kernel's log has Xid 79 of it", "0000:43:00")]


def test_rocm_bandwidth_gives_the_slowest_of_each_gpu() -> None:
    """Processors are no GPUs, and a copy within a GPU is none between two."""
    found = {(figure.metric, figure.where): figure.value for figure in read("rocm-bandwidth").measured}
    assert found["host_to_device_gb_s", Where("gpu", "1")] == 54.9
    assert found["device_to_device_gb_s", Where("gpu", "0")] == 48.4


def test_rvs_names_the_gpu_that_missed_its_target() -> None:
    """By the id that RVS has for it; one that printed nothing is not judged."""
    found = read(
        "rvs", forms.RVS.replace("76001 Target GFLOPS: 70000 met: TRUE", "61001 Target GFLOPS: 70000 met: FALSE")
    )
    assert faults(found) == [("it did not reach the target of rvs", "51499")]
    with pytest.raises(CannotTellError, match="results of 2 GPUs, and the plan has 8"):
        read("rvs", gpus=8)


def test_rdma_links_name_the_port() -> None:
    """A link that is down is its cable's; one that is not there is its adapter's."""
    down = forms.RDMA_LINKS.replace(
        '"ACTIVE", "physical_state": "LINK_UP", "netdev": "rail1"',
        '"DOWN", "physical_state": "POLLING", "netdev": "rail1"',
    )
    found = read("rdma-links", down)
    assert [(fault.where.kind, fault.where.name) for fault in found.faults if fault.where] == [("cable", "rail1")]
    found = read("rdma-links", forms.RDMA_LINKS.replace("rail1", "eth9"))
    assert [(fault.where.kind, fault.where.name) for fault in found.faults if fault.where] == [("nic", "rail1")]


def test_infiniband_links_are_counted() -> None:
    """They name no network device."""
    assert faults(read("infiniband-links", ports=["a", "b", "c"])) == [("2 of 3 InfiniBand links are there", None)]
    found = read("infiniband-links", forms.INFINIBAND_LINKS.replace("ACTIVE", "INIT", 1))
    assert [where for _, where in faults(found)] == ["mlx5_0"]
