"""Checks of installations: the disks that they take, who agreed to lose what is on them, and what starts them."""

from __future__ import annotations

from collections.abc import Iterator

from coldaisle.check.finding import Finding, finding, read_twice
from coldaisle.plan.install import image_of, is_installed
from coldaisle.plan.model import NodePlan, SitePlan
from coldaisle.plan.node_pools import OWN_NAMES
from coldaisle.spec.install import RAID_MINIMUM, DiskChoice, InstallSpec
from coldaisle.spec.marks import Loc
from coldaisle.spec.node_pools import PoolSpec
from coldaisle.spec.provisioning import ImageSpec
from coldaisle.spec.sections import SiteSpec
from coldaisle.units import some_of


def _installed(spec: SiteSpec) -> Iterator[tuple[str, PoolSpec, ImageSpec]]:
    """Yield each pool whose image has an installer, with that image."""
    for name, pool in spec.node_pools.items():
        image = image_of(spec, pool)
        if image is not None and is_installed(spec, pool):
            yield name, pool, image


def _choices(spec: SiteSpec) -> Iterator[tuple[str, InstallSpec, int, DiskChoice]]:
    for name, pool in spec.node_pools.items():
        for index, choice in enumerate(pool.install.disks if pool.install else ()):
            if pool.install:
                yield name, pool.install, index, choice


def _nodes(plan: SitePlan, pool: str) -> list[NodePlan]:
    return [node for node in plan.nodes if node.pool == pool]


def check_disks_chosen(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """An installer is told which disks it may write; it never picks one itself."""
    del plan
    for name, pool, image in _installed(spec):
        if pool.install is None or not pool.install.disks:
            what = f"pool {name} is installed from {image.name}, and nothing says on which disk"
            fix = "add install.disks, by label, serial, wwn, model or path"
            loc: Loc = ("node_pools", name, "install") if pool.install else ("node_pools", name, "image")
            yield finding(spec, loc, "no-disk-chosen", what=what, fix=fix)


def check_installed_images(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """An installer overwrites disks, so that every file it starts from is pinned by its digest."""
    del plan
    images = spec.provisioning.images if spec.provisioning else []
    for index, image in enumerate(images):
        named = (image.kernel, image.initrd, image.rootfs, image.keyring)
        files = [file for file in named if file and file not in image.sha256]
        if image.kind != "squashfs" and files:
            what = f"image {image.name} installs, and nothing pins {some_of(files)}"
            fix = f"add sha256: {{{files[0]}: …}}, as sha256sum prints it of a file that was verified"
            loc: Loc = ("provisioning", "images", index)
            yield finding(spec, loc, "image-without-digest", what=what, fix=fix, have=f"kind {image.kind}")


def check_mirrors(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The installers of Debian and Red Hat fetch every package, so that a site names a mirror that it reaches."""
    del plan
    for index, image in enumerate(spec.provisioning.images if spec.provisioning else ()):
        if image.kind in {"preseed", "kickstart"} and image.mirror is None:
            what = f"image {image.name} has no packages of its own, and no mirror to take them from"
            fix = "add mirror:, an address that the nodes reach, through provisioning.proxy where there is one"
            loc: Loc = ("provisioning", "images", index)
            yield finding(spec, loc, "install-without-mirror", what=what, fix=fix, have=f"kind {image.kind}")


def check_disk_labels(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A disk that is chosen by its label has a serial on the delivery list of every node."""
    for name, _install, index, choice in _choices(spec):
        if choice.label is None:
            continue
        lacking = [
            node.name
            for node in _nodes(plan, name)
            if node.name not in spec.hardware or choice.label not in spec.hardware[node.name].disks
        ]
        if lacking:
            what = f"nothing says which disk is {choice.label} of {some_of(lacking)}"
            fix = f"add hardware.{lacking[0]}.disks: {{{choice.label}: SERIAL}}, from the vendor's delivery list"
            loc: Loc = ("node_pools", name, "install", "disks", index)
            yield finding(spec, loc, "unknown-disk", what=what, fix=fix)


def check_disk_serials(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Each serial belongs to one disk."""
    del plan
    labels = (
        (("hardware", node, "disks", label), serial)
        for node, hardware in spec.hardware.items()
        for label, serial in hardware.disks.items()
    )
    yield from read_twice(spec, labels, "duplicate-disk", "two disks have the serial {label}")


def check_wipe_consent(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Who wipes has consent for each disk, by node and serial; a mark that many disks share cannot be consented to."""
    for name, install, index, choice in _choices(spec):
        if not install.wipe:
            continue
        loc: Loc = ("node_pools", name, "install", "disks", index)
        mark, value = choice.mark
        if mark not in {"label", "serial"}:
            what = f"pool {name} wipes disks by {mark}, and consent is given by serial"
            yield finding(
                spec, loc, "wipe-without-consent", what=what, fix="choose by label or serial", have=f"{mark} {value}"
            )
            continue
        for node in _nodes(plan, name):
            serial = value if mark == "serial" else _serial(spec, node, value)
            if serial and serial not in install.wipe_consent.get(node.name, ()):
                what = f"pool {name} wipes disk {serial} of {node.name}, and nobody agreed to that"
                fix = f"add wipe_consent: {{{node.name}: [{serial}]}}, or remove wipe"
                yield finding(spec, loc, "wipe-without-consent", what=what, fix=fix)


def _serial(spec: SiteSpec, node: NodePlan, label: str) -> str | None:
    hardware = spec.hardware.get(node.name)
    return hardware.disks.get(label) if hardware else None


def check_consent_used(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Consent names disks that the pool's nodes have chosen; what is left over may be a slip of the pen."""
    for name, pool in spec.node_pools.items():
        if pool.install is None:
            continue
        chosen = {node.name: {disk.value for disk in node.disks} for node in _nodes(plan, name)}
        for node_name, serials in pool.install.wipe_consent.items():
            idle = sorted(set(serials) - chosen.get(node_name, set()))
            if idle or not pool.install.wipe:
                what = f"consent to wipe {some_of(idle or serials)} of {node_name} is used by nothing"
                fix = "correct the serial or the node, or take the consent out: it holds for whoever comes next"
                loc: Loc = ("node_pools", name, "install", "wipe_consent", node_name)
                yield finding(spec, loc, "idle-consent", what=what, fix=fix, severity="warning")


def check_disk_layout(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The disks are as many as the layout takes, and the installer can make it."""
    del plan
    for name, pool, image in _installed(spec):
        if pool.install is None or not pool.install.disks:
            continue
        loc: Loc = ("node_pools", name, "install")
        count, raid = sum(choice.count for choice in pool.install.disks), pool.install.raid
        if raid and count < RAID_MINIMUM[raid]:
            what = f"{raid} takes {RAID_MINIMUM[raid]} disks, and {count} is chosen"
            yield finding(spec, loc, "disk-layout", what=what, fix="choose more disks, or another level")
        if not raid and count > 1:
            what, fix = f"{count} disks are chosen, and nothing says how they make one root", "add raid, or choose one"
            yield finding(spec, loc, "disk-layout", what=what, fix=fix)
        for what, fix in _not_made(pool.install, image):
            yield finding(spec, loc, "disk-layout", what=what, fix=fix, have=f"kind {image.kind}")


def _not_made(install: InstallSpec, image: ImageSpec) -> Iterator[tuple[str, str]]:
    """Yield what an installer cannot do, with what to do instead."""
    if install.raid and install.encryption and image.kind != "autoinstall":
        yield f"a {image.kind} has no encrypted root on an array here", "leave one out, or take an autoinstall image"
    if image.kind == "autoinstall" and any(choice.wwn for choice in install.disks):
        yield "Ubuntu's installer does not find disks by WWN", "choose by serial, model or path"


def check_secure_boot(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Under secure boot every program is signed by a key that the one before it trusts, from firmware to kernel."""
    for name, pool in spec.node_pools.items():
        nodes = _nodes(plan, name)
        if not pool.secure_boot or pool.boot != "network" or not nodes:
            continue
        chain = spec.provisioning.signed_chain.get(nodes[0].architecture) if spec.provisioning else None  # type: ignore[call-overload]
        image = image_of(spec, pool)
        loc: Loc = ("node_pools", name, "secure_boot")
        if nodes[0].firmware != "uefi":
            what, fix = f"{pool.system} boots in BIOS mode, which knows no secure boot", "remove secure_boot"
            yield finding(spec, loc, "unsigned-chain", what=what, fix=fix)
        elif chain is None:
            what = f"pool {name} starts signed programs only, and the provisioner has none for {nodes[0].architecture}"
            yield finding(spec, loc, "unsigned-chain", what=what, fix="add provisioning.signed_chain: shim and GRUB")
        elif image is not None and image.signed_by != chain.signed_by:
            what = f"shim trusts {chain.signed_by}, and the kernel of {image.name} is not signed by that"
            have = f"signed_by: {image.signed_by or 'nobody'}"
            fix = "take a kernel and a shim of one signer, and say so in signed_by"
            yield finding(spec, loc, "unsigned-chain", what=what, have=have, fix=fix)


def check_chain_digests(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """The programs of a signed chain are pinned: they are the first that run."""
    del plan
    chains = spec.provisioning.signed_chain if spec.provisioning else {}
    for architecture, chain in chains.items():
        left = [file for file in (chain.shim, chain.grub) if file not in chain.sha256]
        if left:
            what = f"the signed chain of {architecture} has no digest of {some_of(left)}"
            loc: Loc = ("provisioning", "signed_chain", architecture, "sha256")
            yield finding(spec, loc, "image-without-digest", what=what, fix=f"add {left[0]}, as sha256sum prints it")


def check_boot_programs(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """Whoever boots over the network has a first program for its architecture and firmware mode."""
    if spec.provisioning is None:
        return
    for name, pool in spec.node_pools.items():
        kinds = {f"{node.architecture}-{node.firmware}" for node in _nodes(plan, name)} & OWN_NAMES.keys()
        missing = sorted(kinds - spec.provisioning.boot_programs.keys())
        if pool.boot == "network" and missing and not pool.secure_boot:
            what = f"pool {name} boots over the network as {missing[0]}, for which the ipxe package has no program"
            fix = f"add provisioning.boot_programs: {{{missing[0]}: {{source: …, sha256: …}}}}"
            yield finding(spec, ("node_pools", name, "boot"), "no-boot-program", what=what, fix=fix)


def check_relay(spec: SiteSpec, plan: SitePlan) -> Iterator[Finding]:
    """A provisioner behind a router is reached through that router, which also relays DHCP to it."""
    del plan
    if spec.provisioning and spec.provisioning.relayed and spec.addressing.management.gateway is None:
        what = f"{spec.provisioning.host} is reached through a router, and the nodes' network has no gateway"
        fix = "add addressing.management.gateway, the router that relays DHCP"
        yield finding(spec, ("provisioning", "relayed"), "dhcp-out-of-reach", what=what, fix=fix)


INSTALL_CHECKS = (
    check_disks_chosen,
    check_installed_images,
    check_mirrors,
    check_disk_labels,
    check_disk_serials,
    check_wipe_consent,
    check_consent_used,
    check_disk_layout,
    check_secure_boot,
    check_chain_digests,
    check_boot_programs,
    check_relay,
)
