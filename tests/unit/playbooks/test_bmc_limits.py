"""The power limit of a chassis over Redfish: both resources of the standard, and BMCs that have neither."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.filter.facts import bmc_facts
from ansible_collections.coldaisle.site.plugins.module_utils import bmc as bmc_module
from ansible_collections.coldaisle.site.plugins.module_utils.bmc import Access, BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_facts import read_bmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_ipmi import IpmiBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_redfish import RedfishBmc
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_settle import settle_bmc

from coldaisle.drift import equality
from tests.unit.playbooks.fake_redfish import CHASSIS, PASSWORD, USER, Machine, serve

Login = Callable[[Machine], RedfishBmc]
WANTED = {"power_limit_w": "5600"}


def newer(watts: float | None = 10200.0, **keys: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON holds anything
    """Return an EnvironmentMetrics resource with a limit."""
    return {"PowerLimitWatts": {"SetPoint": watts, "AllowableMin": 2000, "AllowableMax": 10200, **keys}}


def older(watts: float | None = None) -> dict[str, Any]:
    """Return a Power resource with a limit."""
    return {"PowerControl": [{"MemberId": "0", "PowerCapacityWatts": 13200, "PowerLimit": {"LimitInWatts": watts}}]}


def machine(power: str = "On", **resources: Any) -> Machine:  # noqa: ANN401 - JSON holds anything
    """Return a machine of one chassis with these resources."""
    return Machine(power=power, chassis={"1": {"Chassis": {"ChassisType": "RackMount"}, **resources}})


@pytest.fixture
def login(monkeypatch: pytest.MonkeyPatch) -> Iterator[Login]:
    """Return a function that serves a machine's BMC and logs in to it."""
    monkeypatch.setattr(bmc_module, "RETRY_S", 0.01)
    servers = []

    def logs_in(machine: Machine) -> RedfishBmc:
        servers.append(serve(machine))
        return RedfishBmc(Access(f"http://127.0.0.1:{servers[-1].server_address[1]}", USER, PASSWORD, timeout_s=5))

    yield logs_in
    for server in servers:
        server.shutdown()
        server.server_close()


def test_the_newer_resource_is_set_and_read_back(login: Login) -> None:
    """Where the chassis has EnvironmentMetrics with a limit, that is what is set, and Power is left alone."""
    there = machine(EnvironmentMetrics=newer(), Power=older())
    bmc = login(there)
    assert settle_bmc(bmc, WANTED, 5, check=False) == [{"fact": "power_limit_w", "seen": "10200", "planned": "5600"}]
    assert there.patches == [(f"{CHASSIS}/1/EnvironmentMetrics", {"PowerLimitWatts": {"SetPoint": 5600}})]
    assert settle_bmc(bmc, WANTED, 5, check=False) == []


def test_the_older_resource_is_set_where_there_is_no_other(login: Login) -> None:
    """PowerControl[0].PowerLimit of Power is what older BMCs have; null is no limit. A dead link is no resource."""
    for there in (machine(Power=older()), machine(EnvironmentMetrics={"PowerWatts": {"Reading": 1}}, Power=older()),
                  machine(EnvironmentMetrics=None, Power=older())):  # fmt: skip
        bmc = login(there)
        assert settle_bmc(bmc, WANTED, 5, check=False)[0]["seen"] == "none"
        body = {"PowerControl": [{"PowerLimit": {"LimitInWatts": 5600}}]}
        assert there.patches == [(f"{CHASSIS}/1/Power", body)]
        assert bmc.power_limit() == "5600"


def test_a_limit_that_is_not_in_force_is_put_in_force(login: Login) -> None:
    """A disabled control limits nothing, whatever its set point says."""
    there = machine(EnvironmentMetrics=newer(5600, ControlMode="Disabled"))
    bmc = login(there)
    assert bmc.power_limit() == "none"
    settle_bmc(bmc, WANTED, 5, check=False)
    assert there.patches[0][1] == {"PowerLimitWatts": {"SetPoint": 5600, "ControlMode": "Automatic"}}
    assert bmc.power_limit() == "5600"


def test_a_bmc_that_wants_an_etag_gets_it(login: Login) -> None:
    """Some BMCs take a change only with the ETag of what it changes."""
    there = machine(Power=older())
    there.etag = '"17"'
    assert len(settle_bmc(login(there), WANTED, 5, check=False)) == 1
    assert len(there.patches) == 1


def test_the_limit_of_a_part_is_not_the_machines(login: Login) -> None:
    """A module's limit is passed over, and so is a chassis without one; a system without links has all chassis."""
    chassis: dict[str, dict[str, Any]] = {
        "HGX_GPU_1": {"Chassis": {"ChassisType": "Module"}, "EnvironmentMetrics": newer(700)},
        "Backplane": {"Chassis": {"ChassisType": "Enclosure"}, "Power": {"PowerControl": []}},
        "DGX": {"Chassis": {"ChassisType": "RackMount"}, "Power": older(9000.5)},
    }
    for links in (True, False):
        assert login(Machine(chassis=chassis, links=links)).power_limit() == "9000.5"


def test_a_bmc_without_a_limit_is_told_with_what_it_has(login: Login) -> None:
    """The message says what was looked for, what is there, and what to do; reading says the same."""
    there = login(machine(Power={"PowerControl": [{"PowerConsumedWatts": 400}]}))
    with pytest.raises(BmcError, match="no-power-limit") as caught:
        settle_bmc(there, WANTED, 5, check=False)
    said = str(caught.value)
    assert "EnvironmentMetrics.PowerLimitWatts or PowerControl[0].PowerLimit" in said
    assert f"have: {CHASSIS}/1 with Power" in said
    assert "take power_cap from the node's pool" in said
    with pytest.raises(BmcError, match="have: no chassis"):
        login(Machine()).power_limit()


def test_ipmi_says_that_it_has_no_limit() -> None:
    """Over IPMI nothing is set, and the message names the protocol that does."""
    bmc = IpmiBmc.__new__(IpmiBmc)
    with pytest.raises(BmcError, match=r"no-power-limit: no power limit is set over IPMI .*redfish"):
        settle_bmc(bmc, WANTED, 5, check=True)
    with pytest.raises(BmcError, match="no-power-limit"):
        bmc.set_power_limit(5600)


@pytest.mark.parametrize("watts", ["1500", "11000"])
def test_what_the_bmc_does_not_take_is_not_sent(login: Login, watts: str) -> None:
    """A cap outside of what the BMC allows is told with its bounds."""
    there = machine(EnvironmentMetrics=newer())
    with pytest.raises(BmcError, match=rf"limit-out-of-range: the plan wants {watts} W, .* takes 2000 to 10200 W"):
        settle_bmc(login(there), {"power_limit_w": watts}, 5, check=False)
    assert there.patches == []


def test_a_limit_that_is_not_kept_is_told(login: Login) -> None:
    """A BMC that takes a limit and shows another is an error, not a success."""
    there = machine(Power=older(9000))
    there.deaf = True
    with pytest.raises(BmcError, match="not-kept: the BMC took power limit 5600 W and shows 9000"):
        settle_bmc(login(there), WANTED, 5, check=False)


def test_the_limit_comes_after_the_power(login: Login) -> None:
    """Many BMCs take a limit only while the machine is on."""
    there = machine("Off", Power=older())
    there.refuses_while_off = True
    settle_bmc(login(there), {"power_limit_w": "5600", "power": "on"}, 5, check=False)
    assert (there.resets, len(there.patches)) == (["On"], 1)


def test_check_mode_sends_nothing(login: Login) -> None:
    """Check mode reads the limit and leaves it."""
    there = machine(Power=older(9000))
    assert settle_bmc(login(there), WANTED, 5, check=True)[0]["seen"] == "9000"
    assert there.patches == []


def test_drift_reads_the_limit_and_compares_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a read sees is compared with the plan's watts: the same number is the same, another or none is drift."""
    server = serve(machine(EnvironmentMetrics=newer(5600.0)))
    monkeypatch.setenv("RACK1_USERNAME", USER)
    monkeypatch.setenv("RACK1_PASSWORD", PASSWORD)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    params = {"address": url, "protocol": "redfish", "credentials": "env:RACK1", "ca_file": None, "timeout_s": 5.0}
    assert bmc_facts(["power_limit_w", "hostname"]) == ["power_limit_w"]
    seen, errors = read_bmc(params, ["power_limit_w"])
    server.shutdown()
    server.server_close()
    assert errors == {}
    assert equality.same("power_limit_w", 5600, seen["power_limit_w"])
    assert not equality.same("power_limit_w", 5600, "5000")
    assert not equality.same("power_limit_w", 5600, "none")
