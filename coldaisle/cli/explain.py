"""`coldaisle explain`: where a figure of the power, cooling and space budgets comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from coldaisle.cli.exit_codes import ExitCode
from coldaisle.cli.output import AsJson, Site, print_json
from coldaisle.units import grouped

if TYPE_CHECKING:
    from coldaisle.render.ledger import Explanation, Figure, Sum

Target = Annotated[
    str | None,
    typer.Argument(
        metavar="[WHAT]",
        help="r03.feed_a, pue, or the name of a rack, a part of the power chain, cooling or a hall; "
        "left out, the whole site.",
    ),
]


def explain(site: Site, what: Target = None, *, as_json: AsJson = False) -> None:
    """
    Print the sums behind a budget: each addend, how it comes about, and where that stands.

    A figure that is not known is told as unknown, and then the sum is unknown too.

    Exit status: 0 clean, 2 the spec cannot be used, or nothing has that name.

    Example: coldaisle explain h100-pod r03.feed_a
    """
    from dataclasses import asdict  # noqa: PLC0415 - keeps the start of other commands light

    from coldaisle.check import open_site  # noqa: PLC0415
    from coldaisle.render.ledger import explain as explained  # noqa: PLC0415
    from coldaisle.spec import site_folder  # noqa: PLC0415

    checked = open_site(site_folder(site))
    try:
        found = explained(checked.spec, checked.plan, what or checked.plan.name)
    except LookupError as error:
        typer.echo(error.args[0], err=True)
        raise typer.Exit(ExitCode.INVALID) from None
    if as_json:
        print_json({"schema_version": "1", "site": site, **asdict(found)})
    else:
        typer.echo(explanation_text(found))


def explanation_text(found: Explanation) -> str:
    """Return an explanation as a person reads it: sums as on paper, then figures, each with its source below."""
    blocks = [found.what, *(_sum_text(part) for part in found.sums), *(_figure_text(part) for part in found.figures)]
    return "\n\n".join(blocks)


def _sum_text(part: Sum) -> str:
    """Return a sum with its addends, their values in one column."""
    values = [*(addend.value for addend in part.addends), part.total]
    width = max(len(_number(value, part.unit)) for value in values)
    lines = [f"{part.name}:"]
    for addend in part.addends:
        lines += [
            f"  {_number(addend.value, part.unit):>{width}} {part.unit}  {addend.item}: {addend.how}",
            f"  {'':{width}} {'':{len(part.unit)}}    from {addend.source}",
        ]
    return "\n".join([*lines, f"= {_number(part.total, part.unit):>{width}} {part.unit}"])


def _figure_text(part: Figure) -> str:
    return f"{part.name}: {_number(part.value, part.unit)} {part.unit} = {part.how}\n    from {part.source}"


def _number(value: float | None, unit: str) -> str:
    if value is None:
        return "unknown"
    decimals = {"°C": 1, "L/min": 1, "W/W": 2, "A": 1}.get(unit, 0)
    return f"{value:.{decimals}f}" if decimals else grouped(value)
