"""
BMCs powered on with the boot order set, both read back: the provider's play beside plain loops of sushy and ipmitool.

All three work on the same simulated BMCs, with nothing behind them, from the same state: just started, off, without
boot settings. The provider speaks Redfish to one half and IPMI to the other, as the plan says, and reads everything a
second time when its play is done; each loop speaks its one protocol to all, one BMC after the other.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sim.errors import SimError
from tests.bench import halls
from tests.bench.halls import BMCS
from tests.bench.meter import NotMeasuredError
from tests.hall_sites import Hall, hall

PEERS = Path(__file__).parent / "peers"


def figures() -> dict[str, float]:
    """Return seconds and CPU seconds (of the program that asks) of all three."""
    try:
        with hall(BMCS, "board") as found:
            return _figures(found)
    except SimError as error:
        raise NotMeasuredError(str(error)) from error


def _figures(found: Hall) -> dict[str, float]:
    found.plays("prepare")
    ours = halls.plays(found, "apply", "bmc")
    measured = {"": ours} | {f"_{peer}": _loop(found, peer) for peer in ("sushy", "ipmitool")}
    return {
        f"bmc_{BMCS}{peer}_{figure}": value
        for peer, spent in measured.items()
        for figure, value in (("s", spent.wall_s), ("cpu_s", spent.deploy_cpu_s))
    }


def _loop(found: Hall, peer: str) -> halls.Spent:
    """Turn everything off, start the BMCs anew without anybody's sessions, and run a plain loop."""
    found.switch_off()
    found.restart_bmcs()
    bmcs = [node.bmc for node in found.plan.nodes if node.bmc]
    file = found.folder / "bmcs.json"
    login = {"credentials": str(found.state.bmc_credentials), "ca_file": str(found.state.pki / "ca.crt")}
    file.write_text(json.dumps(login | {"addresses": [bmc.address for bmc in bmcs]}))
    measured, told = halls.spent(found, [sys.executable, str(PEERS / f"bmc_{peer}.py"), str(file)])
    if int(told) != len(bmcs):
        raise NotMeasuredError(f"the loop of {peer} did {told} of {len(bmcs)} BMCs")
    return measured
