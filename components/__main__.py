"""The plugin that programs in other languages get the components from (PulumiPlugin.yaml)."""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Run from its own folder, this would find components/platform.py where the standard library's is meant.
sys.path[:] = [str(HERE.parent), *(path for path in sys.path if Path(path or ".").resolve() != HERE)]

from pulumi.provider.experimental import component_provider_host  # noqa: E402 - the lines above come first

from components.shared import SiteStack  # noqa: E402

if __name__ == "__main__":
    component_provider_host([SiteStack], "coldaisle-site")
