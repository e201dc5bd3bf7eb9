"""First boot of switches: which option names which script, what stands in it, and what is said to lack."""

from __future__ import annotations

import hashlib
import re
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from coldaisle.cli import main
from coldaisle.plan import plan_hash
from coldaisle.plan.model import SitePlan
from coldaisle.render.fabric.ztp import first_boot
from coldaisle.render.switches import switch_configs
from tests.unit.test_cabling_pack import folder
from tests.unit.test_switch_configs import plan_of

URL = "https://10.32.0.5:8443/ztp"


@cache
def delivered(system: str) -> SitePlan:
    """Return the plan of the Ethernet site with a system, and a MAC for every switch but one."""
    plan = plan_of("b200-roce", system)
    compute = plan.fabrics["compute"]
    switches = tuple(
        replace(switch, mac=None if switch.name == "spine04" else f"aa:bb:cc:00:00:{at:02x}")
        for at, switch in enumerate(compute.switches)
    )
    return replace(plan, fabrics={"compute": replace(compute, switches=switches)})


@pytest.mark.parametrize(("system", "option"), [("cumulus", 239), ("sonic", 239), ("eos", 67)])
def test_dhcp_names_each_switchs_script_by_its_systems_option(system: str, option: int) -> None:
    """A reservation has MAC, address, name and the script's URL under the option that the system asks for."""
    plan = delivered(system)
    files = first_boot(plan, URL).files
    for switch in (one for one in plan.fabrics["compute"].switches if one.mac):
        lines = files["dhcp/dnsmasq.conf"].splitlines()
        assert f"dhcp-host={switch.mac},set:{switch.name},{switch.management_address},{switch.name}" in lines
        assert f'dhcp-option=tag:{switch.name},{option},"{URL}/{switch.name}.sh"' in lines
        word = "bootfile-name" if option == 67 else "ztp-script-url"
        host = re.search(rf"^host {switch.name} {{(.*?)^}}", files["dhcp/dhcpd.conf"], re.MULTILINE | re.DOTALL)
        assert host
        assert f"hardware ethernet {switch.mac};" in host[1]
        assert f"fixed-address {switch.management_address};" in host[1]
        assert f'option {word} "{URL}/{switch.name}.sh";' in host[1]
    assert "dhcp-range=set:switches-1,10.32.12.0,static,255.255.252.0,1h" in files["dhcp/dnsmasq.conf"].splitlines()


@pytest.mark.parametrize("system", ["cumulus", "sonic", "eos"])
def test_a_script_holds_the_digest_of_the_configuration_beside_it(system: str) -> None:
    """A script names URL and SHA-256 of its switch's configuration, and the plan; the configuration is whole."""
    plan = delivered(system)
    files = first_boot(plan, f"{URL}/").files
    for config in switch_configs(plan):
        text, script = files[f"http/{config.file_name}"], files[f"http/{config.switch}.sh"]
        assert text == config.text
        assert f'"{URL}/{config.file_name}"' in script
        assert hashlib.sha256(text.encode()).hexdigest() in script
        assert f"plan {plan_hash(plan)}" in script
        assert script.startswith("#!/bin/bash\n")
        assert ("# CUMULUS-AUTOPROVISIONING" in script.splitlines()) == (system == "cumulus")


def test_all_files_name_the_plan() -> None:
    """Every file has the hash of the plan that it came from."""
    plan = delivered("cumulus")
    assert [name for name, text in first_boot(plan, URL).files.items() if plan_hash(plan) not in text] == []


def test_a_switch_without_a_mac_has_a_script_and_no_reservation() -> None:
    """Its script can be named by hand; that DHCP will not name it is said with the reason."""
    found = first_boot(delivered("cumulus"), URL)
    assert "http/spine04.sh" in found.files
    assert "spine04" not in found.files["dhcp/dnsmasq.conf"] + found.files["dhcp/dhcpd.conf"]
    assert found.notes == [
        "no reservation: the MAC of its management port is not known: add it to switch_hardware: spine04"
    ]


def test_a_network_that_the_provisioning_host_serves_is_not_served_twice() -> None:
    """The range of nodes' boot network is in the provisioning host's own file already."""
    plan = delivered("cumulus")
    serving = plan_of("sim", "frr").provisioning
    assert serving is not None
    here = replace(plan, provisioning=replace(serving, subnet="10.32.12.0/22"))
    assert "dhcp-range" not in first_boot(here, URL).files["dhcp/dnsmasq.conf"]
    assert "subnet" not in first_boot(here, URL).files["dhcp/dhcpd.conf"]


@pytest.mark.parametrize("url", ["ftp://h/x", "http://h/$(reboot)", 'http://h/"; x', "h/x", "http://h/a b"])
def test_a_url_that_a_shell_would_read_otherwise_is_refused(url: str) -> None:
    """Nothing of a URL is run by a script or ends a string of a DHCP server."""
    with pytest.raises(ValueError, match="no URL that a script can hold"):
        first_boot(delivered("cumulus"), url)


@pytest.mark.parametrize(
    ("site", "words", "code", "said"),
    [
        ("h100-pod", [], 2, "site h100-pod has no provisioning host: say with --url where the files are served"),
        ("sim", [], 3, "no script: frr has no first boot of this kind: leaf01, leaf02, spine01 and 1 more"),
        ("sim", ["--fabric", "x"], 2, "there is no fabric x; known: compute, oob"),
        (
            "b200-roce",
            ["--url", URL, "--fabric", "storage"],
            3,
            "no reservation: the MAC of its management port is not known",
        ),
    ],
)
def test_the_command_says_what_lacks(  # noqa: PLR0913, PLR0917 - a case and two fixtures
    site: str,
    words: list[str],
    code: int,
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Files are printed by their paths; what lacks is said on standard error with a code of its own."""
    monkeypatch.setattr(sys, "argv", ["coldaisle", "fabric", "ztp", str(folder(site)), "--out", str(tmp_path), *words])
    with pytest.raises(SystemExit) as stopped:
        main()
    out, err = capsys.readouterr()
    assert (stopped.value.code, said in err) == (code, True)
    assert {Path(line) for line in out.splitlines()} == {path for path in tmp_path.rglob("*") if path.is_file()}
