"""Where a site's spec puts its evidence, and which keys it names."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coldaisle.evidence.errors import EvidenceError
from coldaisle.evidence.keys import key_id, load_public_key, load_signer
from coldaisle.evidence.store import Store

if TYPE_CHECKING:
    from coldaisle.spec.sections import SiteSpec

FOLDER = "evidence"
"""Folder of a site's evidence, below the site's own."""


@dataclass(frozen=True, slots=True)
class EvidencePlace:
    """Folders and files of a site's evidence, with `~` resolved. No file has been looked at."""

    folder: Path
    waiting: Path
    signing_key: Path | None
    trusted: tuple[Path, ...]


def evidence_place(spec: SiteSpec) -> EvidencePlace:
    """Return where a site keeps its evidence; the folder is `evidence` beside the spec where it names none."""
    wanted = spec.site.evidence
    state = Path(os.environ.get("XDG_STATE_HOME") or "~/.local/state").expanduser()
    folder = Path(wanted.folder).expanduser() if wanted and wanted.folder else spec.folder / FOLDER
    key = Path(wanted.signing_key_file).expanduser() if wanted and wanted.signing_key_file else None
    own = () if key is None else (key.with_name(f"{key.name}.pub"),)
    others = tuple(Path(path).expanduser() for path in wanted.trusted_key_files) if wanted else ()
    return EvidencePlace(folder, state / "coldaisle" / spec.site.name / "evidence-waiting", key, own + others)


def open_store(spec: SiteSpec, *, signing: bool = True) -> Store:
    """
    Return a site's store; `signing` reads the private key too.

    Raises:
        EvidenceError: the site names no key, or a key cannot be used.
    """
    place = evidence_place(spec)
    if place.signing_key is None and (signing or not place.trusted):
        fix = "write evidence: {signing_key_file: FILE} there, and ssh-keygen -t ed25519 -N '' -f FILE makes the key"
        raise EvidenceError(spec.where(("site",)), "the site names no key for its evidence", "", fix)
    keys = [load_public_key(path) for path in place.trusted]
    signer = load_signer(place.signing_key) if signing and place.signing_key else None
    return Store(place.folder, place.waiting, {key_id(key): key for key in keys}, signer)
