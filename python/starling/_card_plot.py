"""Times of puts to another host as a picture: figures 5a and 5b of the publication on GIO."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from starling._card_times import NOTE, WAYS, CardTimes
from starling._files import check_writable, written_whole
from starling.errors import ArgumentError


def plot_times(path: str | PathLike[str], found: CardTimes) -> None:
    """Draws a PNG file: a put by size and way, and a put of the card by the blocks that put at the same time.

    Raises:
        ArgumentError: The file cannot be written, or nothing was measured.
    """
    # Here, because matplotlib takes long to load. No window is opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, [".png"])
    quiet = [t for t in found.times if t.what == "quiet"]
    if not quiet:
        raise ArgumentError("there is no put among the times, so nothing to draw; measure at least one way")
    figure = Figure(figsize=(10, 3.8), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    by_size, by_blocks = figure.subplots(1, 2)
    for number, way in enumerate(WAYS):
        points = sorted((t.bytes, t.least) for t in quiet if t.way == way and t.blocks == 1)
        if points:
            by_size.plot(*zip(*points, strict=True), marker="o", ms=3, lw=1.3, color=f"C{number}", label=way)
    for number, size in enumerate(sorted({t.bytes for t in quiet})):
        points = sorted((t.blocks, t.least) for t in quiet if t.way == "gio" and t.bytes == size)
        if points:
            by_blocks.plot(*zip(*points, strict=True), marker="o", ms=3, lw=1.3, color=f"C{number}", label=f"{size} B")
    by_size.set(title="a put, until quiet returns", xlabel="bytes", ylabel="microseconds")
    by_blocks.set(title="the same by several blocks, gio", xlabel="blocks", ylabel="microseconds")
    for axes in (by_size, by_blocks):
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.grid(True, alpha=0.25)
        if axes.has_data():
            axes.legend(frameon=False, fontsize=8)
    devices = "virtual devices" if found.kind == "host" else found.devices[0]
    figure.suptitle(f"2 PEs that play two hosts, {devices}. {NOTE}", fontsize=8)
    with written_whole(path) as file:
        figure.savefig(file, format="png")
