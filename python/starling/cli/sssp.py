"""``starling sssp``: the shortest paths from one vertex of a graph to all, on all devices of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
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
    show_report,
    show_top,
)


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help=HELP_FILE)],
    source: Annotated[int, typer.Option(help="The vertex to start from, by its number in the file.")],
    base: Base = None,
    weights: Annotated[bool, typer.Option(help="Edges are as long as they weigh, or 1 each.")] = True,
    directed: Annotated[bool, typer.Option(help="Edges of a list lead one way, or both.")] = True,
    top: Annotated[int, typer.Option(min=0, help="How many of the farthest vertices are shown.")] = 10,
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    agent: AgentName = "auto",
    chunk: Chunk = None,
    agent_blocks: AgentBlocks = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The lengths: .npy, or .csv with the vertex before each too.",
            rich_help_panel=HELP_FILES,
        ),
    ] = None,
    report: ReportFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="New distances by iteration.", rich_help_panel=HELP_FILES),
    ] = None,
    debug: Debug = False,
) -> None:
    """Find the shortest paths from one vertex of a graph to all, on all devices of a machine.

    Lengths must not be negative. Files are written completely or not at all.
    """
    console = Console(highlight=False)
    with told(debug):
        outputs = job.Outputs(out, report, plot)
        share_gpus(pes_per_gpu, devices, machine)
        first = job.base_of(file, base)
        start = job.vertex(source, first, "source")
        a = graph.read(file, base=base, directed=directed)
        asked = {
            "file": str(file), "source": source, "base": base, "weights": weights, "directed": directed,
            "devices": devices, "machine": machine, "agent": agent, "chunk": chunk, "agent_blocks": agent_blocks,
        }  # fmt: skip
        with RegionDisplay("new distances", Console(stderr=True)) as display:
            (lengths, before), done, _ = job.finished(
                graph.sssp, a, start, True, weight="weight" if weights else None, devices=devices, machine=machine,
                agent=agent, chunk=chunk, agent_blocks=agent_blocks, progress=display.update,
                measuring=graph.Measuring(timed=report is not None),
            )  # fmt: skip
        before = np.where(before < 0, before, before + first)
        written = outputs.write({"length": lengths, "before": before}, first, done, asked)
    reached = int(np.isfinite(lengths).sum())
    show_report(done, console, f"{reached:,} of {lengths.size:,} vertices reached from {source}")
    farthest = [(int(v) + first, float(lengths[v]), int(before[v])) for v in job.largest(lengths, top)]
    show_top("farthest vertices", ("vertex", "length", "before it"), farthest, console)
    for place in written:
        console.print(f"wrote {place}", markup=False, soft_wrap=True)
