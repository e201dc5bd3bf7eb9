"""Telling services that their files changed."""

from __future__ import annotations

from functools import partial

from ansible_collections.coldaisle.site.plugins.module_utils.host import FactError, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def unit_state(unit: str) -> str:
    """Return what `systemctl is-enabled` says of a unit; it exits with an error for every state but enabled."""
    return run("systemctl", "show", "--property=UnitFileState", "--value", unit).strip()


def unit_states(units: Iterable[str]) -> dict[str, str]:
    """Return the file state of each unit; one that is not installed has none."""
    shown = run("systemctl", "show", "--property=UnitFileState", *units)
    states = [line.partition("=")[2] for line in shown.splitlines() if line]
    return dict(zip(units, states, strict=True))


def is_active(unit: str) -> bool:
    """Return whether a unit runs; one that is not installed does not."""
    return run("systemctl", "show", "--property=ActiveState", "--value", unit).strip() == "active"


def restart(unit: str) -> None:
    """Turn a unit on for every boot, and let it do its work now. Enabling reads all units again: it takes seconds."""
    if unit_state(unit) != "enabled":
        run("systemctl", "enable", unit)
    run("systemctl", "restart", unit, timeout_s=60)


def _reload_networkd() -> None:
    if is_active("systemd-networkd"):
        run("networkctl", "reload")


def _reload_systemd() -> None:
    run("systemctl", "daemon-reload", timeout_s=60)


def _reload_udev() -> None:
    if is_active("systemd-udevd"):
        run("udevadm", "control", "--reload")


def _renew_boot_loader() -> None:
    """Let the boot loader's menu take up the kernel's arguments; a host that boots over the network has none."""
    import shutil  # noqa: PLC0415  # a host that is only read does without its archives

    if shutil.which("update-grub"):
        run("update-grub", timeout_s=120)
    elif shutil.which("grub2-mkconfig"):
        run("grub2-mkconfig", "-o", "/boot/grub2/grub.cfg", timeout_s=120)


_READERS: dict[str, Callable[[], None]] = {
    "grub": _renew_boot_loader,
    "networkd": _reload_networkd,
    "systemd": _reload_systemd,
    "udev": _reload_udev,
}


ENABLED = "enabled:"
"""Begin of a reader that is a unit: it is turned on for every boot."""


def tell(readers: Iterable[str]) -> None:
    """
    Tell who reads files that changed: readers of above, units to turn on, and units that are restarted if they run.

    Units come first, turned on together: each time that systemd reads them all anew takes a small host seconds.

    Raises:
        FactError: one did not take its files; the text begins with its name.

    """
    readers = list(readers)
    units = [reader.removeprefix(ENABLED) for reader in readers if reader.startswith(ENABLED)]
    if units:
        _told(" ".join(units), lambda: run("systemctl", "--no-reload", "enable", *units, timeout_s=60))
    if "systemd" in readers or any(_is_outdated(unit) for unit in units):
        _told("systemd", _reload_systemd)
    for reader in readers:
        if reader != "systemd" and not reader.startswith(ENABLED):
            _told(reader, _READERS.get(reader) or partial(_restart_if_active, reader))


def _is_outdated(unit: str) -> bool:
    """Tell whether systemd knows another text of a unit than is on the disk; one that is new it reads when asked."""
    return run("systemctl", "show", "--property=NeedDaemonReload", "--value", unit).strip() == "yes"


def _restart_if_active(unit: str) -> None:
    if is_active(unit):
        run("systemctl", "restart", unit, timeout_s=60)


def _told(reader: str, do: Callable[[], object]) -> None:
    try:
        do()
    except FactError as error:
        raise FactError(f"{reader} did not take them: {error}") from error
