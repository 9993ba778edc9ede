"""``starling jacobi``: a strictly diagonally dominant system from file to file, on all devices of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console

from starling import _region_job as job
from starling import graph, linalg
from starling._regions import Exchange
from starling.cli._messages import told
from starling.cli._options import (
    HELP_FILES,
    HELP_MACHINE,
    Debug,
    Devices,
    MachineKind,
    PesPerGpu,
    ReportFile,
    share_gpus,
)
from starling.cli._region_display import (
    HELP_FILE,
    AgentBlocks,
    AgentName,
    Base,
    Chunk,
    RegionDisplay,
    end_unless_converged,
    show_report,
)


def command(
    file: Annotated[Path, typer.Argument(metavar="A", help=HELP_FILE)],
    right: Annotated[
        Path | None,
        typer.Argument(metavar="[B]", help="Right-hand side: .mtx or .npy; A @ ones by default.", show_default=False),
    ] = None,
    base: Base = None,
    rtol: Annotated[float, typer.Option(help="Ends when |b - A x| <= max(rtol |b|, atol).")] = 1e-5,
    atol: Annotated[float, typer.Option(help="See --rtol.")] = 0.0,
    maxiter: Annotated[int | None, typer.Option(help="The most iterations; ten times the rows by default.")] = None,
    dtype: Annotated[Literal["float32", "float64"], typer.Option(help="The element type to compute in.")] = "float64",
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    layout: Annotated[
        linalg.Layout, typer.Option(help="Whether rows or diagonals are stored.", rich_help_panel=HELP_MACHINE)
    ] = "auto",
    exchange: Annotated[
        Exchange,
        typer.Option(help="What devices get of the others' x: all, or what they read.", rich_help_panel=HELP_MACHINE),
    ] = "auto",
    agent: AgentName = "auto",
    chunk: Chunk = None,
    agent_blocks: AgentBlocks = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The solution: .npy or .csv.", rich_help_panel=HELP_FILES)
    ] = None,
    report: ReportFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="The residual by iteration.", rich_help_panel=HELP_FILES),
    ] = None,
    debug: Debug = False,
) -> None:
    """Solve a strictly diagonally dominant system by Jacobi's method, on all devices of a machine.

    Files are written completely or not at all. A solution that has not converged is written too; the exit code is then
    1.
    """
    console = Console(highlight=False)
    with told(debug):
        outputs = job.Outputs(out, report, plot)
        share_gpus(pes_per_gpu, devices, machine)
        a = graph.read(file, base=base).astype(dtype)
        b = a @ np.ones(a.shape[0], dtype) if right is None else linalg.read_vector(right).astype(dtype)
        asked = {
            "file": str(file), "right_hand_side": str(right) if right else "A @ ones", "base": base, "rtol": rtol,
            "atol": atol, "maxiter": maxiter, "dtype": dtype, "devices": devices, "machine": machine, "layout": layout,
            "exchange": exchange, "agent": agent, "chunk": chunk, "agent_blocks": agent_blocks,
        }  # fmt: skip
        with RegionDisplay("residual", Console(stderr=True)) as display:
            x, done, problem = job.finished(
                linalg.jacobi, a, b, rtol=rtol, atol=atol, maxiter=maxiter, layout=layout, exchange=exchange,
                devices=devices, machine=machine, agent=agent, chunk=chunk, agent_blocks=agent_blocks,
                progress=display.update, measuring=graph.Measuring(timed=report is not None),
            )  # fmt: skip
        written = outputs.write({"x": x}, job.base_of(file, base), done, asked)
    if right is None:
        console.print("no right-hand side given: b = A @ ones, so the solution is 1 everywhere")
    error = "" if right else f", largest error {float(np.abs(x - 1).max()):.3e}"
    residual = done.history[-1] if done.history else 0.0
    show_report(done, console, f"residual {residual:.3e}, target {done.target:.3e}{error}")
    for place in written:
        console.print(f"wrote {place}", markup=False, soft_wrap=True)
    end_unless_converged(problem)
