"""The result of an acceptance as one page for a person, in the style of a site's report; it fetches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from coldaisle.render.report.page import environment, text_of

WORDS = {"passed": "passed", "failed": "failed", "measured": "measured, not judged", "could-not-tell": "could not tell"}


def acceptance_page(report: Mapping[str, Any], reasons: Mapping[str, Sequence[str]]) -> str:
    """
    Return the page.

    Args:
        report: A run as `coldaisle accept --json` prints it.
        reasons: By node, why it is not accepted: a line a reason.
    """
    nodes = report["nodes"]
    steps = {step["id"]: step for body in nodes.values() for step in body["steps"]}
    counts = {word: sum(body["result"] == word for body in nodes.values()) for word in ("accepted", "refused")}
    return (
        environment()
        .get_template("acceptance.html.j2")
        .render(
            report=report,
            nodes=nodes,
            steps=steps.values(),
            reasons=reasons,
            words=WORDS,
            accepted=counts["accepted"],
            refused=counts["refused"],
            style=Markup(text_of("report.css")),  # noqa: S704 - our own file
        )
    )
