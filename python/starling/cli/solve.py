"""``starling solve``: a linear system from file to file, on all devices of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer
from rich.console import Console

from starling.cli._messages import FAILED, told
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
from starling.cli._solve_display import SolveDisplay, show_report
from starling.linalg import Control, Method, Partition, Storage, _choices, _job


def command(
    matrix: Annotated[
        Path,
        typer.Argument(
            metavar="A", help="A symmetric positive definite matrix: .mtx, .mtx.gz (Matrix Market), or SciPy's .npz."
        ),
    ],
    right: Annotated[
        Path | None,
        typer.Argument(metavar="[B]", help="Right-hand side: .mtx or .npy; A @ ones by default.", show_default=False),
    ] = None,
    method: Annotated[
        Method, typer.Option(help="standard: two reductions an iteration; fused: one; pipelined: one, hidden.")
    ] = "auto",
    preconditioner: Annotated[
        str, typer.Option(metavar="NAME[:N]", help="none, jacobi, block_jacobi[:SIZE] or chebyshev[:DEGREE].")
    ] = "none",
    rtol: Annotated[float, typer.Option(help="Ends when |b - A x| <= max(rtol |b|, atol).")] = 1e-5,
    atol: Annotated[float, typer.Option(help="See --rtol.")] = 0.0,
    maxiter: Annotated[int | None, typer.Option(help="The most iterations; ten times the rows by default.")] = None,
    dtype: Annotated[Literal["float32", "float64"], typer.Option(help="The element type to compute in.")] = "float64",
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    control: Annotated[
        Control,
        typer.Option(help="Who controls the iterations; all give the same numbers.", rich_help_panel=HELP_MACHINE),
    ] = "cpu_free",
    partition: Annotated[
        Partition,
        typer.Option(help="What the devices get equally many of.", rich_help_panel=HELP_MACHINE),
    ] = "nonzeros",
    reorder: Annotated[
        Literal["none", "rcm", "graph"],
        typer.Option(
            help="Order of the rows: rcm brings entries near the diagonal, graph finds parts (needs pymetis).",
            rich_help_panel=HELP_MACHINE,
        ),
    ] = "none",
    storage: Annotated[
        Storage, typer.Option(help="How devices store the matrix.", rich_help_panel=HELP_MACHINE)
    ] = "auto",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The solution: .npy or .mtx.", rich_help_panel=HELP_FILES),
    ] = None,
    report: ReportFile = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="The residual by iteration.", rich_help_panel=HELP_FILES),
    ] = None,
    debug: Debug = False,
) -> None:
    """Solve a linear system by conjugate gradients, on all devices of a machine.

    Files are written completely or not at all. One that has not converged is written too; the exit code is then 1.
    """
    console = Console(highlight=False)
    with told(debug):
        share_gpus(pes_per_gpu, devices, machine)
        # What is cheap to check comes first, so that nothing is computed in vain.
        _choices.ending(1, rtol, atol, maxiter, None)
        m = _job.preconditioner_of(preconditioner)
        outputs = _job.Outputs(out, report, plot)
        system = _job.read_system(matrix, right, dtype)
        order = None if reorder == "none" else reorder
        where = {"devices": devices, "machine": machine, "partition": partition, "reorder": order, "storage": storage}
        job = _job.Job(system, where, m)
        options = {"rtol": rtol, "atol": atol, "maxiter": maxiter, "method": method, "control": control}
        with SolveDisplay(float(np.linalg.norm(system.b)), Console(stderr=True)) as display:
            x, _, done = job.run(options, display.update)
        asked = {**where, **options, "preconditioner": preconditioner, "dtype": dtype}
        written = outputs.write(x, done, job.facts(x, done, asked))
    if right is None:
        console.print("no right-hand side given: b = A @ ones, so the solution is 1 everywhere")
    show_report(done, job.choice, system.error(x), console)
    for place in written:
        console.print(f"wrote {place}", markup=False, soft_wrap=True)
    if not done.converged:
        remedy = (
            "a larger --maxiter or a --preconditioner may help"
            if done.why == "iterations"
            else "more iterations do not help; ask for less with --rtol, or try a --preconditioner or --dtype float64"
        )
        Console(stderr=True, highlight=False).print(
            f"starling: not converged: residual {done.residual:.3e} after {done.iterations} iterations, target "
            f"{done.target:.3e}; {remedy}",
            markup=False,
            soft_wrap=True,
        )
        raise typer.Exit(FAILED)
