"""The figures of PROACT: what PageRank, shortest paths, Jacobi's method and a microbenchmark take, and why.

    python bench/proact/run.py [--figure FIGURE] [--short] [--devices 1,2,4] [--machine cuda]
                               [--agents inline,polling] [--graph NAME] [--scale 22] [--out bench/proact/results]
                               [--seconds 400]

`applications`: every application on its graphs, the chunk of the library; `chunks`: PageRank over chunks from 4 KB to
1 MB. Where CuPy is, a CUDA graph of cuSPARSE's product and the updates of PageRank runs beside it. As the publication
numbers them: `2`, how fast stores of a size are; `4`, chunks and threads of the agent, simulated links; `6`, computing
that copies hide behind; `7`, several devices beside one, by how data is duplicated; `8`, the price of tracking; `9`,
how much of the copies is hidden, over simulated links where PEs share a GPU; `table2`, what the tuner takes; `stores`,
pieces of lines that are stored inline and by chunks. With one device 2 and 6 send to the host. Several PEs on one GPU
(STARLING_PES_PER_GPU=4) have results of their own folder. The file of results is written again with each line. When the
seconds are over, what is left is left out, and the file says `"complete": false`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import figures
import numpy as np
import programs
import rivals
import rivals_gpus
import speedups
from scipy import sparse

import starling
from starling.graph import _matrix, generators, pagerank, sssp
from starling.linalg import jacobi_banded

HERE = Path(__file__).resolve().parent
AGENTS = ("inline", "polling", "own_warp", "copy_engine")
CHUNKS = tuple(2**k for k in range(12, 21))
PROBES = {"2": figures.goodput, "4": figures.heat, "6": figures.overlap}
OF_SEVERAL = ("4", "7", "9", "table2", "stores")  # devices
FIGURES = ("applications", "chunks", *PROBES, "7", "8", "9", "table2", "stores")
REPETITIONS = 3
ITERATIONS = 100


@dataclass(frozen=True)
class Case:
    """One application on one input. `run(**where)` gives its report, `rival()` what others need for one."""

    application: str
    graph: str
    entries: int
    run: Callable[..., Any]
    rival: Callable[[], rivals.Rival | None] | None = None
    rival_of_several: Callable[[int], list[rivals.Rival]] | None = None
    matrix: Any = None
    """Of applications that the tuner knows how to run."""


def prepared(a: Any) -> Any:
    """A graph that keeps the forms it is brought into, which takes longer than most runs."""
    return replace(_matrix.as_graph(a), kept={})


def pagerank_case(name: str, a: Any) -> Case:
    graph = prepared(a)

    def run(**where: Any) -> Any:
        return pagerank(graph, dtype="float32", fixed_iterations=ITERATIONS, report=True, **where)[1]

    def several(devices: int) -> list[rivals.Rival]:
        return rivals_gpus.pagerank(a, ITERATIONS, REPETITIONS, devices)

    return Case("pagerank", name, a.nnz, run, lambda: rivals.pagerank(a, ITERATIONS, REPETITIONS), several, a)


def sssp_case(name: str, a: Any, source: int) -> Case:
    graph = prepared(a)
    return Case("sssp", name, a.nnz, lambda **where: sssp(graph, source, report=True, **where)[-1], matrix=a)


def jacobi_case(n: int, reach: int, seed: int, exchange: str) -> Case:
    rng = np.random.default_rng(seed)
    ab = (2 * rng.random((2 * reach + 1, n)) - 1).astype(np.float32)
    ab[reach] = 2 * (2 * reach + 1)
    b = rng.random(n, dtype=np.float32)

    def run(**where: Any) -> Any:
        where = {"rtol": 0, "maxiter": ITERATIONS, "exchange": exchange, "report": True, **where}
        try:
            return jacobi_banded((reach, reach), ab, b, **where)[1]
        except starling.errors.NotConverged as ended:  # as it has to: it is to do all iterations
            return ended.report

    name = f"{2 * reach + 1} diagonals of {n}" + (", halos" if exchange == "halo" else "")
    return Case("jacobi", name, n * (2 * reach + 1), run)


def largest_degree(a: Any) -> int:
    return int(np.argmax(np.diff(sparse.csr_array(a).indptr)))


Maker = Callable[[], Case]


def makers(scale: int, short: bool, many_bytes: bool = False) -> dict[str, Maker]:
    """By name; RMAT-`scale` first. `many_bytes`: one of the small ones has enough data for its copies to be seen on
    links of GPUs."""
    small = 10 if short else 21
    side = 24 if short else 1414
    n = 2**23 if short and many_bytes else 2**12 if short else 2**25

    def of_weights() -> Case:
        a = generators.rmat(small, edges_per_vertex=16, seed=2, weights=(1, 64))
        return sssp_case(f"RMAT-{small}", a, largest_degree(a))

    def of_hv15r() -> Case:
        a = generators.hv15r_like(seed=4)
        return sssp_case("HV15R-like", a, a.shape[0] // 2)

    made: dict[str, Maker] = {
        f"pagerank RMAT-{scale}": lambda: pagerank_case(
            f"RMAT-{scale}", generators.rmat(scale, edges_per_vertex=16, seed=1)
        ),
        "pagerank Wikipedia-like": lambda: pagerank_case("Wikipedia-like", generators.wikipedia_like(seed=1)),
        f"sssp RMAT-{small}": of_weights,
        f"sssp road-like {side}^2": lambda: sssp_case(
            f"road-like {side}^2", generators.road_like(side, seed=3), side * side // 2
        ),
        "sssp HV15R-like": of_hv15r,
        "jacobi banded": lambda: jacobi_case(n, 3, seed=5, exchange="region"),
        "jacobi banded halo": lambda: jacobi_case(n, 3, seed=5, exchange="halo"),
    }
    large = ("pagerank Wikipedia-like", "sssp HV15R-like")
    return {name: make for name, make in made.items() if not short or name not in large}


def cases(o: argparse.Namespace, tell: Callable[[str], None], many_bytes: bool = False) -> Iterator[Case]:
    """Those that are wanted, made one after another: the large ones do not fit together."""
    for name, make in makers(o.scale, o.short, many_bytes).items():
        if o.graph in name:
            tell(f"making {name}")
            yield make()


def measured(case: Case, chunk: int | None, where: dict[str, Any]) -> dict[str, object]:
    """One line: all repetitions, the median of which counts."""
    us, report = [], None
    for _ in range(REPETITIONS):
        report = case.run(chunk=chunk, **where)
        us.append(report.microseconds_per_iteration)
    assert report is not None
    return {
        "what": "iterations", "application": case.application, "graph": case.graph, "entries": case.entries,
        "devices": report.devices, "agent": report.agent, "chunk": report.chunk_bytes, "iterations": report.iterations,
        "us": us, "blocks": report.blocks, "threads": report.threads, "tiles": report.tiles, "storage": report.storage,
        "bytes_sent": report.bytes_sent, "wait_seconds": report.wait_seconds,
    }  # fmt: skip


def lines_of(
    case: Case, o: argparse.Namespace, devices: list[int], budget: figures.Budget
) -> Iterator[dict[str, object]]:
    chunks = CHUNKS if o.figure == "chunks" else (None,)
    for n in devices:
        for agent in o.agents if n > 1 else o.agents[-1:]:
            for chunk in chunks if n > 1 else (None,):
                if budget.over():
                    return
                where = {"devices": n, "machine": o.machine, "agent": agent, "deadline": 20}
                try:
                    yield measured(case, chunk, where)
                except starling.errors.Error as problem:
                    yield {"what": "iterations", "application": case.application, "graph": case.graph, "devices": n,
                           "agent": agent, "chunk": chunk, "error": str(problem)}  # fmt: skip
    if case.rival is not None and o.machine == "cuda" and not budget.over():
        line = {"what": "rival", "application": case.application, "graph": case.graph}
        try:
            done = case.rival()
        except Exception as problem:  # of libraries that are not ours; the other lines stay
            yield {**line, "error": f"rival: {type(problem).__name__}: {problem}"}
        else:
            if done is not None:
                yield {**line, "rival": done.name, "us": done.us}


def lines_of_all(o: argparse.Namespace, devices: list[int], budget: figures.Budget) -> Iterator[dict[str, object]]:
    if o.figure not in ("applications", "chunks"):
        yield from figure_lines(o, devices, budget)
        return
    for case in cases(o, budget.tell):
        budget.tell(f"{case.application} on {case.graph}")
        if o.figure == "applications" or case.application == "pagerank":
            yield from lines_of(case, o, devices, budget)
        if budget.over():
            return


def figure_lines(o: argparse.Namespace, devices: list[int], budget: figures.Budget) -> Iterator[dict[str, object]]:
    """The lines of a figure of the publication."""
    for n in devices:
        where = figures.Where(o.machine, n, tuple(o.agents))
        if o.figure in PROBES and (n > 1 or o.figure != "4"):
            budget.tell(f"figure {o.figure} on {n} devices")
            yield from PROBES[o.figure](where, o.short, budget)
    if o.figure in PROBES:
        return
    simulated = o.short or facts.pes_per_gpu() > 1
    real_gpus = o.machine == "cuda" and facts.pes_per_gpu() == 1
    for case in cases(o, budget.tell, many_bytes=o.figure == "9" and o.machine == "cuda"):
        several = [n for n in devices if n > 1]
        if o.figure == "7":
            budget.tell(f"{case.application} on {case.graph}")
            rival = case.rival_of_several if real_gpus else None
            yield from speedups.speedups(case, o.machine, several, tuple(o.agents), o.repetitions, budget, rival)
            continue
        for n in devices if o.figure == "8" else several:
            where = figures.Where(o.machine, n, tuple(o.agents))
            if budget.over():
                return
            budget.tell(f"{case.application} on {case.graph}, {n} devices")
            if o.figure == "8":
                yield from figures.tracking(case, where, REPETITIONS)
            elif o.figure == "9":
                yield from figures.hidden(case, where, REPETITIONS, simulated, budget)
            elif o.figure == "stores":
                yield from figures.stores(case, where)
            elif case.matrix is not None:
                seconds = 0.2 if o.short else 60
                yield from figures.chosen(case.application, case.graph, case.matrix, where, seconds, budget)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figure", choices=FIGURES, default="applications")
    parser.add_argument("--short", action="store_true", help="small graphs")
    parser.add_argument(
        "--scale", type=int, help="of the RMAT graph of PageRank: 2 to that power vertices (22; 10 with --short)"
    )
    parser.add_argument("--graph", default="", help="only those whose name has this, such as 'pagerank RMAT'")
    parser.add_argument("--devices", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 4])
    parser.add_argument("--machine", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--agents", type=lambda text: text.split(","), default=list(AGENTS))
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--repetitions", type=int, default=3, help="of figure 7")
    parser.add_argument("--seconds", type=float, default=400, help="at most; what is left is left out (400)")
    o = parser.parse_args()
    if unknown := set(o.agents) - set(AGENTS):
        parser.error(f"--agents: {sorted(unknown)}; known are {', '.join(AGENTS)}")
    here = facts.machine()
    devices = programs.devices_here(here, o.devices) if o.machine == "cuda" else o.devices
    if not devices:
        parser.error(f"--devices {o.devices}: this machine has none of these numbers of devices")
    if o.figure in OF_SEVERAL and max(devices) < 2:
        parser.error(
            f"--figure {o.figure}: one device sends nothing to others; let several share a GPU with "
            "STARLING_PES_PER_GPU=4"
        )
    o.scale = o.scale or (10 if o.short else 22)
    known = makers(o.scale, o.short)
    if not any(o.graph in name for name in known):
        parser.error(f"--graph {o.graph!r}: no such graph; there are {', '.join(known)}")
    budget = figures.Budget(o.seconds)
    lines: list[dict] = []
    for line in lines_of_all(o, devices, budget):
        lines.append(line)
        programs.write_results(o.out / o.figure, here, devices, lines, complete=False)
        print(figures.table([line])[-1], file=sys.stderr, flush=True)
    if budget.ran_out:
        budget.tell(f"{o.seconds:.0f} s are over; what is left was left out")
    programs.keep_results(o.out / o.figure, here, devices, lines, complete=not budget.ran_out)
    print("\n".join(figures.table(lines)))
    return 0 if lines else 1


if __name__ == "__main__":
    sys.exit(main())
