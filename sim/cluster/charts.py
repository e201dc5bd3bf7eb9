"""
The chart mirror of the simulated site: stand-in charts as a Helm repository.

The charts are of our own writing. Their names, versions and values are those of the real ones, as far as the plan sets
them, so that the same release resource works against the mirror of a real, air-gapped site. Packages are the same to
the byte each time: members sorted, no time stamps.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARTS = Path(__file__).parent / "charts"
CREATED = "2026-11-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A packaged chart: its metadata and the bytes of its archive."""

    metadata: dict[str, Any]
    archive: bytes

    @property
    def file_name(self) -> str:
        """The archive's name in the repository."""
        return f"{self.metadata['name']}-{self.metadata['version']}.tgz"

    @property
    def digest(self) -> str:
        """The archive's SHA-256, which Helm compares with what it downloads."""
        return hashlib.sha256(self.archive).hexdigest()


def all_charts(keda_definitions: Path | None) -> list[Chart]:
    """Return every chart. KEDA's resource definitions come from its own module; without them its chart is left out."""
    extra = {"keda": keda_definitions}
    folders = (folder for folder in sorted(CHARTS.iterdir()) if (folder / "Chart.yaml").exists())
    wanted = (folder for folder in folders if extra.get(folder.name, folder) is not None)
    return [package(folder, extra.get(folder.name)) for folder in wanted]


def package(folder: Path, definitions: Path | None) -> Chart:
    """Return a chart's folder as a package, with the resource definitions of another folder under crds/."""
    metadata = yaml.safe_load((folder / "Chart.yaml").read_text())
    members = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    if definitions is not None:
        members |= {f"crds/{path.name}": path.read_bytes() for path in definitions.glob("*.yaml")}
    return Chart(metadata=metadata, archive=_archive(metadata["name"], members))


def index(charts: list[Chart]) -> dict[str, Any]:
    """Return the repository's index: each chart with its digest and a relative URL."""
    entries = {
        chart.metadata["name"]: [
            {**chart.metadata, "created": CREATED, "digest": chart.digest, "urls": [chart.file_name]}
        ]
        for chart in charts
    }
    return {"apiVersion": "v1", "generated": CREATED, "entries": entries}


def files(charts: list[Chart]) -> Iterator[tuple[str, bytes]]:
    """Yield (path, content) of everything that the mirror serves."""
    yield "/index.yaml", json.dumps(index(charts), indent=1).encode()
    for chart in charts:
        yield f"/{chart.file_name}", chart.archive


def _archive(name: str, members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, content in sorted(members.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return gzip.compress(plain.getvalue(), mtime=0)
