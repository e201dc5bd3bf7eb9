"""A plain loop over BMCs with ipmitool: boot from disk, power on, read both back. Prints how many are as wanted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import yaml

TRIES, PAUSE_S = 60, 1.0


def ask(address: str, login: dict[str, str], *words: str) -> str:
    """Run ipmitool on a BMC (cipher suite 3, which all of them speak), and return what it prints."""
    command = ["ipmitool", "-I", "lanplus", "-C", "3", "-H", address, "-U", login["username"], "-E", *words]
    environment = {**os.environ, "IPMITOOL_PASSWORD": login["password"]}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def done(address: str, login: dict[str, str]) -> bool:
    """Set up one BMC, and return whether it is as wanted."""
    ask(address, login, "chassis", "bootdev", "disk", "options=persistent")
    ask(address, login, "chassis", "power", "on")
    for _ in range(TRIES):
        if "is on" in ask(address, login, "chassis", "power", "status"):
            return "Force Boot from default Hard-Drive" in ask(address, login, "chassis", "bootparam", "get", "5")
        time.sleep(PAUSE_S)
    return False


def main() -> None:
    """Do all BMCs of the file that is named."""
    wanted = json.loads(Path(sys.argv[1]).read_text())
    login = yaml.safe_load(Path(wanted["credentials"]).read_text())
    sys.stdout.write(f"{sum(done(address, login) for address in wanted['addresses'])}\n")


main()
