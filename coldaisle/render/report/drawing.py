"""Pictures in the report: drawn into the page where there are few, and as images where there are hundreds."""

from __future__ import annotations

import base64
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True, slots=True)
class Drawing:
    """
    A picture with its name, as a drawing in the page or as an image; `find` is the text that the filter looks in.

    A drawing says more when it is pointed at; hundreds of them are more parts than a browser likes to hold.
    """

    name: str
    svg: Markup | None
    image: str | None
    find: str = ""


def drawing(name: str, svg: str, *, few: bool = True, find: str = "") -> Drawing:
    """Return a picture of the project's own, whose words were escaped when it was drawn."""
    if few:
        return Drawing(name, Markup(svg), None, find)  # noqa: S704 - our own drawing
    return Drawing(name, None, f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}", find)
