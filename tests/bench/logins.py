"""
A login to every host of an inventory, with a Python there that does nothing: `python -m tests.bench.logins INVENTORY`.

It logs in as the provider's reader does. No read of a host can cost less, whatever it asks.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from coldaisle.openssh import write_config
from components.provider.asking import run_program
from components.provider.logins import Login, login_of
from components.provider.reading import FORKS


def logins(inventory: Path, folder: Path) -> list[Login]:
    """Return how each host is logged in to; one that only Ansible can log in to is an error here."""
    os.environ["ANSIBLE_SSH_ARGS"] = write_config(folder / "ssh_config")
    hosts = yaml.load(inventory.read_text(encoding="utf-8"), yaml.CSafeLoader)["all"]["hosts"]
    found = [login_of(name, variables) for name, variables in hosts.items()]
    return [login if isinstance(login, Login) else sys.exit(login.why) for login in found]


async def log_in(wanted: Iterable[Login]) -> None:
    """Log in to all, as many at once as a read does."""
    turns = asyncio.Semaphore(FORKS)

    async def one(login: Login) -> None:
        async with turns:
            code, _, errors = await run_program(login, b"")
        if code:
            sys.exit(f"a login ended with {code}: {errors}")

    async with asyncio.TaskGroup() as tasks:
        for login in wanted:
            tasks.create_task(one(login))


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        asyncio.run(log_in(logins(Path(sys.argv[1]), Path(place))))
