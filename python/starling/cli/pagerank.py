"""``starling pagerank``: the ranks of a graph's vertices, on all devices of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from starling import _region_job as job
from starling import graph
from starling.cli._messages import told
from starling.cli._options import HELP_FILES, Debug, Devices, MachineKind, PesPerGpu, ReportFile, share_gpus
from starling.cli._region_display import (
    HELP_FILE,
    AgentBlocks,
    AgentName,
    Base,
    Chunk,
    RegionDisplay,
    end_unless_converged,
    show_report,
    show_top,
)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=HELP_FILE)],
    base: Base = None,
    alpha: Annotated[float, typer.Option(help="The share of a rank that goes on along edges.")] = 0.85,
    tol: Annotated[float, typer.Option(help="Ends when all changes add up to less than N times this.")] = 1e-6,
    max_iter: Annotated[int, typer.Option(help="The most iterations.")] = 100,
    weights: Annotated[bool, typer.Option(help="Edges count by their weights, or all alike.")] = True,
    directed: Annotated[bool, typer.Option(help="Edges of a list lead one way, or both.")] = True,
    dtype: Annotated[Literal["float32", "float64"], typer.Option(help="The element type to compute in.")] = "float64",
    top: Annotated[int, typer.Option(min=0, help="How many vertices are shown.")] = 10,
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    agent: AgentName = "auto",
    chunk: Chunk = None,
    agent_blocks: AgentBlocks = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The ranks: .npy or .csv.", rich_help_panel=HELP_FILES)
    ] = None,
    report: ReportFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="The changes by iteration.", rich_help_panel=HELP_FILES),
    ] = None,
    debug: Debug = False,
) -> None:
    """Rank the vertices of a graph (PageRank), on all devices of a machine.

    Files are written completely or not at all. Ranks that have not converged are written too; the exit code is then 1.
    """
    console = Console(highlight=False)
    with told(debug):
        outputs = job.Outputs(out, report, plot)
        share_gpus(pes_per_gpu, devices, machine)
        a = graph.read(file, base=base, directed=directed)
        asked = {
            "file": str(file), "base": base, "alpha": alpha, "tol": tol, "max_iter": max_iter, "weights": weights,
            "directed": directed, "dtype": dtype, "devices": devices, "machine": machine, "agent": agent,
            "chunk": chunk,
            "agent_blocks": agent_blocks,
        }  # fmt: skip
        with RegionDisplay("change", Console(stderr=True)) as display:
            ranks, done, problem = job.finished(
                graph.pagerank, a, alpha, max_iter=max_iter, tol=tol, weight="weight" if weights else None, dtype=dtype,
                devices=devices, machine=machine, agent=agent, chunk=chunk, agent_blocks=agent_blocks,
                progress=display.update, measuring=graph.Measuring(timed=report is not None),
            )  # fmt: skip
        first = job.base_of(file, base)
        written = outputs.write({"rank": ranks}, first, done, asked)
    show_report(done, console, f"change {done.history[-1]:.3e}" if done.history else "nothing to rank")
    best = [(int(v) + first, float(ranks[v])) for v in job.largest(ranks, top)]
    show_top("largest ranks", ("vertex", "rank"), best, console)
    for place in written:
        console.print(f"wrote {place}", markup=False, soft_wrap=True)
    end_unless_converged(problem)
