"""
What BMCs do otherwise than the standard says, in one table: whose, what is done about it, why, and where it was read.

What a BMC shows of itself comes first: allowable values, links, error codes. Rows without a vendor are of that kind and
hold for every BMC. A row with a vendor is for what no answer tells.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from ansible_collections.coldaisle.site.plugins.module_utils.bmc_habits import Habits, Identity, Quirk

VENDORS = {
    "dell": "dell", "hpe": "hpe", "hewlett": "hpe", "supermicro": "supermicro", "super micro": "supermicro",
    "lenovo": "lenovo", "nvidia": "nvidia", "american megatrends": "ami", "ami": "ami", "openbmc": "openbmc",
    "cisco": "cisco",
}  # fmt: skip
"""Vendors by a word of what BMCs call themselves; the first word that fits decides."""


TABLE: tuple[Quirk, ...] = (
    Quirk(
        "gpu-baseboard",
        {"not_hosts": ("HGX_",)},
        "The BMC of a machine with a GPU baseboard shows that as a second system, which has GPUs and no boot settings",
        "NVIDIA DPS, Redfish API (Systems/HGX_Baseboard_0 of H100 and B200); public tools for GB200 trays, with "
        "System_0 as the host",
    ),
    Quirk(
        "wait-after-off",
        {"settle_after_off_s": 5.0, "resend_on_s": 20.0},
        "On that comes within two seconds of ForceOff is lost, and the machine stays off. Off is waited for until it "
        "is read, then some seconds more, and On is sent again while the machine is off",
        "NVIDIA infra-controller, pull requests 708 (which waits two minutes, blindly) and 4454",
        report="B5",
    ),
    Quirk(
        "not-ready-yet",
        {"busy": ("InvalidOperationForSystemState", "SYS518", "NoValidSession", "currently unable",
                  "ServiceTemporarilyUnavailable", "ResourceInUse")},
        "Some seconds after a power change iLO answers 400, iDRAC SYS518, others 503: not a refusal, but not yet",
        "sushy, release note retry-ilo-not-ready, and sushy.connector; DMTF base message registry",
        report="B7",
    ),
    Quirk(
        "in-post",
        {"post": ("UnableToModifyDuringSystemPOST", "SystemPOST", "during POST"), "post_patience_s": 900.0},
        "Boot settings are refused while the machine is in its power-on self-test, which takes minutes with eight GPUs",
        "OpenStack ironic, release note redfish-post-boot-retry (bug 2136275)",
        report="B20",
    ),
    Quirk(
        "mode-with-override",
        {"override_with_mode": True},
        "A change of the target alone resets how long it holds to Once and the mode to its default: all three are sent",
        "DMTF Redfishtool, pull request 106; ironic, release note supermicro-redfish-override-enabled",
        vendor="supermicro",
        report="B10",
    ),
    Quirk(
        "mode-only-if-asked",
        {"override_with_mode": False},
        "iLO answers 400 to a mode that nobody asked for, even to the one that it has",
        "ansible-collections/community.general, issue 3509 and pull request 3581",
        vendor="hpe",
        report="B11",
    ),
    Quirk(
        "mode-is-missed",
        {"mode_missing": ("BootSourceOverrideMode",)},
        "Some BMCs refuse to end an override without its mode; their answer names the property, and it is sent then",
        "ansible-collections/community.general, issue 11542 and pull request 11543",
        report="B26",
    ),
    Quirk(
        "settings-or-system",
        {"elsewhere": ("PropertyNotWritable", "OperationSupportedInFutureStateURI", "PropertyUnknown")},
        "AMI and iDRAC10 take boot settings at @Redfish.Settings only, others show such a resource without them",
        "DMTF Redfish-Tacklebox, issues 111 and 144; sushy, release notes use-settingsobject and check-for-boot-attrs; "
        "dsx-ai-factory/libredfish, pull request 33 (iDRAC10)",
        report="B13",
    ),
    Quirk(
        "etag-forms",
        {"etag_forms": ("original", "strong", "none")},
        'A weak tag (W/"x") is answered with 412 by some that give it, an empty one by all: it is sent as given, as a '
        "strong one, and left out; compression, which makes tags weak, is not offered",
        "sushy, release notes d7138d1e (weak ETags), ignore-empty-string-etags and do-not-offer-compression",
        report="B17",
    ),
    Quirk(
        "sources",
        {"sources": {"pxe": ("Pxe", "UefiHttp"), "disk": ("Hdd",), "cd": ("Cd", "UsbCd"), "usb": ("Usb",),
                     "setup": ("BiosSetup",)}},
        "The first of these that the BMC lists as allowable is the one that is set",
        "Redfish schema ComputerSystem, BootSource; sushy, release note change-bootdev-smc",
        report="B14",
    ),
    Quirk(
        "usb-cd",
        {"sources": {"cd": ("UsbCd", "Cd")}},
        "Virtual media are a USB drive: Cd does not boot them where UsbCd is offered; ARS-111GL-NHR offers Cd alone",
        "sushy, release notes change-bootdev-smc and supermicro-vmedia-dev-workaround",
        vendor="supermicro",
        report="B14",
    ),
    Quirk(
        "ext-drives",
        {"media_devices": r"^EXT\d"},
        "Of the drives EXT, RDOC and Remote only EXT takes an image over HTTP, and by PATCH with Inserted",
        "Lenovo XCC, XCC2 and XCC3 REST API, PATCH Insert/Eject a virtual media; sushy, release note "
        "fix-virtual-media-fallback (SD530)",
        vendor="lenovo",
        report="B15",
    ),
    Quirk(
        "virtual-cd-by-attribute",
        {"media_boot_attributes": {"ServerBoot.1.BootOnce": "Enabled", "ServerBoot.1.FirstBootDevice": "VCD-DVD"}},
        "The override Cd boots a drive of the chassis, not the virtual one; iDRAC has attributes of its own for that",
        "dell/iDRAC-Redfish-Scripting, issue 90; ironic's idrac-redfish boot interface; openshift-docs, pull request "
        "32022",
        vendor="dell",
        report="B23",
    ),
    Quirk(
        "boot-order-job",
        {"boot_apply_time": True},
        "A boot order that is changed at Settings without a time to apply it makes no job, and is never applied",
        "dsx-ai-factory/libredfish, pull request 33; NVIDIA infra-controller, issue 5836",
        vendor="dell",
    ),
    Quirk(
        "mac-in-words",
        {"mac_words": True},
        "RelatedItem of a boot option is null or absent, and MACAddress may be empty: the MAC in the option's name or "
        "path tells the port, and where that is not there either, the port is not known, which is no drift",
        "sushy, release note skip-empty-mac; NVIDIA infra-controller, issue 4831",
        report="B19",
    ),
    Quirk(
        "boot-mode-dell",
        {"boot_mode_attributes": {"BootMode": {"uefi": "Uefi", "bios": "Bios"}}},
        "The firmware's mode is a BIOS attribute",
        "Dell iDRAC9 Redfish API Guide, BIOS attributes",
        vendor="dell",
    ),
    Quirk(
        "boot-mode-hpe",
        {"boot_mode_attributes": {"BootMode": {"uefi": "Uefi", "bios": "LegacyBios"}}},
        "The firmware's mode is a BIOS attribute, and the mode of the override cannot be written",
        "HPE iLO RESTful API, BIOS attribute registry, BootMode",
        vendor="hpe",
    ),
    Quirk(
        "boot-mode-lenovo",
        {"boot_mode_attributes": {"BootModes_SystemBootMode": {"uefi": "UEFIMode", "bios": "LegacyMode"}}},
        "The firmware's mode is a BIOS attribute",
        "Lenovo UEFI parameter reference, BootModes.SystemBootMode",
        vendor="lenovo",
    ),
    Quirk(
        "boot-mode-supermicro",
        {"boot_mode_attributes": {"BootModeSelect": {"uefi": "UEFI", "bios": "Legacy"}}},
        "The firmware's mode is a BIOS attribute, whose name carries a number",
        "Supermicro Redfish Reference Guide, BIOS configuration",
        vendor="supermicro",
    ),
    Quirk(
        "older-suite-first",
        {"ipmi_suites": (3, 17)},
        "Cipher suite 3 is the best that Cisco UCS has, and its logins end at the privilege",
        "ipmitool, issue 376",
        vendor="cisco",
    ),
)  # fmt: skip
"""General rows before those of a vendor, so that the vendor's win where both set one thing."""


def vendor_of(*names: str | None) -> str:
    """Return the vendor that the first name with a known word tells, else `other`."""
    lowered = [name.lower() for name in names if name]
    return next((vendor for name in lowered for word, vendor in VENDORS.items() if _has_word(name, word)), "other")


def _has_word(name: str, word: str) -> bool:
    """Tell whether a name has a word; "ami" must stand alone, since it is a part of many names."""
    return word in name.replace(".", " ").split() if word == "ami" else word in name


def quirks_of(identity: Identity) -> Iterator[Quirk]:
    """Yield the rows about one BMC, the general ones first."""
    yield from (quirk for quirk in TABLE if not quirk.vendor)
    yield from (quirk for quirk in TABLE if quirk.vendor and quirk.fits(identity))


def habits_of(identity: Identity) -> Habits:
    """Return what is done with one BMC."""
    habits = Habits()
    for quirk in quirks_of(identity):
        habits = dataclasses.replace(
            habits, **{name: _joined(habits, name, value) for name, value in quirk.sets.items()}
        )
    return habits


def _joined(habits: Habits, name: str, value: Any) -> Any:  # noqa: ANN401  # a field of any type
    return MappingProxyType({**getattr(habits, name), **value}) if isinstance(value, Mapping) else value
