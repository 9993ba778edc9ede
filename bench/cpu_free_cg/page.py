"""Writes docs/cg_results.md from the result files of the conjugate gradient benchmark.

    python bench/cpu_free_cg/page.py [--results bench/cpu_free_cg/results] [--page docs/cg_results.md]

Every figure of the page comes from a result file or from the publication it names.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for results_page

import cg_plot
from cg_results import BAR_DEVICES, BARS, CPU_FREE, HOST_CONTROLLED, METHODS, Best, CgResults, geometric_mean
from results_page import ABSENT, head, machine_table, pictures, reason, row, write_page

ROOT = Path(__file__).resolve().parent.parent.parent

CONTROL_BAR, CONTROL_BAR_MATRICES = 2.0, ("5-point 1000^2", "5-point 1260x1258")
# Table 3.1 of the publication: CPU-free pipelined over host-controlled pipelined, on 8 A100, for what ours stand for.
PUBLISHED_GAIN = {
    "Queen_4147": 3.33, "Flan_1565": 2.59, "Serena": 1.4, "Hook_1498": 1.62, "ldoor": 1.04, "StocF-1465": 1.3,
    "bmwcra_1": 1.15, "G3_circuit": 2.23, "consph": 1.3, "ecology2": 2.56, "thermomech_dM": 1.94,
}  # fmt: skip

HOW = """\
Every figure is in microseconds, float64, and the least of the repetitions; nothing is averaged over different runs.

* An iteration (`bench/cpu_free_cg/iterations.cpp`): a fixed number of iterations from x = 0 without a preconditioner,
  time over their number. `cpu_free` is one persistent program; `streams` and `graph` are the same phases as kernels
  that the host launches or replays from a graph.
* A product (`multiply`): products with the matrix one after another, the halo included on more than one device.
* The rivals (`bench/cpu_free_cg/rivals.cpp`): cuSPARSE's product, the faster of its two algorithms for compressed rows,
  prepared with `cusparseSpMV_preprocess`; and a solver under the host's control made of that product, halos stored
  straight into the peers' memory and NCCL's sums, scalars staying on the GPUs, by streams and by graphs of ten
  iterations. NVLink multicast is off.
* The matrices are generated (`apps/cg/matrices.hpp`); each stands for one of the publication's, of about as many
  entries.
"""


def shown(time: Best | float | None) -> str:
    us = time.us if isinstance(time, Best) else time
    return ABSENT if us is None else f"{us:.2f}" if us < 100 else f"{us:.0f}"


def way(time: Best | None) -> str:
    return time.way if time else ABSENT


def times(ratio: float | None) -> str:
    return ABSENT if ratio is None else f"{ratio:.2f}"


def verdict(met: bool | None) -> str:
    return ABSENT if met is None else "met" if met else "missed"


def bar_rows(r: CgResults) -> list[str]:
    """Time of an iteration against its limit."""
    rows = head(f"an iteration on {BAR_DEVICES} GPUs", "limit", "measured", "by", "verdict",
                "published CPU-free", "published host-controlled")  # fmt: skip
    for matrix, (limit, free, host) in BARS.items():
        ours = r.iteration(matrix, BAR_DEVICES, (CPU_FREE,))
        rows.append(row(matrix, limit, shown(ours), way(ours), verdict(ours and ours.us <= limit), free, host))
    return rows


def control_rows(r: CgResults) -> list[str]:
    """CPU-free against our own solver under the host's control, and against the rival."""
    rows = head(f"CPU-free on {BAR_DEVICES} GPUs against", "how", "its time", "times as fast", "limit", "verdict")
    for matrix in CONTROL_BAR_MATRICES:
        ours = r.iteration(matrix, BAR_DEVICES, (CPU_FREE,))
        host = r.iteration(matrix, BAR_DEVICES, HOST_CONTROLLED)
        gain = host.us / ours.us if ours and host else None
        met = None if gain is None else gain >= CONTROL_BAR
        rows.append(
            row(f"our host-controlled, {matrix}", way(host), shown(host), times(gain), CONTROL_BAR, verdict(met))
        )
        rival = r.rival(matrix, BAR_DEVICES)
        gain = rival.us / ours.us if ours and rival else None
        rows.append(row(f"cuSPARSE and NCCL, {matrix}", way(rival), shown(rival), times(gain), "", ""))
    return rows


def multiply_rows(r: CgResults) -> list[str]:
    """The product on one GPU against cuSPARSE's."""
    rows = head("product on one GPU", "storage", "ours", "cuSPARSE", "by", "times as fast", "verdict")
    for matrix in r.matrices:
        ours, rival = r.multiply(matrix, 1), r.rival_multiply(matrix)
        ratio = rival.us / ours.us if ours and rival else None
        met = None if ratio is None else ratio >= 1
        rows.append(row(matrix, way(ours), shown(ours), shown(rival), way(rival), times(ratio), verdict(met)))
    return rows


def gain_rows(r: CgResults, devices: int) -> list[str]:
    """As table 3.1 of the publication."""
    against = {"streams": ("streams",), "best": HOST_CONTROLLED}
    columns = [(method, name) for method in METHODS for name in against]
    rows = head("matrix", "stands for", "rows", "entries", "a row", *(f"{m} / {n}" for m, n in columns), "published")
    gains = {(m, n): [r.speed_up(x, devices, m, against[n]) for x in r.matrices] for m, n in columns}
    for k, matrix in enumerate(r.matrices):
        n, entries = r.fact(matrix, "rows", 0), r.fact(matrix, "nonzeros", 0)
        each = f"{entries / n:.1f}" if n else ""  # type: ignore[operator]
        stands_for = r.fact(matrix, "stands_for")
        cells = (times(gains[column][k]) for column in columns)
        rows.append(
            row(matrix, stands_for, f"{n:,}", f"{entries:,}", each, *cells, PUBLISHED_GAIN.get(str(stands_for), ""))
        )
    means = (times(geometric_mean(gains[column])) for column in columns)
    published = ", ".join(f"{gain} {method}" for method, gain in cg_plot.PUBLISHED.items())
    rows.append(row("geometric mean", "", "", "", "", *means, published))
    return rows


def time_rows(r: CgResults) -> list[str]:
    """All times of iterations."""
    ways = [(m, c) for m in METHODS for c in (CPU_FREE, *HOST_CONTROLLED)]
    rows = head("matrix", "devices", *(f"{m} {c}" for m, c in ways), "cuSPARSE and NCCL", "product")
    for matrix in r.matrices:
        for n in r.devices:
            cells = [shown(r.iteration(matrix, n, (c,), (m,))) for m, c in ways]
            rows.append(row(matrix, n, *cells, shown(r.rival(matrix, n)), shown(r.multiply(matrix, n))))
    return rows


def storage_rows(r: CgResults) -> list[str]:
    """What the solver chose."""
    rows = head("matrix", "devices", "storage", "bits of a column", "halo", "blocks x threads", "kept on chip")
    for matrix in r.matrices:
        for n in r.devices:
            line = next((one for one in r.chosen("cg", matrix, n) if one.get("control") == CPU_FREE), None)
            if line:
                halo = " ".join(str(values) for values in line.get("halo", []))
                shape = f"{line.get('blocks', '?')} x {line.get('threads', '?')}"
                kept = f"{line['kept_bytes']:,} B a block" if "kept_bytes" in line else "?"
                rows.append(row(matrix, n, line.get("storage", "?"), line.get("offset_bits", "?"), halo, shape, kept))
    return rows


def failure_rows(r: CgResults) -> list[str]:
    rows = head("what", "matrix", "devices", "failure")
    for line in r.failures:
        what = " ".join(str(line[key]) for key in ("what", "method", "control") if key in line)
        rows.append(row(what, line.get("matrix", ""), line.get("devices", ""), reason(line)))
    return rows


def section(r: CgResults) -> list[str]:
    """All tables of a result file."""
    parts = [f"## {r.name()}", "", *machine_table(r.machine), ""]
    most = max(r.devices, default=0)
    if r.gpus:
        parts += ["### Targets set before measuring", "", *bar_rows(r), "", *control_rows(r), "", *multiply_rows(r), ""]
    parts += [f"### CPU-free over host-controlled on {most} devices", ""]
    parts += ["Times as fast as the same method under the host's control: by streams, and by the better of streams and"]
    parts += [
        "graph. The last column is what was published for the pipelined method on 8 A100.",
        "",
        *gain_rows(r, most),
    ]
    parts += ["", "### Microseconds per iteration, and of a product", "", *time_rows(r), ""]
    parts += ["### How the matrices lie", "", *storage_rows(r), ""]
    if r.failures:
        parts += ["### What failed", "", *failure_rows(r), ""]
    return parts


def results_page(results: list[CgResults], page: Path) -> str:
    parts = ["# Results of conjugate gradients", ""]
    parts += ["This page is written by `bench/cpu_free_cg/page.py` from the files in `bench/cpu_free_cg/results`.", ""]
    if not results:
        return "\n".join([*parts, "Not measured yet.", ""])
    parts += ["## How it was measured", "", HOW]
    parts += ["On your machine: `python bench/cpu_free_cg/run.py` after a build with the preset `cuda`.", ""]
    for r in results:
        parts += [*section(r), *pictures(r, cg_plot.figures, page)]
    return "\n".join(parts).rstrip() + "\n"


def main() -> int:
    def text(folder: Path, page: Path) -> str:
        return results_page([CgResults(path.resolve()) for path in sorted(folder.glob("*.json"))], page)

    return write_page(__doc__, ROOT / "bench/cpu_free_cg/results", ROOT / "docs/cg_results.md", text)


if __name__ == "__main__":
    sys.exit(main())
