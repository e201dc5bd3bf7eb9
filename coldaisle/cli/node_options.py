"""Arguments and options that the commands of `coldaisle node` share."""

from __future__ import annotations

from typing import Annotated

import typer


def complete_node(ctx: typer.Context, incomplete: str) -> list[str]:
    """Return the nodes of the site before it on the line, whose names begin with what was typed."""
    from coldaisle.spec import SpecError, load_site, site_folder  # noqa: PLC0415 - keeps the start light

    try:
        nodes = load_site(site_folder(str(ctx.params.get("site") or ""))).nodes
    except (SpecError, OSError):
        return []
    return [node.name for node in nodes if node.name.startswith(incomplete)]


Node = Annotated[str, typer.Argument(metavar="NODE", help="A node of the site.", autocompletion=complete_node)]
Why = Annotated[str, typer.Option("--why", help="Why; it stands in the journal for good.")]
Who = Annotated[str | None, typer.Option("--who", envvar="COLDAISLE_WHO", help="Who you are; else user@machine.")]
TakeOver = Annotated[bool, typer.Option("--take-over", help="Take it out of the hands of who is at work on it.")]
Seen = Annotated[
    list[str],
    typer.Option("--seen", metavar="[DEVICE=]FILE", help="What a switch sees, as for coldaisle verify cabling."),
]
Unknown = Annotated[bool, typer.Option("--accept-unknown", help="Go on although some parts could not be told.")]
Evidence = Annotated[str | None, typer.Option("--evidence", metavar="FILE", help="What acceptance has kept.")]
NoDrain = Annotated[bool, typer.Option("--no-drain", help="Leave its work on it: it is dead, or was drained by hand.")]
DrainTimeout = Annotated[int, typer.Option("--drain-timeout", min=1, metavar="S", help="How long pods may take to go.")]
Placed = list[str]
