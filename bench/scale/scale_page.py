"""Writes the tables of docs/scale.md: the model's parameters, its errors, and what it says of many GPUs.

python bench/scale/scale_page.py
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import scale_cases as cases  # noqa: E402
import scale_model as model  # noqa: E402
import scale_parameters as parameters  # noqa: E402
import scale_tables as tables  # noqa: E402
from results_page import head, put_into, row  # noqa: E402
from scale_parameters import Parameters  # noqa: E402

PAGE = HERE.parent.parent / "docs/scale.md"
RESULTS = HERE / "results/simulation.json"
ABSENT = "not simulated"


def simulations() -> dict[tuple[str, str, int], float]:
    """Simulated us of a step, by application, shape and PEs."""
    lines = json.loads(RESULTS.read_text())["results"]
    return {(line["application"], line["shape"], line["pes"]): line["us"] for line in lines}


def us(time: float) -> str:
    return f"{time:,.0f}" if time >= 1000 else f"{time:.3g}" if time < 100 else f"{time:.0f}"


def error(told: float, true: float) -> str:
    return f"{100 * (told / true - 1):+.0f} %"


def parameter_table(p: Parameters) -> list[str]:
    lines = head("parameter", "value", "from")
    for name, known in p.known().items():
        per = {"rate_host": 1 / parameters.GB_PER_S, "rate_between": 1 / parameters.GB_PER_S, "cache": 1e-6}
        value = known.value * per.get(name, 1.0)
        lines.append(row(parameters.TITLES[name], f"{value:.3g}", known.source))
    lines.append(row("GPUs of a host", p.pes_per_host, "assumed"))
    return lines


def computing_table(p: Parameters) -> list[str]:
    s, c = model.stencil_computing(p), model.cg_computing(p)
    points = ", ".join(f"{rows:,.0f} rows {us(time)} us" for rows, time in c.points)
    per_s = 1e-6  # bytes/us to TB/s
    return [
        *head("computing", "of one GPU", "from"),
        row(
            "stencil, float32, 8 B a cell",
            f"{s.start:.2f} us, then {s.cache_rate * per_s:.1f} TB/s in cache, {s.memory_rate * per_s:.1f} beyond",
            f"`{parameters.STENCIL}`: 256x256, 2048x2048, 8192x8192 on one GPU",
        ),
        row("fused CG, 5-point rows, float64", f"{points}; a line between", f"`{parameters.CG}`, one GPU"),
        row("PageRank, RMAT-22", f"{us(model.pagerank_one())} us", f"`{parameters.PAGERANK}`, one GPU"),
    ]


def compared(name: str, pes: int, true: float, told: float, simulated: float | None) -> str:
    cells = (us(simulated), error(simulated, true)) if simulated is not None else (ABSENT, "")
    return row(name, pes, us(true), us(told), error(told, true), *cells)


def comparison(p: Parameters) -> list[str]:
    """Against committed results of GPUs."""
    done = simulations()
    stencil, cg = model.stencil_computing(p), model.cg_computing(p)
    lines = head("what", "GPUs", "measured, us", "formula, us", "error", "simulated, us", "error")
    for side in (256, 2048, 8192):
        shape = f"{side}x{side}"
        for pes in cases.COMPARED:
            wanted = {"domain": shape, "variant": "cpu_free", "devices": pes, "compute": True}
            true = parameters.least(parameters.STENCIL, wanted)
            told = model.stencil_step(p, stencil, side * side, model.FLOAT * side, pes)
            lines.append(compared(f"stencil {shape}", pes, true, told, done.get(("stencil", shape, pes))))
    for matrix, rows in model.CG_MATRICES.items():
        for pes in cases.COMPARED:
            true = model.cg_measured(matrix, pes)
            told = model.cg_iteration(p, cg, rows, cases.sides(cases.CGS[matrix])[1], pes)
            lines.append(compared(f"CG {matrix}", pes, true, told, done.get(("cg", cases.CGS[matrix], pes))))
    for pes in (1, 4):
        told = model.pagerank_iteration(p, model.pagerank_one(), model.PAGERANK_VERTICES, pes)
        lines.append(compared("PageRank RMAT-22", pes, model.pagerank_measured(pes), told, None))
    for pes in cases.COMPARED:
        wanted = {"what": "all_reduce of 2 doubles, 1 block", "devices": pes}
        true = parameters.least(parameters.CALLS, wanted)
        lines.append(
            compared("`all_reduce`", pes, true, model.all_reduce(p, pes), done.get(("all_reduce", "1x1", pes)))
        )
    return lines


def event_order(p: Parameters) -> list[str]:
    """The formulas against the simulation of the same costs."""
    done = simulations()
    lines = head("what", "PEs", "computing, us", "formula, us", "simulated, us", "formula's error")
    for case in cases.simulated_cases(p):
        simulated = done.get((case.application, case.shape, case.pes))
        if case.pes < cases.SIMULATED[0] or simulated is None:
            continue
        name = case.application if case.shape == "1x1" else f"{case.application} {case.shape}"
        told = case.formula(p)
        lines.append(row(name, case.pes, us(case.computing), us(told), us(simulated), error(told, simulated)))
    return lines


def planned(p: Parameters) -> list[str]:
    """2 to 4,096 GPUs."""
    stencil, cg, one = model.stencil_computing(p), model.cg_computing(p), model.pagerank_one()
    lines = head("a step, us", *(f"{pes:,} GPUs" for pes in cases.PLANNED))

    def add(name: str, time: Callable[[int], float]) -> None:
        lines.append(row(name, *(us(time(pes)) for pes in cases.PLANNED)))

    def by_signals(cells: float, width: float, pes: int) -> float:
        inside = p.sync_pe.value + stencil.us(cells / pes)
        near = pes <= p.pes_per_host
        exchange = model.stencil_exchange(p, pes, model.FLOAT * width, near)
        return max(inside, exchange)

    strong, weak, rows = 32768, 8192, 1_000_000
    add(
        f"stencil {strong:,}^2, as shipped",
        lambda n: model.stencil_step(p, stencil, strong * strong, model.FLOAT * strong, n),
    )
    add(f"stencil {strong:,}^2, put and signal between hosts", lambda n: by_signals(strong * strong, strong, n))
    add(
        f"stencil {weak:,}^2 on each GPU, as shipped",
        lambda n: model.stencil_step(p, stencil, weak * weak * n, model.FLOAT * weak, n),
    )
    add(f"stencil {weak:,}^2 on each GPU, put and signal", lambda n: by_signals(weak * weak * n, weak, n))
    add("CG, a million rows on each GPU, as shipped", lambda n: model.cg_iteration(p, cg, rows * n, 1000, n))
    add(
        "the same, sums in levels of 8, halo as one message",
        lambda n: model.cg_iteration_by_levels(p, cg, rows * n, 1000, n),
    )
    add("PageRank RMAT-22, as shipped", lambda n: model.pagerank_iteration(p, one, model.PAGERANK_VERTICES, n))
    add(
        "the same, a host gets a chunk once, sums in levels",
        lambda n: model.pagerank_by_hosts(p, one, model.PAGERANK_VERTICES, n),
    )
    add("`all_reduce` of a block, as shipped", lambda n: model.all_reduce(p, n))
    add("`all_reduce` of a block, in levels of 8", lambda n: model.all_reduce_by_levels(p, n))
    return lines


def bytes_text(size: int) -> str:
    for unit, one in (("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= one:
            return f"{size / one:.3g} {unit}"
    return f"{size} B"


def across(p: Parameters) -> list[str]:
    """What crosses the middle of the machine."""
    lines = head("one way across the middle, in a step", *(f"{pes:,} GPUs" for pes in cases.PLANNED))

    def add(name: str, size: Callable[[int], float]) -> None:
        lines.append(row(name, *(bytes_text(round(size(pes))) for pes in cases.PLANNED)))

    vertices = model.PAGERANK_VERTICES
    add("stencil 32,768^2, a face", lambda n: model.halo_across(model.FLOAT * 32768))
    add("CG's sum, as shipped", lambda n: model.packets_to_all_across(n, model.SUM_WORDS))
    add("CG's sum, in levels of 8", lambda n: model.levels_across(n, model.SUM_WORDS))
    add("PageRank RMAT-22, as shipped", lambda n: model.ranks_across(p, vertices, n, False))
    add("PageRank RMAT-22, once to each host", lambda n: model.ranks_across(p, vertices, n, True))
    return lines


def files(source: str) -> str:
    """Files as code, what stands behind each as it is."""
    parts = [place.partition(" ") for place in source.split("; ")]
    return ", ".join(f"`{file}`{' ' if names else ''}{names}" for file, _, names in parts)


def growing(p: Parameters) -> list[str]:
    most = cases.PLANNED[-1]
    lines = head("table", "where", f"bytes at {p.pes_per_host}", f"bytes at {most:,}", "grows with", "instead")
    for t in tables.TABLES:
        sizes = [bytes_text(t.size(n)) for n in (p.pes_per_host, most)]
        lines.append(row(t.what, files(t.source), *sizes, t.grows, t.instead))
    lines += ["", *head("loop over all PEs", "where")]
    return lines + [row(what, files(where)) for what, where in tables.LOOPS]


def text() -> str:
    """All tables, as they stand in the page."""
    p = parameters.measured()
    parts = [
        ("What it computes with", [*parameter_table(p), "", *computing_table(p)]),
        ("Against GPUs", comparison(p)),
        ("Against the order of events", event_order(p)),
        ("2 to 4,096 GPUs", [*planned(p), "", *across(p)]),
        ("What grows with the PEs", growing(p)),
    ]
    return "\n\n".join(f"### {title}\n\n" + "\n".join(lines) for title, lines in parts)


def main() -> int:
    put_into(PAGE, text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
