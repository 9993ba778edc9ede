"""Measuring how finished parts of a program on regions should travel."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from starling import machine as machines
from starling._arguments import finite_number, one_of
from starling._files import check_writable, written_whole
from starling._microbenchmark import ELEMENT, Microbenchmark
from starling._region_report import Report
from starling._region_tuning import Setting, Trial, exhaustive, keep, lacking, settings_on, stepwise, with_blocks
from starling.errors import ArgumentError, NotConverged
from starling.graph import _matrix
from starling.graph._pagerank import pagerank
from starling.graph._sssp import sssp
from starling.machine import Machine

PROGRAMS = ("pagerank", "sssp", "jacobi", "microbenchmark")
PROBE_BYTES = {"cuda": 2**28, "host": 2**18}
"""Of the microbenchmark's vector, by kind of machine."""
ITERATIONS_OF_A_RUN = 16
"""Of a program that count as one run of the microbenchmark, which takes longer."""


@dataclass(frozen=True)
class RegionTuning:
    """What :func:`tune` found."""

    program: str
    agent: str
    chunk: int
    """Bytes."""
    agent_blocks: int
    """0: as many as are chosen anyway, or the agent has none."""
    trials: tuple[Trial, ...]
    """All measurements, the best one last."""
    path: Path
    """The file that the choice is kept in."""
    left_out: dict[str, str]
    """Agents that were not measured, and why."""


def tune(
    program: Literal["pagerank", "sssp", "jacobi", "microbenchmark"],
    A: Any = None,
    *,
    machine: Machine | str | None = None,
    devices: int | None = None,
    every: bool = False,
    seconds: float = 60,
    progress: Callable[[Trial], object] | None = None,
) -> RegionTuning:
    """Measures how parts of a program should travel, and keeps it for inputs of this size on this machine.

    Agents and chunks are searched together; of the best, other numbers of the agent's blocks are tried then. What is
    kept is what ``agent="auto"``, ``chunk=None`` and ``agent_blocks=None`` take from then on, in this and other
    processes.

    Args:
        program: ``"pagerank"``, ``"sssp"`` or ``"jacobi"``; or ``"microbenchmark"``, a vector whose elements take as
            long to compute as to copy (PROACT, figure 6), to measure the machine's links.
        A: A graph or matrix, as the program takes it; of a typical size. The microbenchmark has none.
        machine, devices: As for the program; at least 2 devices, since one sends nothing. The microbenchmark of one
            device sends to the host.
        every: Measure all agents, chunks and numbers of blocks equally long, instead of the best quarter of them longer
            and longer.
        seconds: When these have passed, settings that are left get the shortest measurement.
        progress: Called with each :class:`Trial`.

    Raises:
        ArgumentError: A value is not allowed, or the file cannot be written.

    Source: PROACT, sections III-A and IV: a search over agents and transfer sizes.
    """
    one_of("program", program, PROGRAMS)
    limit = finite_number("seconds", seconds)
    if not 0 < limit <= 3600:
        raise ArgumentError(f"seconds = {seconds}; must be more than 0 and at most 3600")
    m = machines.of(machine, devices)
    if (A is None) != (program == "microbenchmark"):
        raise ArgumentError(f"tune: {program} {'needs a graph or matrix' if A is None else 'takes none'}")
    if m.size < 2 and program != "microbenchmark":
        raise ArgumentError(f"tune: {m.summary}; one device sends nothing, ask for at least 2")
    once = _probe(m) if program == "microbenchmark" else _measured(_runner(program, A, m))
    settings = settings_on(m)
    end = time.monotonic() + limit
    entries = 0

    def cost(setting: Setting, iterations: int) -> float:
        nonlocal entries
        done = once(setting, iterations if time.monotonic() < end else 4)
        entries = done.entries
        if progress is not None:
            progress(Trial(setting, done.iterations, done.microseconds))
        return done.microseconds

    def finer(setting: Setting) -> tuple[Setting, ...]:
        return with_blocks(setting, m)

    if every:
        trials = exhaustive([t for s in settings for t in (s, *finer(s))], cost)
    else:
        trials = stepwise(settings, finer, cost)
    best = trials[-1].setting
    path = keep(program, entries, m, trials)
    return RegionTuning(program, best.agent, best.chunk, best.blocks, tuple(trials), path, lacking(m))


class _Measured(NamedTuple):
    entries: int
    iterations: int
    microseconds: float
    """Of an iteration."""


def _measured(run: Callable[[Setting, int], Report]) -> Callable[[Setting, int], _Measured]:
    def once(setting: Setting, iterations: int) -> _Measured:
        report = run(setting, iterations)
        return _Measured(report.entries, report.iterations, float(report.microseconds_per_iteration))

    return once


def _probe(m: Machine) -> Callable[[Setting, int], _Measured]:
    """The microbenchmark: the best of the runs, since each is short."""
    probe = Microbenchmark(m, PROBE_BYTES[m.kind])
    work = probe.balanced_work()

    def once(setting: Setting, iterations: int) -> _Measured:
        runs = max(1, iterations // ITERATIONS_OF_A_RUN)
        best = probe.run(work, runs, agent=setting.agent, chunk=setting.chunk, agent_blocks=setting.blocks).best
        return _Measured(probe.size // ELEMENT, runs, 1e6 * best)

    return once


def _runner(program: str, A: Any, m: Machine) -> Callable[[Setting, int], Report]:
    """run(setting, iterations): the report of that many iterations, or, of shortest paths, of all rounds."""

    def where(setting: Setting) -> dict[str, Any]:
        blocks = setting.blocks or None
        return {"machine": m, "agent": setting.agent, "chunk": setting.chunk, "agent_blocks": blocks, "report": True}

    if program != "jacobi":
        A = replace(_matrix.as_graph(A), kept={})  # bringing it into its form takes longer than most runs
    if program == "pagerank":
        return lambda setting, n: pagerank(A, fixed_iterations=n, **where(setting))[1]
    if program == "sssp":
        source = int(np.argmax(np.diff(A.edges.indptr)))
        return lambda setting, n: sssp(A, source, **where(setting))[-1]
    from starling.linalg import jacobi  # linalg imports what graph has

    b = np.ones(A.shape[0], A.dtype)

    def run(setting: Setting, n: int) -> Report:
        report: Report
        try:
            report = jacobi(A, b, rtol=0, maxiter=n, **where(setting))[1]
        except NotConverged as ended:  # as it has to: it is to do all iterations
            report = ended.report
        return report

    return run


def plot_tuning(path: str | PathLike[str], tuning: RegionTuning) -> None:
    """Draws what each setting took, as a map of agents, with their blocks, and chunks (PROACT, figure 4).

    Args:
        path: A PNG file to write.
        tuning: What :func:`tune` found.
    """
    # Here, because matplotlib takes long to load. No window is opened.
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    check_writable(path, [".png"])
    agents = sorted({(t.setting.agent, t.setting.blocks) for t in tuning.trials})
    chunks = sorted({t.setting.chunk for t in tuning.trials})
    us = np.full((len(agents), len(chunks)), np.nan)
    for t in tuning.trials:  # the longest measurement of each comes last
        us[agents.index((t.setting.agent, t.setting.blocks)), chunks.index(t.setting.chunk)] = t.microseconds
    figure = Figure(figsize=(7, 1 + 0.32 * len(agents)), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    image = axes.imshow(us, aspect="auto", cmap="viridis_r")
    axes.set_xticks(range(len(chunks)), [f"{c // 1024}K" for c in chunks])
    axes.set_yticks(range(len(agents)), [f"{agent}, {blocks} blocks" if blocks else agent for agent, blocks in agents])
    axes.set_xlabel("chunk")
    for (row, column), value in np.ndenumerate(us):
        axes.text(column, row, f"{value:.3g}", ha="center", va="center", color="white")
    figure.colorbar(image, label="us an iteration")
    with written_whole(path) as file:
        figure.savefig(file, format="png")
