"""
What a change of a host's facts does to it: whether it reboots, whether work on it is disturbed, and the way back.

The facts that a play makes true say it; a change of the playbook alone, or of files, is taken for a setting that
disturbs nothing, since nobody can tell from outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from coldaisle.waves.records import Change, Kind, Target

REBOOTS = frozenset({"kernel_release", "cmdline", "driver_pin", "firmware_vfs"})
"""Kinds of facts that come true with the next boot only."""

BMC_REBOOTS = frozenset({"boot_mode", "secure_boot", "bios", "firmware"})
"""Those that the BMC applies by a power-on self-test: the play of the BMC resets by itself, where that is allowed."""

DISTURBS = frozenset(
    {"driver", "driver_packages", "fabric_manager", "imex_service", "imex_nodes", "kernel_support", "amd_driver", "vfs"}
    | {"mtu", "address", "route", "rdma_netns", "qos_trust", "pfc", "ecn", "module", "gpu_count", "amd_gpu_count"}
)
"""Those whose change resets GPUs or links, and so ends what runs on them."""

DRIVER_WORDS = ("nvidia", "cuda", "amdgpu", "rocm", "fabricmanager")
KERNEL_WORDS = ("linux-image", "linux-modules", "linux-headers", "kernel")

_KINDS: Mapping[str, Kind] = {
    "bmc_firmware": "firmware",
    "fabric": "switch",
    "gpu": "driver",
    "kubernetes": "operator",
}
"""What a play changes, where it does not depend on the facts."""

ACCEPT = "accept"
"""The play that tests hosts: what runs on them would be disturbed, and disturb."""

NO_RECORD = frozenset({"varsDigest", "files"})
"""Facts that name what was written, by a digest; what it was before is not kept."""


def change_of(
    target: Target, playbook: str, changed: Iterable[str], before: Mapping[str, object], *, retry: bool = False
) -> Change:
    """
    Return the change of one target.

    Args:
        target: The host or switch.
        playbook: The play that changes it.
        changed: The facts that are not as planned.
        before: The facts as they were last seen; one that is missing there has no value to go back to.
        retry: It failed before.

    """
    facts = tuple(sorted(changed))
    tests = playbook == ACCEPT
    reboots = any(_kind(name) in REBOOTS for name in facts)
    resets = any(_kind(name) in BMC_REBOOTS | DISTURBS or _is_driver(name) for name in facts)
    return Change(
        target=target,
        kind=_what(playbook, facts),
        facts=facts,
        reboots=reboots,
        drains=reboots or resets or tests,
        no_way_back=_no_way_back(playbook, facts, before),
        retry=retry,
    )


def _kind(fact: str) -> str:
    return fact.partition(".")[0]


def _is_driver(fact: str) -> bool:
    return _kind(fact) == "package" and any(word in fact for word in DRIVER_WORDS)


def _what(playbook: str, facts: tuple[str, ...]) -> Kind:
    if playbook == "os":
        kernel = any(_kind(name) in {"kernel_release", "cmdline", "module"} for name in facts)
        packages = any(name.partition(".")[2].startswith(KERNEL_WORDS) for name in facts)
        return "kernel" if kernel or packages else "settings"
    return _KINDS.get(playbook, "settings")


def _no_way_back(playbook: str, facts: tuple[str, ...], before: Mapping[str, object]) -> str:
    """Return why a change cannot be taken back, empty where it can: its facts have values that they had before."""
    if playbook == "bmc_firmware":
        return "an older firmware is no state that anybody planned"
    if playbook == ACCEPT:
        return "a test changes nothing"
    if playbook in {"fabric", "bmc", "kubernetes"}:
        return f"the playbook {playbook} takes nothing back"
    named = [name for name in facts if _kind(name) not in NO_RECORD]
    if not named:
        return "what was written before is not kept"
    unknown = [name for name in named if before.get(name) in {None, "absent"}]
    return f"it is not known what {unknown[0]} was before" if unknown else ""
