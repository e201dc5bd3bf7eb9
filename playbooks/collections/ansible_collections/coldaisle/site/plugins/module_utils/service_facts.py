"""Facts of services and files: the provisioner's and the kubelet's."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, Fact, FactError, Value, read_text, run

KUBELET_CONFIG = Path("/var/lib/kubelet/config.yaml")
HTTP_ROOT = Path("/srv/coldaisle/http")
BLOCK_BYTES = 1 << 20


def _read_service(unit: str) -> str:
    """Return `active` for a unit that runs and will after a reboot, else what it is."""
    shown = run("systemctl", "show", "--property=ActiveState,UnitFileState", unit)
    state = dict(line.split("=", 1) for line in shown.splitlines())
    active, enabled = state["ActiveState"], state["UnitFileState"]
    return f"active, but {enabled}" if active == "active" and enabled == "disabled" else active


def _set_service(unit: str, _planned: Value, _context: Context) -> None:
    run("systemctl", "enable", "--now", unit, timeout_s=60)


def _read_kubelet_config(_name: str) -> str:
    """Return the digest of the file as the plan writes it: the first 16 hexadecimal digits of its SHA-256."""
    if not KUBELET_CONFIG.is_file():
        return "absent"
    return hashlib.sha256(KUBELET_CONFIG.read_bytes()).hexdigest()[:16]


def _read_boot(node: str) -> str:
    """Return whether the provisioner has a boot script of a node."""
    marker = f"# {node}: image "
    for script in (HTTP_ROOT / "boot").glob("*.ipxe"):
        if any(line.startswith(marker) for line in read_text(script).splitlines()):
            return "allowed"
    return "denied"


@functools.cache
def _read_image(name: str) -> str:
    """Return the SHA-256 of a file `IMAGE.FILE`; an image's name has no dot."""
    image, _, file = name.partition(".")
    path = HTTP_ROOT / "images" / image / file
    digest = hashlib.sha256()
    try:
        with path.open("rb") as opened:
            while block := opened.read(BLOCK_BYTES):
                digest.update(block)
    except FileNotFoundError:
        return "absent"
    except OSError as error:
        raise FactError(f"cannot read {path}: {error.strerror}") from error
    return digest.hexdigest()


FACTS: dict[str, Fact] = {
    "service": Fact(_read_service, _set_service, "systemctl status and journalctl -u of the unit"),
    "kubelet_config": Fact(_read_kubelet_config, None, f"{KUBELET_CONFIG}", from_files=True),
    "boot": Fact(_read_boot, None, f"{HTTP_ROOT}/boot", from_files=True),
    "image": Fact(
        _read_image, None, "the image folder on the deploy host, and the digest in provisioning.yaml", from_files=True
    ),
}
