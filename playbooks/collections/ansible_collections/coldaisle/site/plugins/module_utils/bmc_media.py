"""Virtual media over Redfish: which drive, how an image gets in and out, and how a machine boots from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

from ansible_collections.coldaisle.site.plugins.module_utils.bmc import BmcError
from ansible_collections.coldaisle.site.plugins.module_utils.bmc_wire import Json, Resource, Wire, path_of
from sushy.resources.manager.virtual_media import VirtualMedia

NONE = "none"
DISC = {"CD", "DVD"}


class Media:
    """The drives for virtual media of one system."""

    def __init__(self, wire: Wire, system: str) -> None:
        """Speak of the system at a path."""
        self._wire = wire
        self._system = system

    def image(self) -> str:
        """
        Return the image in the drive for discs, `none` where there is none.

        Raises:
            BmcError: the BMC has no such drive.

        """
        shown = (_image(self._wire.get(drive)) for drive in self._drives)
        return next((image for image in shown if image), NONE)

    def set_image(self, image: str) -> None:
        """
        Put an image into the first free drive, after others are out of it; `none` only takes them out.

        Raises:
            BmcError: the BMC has no such drive, does not take the image, or does not let go of one.

        """
        for drive in self._drives:
            if _image(self._wire.get(drive)):
                self._eject(drive)
        if image != NONE:
            self._insert(self._drives[0], image)

    def _insert(self, drive: str, image: str) -> None:
        """Insert by sushy: by action with what each BMC asks for, by PATCH where there is no action (Lenovo)."""
        self._wire.asked(lambda: self._device(drive).insert_media(image))
        if not _image(self._wire.get(drive)):
            raise BmcError("not-kept", f"the BMC took {image} and shows an empty drive", "whether the BMC reaches it")

    def _eject(self, drive: str) -> None:
        """Eject by sushy, which tries again with an empty body (iLO), and read back, since it is silent on others."""
        self._wire.asked(lambda: self._device(drive).eject_media())
        left = _image(self._wire.get(drive))
        if left:
            raise BmcError("not-kept", f"the BMC took the eject, and {left} is still in", "who else uses the drive")

    def _device(self, path: str) -> VirtualMedia:
        return VirtualMedia(self._wire.connector, path)

    # -- which drive --------------------------------------------------------------------------------------------
    @cached_property
    def _drives(self) -> tuple[str, ...]:
        """The paths of the drives for discs that take an image by URL."""
        found = list(self._all())
        fit = [drive for drive in found if self._fits(drive)]
        if fit:
            return tuple(drive.path for drive in fit)
        names = ", ".join(drive.path for drive in found) or "no drive at all"
        raise BmcError("no-virtual-drive", f"the BMC has no virtual drive for discs; have: {names}", "its licence")

    def _fits(self, drive: Resource) -> bool:
        pattern = self._wire.habits.media_devices
        kinds = set(drive.body.get("MediaTypes") or DISC)
        return bool(kinds & DISC) and (not pattern or re.search(pattern, drive.path.rpartition("/")[2]) is not None)

    def _all(self) -> Iterator[Resource]:
        """Yield the drives of the system, which newer services have, else of its managers."""
        system = self._wire.get(self._system)
        own = list(self._wire.members(system.link("VirtualMedia")))
        yield from own
        if not own:
            for manager in self._managers(system):
                yield from self._wire.members(manager.link("VirtualMedia"))

    def _managers(self, system: Resource) -> Iterator[Resource]:
        for link in (system.body.get("Links") or {}).get("ManagedBy") or []:
            found = self._wire.find(path_of(link))
            if found:
                yield found

    # -- boot from it by the vendor's attributes ------------------------------------------------------------------
    @property
    def has_own_boot(self) -> bool:
        """Tell whether the override does not reach the virtual drive, and attributes of the manager do (iDRAC)."""
        return bool(self._wire.habits.media_boot_attributes)

    def boots_once(self) -> bool:
        """Tell whether the next boot is from the virtual drive, by the manager's attributes."""
        wanted = self._wire.habits.media_boot_attributes
        shown = self._attributes().body.get("Attributes") or {}
        return all(shown.get(name) == value for name, value in wanted.items())

    def boot_once(self) -> None:
        """Boot from the virtual drive next time, by the manager's attributes."""
        self._wire.patch(self._attributes(), {"Attributes": dict(self._wire.habits.media_boot_attributes)})

    def _attributes(self) -> Resource:
        """Return the manager's attributes: by its own link, and where older firmware keeps them."""
        for manager in self._managers(self._wire.get(self._system)):
            links = ((manager.body.get("Links") or {}).get("Oem") or {}).get("Dell") or {}
            paths = [path_of(link) for link in links.get("DellAttributes") or []]
            name = manager.path.rstrip("/").rpartition("/")[2]
            for path in (*(path for path in paths if path and path.endswith(name)), f"{manager.path}/Attributes"):
                found = self._wire.find(path)
                if found:
                    return found
        raise BmcError("no-manager-attributes", "the BMC shows no attributes of its own", "its firmware version")


def _image(drive: Resource) -> str | None:
    """Return the image in a drive; some leave its name there after it is out (Supermicro), or tell only one of both."""
    body: Json = drive.body
    out = body.get("Inserted") is False or body.get("ConnectedVia") == "NotConnected"
    return None if out else body.get("Image") or body.get("ImageName") or None
