"""What NVIDIA's Xids mean: data of the catalog, each entry with its source (inventory/catalog/health/xid.yaml)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

import yaml
from pydantic import Field

from coldaisle.paths import packaged
from coldaisle.spec.base import SpecModel
from coldaisle.spec.health import Action
from coldaisle.spec.sourced import Sourced


class Xid(Sourced):
    """
    An Xid: what it means, who is at fault as a rule, NVIDIA's immediate action, and ours.

    `cancels` are earlier Xids of the same GPU that it takes back.
    """

    meaning: str
    blames: Literal["application", "gpu", "nvlink"]
    bucket: str
    action: Action
    cancels: list[str] = Field(default_factory=list)


class _File(SpecModel):
    source: str
    xids: dict[str, Xid]


@cache
def xids() -> Mapping[str, Xid]:
    """Return every known Xid by its number; those of 154 have what the GPU needs behind a colon."""
    text = (packaged("inventory/catalog") / "health" / "xid.yaml").read_text(encoding="utf-8")
    return _File.model_validate(yaml.safe_load(text)).xids
