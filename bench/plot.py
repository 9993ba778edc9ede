"""Picture of the calls of a result file; and what the pictures of the other benchmarks share.

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


def saved(figure: pyplot.Figure, results: Path, part: str) -> Path:
    """Writes STEM-part.png beside the result file."""
    target = results.with_name(f"{results.stem}-{part}.png")
    figure.savefig(target, dpi=120)
    pyplot.close(figure)
    return target


def figures(results: list[dict], path: Path) -> list[Path]:
    """Writes STEM-put-signal.png beside the result file, if there is something to show."""
    puts = [r for r in results if r["what"] == "put_signal"]
    if not puts:
        return []
    figure, axes = pyplot.subplots(figsize=(4.6, 3.2))
    for devices in sorted({r["devices"] for r in puts}):
        chosen = sorted((r["bytes"], best(r)) for r in puts if r["devices"] == devices)
        axes.loglog(*zip(*chosen, strict=True), marker="o", label=f"{devices} devices")
    axes.set(xlabel="bytes", ylabel="microseconds one way", title="put with signal")
    axes.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    return [saved(figure, path, "put-signal")]


if __name__ == "__main__":
    path = Path(sys.argv[1])
    print(*figures(json.loads(path.read_text())["results"], path), sep="\n")
