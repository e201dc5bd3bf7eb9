"""BMCs asked live, by the code that plays use, of servers that speak Redfish: what they tell, and who tells nothing."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_whole import read_whole

from coldaisle.adopt.facts import Reading, Untold
from coldaisle.adopt.identify import identified
from coldaisle.adopt.live.bmcs import RedfishLive
from coldaisle.adopt.outcome import Outcome, with_untold
from coldaisle.adopt.readers import redfish
from tests.unit.playbooks.tree_redfish import ROOT, Tree, at, collection, serve_tree

SYSTEM, CHASSIS, MANAGER = f"{ROOT}/Systems/1", f"{ROOT}/Chassis/1", f"{ROOT}/Managers/1"
GPUS = {f"GPU_SXM_{number}": f"165492300{number}" for number in (1, 2)}


def machine() -> Tree:
    """Return a BMC that tells everything; form: DMTF's schema index (DSP8010)."""
    boot = {"BootSourceOverrideMode": "UEFI", "BootSourceOverrideTarget": "None"}
    own = {"Name": "System", "Manufacturer": "Example", "Model": "DGX H100 ", "SerialNumber": "SN-7",
           "HostName": "N7.x.net",
           "PowerState": "On", "Boot": boot, "BiosVersion": "1.2", "Processors": at(f"{SYSTEM}/Processors"),
           "EthernetInterfaces": at(f"{SYSTEM}/EthernetInterfaces")}  # fmt: skip
    gpus = {slot: {"ProcessorType": "GPU", "Model": "H100", "SerialNumber": serial} for slot, serial in GPUS.items()}
    port = {"PermanentMACAddress": "AA:BB:CC:00:00:07", "IPv4Addresses": [{"Address": "127.0.0.1"}]}
    supplies: dict[str, Mapping[str, Any]] = {"0": {"Model": "P3300"}, "1": {}, "2": {"Status": {"State": "Absent"}}}
    return {
        ROOT: {"@odata.id": ROOT, "Id": "Root", "Name": "Root", "RedfishVersion": "1.11.0", "UUID": "92384634",
               **{name: at(f"{ROOT}/{name}") for name in ("Systems", "Chassis", "Managers")}},
        **collection(f"{ROOT}/Systems", **{"1": own}),
        **collection(f"{SYSTEM}/Processors", CPU0={"Model": "8480C"}, **gpus),
        **collection(f"{SYSTEM}/EthernetInterfaces", a={"MACAddress": "AA:BB:CC:00:00:01"}, b={"MACAddress": ""}),
        **collection(f"{ROOT}/Chassis", **{"1": {"PowerSubsystem": at(f"{CHASSIS}/PowerSubsystem")}}),
        f"{CHASSIS}/PowerSubsystem": {"PowerSupplies": at(f"{CHASSIS}/PowerSubsystem/PowerSupplies")},
        **collection(f"{CHASSIS}/PowerSubsystem/PowerSupplies", **supplies),
        **collection(f"{ROOT}/Managers", **{"1": {"FirmwareVersion": "2.1", "EthernetInterfaces": at(f"{MANAGER}/E")}}),
        **collection(f"{MANAGER}/E", eth0=port),
    }  # fmt: skip


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that serves a tree and returns what is read of it, at 127.0.0.1."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("B_USERNAME", "admin")
    monkeypatch.setenv("B_PASSWORD", "correct-horse")
    with ExitStack() as stack:

        def asked(tree: Tree) -> dict[str, Any]:
            url = f"http://127.0.0.1:{stack.enter_context(serve_tree(tree))}"
            params = {"address": url, "protocol": "redfish", "credentials": "env:B", "ca_file": None, "timeout_s": 5.0}
            return read_whole(params)

        yield asked


def facts_of(told: Mapping[str, Any]) -> tuple[dict[str, Any], Reading]:
    """Return the facts of the one BMC that was asked, through the files of a live source."""
    taken = RedfishLive(("127.0.0.1",), lambda _: told, 1).take()
    reading = redfish.read(taken.files["redfish"])
    return {fact.field: fact.value for fact in identified(reading).facts}, reading


def test_everything_that_a_bmc_tells_is_a_fact_of_its_machine(ask: Any) -> None:  # noqa: ANN401
    """Model, serials by slot, ports, power supplies that are there, firmware, and the BMC's own MAC."""
    facts, reading = facts_of(ask(machine()))
    assert {fact.subject.name for fact in identified(reading).facts} == {"n7"}
    assert facts["model"] == "DGX H100"
    assert (facts["serial"], facts["firmware"], facts["bmc_address"]) == ("SN-7", "uefi", "127.0.0.1")
    assert (facts["bmc_mac"], facts["bmc_version"]) == ("aa:bb:cc:00:00:07", "2.1")
    assert (facts["gpus"], facts["psus"], facts["gpu_product"]) == (2, 2, "H100")
    assert facts["gpu_serials"] == tuple(f"{slot}={serial}" for slot, serial in GPUS.items())
    assert {each.what for each in reading.untold} == {"memory", "drives", "ports"}


def test_what_a_bmc_does_not_tell_is_named_with_its_reason(ask: Any) -> None:  # noqa: ANN401
    """A BMC without managers, supplies and Power of the older kind still tells the rest."""
    tree = machine()
    del tree[f"{ROOT}/Managers"]
    tree[CHASSIS] = {"Power": at(f"{CHASSIS}/Power")}
    facts, reading = facts_of(ask(tree))
    assert facts["gpus"] == 2
    assert "bmc_mac" not in facts
    why = {each.what: each.why for each in reading.untold}
    assert why["bmc_mac"] == "no port of the manager has the address that was asked"
    assert why["power_supplies"] == "the BMC lists none"
    tree[f"{CHASSIS}/Power"] = {"PowerSupplies": [{"MemberId": "0"}, {"MemberId": "1"}, {"MemberId": "2"}]}
    assert facts_of(ask(tree))[0]["psus"] == 3


def test_only_so_many_are_asked_at_once_and_silent_ones_are_named() -> None:
    """Answers come in any order and belong to who gave them; one that is silent is needed, and named in the list."""
    lock, now, most = threading.Lock(), [0], [0]

    def read(address: str) -> Mapping[str, Any] | str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.02)
        with lock:
            now[0] -= 1
        return "no-answer: off" if address.endswith(".3") else {"parts": {"system": [{"SerialNumber": address}]}}

    addresses = tuple(f"192.0.2.{number}" for number in range(1, 9))
    said: list[str] = []
    taken = RedfishLive(addresses, read, 3).take(said.append)
    assert most == [3]
    assert len(said) == 8
    assert "8 of 8 asked, 1 without an answer" in said
    facts = redfish.read(taken.files["redfish"]).facts
    serials = {fact.subject.name: fact.value for fact in facts if fact.field == "serial"}
    assert serials == {address: address for address in addresses if not address.endswith(".3")}
    assert taken.untold == (Untold("redfish", "192.0.2.3", "everything", "no-answer: off", silent=True),)
    [unknown] = with_untold(Outcome(), taken.untold).unknowns
    assert (unknown.path, unknown.gap.required) == ("redfish.192.0.2.3", True)
    assert "did not answer (no-answer: off)" in unknown.gap.what
