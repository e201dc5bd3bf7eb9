"""The process of all BMCs: reads the machines of a site, and answers IPMI and Redfish at each BMC's address."""

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

FIRST_LOOPBACK_PORT = 10000
IPMI_POLL_S = 30


def boards(state: State) -> tuple[Board, ...]:
    """Return the boards of the machines that `sim up` wrote down."""
    records = json.loads((state.folder / "machines.json").read_text())["machines"]
    credentials = yaml.safe_load(state.bmc_credentials.read_text())
    switch = PowerSwitch(state)
    found = (Machine.from_dict(record) for record in records)
    return tuple(Board(machine, state, switch, credentials) for machine in found if machine.bmc_address)


def serve_redfish(state: State, found: Sequence[Board]) -> None:
    """Start the HTTPS server of each board in a thread."""
    app = application(state.bmcs)
    for board in found:
        address = str(board.machine.bmc_address)
        certificate, key = (state.pki / "bmc" / f"{board.machine.name}.{kind}" for kind in ("crt", "key"))
        server = https_server(app, board, address, certificate, key)
        threading.Thread(target=server.serve_forever, daemon=True).start()


def serve_ipmi(found: Sequence[Board]) -> None:
    """Start pyghmi's loop for all boards in a thread."""
    servers = [BoardIpmi(board, FIRST_LOOPBACK_PORT + index) for index, board in enumerate(found)]

    def loop() -> None:
        while servers:
            Session.wait_for_rsp(IPMI_POLL_S)

    threading.Thread(target=loop, daemon=True).start()


async def serve_fronts(found: Sequence[Board]) -> None:
    """Listen for IPMI at each BMC's address until the process ends."""
    loop = asyncio.get_running_loop()
    for index, board in enumerate(found):
        address = (str(board.machine.bmc_address), PORT)
        port = FIRST_LOOPBACK_PORT + index
        await loop.create_datagram_endpoint(lambda board=board, port=port: Front(board, port), local_addr=address)  # type: ignore[misc]
    logging.getLogger(__name__).info("%d BMCs are ready", len(found))
    await asyncio.Event().wait()


def main() -> None:
    """Serve the BMCs of a site: `python -m sim.bmc.server SITE STATE_FOLDER`."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    state = State(sys.argv[1], Path(sys.argv[2]))
    found = boards(state)
    serve_redfish(state, found)
    serve_ipmi(found)
    asyncio.run(serve_fronts(found))


if __name__ == "__main__":
    main()
