"""Facts of a host's network, on a host that is played: what `ip` shows of it, and a networkd that obeys its files."""

from __future__ import annotations

import json
from typing import Any

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils import facts, network_facts, ports, run_settle
from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, FactError, forget

PLANNED: dict[str, Any] = {
    "bond_mode.bond0": "802.3ad",
    "bond_lacp_rate.bond0": "fast",
    "bond_members.bond0": "eth0,eth1",
    "addresses.eth0": "none",
    "addresses.eth1": "none",
    "mtu.bond0": 9000,
    "address.bond0": "10.1.2.3/24",
    "vlan.bond0.300": 300,
}
LINKS = [{"name": "eth0", "mac": "02:00:00:00:00:01"}, {"name": "eth1", "mac": "02:00:00:00:00:02"}]


def address(local: str, length: int = 24, scope: str = "global") -> dict[str, Any]:
    """Return an address as `ip -json` shows it."""
    return {"family": "inet6" if ":" in local else "inet", "local": local, "prefixlen": length, "scope": scope}


class PlayedHost:
    """A host of two ports: `ip` shows `ports`, and networkd makes the planned bond and VLAN when it is told to."""

    def __init__(self) -> None:
        """Begin with two ports, one of which has an address by DHCP and one of the link."""
        self.ports: dict[str, dict[str, Any]] = {}
        self.said: list[str] = []
        self.reads_new_files = True
        for number in (0, 1):
            self.ports[f"eth{number}"] = {"ifname": f"eth{number}", "mtu": 9000, "addr_info": []}
            self.ports[f"eth{number}"]["address"] = LINKS[number]["mac"]
        self.ports["eth0"]["addr_info"] = [address("10.1.2.3"), address("fe80::1", 64, "link")]

    def run(self, *argv: str, timeout_s: float = 20) -> str:
        """Answer one of the commands that the facts give."""
        del timeout_s
        self.said.append(" ".join(argv))
        match argv:
            case ("ip", "-json", "-details", "address", "show"):
                return json.dumps(list(self.ports.values()))
            case ("ip", "address", "flush", "dev", nic):
                self.ports[nic]["addr_info"] = []
            case ("ip", "link", "set", "dev", nic, "mtu", mtu):
                self.ports[nic]["mtu"] = int(mtu)
            case ("ip", "link", "delete", "dev", nic):
                self._lose(nic)
            case ("networkctl", "reload") if self.reads_new_files and "bond0" not in self.ports:
                self._make()
            case ("networkctl", "reconfigure", *nics):
                self._enslave(*(nic for nic in nics if nic in {"eth0", "eth1"}))
            case ("systemctl", "restart", _):
                self._make()
                self._enslave("eth0", "eth1")
        return ""

    def _lose(self, nic: str) -> None:
        self.ports = {name: port for name, port in self.ports.items() if not name.startswith(nic)}
        for port in self.ports.values():
            port.pop("master", None)

    def _make(self) -> None:
        data = {"mode": "802.3ad", "ad_lacp_rate": "fast", "xmit_hash_policy": "layer3+4"}
        bond = {"ifname": "bond0", "mtu": 9000, "addr_info": [address("10.1.2.3")]}
        self.ports["bond0"] = {**bond, "linkinfo": {"info_kind": "bond", "info_data": data}}
        vlan = {"ifname": "bond0.300", "mtu": 9000, "addr_info": [], "address": LINKS[0]["mac"]}
        self.ports["bond0.300"] = {**vlan, "linkinfo": {"info_kind": "vlan", "info_data": {"id": 300}}}

    def _enslave(self, *nics: str) -> None:
        for nic in nics:
            self.ports[nic]["master"] = "bond0"
            self.ports[nic] |= {"address": LINKS[0]["mac"], "permaddr": self.ports[nic]["address"]}


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> PlayedHost:
    """Return a host of two ports without a bond, on which nothing takes long."""
    played = PlayedHost()
    monkeypatch.setattr(network_facts, "run", played.run)
    monkeypatch.setattr(ports, "run", played.run)
    monkeypatch.setattr(network_facts, "NETWORKD_S", 0.02)
    forget()  # each host is another
    return played


def settled(planned: dict[str, Any]) -> dict[str, Any]:
    """Settle facts on the played host; each run is a process of its own, which remembers nothing."""
    forget()
    return run_settle.run({"facts": planned, "links": LINKS}, check=False)


def test_n7_a_bond_comes_about_and_its_members_lose_their_addresses(host: PlayedHost) -> None:
    """N7: the bond gets members, VLAN and address, what DHCP gave a member is gone, and again changes nothing."""
    first = settled(PLANNED)
    assert "failed" not in first, first
    assert first["facts"] == PLANNED
    host.said.clear()
    again = settled(PLANNED)
    assert not again["changed"]
    assert set(host.said) == {"ip -json -details address show"}


def test_a_bond_of_another_mode_is_made_anew(host: PlayedHost) -> None:
    """Networkd never changes a bond that is there: it is deleted, and networkd begins anew once for all of it."""
    settled(PLANNED)
    host.ports["bond0"]["linkinfo"]["info_data"] |= {"mode": "active-backup", "ad_lacp_rate": "slow"}
    host.said.clear()
    found = settled(PLANNED)
    assert found["facts"] == PLANNED
    assert [said for said in host.said if said.startswith(("ip link", "systemctl restart"))] == [
        "ip link delete dev bond0",
        "systemctl restart systemd-networkd",
    ]


def test_a_bond_that_somebody_deleted_comes_back(host: PlayedHost) -> None:
    """Where a reload brings no bond about, since networkd believes that it made it already, networkd begins anew."""
    host.reads_new_files = False
    assert settled(PLANNED)["facts"] == PLANNED
    assert "systemctl restart systemd-networkd" in host.said


def test_addresses_of_a_port_outside_of_a_bond_stay(host: PlayedHost) -> None:
    """A port that is in no bond may be what the host is reached by: its addresses are never taken."""
    with pytest.raises(FactError, match="eth0 is in no bond yet"):
        facts.fact_of("addresses.eth0")[0].set("eth0", "none", Context(links={}))  # type: ignore[misc]
    assert not [said for said in host.said if "flush" in said]


def test_drift_sees_members_with_addresses(host: PlayedHost) -> None:
    """A read names the addresses that a member has, of the link too, and what is no bond or VLAN."""
    seen, _ = facts.read_facts([*PLANNED, "bond_hash.bond0"])
    assert seen["addresses.eth0"] == "10.1.2.3/24,fe80::1/64"
    assert seen["bond_members.bond0"] == "none"
    assert (seen["bond_mode.bond0"], seen["bond_hash.bond0"], seen["vlan.bond0.300"]) == ("absent",) * 3
    assert facts.different(PLANNED, seen) == [name for name in PLANNED if name != "addresses.eth1"]
    del host


def test_a_port_is_named_by_its_own_address(host: PlayedHost) -> None:
    """In a bond a port shows the bond's MAC address, and is found by its own; neither bond nor VLAN is taken for it."""
    settled(PLANNED)
    host.ports["enp2s0"] = {**host.ports.pop("eth1"), "ifname": "enp2s0"}
    forget()  # it was started anew
    ports.name_port("eth1", Context({"eth1": LINKS[1]}))
    assert "ip link set dev enp2s0 name eth1" in host.said
