"""A process of many BMCs: reads the machines of a site, and answers IPMI and Redfish at each BMC's address."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import yaml
from pyghmi.ipmi.private.session import Session

from sim.bmc.board import Board
from sim.bmc.ipmi import PORT, BoardIpmi, Front
from sim.bmc.redfish import application, https_server
from sim.machines import Machine
from sim.power import PowerSwitch
from sim.state import State

REDFISH_POLL_S = 3600.0
"""How often each server looks whether it shall end: nobody says so, and two thousand took a fifth of a core."""

FIRST_LOOPBACK_PORT = 10000
PORTS_A_PART = 1000
IPMI_POLL_S = 30


def boards(state: State, part: str = "0/1") -> tuple[Board, ...]:
    """Return the boards of the machines that `sim up` wrote down; `part` "1/3" is the second of three like parts."""
    index, count = map(int, part.split("/"))
    records = json.loads((state.folder / "machines.json").read_text())["machines"]
    credentials = yaml.safe_load(state.bmc_credentials.read_text())
    switch = PowerSwitch(state)
    found = (Machine.from_dict(record) for record in records)
    return tuple(Board(machine, state, switch, credentials) for machine in found if machine.bmc_address)[index::count]


def serve_redfish(state: State, found: Sequence[Board]) -> None:
    """Start the HTTPS server of each board in a thread."""
    app = application(state.bmcs)
    for board in found:
        address = str(board.machine.bmc_address)
        certificate, key = (state.pki / "bmc" / f"{board.machine.name}.{kind}" for kind in ("crt", "key"))
        server = https_server(app, board, address, certificate, key)
        threading.Thread(target=server.serve_forever, args=(REDFISH_POLL_S,), daemon=True).start()


def first_port(part: str = "0/1") -> int:
    """Return the first port on the loopback that a part of the BMCs uses: parts share it."""
    return FIRST_LOOPBACK_PORT + PORTS_A_PART * int(part.split("/", maxsplit=1)[0])


def serve_ipmi(found: Sequence[Board], first: int) -> None:
    """Start pyghmi's loop for all boards in a thread, from the port `first` on the loopback."""
    servers = [BoardIpmi(board, port) for port, board in enumerate(found, first)]

    def loop() -> None:
        while servers:
            Session.wait_for_rsp(IPMI_POLL_S)

    threading.Thread(target=loop, daemon=True).start()


async def serve_fronts(found: Sequence[Board], first: int) -> None:
    """Listen for IPMI at each BMC's address until the process ends."""
    loop = asyncio.get_running_loop()
    for port, board in enumerate(found, first):
        address = (str(board.machine.bmc_address), PORT)
        await loop.create_datagram_endpoint(lambda board=board, port=port: Front(board, port), local_addr=address)  # type: ignore[misc]
    logging.getLogger(__name__).info("%d BMCs are ready", len(found))
    await asyncio.Event().wait()


def main() -> None:
    """Serve the BMCs of a site, or a part of them: `python -m sim.bmc.server SITE STATE_FOLDER [PART]`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    state = State(sys.argv[1], Path(sys.argv[2]))
    part = sys.argv[3:]
    found, port = boards(state, *part), first_port(*part)
    serve_redfish(state, found)
    serve_ipmi(found, port)
    asyncio.run(serve_fronts(found, port))


if __name__ == "__main__":
    main()
