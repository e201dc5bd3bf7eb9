"""Telling services that their files changed."""

from __future__ import annotations

from ansible_collections.coldaisle.site.plugins.module_utils.host import run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def is_active(unit: str) -> bool:
    """Return whether a unit runs; one that is not installed does not."""
    return run("systemctl", "show", "--property=ActiveState", "--value", unit).strip() == "active"


def _reload_networkd() -> None:
    if is_active("systemd-networkd"):
        run("networkctl", "reload")


def _reload_systemd() -> None:
    run("systemctl", "daemon-reload", timeout_s=60)


def _reload_udev() -> None:
    if is_active("systemd-udevd"):
        run("udevadm", "control", "--reload")


_READERS: dict[str, Callable[[], None]] = {
    "networkd": _reload_networkd,
    "systemd": _reload_systemd,
    "udev": _reload_udev,
}


def tell(reader: str) -> None:
    """
    Tell who reads a file that it changed: one of the readers above, or a unit that is restarted if it runs.

    Raises:
        FactError: it did not come back.

    """
    if reader in _READERS:
        _READERS[reader]()
    elif is_active(reader):
        run("systemctl", "restart", reader, timeout_s=60)
