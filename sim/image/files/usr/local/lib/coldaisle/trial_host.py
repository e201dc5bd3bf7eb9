"""Stand-ins for the tools that try memory, processors and disks, in their own forms, from the hardware's record."""

from __future__ import annotations

import sys

from hardware import read_hardware


def ras_mc_ctl() -> None:
    """`ras-mc-ctl --error-count`."""
    lines = ["Label               \tCE\tUE"]
    lines += [f"{it['label']}\t{it['corrected']}\t{it['uncorrected']}" for it in read_hardware()["dimms"]]
    sys.stdout.write("\n".join(lines) + "\n")


def stressapptest() -> None:
    """`stressapptest -s SECONDS`: a DIMM with uncorrected errors does not hold what is written."""
    bad = [it["label"] for it in read_hardware()["dimms"] if it["uncorrected"]]
    lines = [f"Report Error: miscompare : DIMM {label} : 1 : 12s" for label in bad]
    status = "FAIL - test discovered HW problems" if bad else "PASS - please verify no corrected errors"
    sys.stdout.write("\n".join([*lines, "", f"Status: {status}"]) + "\n")
    sys.exit(1 if bad else 0)


def xhpl() -> None:
    """`xhpl`."""
    rate = read_hardware()["hpl_gflops"]
    line = "-" * 80
    lines = ["T/V                N    NB     P     Q               Time                 Gflops", line]
    lines += [f"WR11C2R4      264192   384     2     4              49.63             {rate:.4e}", line]
    lines += ["||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   1.53e-03 ...... PASSED", "", "End of Tests."]
    sys.stdout.write("\n".join(lines) + "\n")


def fio() -> None:
    """`fio --rw=read|write --output-format=json`."""
    import json  # noqa: PLC0415 - the others do without, and are quicker

    ways = [word.partition("=")[2] for word in sys.argv if word.startswith("--rw=")]
    rate = round(read_hardware()["disk_mb_s"] * 1e6)
    nothing = {"io_bytes": 0, "bw_bytes": 0, "total_ios": 0}
    some = {"io_bytes": 60 * rate, "bw_bytes": rate, "total_ios": 60 * rate >> 20}
    job = {"jobname": "accept", "error": 0} | {way: some if way in ways else nothing for way in ("read", "write")}
    sys.stdout.write(json.dumps({"fio version": "fio-3.33", "jobs": [job]}, indent=2) + "\n")
