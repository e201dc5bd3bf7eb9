"""BMCs: boot settings that read back, passwords, and both protocols on one board."""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc
from pyghmi.ipmi.private import session as pyghmi_session
from werkzeug.serving import make_server

from coldaisle.plan.model import SitePlan
from sim.bmc.board import Board
from sim.bmc.ipmi import BOOT_FLAGS, BoardIpmi
from sim.bmc.redfish import BmcGate, application
from sim.fault_records import record_fault
from sim.machines import Machine, machines
from sim.state import State

PASSWORD = "secret-of-a-test"  # noqa: S105 - not a secret


class FakeSwitch:
    """A power switch without a machine behind it; keeps how it was turned on."""

    def __init__(self) -> None:
        """Begin off."""
        self.on = False
        self.calls: list[dict[str, bool]] = []

    def is_on(self, _: Machine) -> bool:
        """Return whether it is on."""
        return self.on

    def turn_on(self, _: Machine, **how: bool) -> None:
        """Turn on."""
        self.on = True
        self.calls.append(how)

    def turn_off(self, _: Machine) -> None:
        """Turn off."""
        self.on = False

    def shut_down(self, _: Machine) -> None:
        """Turn off, as an obedient system does."""
        self.on = False


class FakeSession:
    """What pyghmi would answer with."""

    def __init__(self) -> None:
        """Begin without an answer."""
        self.data: list[int] = []
        self.code = 0

    def send_ipmi_response(self, data: list[int] | None = None, code: int = 0) -> None:
        """Keep the answer."""
        self.data, self.code = data or [], code


@pytest.fixture
def switch() -> FakeSwitch:
    """Return a switch that is off."""
    return FakeSwitch()


@pytest.fixture
def board(plan: SitePlan, state: State, switch: FakeSwitch) -> Board:
    """Return the board of the guest r01-n01."""
    machine = next(machine for machine in machines(plan, state, ()) if machine.name == "r01-n01")
    return Board(machine, state, switch, {"username": "admin", "password": PASSWORD})  # type: ignore[arg-type]


@pytest.fixture
def ipmi(board: Board) -> BoardIpmi:
    """Return the IPMI side of the board, without its socket."""
    server: BoardIpmi = BoardIpmi.__new__(BoardIpmi)
    server._board = board  # noqa: SLF001 - the socket is left out
    return server


@pytest.fixture
def redfish(board: Board, state: State) -> Callable[..., tuple[int, Any]]:
    """Return a function that asks the board's Redfish side: method, path, body → status and JSON."""
    from werkzeug.test import Client  # noqa: PLC0415 - one use

    client = Client(BmcGate(application(state.bmcs), board))
    token = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()

    def ask(method: str, path: str, body: object = None, authorization: str = f"Basic {token}") -> tuple[int, Any]:
        response = client.open(path, method=method, json=body, headers={"Authorization": authorization})
        return response.status_code, json.loads(response.get_data() or b"null")

    return ask


def _boot_flags(ipmi: BoardIpmi) -> list[int]:
    session = FakeSession()
    ipmi.get_system_boot_options({"data": [BOOT_FLAGS, 0, 0]}, session)
    return session.data


def test_a_fresh_bmc_has_no_override_and_the_firmware_tries_the_disk(board: Board, switch: FakeSwitch) -> None:
    """A machine does not boot over the network before its BMC is told so."""
    board.turn_on()
    assert switch.calls == [{"network_boot": False, "boot_once": False}]


def test_ipmi_boot_flags_read_back(ipmi: BoardIpmi, board: Board) -> None:
    """What `chassis bootdev pxe options=persistent` sends is what `bootparam get 5` shows."""
    ipmi.set_system_boot_options({"data": [BOOT_FLAGS, 0xC0, 0x04, 0, 0, 0]}, FakeSession())
    assert board.boot_override == ("Pxe", "Continuous")
    assert _boot_flags(ipmi)[2:4] == [0xC0, 0x04]


def test_ipmi_refuses_a_device_that_there_is_not(ipmi: BoardIpmi, board: Board) -> None:
    """An unknown selector gets 0xcc, and the settings stay."""
    session = FakeSession()
    ipmi.set_system_boot_options({"data": [BOOT_FLAGS, 0x80, 0x3C, 0, 0, 0]}, session)
    assert (session.code, board.boot_override) == (0xCC, ("None", "Disabled"))


def test_an_override_for_once_is_used_up(board: Board, switch: FakeSwitch) -> None:
    """The next power-on boots over the network, the one after it does not."""
    board.set_boot_override("Pxe", "Once")
    board.turn_on()
    board.cycle()
    assert [call["network_boot"] for call in switch.calls] == [True, False]


def test_a_cycle_of_a_machine_that_is_off_is_refused(ipmi: BoardIpmi, switch: FakeSwitch) -> None:
    """IPMI answers 0xd5, and the machine stays off."""
    assert ipmi.power_cycle() == 0xD5
    assert not switch.on


def test_redfish_shows_one_system_and_its_override(board: Board, redfish: Callable[..., tuple[int, Any]]) -> None:
    """A BMC has its own system only, and what IPMI set is seen by Redfish."""
    board.set_boot_override("Pxe", "Once")
    _, members = redfish("GET", "/redfish/v1/Systems")
    (path,) = [member["@odata.id"] for member in members["Members"]]
    status, system = redfish("GET", path)
    assert (status, system["PowerState"], system["Name"]) == (200, "Off", "r01-n01")
    assert (system["Boot"]["BootSourceOverrideTarget"], system["Boot"]["BootSourceOverrideEnabled"]) == ("Pxe", "Once")


def test_redfish_sets_the_override_and_the_power(
    board: Board, switch: FakeSwitch, redfish: Callable[..., tuple[int, Any]]
) -> None:
    """A PATCH and a reset do what IPMI's commands do."""
    path = f"/redfish/v1/Systems/{board.machine.uuid}"
    boot = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Continuous"}
    assert redfish("PATCH", path, {"Boot": boot})[0] == 204
    assert redfish("POST", f"{path}/Actions/ComputerSystem.Reset", {"ResetType": "On"})[0] == 204
    assert board.boot_override == ("Pxe", "Continuous")
    assert switch.calls == [{"network_boot": True, "boot_once": False}]


def test_redfish_takes_an_override_back(board: Board, redfish: Callable[..., tuple[int, Any]]) -> None:
    """`Disabled` alone is a whole request, as the standard has it."""
    board.set_boot_override("Pxe", "Continuous")
    path = f"/redfish/v1/Systems/{board.machine.uuid}"
    assert redfish("PATCH", path, {"Boot": {"BootSourceOverrideEnabled": "Disabled"}})[0] == 204
    assert board.boot_override == ("None", "Disabled")


def test_a_wrong_password_opens_nothing_but_the_root(redfish: Callable[..., tuple[int, Any]]) -> None:
    """The service root is open to all, systems are not."""
    wrong = "Basic " + base64.b64encode(b"admin:guess").decode()
    assert redfish("GET", "/redfish/v1/", authorization=wrong)[0] == 200
    status, answer = redfish("GET", "/redfish/v1/Systems", authorization=wrong)
    assert (status, answer["error"]["code"]) == (401, "Base.1.0.AccessDenied")


def test_the_password_fault_refuses_the_sites_password(
    state: State, board: Board, redfish: Callable[..., tuple[int, Any]]
) -> None:
    """With the fault in force neither protocol takes the password."""
    record_fault(state, "r01-n01", "bmc-wrong-password", {})
    assert redfish("GET", "/redfish/v1/Systems")[0] == 401
    assert board.password("admin") != PASSWORD


@pytest.fixture
def url(board: Board, state: State) -> Iterator[str]:
    """Return where the board's Redfish side answers, over real HTTP on the loopback."""
    server = make_server("127.0.0.1", 0, BmcGate(application(state.bmcs), board), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_our_own_client_sets_a_power_limit_and_reads_it_back(url: str, board: Board) -> None:
    """What bring-up sends is kept by the board, and a second run finds nothing to do."""
    bmc = RedfishBmc(Access(url, "admin", PASSWORD, timeout_s=5))
    assert bmc.power_limit() == "none"
    changes = settle_bmc(bmc, {"power_limit_w": "450"}, 5, check=False)
    assert changes == [{"fact": "power_limit_w", "seen": "none", "planned": "450"}]
    assert board.power_limit_w == 450
    assert settle_bmc(bmc, {"power_limit_w": "450"}, 5, check=False) == []


def test_our_own_client_sets_firmware_with_the_power_on_and_reads_it_back(url: str, board: Board) -> None:
    """What firmware takes over waits for the power-on, and the registry's types are kept."""
    bmc = RedfishBmc(Access(url, "admin", PASSWORD, timeout_s=5))
    wanted = {"bios.QuietBoot": "true", "bios.ProcTurboMode": "Disabled", "secure_boot": "on", "boot_override": "none",
              "virtual_media": "none", "boot_mode": "bios", "power": "on"}  # fmt: skip
    seen = {change["fact"]: change["seen"] for change in settle_bmc(bmc, wanted, 5, check=False)}
    assert seen == {"secure_boot": "off", "bios.QuietBoot": "false", "bios.ProcTurboMode": "Enabled", "power": "off"}
    assert (board.bios["QuietBoot"], board.bios["ProcTurboMode"], board.staged_bios) == (
        True,
        "Disabled",
        {},
    )
    assert settle_bmc(bmc, wanted, 5, check=False) == []
    with pytest.raises(BmcError, match="bios-value: the plan wants 12 for NumCores, and it is read-only"):
        settle_bmc(bmc, {"bios.NumCores": "12"}, 5, check=False)
    (left,) = settle_bmc(bmc, {"bios.QuietBoot": "false"}, 5, check=False)
    assert (left["pending"], board.bios["QuietBoot"]) == (True, True)


def test_both_resources_show_and_set_one_limit(board: Board, redfish: Callable[..., tuple[int, Any]]) -> None:
    """What the newer resource was told the older one shows, and null takes the limit away."""
    _, system = redfish("GET", f"/redfish/v1/Systems/{board.machine.uuid}")
    _, chassis = redfish("GET", system["Links"]["Chassis"][0]["@odata.id"])
    newer, older = chassis["EnvironmentMetrics"]["@odata.id"], chassis["Power"]["@odata.id"]
    assert redfish("PATCH", newer, {"PowerLimitWatts": {"SetPoint": 450}})[0] == 204
    assert redfish("GET", older)[1]["PowerControl"][0]["PowerLimit"] == {"LimitInWatts": 450}
    assert redfish("PATCH", older, {"PowerControl": [{"PowerLimit": {"LimitInWatts": None}}]})[0] == 204
    assert redfish("GET", newer)[1]["PowerLimitWatts"] == {"SetPoint": None, "ControlMode": "Disabled"}


@pytest.mark.parametrize("body", [{}, {"PowerLimitWatts": {"SetPoint": "a lot"}}, {"PowerLimitWatts": {"SetPoint": 0}}])
def test_a_power_limit_that_is_none_is_refused(
    board: Board, redfish: Callable[..., tuple[int, Any]], body: object
) -> None:
    """What names no watts is a bad request, and the limit stays."""
    board.set_power_limit(450)
    _, found = redfish("GET", "/redfish/v1/Chassis")
    path = f"{found['Members'][0]['@odata.id']}/EnvironmentMetrics"
    assert redfish("PATCH", path, body)[0] == 400
    assert board.power_limit_w == 450


def test_a_boot_override_leaves_the_power_limit(board: Board) -> None:
    """Settings are kept one by one: turning a machine on for a network boot takes no limit away."""
    board.set_power_limit(450)
    board.set_boot_override("Pxe", "Once")
    board.turn_on()
    assert (board.power_limit_w, board.boot_override) == (450, ("None", "Disabled"))


def test_settings_outlive_the_bmc(board: Board, state: State, switch: FakeSwitch) -> None:
    """A BMC whose process starts again knows what it was told."""
    board.set_boot_override("Pxe", "Continuous")
    again = Board(board.machine, state, switch, {"username": "admin", "password": PASSWORD})  # type: ignore[arg-type]
    assert again.boot_override == ("Pxe", "Continuous")


def test_our_own_client_keeps_a_machine_off_for_good(url: str, board: Board, switch: FakeSwitch) -> None:
    """What follows when the feed comes back is set over Redfish and read back, with boot device and power."""
    bmc = RedfishBmc(Access(url, "admin", PASSWORD, timeout_s=5))
    switch.on = True
    assert bmc.power_policy() == "last-state"
    wanted = {"power_policy": "always-off", "boot_order": "disk", "power": "off"}
    settle_bmc(bmc, wanted, 5, check=False)
    assert (board.power_policy, board.boot_override, switch.on) == ("AlwaysOff", ("Hdd", "Continuous"), False)
    assert settle_bmc(bmc, wanted, 5, check=False) == []


def test_ipmi_shows_and_takes_the_same_power_policy(ipmi: BoardIpmi, board: Board) -> None:
    """The number of the command is that of bits 6:5 of the chassis' status."""
    session = FakeSession()
    ipmi.handle_raw_request({"netfn": 0, "command": 6, "data": [0]}, session)
    assert board.power_policy == "AlwaysOff"
    board.set_power_policy("AlwaysOn")
    ipmi.handle_raw_request({"netfn": 0, "command": 1, "data": []}, session)
    assert session.data[0] >> 5 & 3 == 2


def test_a_bmc_shows_the_parts_of_its_machine(url: str, board: Board) -> None:
    """GPUs by slot and serial, memory, and the chassis' serial: what is in the hardware record, faults and all."""
    record = {"serial": "CH1", "gpus": [{"slot": "GPU_SXM_1", "serial": "G1", "name": "H100"}]}
    record["dimms"] = [{"slot": "DIMM_A1", "serial": "D1", "size_mib": 65536}]
    (board.machine.path / "hardware").mkdir(parents=True)
    (board.machine.path / "hardware/hardware.json").write_text(json.dumps(record))
    found = RedfishBmc(Access(url, "admin", PASSWORD, timeout_s=5)).inventory().parts
    assert found["system"][0]["SerialNumber"] == "CH1"
    assert [(part["Id"], part["SerialNumber"]) for part in found["gpus"]] == [("GPU_SXM_1", "G1")]
    assert [(part["Id"], part["SerialNumber"]) for part in found["memory"]] == [("DIMM_A1", "D1")]


def test_an_answer_leaves_its_socket_to_the_thread_that_reads() -> None:
    """A socket that blocks while it is read keeps that thread, and every other BMC of the process is silent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ours, socket.socket(type=socket.SOCK_DGRAM) as theirs:
        theirs.bind(("127.0.0.1", 0))
        ours.setblocking(False)
        pyghmi_session._io_sendto(ours, b"answer", theirs.getsockname())  # noqa: SLF001 - what pyghmi's server calls
        assert theirs.recv(10) == b"answer"
        assert not ours.getblocking()
