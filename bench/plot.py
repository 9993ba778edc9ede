"""Picture of the calls of a result file.

python bench/plot.py bench/results/FILE.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot


def best(line: dict) -> float:
    """The least time of a result, in microseconds: what the seeds of this work report."""
    return min(line["us"])


def figures(results: list[dict], folder: Path, stem: str) -> None:
    """Writes STEM-put-signal.png."""
    puts = [r for r in results if r["what"] == "put_signal"]
    if not puts:
        return
    figure, axes = pyplot.subplots(figsize=(4.6, 3.2))
    for devices in sorted({r["devices"] for r in puts}):
        chosen = sorted((r["bytes"], best(r)) for r in puts if r["devices"] == devices)
        axes.loglog(*zip(*chosen, strict=True), marker="o", label=f"{devices} devices")
    axes.set(xlabel="bytes", ylabel="microseconds one way", title="put with signal")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(folder / f"{stem}-put-signal.png", dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    path = Path(sys.argv[1])
    figures(json.loads(path.read_text())["results"], path.parent, path.stem)
