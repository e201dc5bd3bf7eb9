"""What the provider loads when it starts: the engine starts it for every preview, and it reads hosts without a plan."""

from __future__ import annotations

import subprocess
import sys


def test_the_provider_starts_without_the_spec_and_the_plan() -> None:
    """The models of a spec cost half a second of CPU, and only some plays need them."""
    code = "import sys, components.provider.servicer; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "components.provider.reading" in loaded
    assert not {"pydantic", "coldaisle.spec", "coldaisle.plan", "ansible"} & set(loaded)
