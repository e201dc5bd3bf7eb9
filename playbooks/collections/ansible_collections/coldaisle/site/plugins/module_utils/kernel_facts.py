"""Facts of the kernel: its release, its modules, its command line, its huge pages, and how the CPUs are clocked."""

from __future__ import annotations

import os
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import (
    Context,
    Fact,
    FactError,
    Value,
    read_text,
    run,
    write_text,
)
from ansible_collections.coldaisle.site.plugins.module_utils.services import restart

HUGEPAGES = Path("/sys/kernel/mm/hugepages")
CPUS = Path("/sys/devices/system/cpu")
MODULES = Path("/sys/module")
HOST_SERVICE = "coldaisle-host.service"
"""Written by the role: it sets what a kernel forgets at a reboot, at every boot, and now."""


def restart_host_service(_name: str, _planned: Value, _context: Context) -> None:
    """Let the unit set everything again; it is written before facts are settled."""
    restart(HOST_SERVICE)


def module_folder() -> Path:
    """Return the folder of the running kernel's modules."""
    return Path("/lib/modules") / os.uname().release


def is_built_in(module: str) -> bool:
    """Tell whether a module is part of the running kernel's own file, which lists such by path (modules.builtin)."""
    file = module_folder() / "modules.builtin"
    names = {Path(line).name.partition(".")[0].replace("-", "_") for line in _lines(file)}
    return module.replace("-", "_") in names


def _lines(file: Path) -> list[str]:
    return read_text(file).splitlines() if file.is_file() else []


def _read_module(name: str) -> str:
    loaded = (MODULES / name.replace("-", "_")).exists() or is_built_in(name)
    return "loaded" if loaded else "not loaded"


def _set_module(name: str, _planned: Value, _context: Context) -> None:
    run("modprobe", name)


def _read_argument(name: str) -> str:
    """Return an argument's values; one without a value is `set`. The last of a name is not the only one that counts."""
    words = [word.partition("=") for word in read_text("/proc/cmdline").split()]
    values = [value if equals else "set" for key, equals, value in words if key == name]
    return ",".join(values) or "not set"


def _read_governor(_name: str) -> str:
    found = {read_text(file) for file in CPUS.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    if not found:
        raise FactError(
            "no CPU has a frequency governor: is its driver loaded, and does the BIOS leave it to the kernel?"
        )
    return ",".join(sorted(found))


def _pages(size_kib: int) -> Path:
    return HUGEPAGES / f"hugepages-{size_kib}kB" / "nr_hugepages"


def _hugepages(size_kib: int, hint: str) -> Fact:
    """Return the fact of one size of huge pages: the plan names the least."""
    return Fact(
        lambda _name: int(read_text(_pages(size_kib))),
        lambda _name, planned, _context: write_text(_pages(size_kib), f"{planned}\n"),
        hint,
        rule="at_least",
    )


FACTS: dict[str, Fact] = {
    "kernel_release": Fact(
        lambda _name: os.uname().release,
        None,
        "the boot loader's default entry; the kernel changes at the next reboot",
        follows=True,
    ),
    "module": Fact(
        _read_module, _set_module, "modinfo: where it is not found, install linux-modules-extra of the running kernel"
    ),
    "cmdline": Fact(
        _read_argument,
        None,
        "the boot loader's settings: they are written, and hold from the next reboot",
        rule="set",
        follows=True,
    ),
    "cpu_governor": Fact(
        _read_governor, restart_host_service, f"journalctl -u {HOST_SERVICE}, cpupower frequency-info"
    ),
    "hugepages_2mi": _hugepages(
        2048, "free memory: after a long uptime it is too fragmented for huge pages, and a reboot gives them"
    ),
    "hugepages_1gi": _hugepages(
        1048576, "hugepagesz=1G hugepages=N on the kernel's command line: pages of 1 GiB are seldom free after boot"
    ),
}
