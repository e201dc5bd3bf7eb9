"""Makes the code of our Ansible collection importable: plays and commands speak to BMCs by the same code."""

from __future__ import annotations

import sys

from coldaisle.paths import packaged


def use_collection() -> None:
    """Put the collection's folder on the path, as Ansible does it."""
    folder = str(packaged("playbooks") / "collections")
    if folder not in sys.path:
        sys.path.append(folder)
