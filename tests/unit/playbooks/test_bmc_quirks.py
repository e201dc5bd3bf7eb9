"""The table of quirks: every row is complete, is found for the BMCs that it is about, and is held by a test."""

from __future__ import annotations

import dataclasses

import pytest
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Habits, Identity, Quirk
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_quirks import TABLE, VENDORS, habits_of, vendor_of


@pytest.mark.parametrize("quirk", TABLE, ids=lambda quirk: quirk.name)
def test_each_row_says_what_why_and_from_where(quirk: Quirk) -> None:
    """A row sets known things, and has a reason and a source; a vendor that nothing tells would never be found."""
    assert quirk.sets
    assert set(quirk.sets) <= {field.name for field in dataclasses.fields(Habits)}
    assert quirk.reason
    assert quirk.source
    assert quirk.vendor in {"", *VENDORS.values()}


def test_names_of_rows_are_unique() -> None:
    """A row is named once."""
    names = [quirk.name for quirk in TABLE]
    assert sorted(set(names)) == sorted(names)


def test_a_vendors_row_wins_over_a_general_one() -> None:
    """What is known of a vendor is added to what holds for all, and wins where both say something."""
    supermicro, other = habits_of(Identity("supermicro")), habits_of(Identity())
    assert supermicro.sources["cd"] == ("UsbCd", "Cd")
    assert other.sources["cd"] == ("Cd", "UsbCd")
    assert supermicro.sources["pxe"] == other.sources["pxe"] == ("Pxe", "UefiHttp")


@pytest.mark.parametrize(
    ("names", "vendor"),
    [
        (("Dell Inc.",), "dell"),
        (("HPE",), "hpe"),
        (("Hewlett Packard Enterprise",), "hpe"),
        (("Supermicro",), "supermicro"),
        (("Lenovo",), "lenovo"),
        ((None, "", "Nvidia"), "nvidia"),
        (("ASRockRack", "Ami"), "ami"),
        (("Miami Computers", "OpenBmc"), "openbmc"),
        (("Example",), "other"),
        ((), "other"),
    ],
)
def test_vendors_are_known_by_what_bmcs_call_themselves(names: tuple[str | None, ...], vendor: str) -> None:
    """The first name that has a known word decides; a name that only contains "ami" is not AMI's."""
    assert vendor_of(*names) == vendor
