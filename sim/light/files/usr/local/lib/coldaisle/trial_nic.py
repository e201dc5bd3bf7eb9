"""
Stand-ins for what asks adapters on a light host, which has no RDMA and no lldpd: `rdma`, `lldpctl` and `ib_write_bw`.

Whether a port has a carrier is what the kernel says of the simulated cable. The two ends of ib_write_bw really meet
over TCP, as the real ones do, and tell each other what their ports carry.
"""

from __future__ import annotations

import json
import sys

sys.path.insert(0, "/usr/local/lib/coldaisle")
from hardware import read_hardware

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from typing import Any

    Rail = dict[str, Any]

CONNECT_S = 5.0
SERVE_S = 600.0
DEFAULT_PORT = 18515


def carrier(port: str) -> bool:
    """Return whether the kernel sees a carrier on a port."""
    try:
        with open(f"/sys/class/net/{port}/carrier", encoding="ascii") as file:  # noqa: PTH123 - pathlib is dear
            return file.read().strip() == "1"
    except OSError:  # the kernel says nothing of a port that is down
        return False


def rdma() -> None:
    """`rdma -j link show`."""
    if sys.argv[1:4] != ["-j", "link", "show"]:
        sys.exit("rdma: only -j link show is answered here")
    states = {True: ("ACTIVE", "LINK_UP"), False: ("DOWN", "DISABLED")}
    links = []
    for at, (port, rail) in enumerate(sorted(read_hardware()["rails"].items())):
        state, physical = states[carrier(port)]
        names = {"ifindex": at, "ifname": rail["device"], "port": 1, "state": state, "physical_state": physical}
        links.append(names | {"netdev": port, "netdev_index": at + 2})
    sys.stdout.write(f"{json.dumps(links)}\n")


def lldpctl() -> None:
    """`lldpctl -f json`: nobody is heard behind a port without a carrier."""
    heard = {port: far for port, far in read_hardware()["neighbours"].items() if carrier(port)}
    entries = [
        {
            port: {
                "via": "LLDP",
                "chassis": {device: {"id": {"type": "local", "value": device}}},
                "port": {"id": {"type": "ifname", "value": far}},
            }
        }
        for port, (device, far) in sorted(heard.items())
    ]
    sys.stdout.write(json.dumps({"lldp": {"interface": entries}}, indent=2) + "\n")


def ib_write_bw() -> None:
    """`ib_write_bw -d DEVICE -p PORT [ADDRESS]`: it takes no time here."""
    words = sys.argv[1:]
    device = words[words.index("-d") + 1]
    port = int(words[words.index("-p") + 1]) if "-p" in words else DEFAULT_PORT
    rails: dict[str, Rail] = read_hardware()["rails"]
    name = next((name for name, rail in rails.items() if rail["device"] == device), "")
    if not name:
        sys.exit(f" IB device {device} not found\n Unable to find the Infiniband/RoCE device")
    rail = rails[name]
    far = meet(words[-1], port, rail) if words[-1].count(".") == 3 else serve(port, rail)  # noqa: PLR2004 - an IPv4 address
    if not carrier(name):
        sys.exit(" Port number 1 state is Down\n Couldn't set the link layer\n Couldn't get context for the device")
    show(device, min(rail["gbps"], far["gbps"]))


def serve(port: int, rail: Rail) -> Rail:
    """Wait for the other end, and exchange rates with it."""
    import socket  # noqa: PLC0415 - `rdma` and `lldpctl` do without, and are quicker

    with socket.create_server(("", port)) as server:
        server.settimeout(SERVE_S)
        connection, _ = server.accept()
        return exchanged(connection, rail)


def meet(address: str, port: int, rail: Rail) -> Rail:
    """Connect to the other end, and exchange rates with it."""
    import socket  # noqa: PLC0415 - see above

    try:
        return exchanged(socket.create_connection((address, port), timeout=CONNECT_S), rail)
    except OSError:
        sys.exit(f" Couldn't connect to {address}:{port}\n Unable to open file descriptor for socket connection")


def exchanged(connection: socket.socket, rail: Rail) -> Rail:
    """Send what this end's port carries, and return what the other's does."""
    with connection, connection.makefile("rw") as stream:
        stream.write(f"{json.dumps(rail)}\n")
        stream.flush()
        found: Rail = json.loads(stream.readline() or '{"gbps": 0.0}')
        return found


def show(device: str, gbps: float) -> None:
    """Print the table."""
    line = "-" * 87
    head = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]"
    row = f" 65536      95300            0.00               {gbps:.2f}   \t\t   {gbps / 524.288:.6f}"
    about = f" Dual-port       : OFF\t\tDevice         : {device}\n Link type       : Ethernet"
    title = " " * 20 + "RDMA_Write BW Test"
    sys.stdout.write(f"{line}\n{title}\n{about}\n{line}\n{head}\n{row}\n{line}\n")
