"""The policy pack: `pulumi preview --policy-pack policies` holds a stack to the checks of its site."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the pack runs from its own folder

from pulumi_policy import EnforcementLevel, PolicyPack

from policies.rules import POLICIES

PolicyPack(name="coldaisle", enforcement_level=EnforcementLevel.MANDATORY, policies=list(POLICIES))
