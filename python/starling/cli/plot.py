"""``starling plot``: a timeline as pictures and as a page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from starling.cli._messages import told
from starling.cli._options import Debug
from starling.trace import plot


def command(
    source: Annotated[Path, typer.Argument(metavar="OUT.json", help="What `starling trace` wrote.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for the results; that of the file by default.")
    ] = None,
    window: Annotated[
        tuple[float, float] | None,
        typer.Option(metavar="FROM TO", help="What timeline.png shows: times at its axis, in us; all by default."),
    ] = None,
    debug: Debug = False,
) -> None:
    """Draw a timeline: timeline.png, matrix.png, and trace.html, which shows both without a network."""
    with told(debug):
        for path in plot(source, out, window=window):
            typer.echo(f"wrote {path}")
