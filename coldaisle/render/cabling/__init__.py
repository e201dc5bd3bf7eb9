"""
The cabling pack of a site: what people who pull cables print, stick on and read in, from one plan.

Every file names the hash of the plan. The same site gives the same files, to the byte.
"""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.plan.model import SitePlan
from coldaisle.render.cabling.exports import cables_json, labels_csv, netbox_csv, ptm_dot
from coldaisle.render.cabling.labels import label_sheet
from coldaisle.render.cabling.order import order_csv
from coldaisle.render.cabling.pages import device_pages, file_name, index_page, rack_pages
from coldaisle.render.cabling.rows import Pack, pack_of
from coldaisle.render.cabling.workbook import workbooks
from coldaisle.spec import SiteSpec

__all__ = ["Pack", "cabling_pack", "pack_of"]


def cabling_pack(spec: SiteSpec, plan: SitePlan) -> Iterator[tuple[str, bytes]]:
    """Yield each file of the pack: its path below the folder of the pack, and what is in it."""
    pack = pack_of(spec, plan)
    racks, devices = rack_pages(pack), device_pages(pack)
    yield "index.html", index_page(pack, racks, devices).encode()
    for folder, pages in (("racks", racks), ("devices", devices)):
        for name, text in pages.items():
            yield f"{folder}/{file_name(name)}.html", text.encode()
    yield "labels.csv", labels_csv(pack).encode()
    yield "labels.pdf", label_sheet(pack)
    yield "topology.dot", ptm_dot(pack).encode()
    yield "netbox-cables.csv", netbox_csv(pack).encode()
    yield "cables.json", cables_json(pack).encode()
    yield "bill-of-materials.csv", order_csv(spec, pack).encode()
    yield from workbooks(spec, pack)
