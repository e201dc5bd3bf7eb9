"""
Stand-ins for all_reduce_perf and mpirun: rates and transports come from the records of the hosts that take part.

The records of others lie in a folder that light hosts of a hall see; without it only the own host is known, and the log
then says nothing of the others.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from typing import Any

from hardware import read_hardware

FLOOR = Path("/run/coldaisle-floor")
SSH_PORT = 22
REACH_S = 5.0
HOPS = 2
"""Channels that a host's log tells of; a real one has many."""

Record = dict[str, Any]


def all_reduce_perf() -> None:
    """`all_reduce_perf -g GPUS` on one host: over NVLink, as slow as its slowest GPU."""
    record = read_hardware()
    wanted = int(sys.argv[sys.argv.index("-g") + 1]) if "-g" in sys.argv[:-1] else 1
    if len(record["gpus"]) < wanted:
        sys.exit(f"{record['host']}: Test CUDA failure common.cu:956 'invalid device ordinal'")
    share = min(gpu["peer_gb_s"] for gpu in record["gpus"]) / record["full_peer_gb_s"]
    sys.stdout.write(result([], record["all_reduce_gb_s"] * share))


def mpirun() -> None:
    """`mpirun -H HOST:SLOTS,... all_reduce_perf`: every host must answer on its SSH port, as mpirun's launcher asks."""
    words = sys.argv[1:]
    slots = dict(one.rsplit(":", 1) for one in words[words.index("-H") + 1].split(","))
    for address in slots:
        reach(address)
    own = read_hardware()
    records = [known for address in slots for known in [record_of(address, own)] if known]
    for record in records:
        if len(record["gpus"]) < int(slots.get(record["address"], 1)):
            sys.exit(f"{record['host']}: Test CUDA failure common.cu:956 'invalid device ordinal'")
    single = [word.partition("=@")[2] or word.partition("=")[2] for word in words if word.startswith("NCCL_IB_HCA=")]
    sys.stdout.write(result(log_of(records), min(rate(record, single) for record in records)))


def reach(address: str) -> None:
    """End as mpirun does where a host does not answer SSH."""
    try:
        socket.create_connection((address, SSH_PORT), timeout=REACH_S).close()
    except OSError as error:
        said = "ORTE was unable to reliably start one or more daemons."
        sys.exit(f"ssh: connect to host {address} port {SSH_PORT}: {error.strerror}\n{said}")


def record_of(address: str, own: Record) -> Record | None:
    """Return the record of the host with an address; None where it is not to be seen."""
    if address == own["address"]:
        return own
    path = FLOOR / f"{address}.json"
    return json.loads(path.read_bytes()) if path.exists() else None


def rate(record: Record, devices: list[str]) -> float:
    """Return the bus bandwidth that a host's rails allow, in GB/s: of one device, or of all."""
    rails: list[dict[str, Any]] = list(record["rails"].values())
    share = 1.0 if record["network"].startswith("IB") else 0.2
    return sum(float(rail["gbps"]) for rail in rails if not devices or rail["device"] in devices) / 8 * share


def log_of(records: list[Record]) -> list[str]:
    """Return the lines of NCCL_DEBUG=INFO that tell the channels of each host."""
    ways = [(at, (at + 1) % len(records), record) for at, record in enumerate(records)]
    channel = "{host}:1201:1250 [0] NCCL INFO Channel 0{number}/0 : {a}[0] -> {b}[0] [send] via NET/{network}"
    return [
        channel.format(host=record["host"], number=number, a=a, b=b, network=record["network"])
        for a, b, record in ways
        for number in range(HOPS)
    ]


def result(log: list[str], gb_s: float) -> str:
    """Return the table and the closing lines."""
    head = "# nThread 1 nGpus 1 minBytes 17179869184 maxBytes 17179869184 step: 2(factor) warmup iters: 1 iters: 20"
    columns = "#   size    count  type  redop  root   time  algbw  busbw #wrong   time  algbw  busbw #wrong"
    half = f"62571 {gb_s / 1.75:.2f} {gb_s:.2f} 0"
    row = f" 17179869184 4294967296 float sum -1 {half} {half}"
    closing = ["# Out of bounds values : 0 OK", f"# Avg bus bandwidth    : {gb_s:g}", "#"]
    return "\n".join([head, "#", *log, columns, row, *closing]) + "\n"
