"""The history of residuals as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path

import numpy as np

from starling._files import check_writable, written_whole


def plot_history(
    path: str | PathLike[str], histories: Mapping[str, Sequence[float]], target: float | None = None
) -> None:
    """Draws residual norms by iteration, on a logarithmic scale.

    Args:
        path: A PNG file to write.
        histories: Norms from the start on, such as :attr:`Report.history`, by the name that the legend gives them.
        target: Where the solve ends, as a line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     plot_history(Path(folder, "h.png"), {"cg": [1.0, 0.1, 1e-6]}, target=1e-5)
    """
    # Here, because matplotlib takes long to load. No window is opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, [".png"])
    figure = Figure(figsize=(7, 4.2), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for number, (name, history) in enumerate(histories.items()):
        norms = np.asarray(history, dtype=np.float64)
        norms = np.where(norms > 0, norms, np.nan)  # a residual of zero has no place on this scale
        marker = "." if len(norms) <= 30 else None
        axes.plot(
            np.arange(len(norms)), norms, label=name, lw=1.6, marker=marker, ls=("-", "--", ":", "-.")[number % 4]
        )
    if target is not None and target > 0:
        axes.axhline(target, color="grey", lw=0.9, ls=":", label="target")
    axes.set_yscale("log")
    axes.set_xlabel("iteration")
    axes.set_ylabel("norm of the residual")
    axes.grid(True, alpha=0.25)
    axes.legend()
    with written_whole(path) as file:
        figure.savefig(file, format="png")
