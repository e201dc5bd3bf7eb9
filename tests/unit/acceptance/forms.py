"""
Outputs of tools, written by hand in the forms that their documentation gives; the parsers name the sources.

The figures are ours. Each is of a host of two GPUs, so that it can be read at a glance.
"""

from __future__ import annotations

import json
from typing import Any

DCGM_QUICK = ("software", "pcie")


def dcgm(
    *bad: tuple[str, int, str], gpus: int = 2, tests: tuple[str, ...] = DCGM_QUICK, root: str = "DCGM Diagnostic"
) -> str:
    """Return `dcgmi diag -j` of DCGM 4, in which the `bad` results are (test, GPU, warning)."""
    warnings = {(test, gpu): text for test, gpu, text in bad}

    def result(test: str, gpu: int) -> dict[str, Any]:
        found = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": "Pass"}
        if (test, gpu) in warnings:
            warning = {"error_category": 10, "error_id": 3, "error_severity": 2, "warning": warnings[test, gpu]}
            found |= {"status": "Fail", "warnings": [warning]}
        return found

    categories = [
        {
            "category": "Hardware",
            "tests": [
                {
                    "name": test,
                    "results": [result(test, gpu) for gpu in range(gpus)],
                    "test_summary": {"status": "Fail" if any(name == test for name, _, _ in bad) else "Pass"},
                }
                for test in tests
            ],
        }
    ]
    return json.dumps({root: {"test_categories": categories}, "metadata": {"version": "4.2.3"}}, indent=2)


DCGM_3 = json.dumps(
    {
        "DCGM GPU Diagnostic": {
            "test_categories": [
                {
                    "category": "Hardware",
                    "tests": [
                        {
                            "name": "GPU Memory",
                            "results": [
                                {"gpu_id": "0", "status": "PASS"},
                                {"gpu_id": "1", "status": "FAIL", "warnings": "a DBE was seen"},
                            ],
                        }
                    ],
                }
            ],
            "version": "3.3.5",
        }
    }
)

GPU_BURN = (
    "Run length set to 300\n"
    "10.0%  proc'd: 3351 (35942 Gflop/s) - 3351 (35911 Gflop/s)   errors: 0 - 0   temps: 54 C - 56 C \r"
    "100.0%  proc'd: 33510 (35942 Gflop/s) - 33510 (35911 Gflop/s)   errors: 0 - 0   temps: 66 C - 71 C \n"
    "Killing processes with SIGTERM (soft kill)\nFreed memory for dev 0\nUninitted cublas\ndone\n\n"
    "Tested 2 GPUs:\n\tGPU 0: OK\n\tGPU 1: OK\n"
)

NVBANDWIDTH = """nvbandwidth Version: v0.8
Built from Git version: v0.8

CUDA Runtime Version: 13000
Driver Version: 580.95.05

Running host_to_device_memcpy_ce.
memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0     55.36     54.02

SUM host_to_device_memcpy_ce 109.38

Running device_to_device_memcpy_read_ce.
memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)
           0         1
 0       N/A    371.20
 1    369.90       N/A

SUM device_to_device_memcpy_read_ce 741.10

NOTE: The reported results may not reflect the full capabilities of the platform.
"""


def all_reduce(networks: dict[str, str], gb_s: float = 480.5, wrong: int = 0) -> str:
    """Return `all_reduce_perf` with NCCL_DEBUG=INFO: by host, what its channels go over (`IB/0/GDRDMA`, `Socket/0`)."""
    log = [
        f"{host}:1201:1250 [0] NCCL INFO Channel 0{way}/0 : {at}[0] -> {1 - at}[0] [send] via NET/{network}"
        for at, (host, network) in enumerate(networks.items())
        for way in range(2)
    ]
    return "\n".join(
        [
            "# nThread 1 nGpus 2 minBytes 17179869184 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20",
            "#",
            *log,
            "#                                       out-of-place                  in-place",
            "#   size    count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong",
            "#    (B) (elements)                    (us) (GB/s) (GB/s)          (us) (GB/s) (GB/s)",
            f" 17179869184 4294967296 float sum -1 62571 274.57 {gb_s:.2f} {wrong} 62571 274.57 {gb_s:.2f} {wrong}",
            f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}",
            f"# Avg bus bandwidth    : {gb_s:g}",
            "#",
            "",
        ]
    )


PERFTEST = """---------------------------------------------------------------------------------------
                    RDMA_Write BW Test
 Dual-port       : OFF		Device         : mlx5_0
 Number of qps   : 1		Transport type : IB
 Mtu             : 4096[B]
 Link type       : Ethernet
---------------------------------------------------------------------------------------
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      3749000          0.00               392.91   		     0.749417
---------------------------------------------------------------------------------------
"""

FIO = json.dumps(
    {
        "fio version": "fio-3.33",
        "jobs": [
            {
                "jobname": "accept",
                "error": 0,
                "read": {"io_bytes": 60000000000, "bw_bytes": 6_500_000_000, "total_ios": 57220, "iops": 6200.1},
                "write": {"io_bytes": 0, "bw_bytes": 0, "total_ios": 0, "iops": 0.0},
            }
        ],
    },
    indent=2,
)

MEMORY_ERRORS = "Label               \tCE\tUE\nCPU_SrcID#0_MC#0_DIMM#0\t3\t0\nCPU_SrcID#1_MC#2_DIMM#0\t0\t0\n"

STRESSAPPTEST = (
    "2026/11/28-16:30:00(UTC) Stats: Completed: 1234.00M in 300.00s 4.11MB/s, with 0 hardware incidents, 0 errors\n\n"
    "Status: PASS - please verify no corrected errors\n"
)
MISCOMPARE = (
    "Report Error: miscompare : DIMM CPU0_DIMM_A1 : 1 : 120s\n"
    "Hardware Error: miscompare on CPU 3(0x8) at 0x7f1: read:0x1, reread:0x1 expected:0x0\n\n"
    "Status: FAIL - test discovered HW problems\n"
)

HPL = """================================================================================
T/V                N    NB     P     Q               Time                 Gflops
--------------------------------------------------------------------------------
WR11C2R4      264192   384     2     4              49.63             2.4773e+05
--------------------------------------------------------------------------------
||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   1.53e-03 ...... PASSED
================================================================================

Finished      1 tests with the following results:
              1 tests completed and passed residual checks,
End of Tests.
"""

GPU_STATE = (
    "0, 1650523000001, 00000000:1B:00.0, 0, 16, 16, 31, Not Active\n"
    "1, 1650523000002, 00000000:43:00.0, 0, 16, 16, 33, Not Active\n"
)

CONTAINER = """NVRM version:   580.95.05
CUDA version:   13.0

Device Index:   0
Device Minor:   0
Model:          NVIDIA H100 80GB HBM3
GPU UUID:       GPU-0
Bus Location:   00000000:1b:00.0
Architecture:   9.0

Device Index:   1
Device Minor:   1
Model:          NVIDIA H100 80GB HBM3
GPU UUID:       GPU-1
Bus Location:   00000000:43:00.0
Architecture:   9.0
"""

AMD_LIST = json.dumps([{"gpu": 0, "bdf": "0000:05:00.0", "uuid": "a"}, {"gpu": 1, "bdf": "0000:26:00.0", "uuid": "b"}])

ROCM_BANDWIDTH = """
          RocmBandwidthTest Version: 2.6.0

          Device: 0,  Intel(R) Xeon(R) Platinum 8480C
          Device: 1,  AMD Instinct MI300X,  GPU-a1,  05:0.0
          Device: 2,  AMD Instinct MI300X,  GPU-b2,  26:0.0

          Unidirectional copy peak bandwidth GB/s

          D/D       0           1           2

          0         N/A         55.8        54.9

          1         56.0        1900.5      48.4

          2         55.9        48.2        1899.1

          Bidirectional copy peak bandwidth GB/s
"""

RVS = (
    "[RESULT] [ 500337.486459] [gst-fp32] [GPU:: 28851] GFLOPS 76543 Target GFLOPS: 70000 met: TRUE\n"
    "[RESULT] [ 500339.112233] [gst-fp32] [GPU:: 51499] GFLOPS 76001 Target GFLOPS: 70000 met: TRUE\n"
)

RDMA_LINKS = json.dumps(
    [
        {
            "ifindex": 0,
            "ifname": "mlx5_0",
            "port": 1,
            "state": "ACTIVE",
            "physical_state": "LINK_UP",
            "netdev": "rail0",
        },
        {
            "ifindex": 1,
            "ifname": "mlx5_1",
            "port": 1,
            "state": "ACTIVE",
            "physical_state": "LINK_UP",
            "netdev": "rail1",
        },
    ]
)
INFINIBAND_LINKS = json.dumps(
    [
        {"ifindex": 0, "ifname": f"mlx5_{at}", "port": 1, "state": "ACTIVE", "physical_state": "LINK_UP"}
        for at in range(2)
    ]
)
