"""A plain loop over BMCs with sushy: boot from disk, power on, read both back. Prints how many are as wanted."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import sushy
import yaml
from sushy.auth import BasicAuth

TRIES, PAUSE_S = 60, 1.0


def done(address: str, login: dict[str, str], ca_file: str) -> bool:
    """Set up one BMC, and return whether it is as wanted."""
    auth = BasicAuth(login["username"], login["password"])
    root = sushy.Sushy(f"https://{address}/redfish/v1", auth=auth, verify=ca_file)
    system = root.get_system_collection().get_members()[0]
    system.set_system_boot_options(target=sushy.BootSource.HDD, enabled=sushy.BootSourceOverrideEnabled.CONTINUOUS)
    system.reset_system(sushy.ResetType.ON)
    for _ in range(TRIES):
        system.refresh(force=True)
        if system.power_state == sushy.PowerState.ON:
            return bool(system.boot.target == sushy.BootSource.HDD)
        time.sleep(PAUSE_S)
    return False


def main() -> None:
    """Do all BMCs of the file that is named."""
    wanted = json.loads(Path(sys.argv[1]).read_text())
    login = yaml.safe_load(Path(wanted["credentials"]).read_text())
    sys.stdout.write(f"{sum(done(address, login, wanted['ca_file']) for address in wanted['addresses'])}\n")


main()
