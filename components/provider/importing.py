"""
A play of hosts that are as planned already, taken into the state without a run: Pulumi's import.

The engine gives a name and nothing else, so the inputs are those of the site's plan. What the hosts are is asked; the
engine compares both, and imports only what does not differ.
"""

from __future__ import annotations

from dataclasses import dataclass

from components.provider.inputs import PlayInputs
from components.provider.site import SiteProblemError, project_root, site_folder


@dataclass(frozen=True, slots=True)
class Stack:
    """What the stack's configuration says of the site; `site` is empty where it leaves that to the stack's name."""

    site: str = ""
    on_delete: str = "undo"


def planned(stack: Stack, urn: str, play: str) -> PlayInputs:
    """
    Return the inputs that the program gives to a play.

    Raises:
        SiteProblemError: the spec has problems, or no such play.

    """
    from coldaisle.check import open_site  # noqa: PLC0415 - only an import needs a plan here
    from coldaisle.check.report import report  # noqa: PLC0415
    from coldaisle.spec import SpecError  # noqa: PLC0415
    from coldaisle.spec import site_folder as named  # noqa: PLC0415
    from components.planned import play_inputs  # noqa: PLC0415

    site = str(named(stack.site or _stack_of(urn), project_root()))
    try:
        plan = open_site(site_folder(site)).plan
    except SpecError as error:
        raise SiteProblemError(f"the spec of {site} has problems:\n{report(error.problems)}") from None
    found = play_inputs(plan, site, stack.on_delete)
    if play not in found:
        have = ", ".join(found) or "none"
        raise SiteProblemError(f"the plan of {site} has no play {play}; it has {have}\n  fix: import it by its name")
    return PlayInputs(**found[play])


def _stack_of(urn: str) -> str:
    """Return the stack in `urn:pulumi:STACK::PROJECT::TYPE::NAME`."""
    return urn.removeprefix("urn:pulumi:").partition("::")[0]
