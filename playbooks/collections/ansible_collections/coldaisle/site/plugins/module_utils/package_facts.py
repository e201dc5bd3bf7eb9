"""Facts of packages: the version that is installed, whether upgrades leave it alone, and drivers that should not be."""

from __future__ import annotations

import shutil

from ansible_collections.coldaisle.site.plugins.module_utils.host import Context, Fact, FactError, Value, run

INSTALL_TIMEOUT_S = 900
"""A kernel with its modules, or a driver that is built on the host, takes minutes."""

DRIVER_PACKAGES = ("nvidia-driver", "nvidia-dkms", "nvidia-fabricmanager", "nvidia-kernel", "kmod-nvidia")
"""Beginnings of the names of packages that bring NVIDIA's driver or its fabric manager onto a host."""


def _is_debian() -> bool:
    if shutil.which("dpkg-query"):
        return True
    if shutil.which("rpm"):
        return False
    raise FactError("neither dpkg nor rpm is installed: packages cannot be read here")


def _read_version(name: str) -> str:
    """Return a package's version; RPM's is `version-release`, as dnf takes it."""
    form = "${Version} ${db:Status-Status}" if _is_debian() else "%{VERSION}-%{RELEASE}"
    query = (
        ("dpkg-query", "--show", "--showformat", form) if _is_debian() else ("rpm", "--query", "--queryformat", form)
    )
    try:
        version, _, status = run(*query, name).strip().partition(" ")
    except FactError as error:
        if "no packages found" in str(error) or "not installed" in str(error).partition(": ")[2]:
            return "absent"
        raise
    return version if status in {"", "installed"} else "absent"


def _set_version(name: str, planned: Value, context: Context) -> None:
    """Install that version, older or newer; a package that is held is let go for it, and held again."""
    held = _read_held(name)
    _install(name, planned)
    if held:
        _set_held(name, planned, context)


def _install(name: str, planned: Value) -> None:
    if _is_debian():
        options = ("--yes", "--quiet", "--no-install-recommends", "--allow-downgrades", "--allow-change-held-packages")
        run("apt-get", "install", *options, f"{name}={planned}", timeout_s=INSTALL_TIMEOUT_S)
    else:
        _release(name)
        run("dnf", "--assumeyes", "install", f"{name}-{planned}", timeout_s=INSTALL_TIMEOUT_S)


def _release(name: str) -> None:
    if _read_held(name):
        run("dnf", "versionlock", "delete", name, timeout_s=60)


def _read_held(name: str) -> bool:
    if _is_debian():
        return run("apt-mark", "showhold", name).strip() == name
    locks = run("dnf", "--quiet", "versionlock", "list", timeout_s=60)
    return any(name in _locked(line) for line in locks.splitlines())


def _locked(line: str) -> tuple[str, str]:
    """Return the name of a lock as dnf 4 prints it (`NAME-EPOCH:VERSION`), and as dnf 5 does (`Package name: NAME`)."""
    before, _, after = line.partition(":")
    return before.rpartition("-")[0], after.strip() if before == "Package name" else ""


def _set_held(name: str, _planned: Value, _context: Context) -> None:
    command = ("apt-mark", "hold", name) if _is_debian() else ("dnf", "versionlock", "add", name)
    run(*command, timeout_s=60)


def _read_drivers(_name: str) -> str:
    """Return the packages that bring a driver: none where the operator in the cluster does."""
    form = "${db:Status-Status} ${Package}\n" if _is_debian() else "installed %{NAME}\n"
    query = ("dpkg-query", "--show", "--showformat", form) if _is_debian() else ("rpm", "-qa", "--queryformat", form)
    words = [line.split() for line in run(*query).splitlines()]
    names = {word[1] for word in words if word[0] == "installed" and word[1].startswith(DRIVER_PACKAGES)}
    return ",".join(sorted(names)) or "none"


FACTS: dict[str, Fact] = {
    "package": Fact(_read_version, _set_version, "apt-cache policy or dnf list --showduplicates of the package"),
    "held": Fact(_read_held, _set_held, "apt-mark showhold, or dnf versionlock list (python3-dnf-plugin-versionlock)"),
    "driver_packages": Fact(
        _read_drivers, None, "who installs the driver: remove the packages, or let the host bring the driver"
    ),
}
