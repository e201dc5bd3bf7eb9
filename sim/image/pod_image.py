"""
Container images from Debian's busybox-static, as an OCI layout in one tar: no registry and no builder is needed.

Two images share one layer: one for pods of tests, and one that holds a pod's network namespace open. The same package
gives the same bytes. Format: the OCI image layout and image specification, 1.0.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

POD_IMAGE = "coldaisle.invalid/busybox:bookworm"
PAUSE_IMAGE = "coldaisle.invalid/pause:bookworm"
"""Names that no registry can answer for (RFC 2606): a pod that would pull one has to fail."""

BUSYBOX = "/bin/busybox"
COMMANDS = ("cat", "env", "false", "httpd", "id", "ip", "ls", "nc", "ping", "sh", "sleep", "true", "wget")
"""What pods call by name; busybox does the rest by its own name."""

COMMAND_OF = {POD_IMAGE: ("/bin/sh",), PAUSE_IMAGE: (BUSYBOX, "sleep", "2147483647")}
"""What runs in a container of each image that asks for nothing else. The runtime ends the second by force."""

_MEDIA = "application/vnd.oci.image"


def write_images(busybox: Path, target: Path) -> None:
    """Write both images to `target`; `busybox` is the statically linked program."""
    blobs: dict[str, bytes] = {}
    layer = _layer(busybox.read_bytes())
    manifests = [_manifest(blobs, layer, name, command) for name, command in COMMAND_OF.items()]
    index = {"schemaVersion": 2, "mediaType": f"{_MEDIA}.index.v1+json", "manifests": manifests}
    files = {"oci-layout": _json({"imageLayoutVersion": "1.0.0"}), "index.json": _json(index)}
    files |= {f"blobs/sha256/{digest}": content for digest, content in sorted(blobs.items())}
    target.write_bytes(_tar(files))


def _manifest(blobs: dict[str, bytes], layer: bytes, name: str, command: Sequence[str]) -> dict[str, Any]:
    """Add the blobs of one image, and return how the index names it."""
    root = {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(layer).hexdigest()}"]}
    config = {"architecture": "amd64", "os": "linux", "rootfs": root}
    config["config"] = {"Cmd": list(command), "Env": ["PATH=/bin"]}
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_MEDIA}.manifest.v1+json",
        "config": _blob(blobs, f"{_MEDIA}.config.v1+json", _json(config)),
        "layers": [_blob(blobs, f"{_MEDIA}.layer.v1.tar", layer)],
    }
    names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rpartition(":")[2]}
    return {**_blob(blobs, f"{_MEDIA}.manifest.v1+json", _json(manifest)), "annotations": names}


def _blob(blobs: dict[str, bytes], media_type: str, content: bytes) -> dict[str, Any]:
    """Keep a blob under its digest, and return its descriptor."""
    digest = hashlib.sha256(content).hexdigest()
    blobs[digest] = content
    return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}


def _layer(busybox: bytes) -> bytes:
    """Return the file system of both images: busybox, its commands, and who root and nobody are."""
    files = {
        BUSYBOX.lstrip("/"): busybox,
        "etc/passwd": b"root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n",
        "etc/group": b"root:x:0:\nnogroup:x:65534:\n",
    }
    links = {f"bin/{command}": "busybox" for command in COMMANDS}
    return _tar(files, links, folders=("bin", "dev", "etc", "proc", "sys", "tmp", "var"))


def _tar(files: Mapping[str, bytes], links: Mapping[str, str] | None = None, folders: Sequence[str] = ()) -> bytes:
    """Return a tar archive of root's, without times."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in folders:
            archive.addfile(_member(name, tarfile.DIRTYPE))
        for name, content in files.items():
            member = _member(name, tarfile.REGTYPE)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, target in (links or {}).items():
            member = _member(name, tarfile.SYMTYPE)
            member.linkname = target
            archive.addfile(member)
    return made.getvalue()


def _member(name: str, kind: bytes) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type = kind
    member.mode = 0o755
    return member


def _json(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, sort_keys=True).encode()
