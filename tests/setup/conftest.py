"""A machine of its own for each test: no user's PATH, cache or state is seen or touched."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from coldaisle.toolchain import golang
from coldaisle.toolchain.store import Store

FAKE_GO = """#!/bin/sh
# Stands in for Go: says its version, and "builds" by writing a small program, or does what a test asks of it.
echo "$PWD $* GOTOOLCHAIN=$GOTOOLCHAIN CGO_ENABLED=$CGO_ENABLED GOFLAGS=$GOFLAGS" >> "{log}"
case "$1" in
  version) echo "go version go{version} linux/amd64"; exit 0 ;;
  list) echo "{module}"; exit 0 ;;
esac
while [ "$1" != -o ]; do shift; done
{behaviour}
"""

BUILDS = 'printf "#!/bin/sh\\necho built\\n" > "$2" && chmod +x "$2"'


@dataclass(frozen=True)
class Machine:
    """A machine with folders for executables, cache and state, and a log of what Go was asked."""

    root: Path
    bin: Path
    log: Path

    def program(self, name: str, says: str, *, folder: Path | None = None) -> Path:
        """Put a program on the machine that prints one line, whatever it is asked."""
        return self.script(name, f'#!/bin/sh\necho "{says}"\n', folder=folder)

    def script(self, name: str, text: str, *, folder: Path | None = None) -> Path:
        """Put a script on the machine."""
        path = (folder or self.bin) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    def go(self, version: str = "1.24.1", behaviour: str = BUILDS) -> Path:
        """Put a Go on the machine; its module of KEDA has one resource definition."""
        definitions = self.root / "module" / "config" / "crd" / "bases"
        definitions.mkdir(parents=True, exist_ok=True)
        (definitions / "keda.sh_scaledobjects.yaml").write_text("kind: CustomResourceDefinition\n")
        text = FAKE_GO.format(log=self.log, version=version, module=self.root / "module", behaviour=behaviour)
        return self.script("go", text)

    def builds(self) -> list[str]:
        """Return the lines of Go's log that were builds."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [line for line in lines if " build " in line]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Give a machine with a shell and nothing else of interest."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for variable in ("KUBEBUILDER_ASSETS", "PULUMI_HOME", "PULUMI_BACKEND_URL", "GOTOOLCHAIN"):
        monkeypatch.delenv(variable, raising=False)
    for variable in ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION", raising=False)
    monkeypatch.setattr(golang, "USUAL_PLACES", os.devnull)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("sh", "echo", "printf", "chmod", "sleep", "cat", "dd"):
        (programs / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(programs))
    return Machine(tmp_path, programs, tmp_path / "go.log")


@pytest.fixture
def store(machine: Machine) -> Store:
    """Give an empty cache of tools."""
    return Store(machine.root / "cache" / "coldaisle" / "tools" / "key")
