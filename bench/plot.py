"""Tables and pictures from a result file.

python bench/plot.py bench/results/FILE.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

HOST_CONTROLLED = ("copy", "overlap", "p2p", "graph")
CPU_FREE = ("cpu_free", "resident")  # one exchange a step
VARIANTS = (*HOST_CONTROLLED, *CPU_FREE, "temporal")


def best(line: dict) -> float:
    """The least time of a result, in microseconds: what the seeds of this work report."""
    return min(line["us"])


def stencil_lines(results: list[dict], compute: bool = True) -> list[dict]:
    return [r for r in results if r["what"] == "stencil" and r["compute"] is compute]


def stencil_table(results: list[dict], compute: bool = True) -> list[str]:
    """Markdown: a row per domain and number of devices, a column per variant; microseconds per step."""
    lines = stencil_lines(results, compute)
    there = [v for v in VARIANTS if any(r["variant"] == v for r in lines)]
    rows = ["| domain | devices | " + " | ".join(there) + " |", "|---|---|" + "---|" * len(there)]
    for domain in dict.fromkeys(r["domain"] for r in lines):
        for devices in sorted({r["devices"] for r in lines if r["domain"] == domain}):
            times = {r["variant"]: best(r) for r in lines if r["domain"] == domain and r["devices"] == devices}
            cells = [f"{times[v]:.2f}" if v in times else "" for v in there]
            rows.append(f"| {domain} | {devices} | " + " | ".join(cells) + " |")
    return rows


def call_table(results: list[dict]) -> list[str]:
    """Markdown: microseconds of one call, a column per number of devices."""
    lines = [r for r in results if r["what"] != "stencil"]
    counts = sorted({r["devices"] for r in lines})
    rows = ["| call | " + " | ".join(f"{n} devices" for n in counts) + " |", "|---|" + "---|" * len(counts)]
    names = dict.fromkeys((r["what"], r["bytes"]) for r in lines)
    for what, size in names:
        title = f"{what}, {size} B one way" if what in ("put_signal", "put_packets") else what
        times = {r["devices"]: best(r) for r in lines if (r["what"], r["bytes"]) == (what, size)}
        rows.append(f"| {title} | " + " | ".join(f"{times[n]:.2f}" if n in times else "" for n in counts) + " |")
    return rows


def table(results: list[dict]) -> str:
    parts = [
        "Microseconds, least of all repetitions",
        "",
        *call_table(results),
        "",
        "Stencil, microseconds per step",
        "",
        *stencil_table(results),
        "",
        "Without computation",
        "",
        *stencil_table(results, compute=False),
    ]
    return "\n".join(parts)


def figures(results: list[dict], folder: Path, stem: str) -> None:
    """Writes STEM-stencil.png and STEM-put-signal.png."""
    lines = stencil_lines(results)
    domains = list(dict.fromkeys(r["domain"] for r in lines))
    if domains:
        figure, grid = pyplot.subplots(1, len(domains), figsize=(3.4 * len(domains), 3.2), squeeze=False)
        for axes, domain in zip(grid[0], domains, strict=True):
            for variant in VARIANTS:
                chosen = sorted(
                    (r["devices"], best(r)) for r in lines if r["domain"] == domain and r["variant"] == variant
                )
                if chosen:
                    axes.plot(*zip(*chosen, strict=True), marker="o", label=variant)
            axes.set(title=domain, xlabel="devices", ylim=(0, None))
            axes.set_xticks(sorted({r["devices"] for r in lines}))
        grid[0][0].set_ylabel("microseconds per step")
        grid[0][0].legend(frameon=False, fontsize=8)
        figure.tight_layout()
        figure.savefig(folder / f"{stem}-stencil.png", dpi=130)
        pyplot.close(figure)
    puts = [r for r in results if r["what"] == "put_signal"]
    if puts:
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
    data = json.loads(path.read_text())
    print(table(data["results"]))
    figures(data["results"], path.parent, path.stem)
