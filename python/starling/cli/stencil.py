"""``starling stencil``: a stencil from file to file, on all devices of a machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from starling._arguments import whole_number
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
from starling.cli._run_display import RunDisplay, show_reports
from starling.errors import ArgumentError
from starling.stencil import _job
from starling.stencil._problem import Variant


def command(
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A .npy file (float32 or float64, 2 or 3 dimensions) or a picture.")
    ],
    target: Annotated[
        Path | None, typer.Argument(metavar="[OUTPUT]", help="The result: .npy or .png.", show_default=False)
    ] = None,
    steps: Annotated[int, typer.Option(help="How many steps, at least 1.")] = 1000,
    method: Annotated[
        Literal["jacobi", "heat"], typer.Option(help="jacobi: the mean of the neighbours; heat: the heat equation.")
    ] = "jacobi",
    ratio: Annotated[
        float | None,
        typer.Option(help="For heat: diffusivity * time step / spacing squared; half of the stable most by default."),
    ] = None,
    boundary: Annotated[
        str, typer.Option(help="fixed or periodic, or one per axis with a comma between: fixed,periodic.")
    ] = "fixed",
    tol: Annotated[
        float | None, typer.Option(help="Stop when the largest change of a cell in one step is not above this.")
    ] = None,
    check_every: Annotated[
        int | None, typer.Option(help="Steps between two convergence checks; 100 with --tol.")
    ] = None,
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    variant: Annotated[
        Variant,
        typer.Option(
            help="Who controls the steps; all give the same bits. auto: what is expected to be fastest.",
            rich_help_panel=HELP_MACHINE,
        ),
    ] = "auto",
    depth: Annotated[
        int | None,
        typer.Option(
            help="For the variant temporal: steps between two exchanges; chosen by default.",
            rich_help_panel=HELP_MACHINE,
        ),
    ] = None,
    split: Annotated[
        str | None,
        typer.Option(
            metavar="N,N[,N]", help="Devices per axis; all along the first by default.", rich_help_panel=HELP_MACHINE
        ),
    ] = None,
    frames: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for PNG frames.", rich_help_panel=HELP_FILES)
    ] = None,
    frame_every: Annotated[
        int | None, typer.Option(metavar="N", help="A frame every N steps.", rich_help_panel=HELP_FILES)
    ] = None,
    report: ReportFile = None,
    debug: Debug = False,
) -> None:
    """Run a stencil over an array or a picture, on all devices of a machine.

    The channels of a colour picture are solved one by one, with values from 0 (black) to 1.

    A .png of a .npy input shows its range from black to white.

    Files are written completely or not at all.
    """
    with told(debug, "nothing was written but whole frames, if any"):
        share_gpus(pes_per_gpu, devices, machine)
        # What is cheap to check comes first, so that nothing is computed in vain.
        whole_number("steps", steps)
        given = _job.read_input(source)
        outputs = _job.Outputs(target, frames, frame_every, report, given)
        job = _job.Job(
            given,
            {
                "coefficients": _job.coefficients_for(method, ratio, given.channels[0].ndim),
                "devices": devices,
                "machine": machine,
                "boundary": tuple(boundary.split(",")) if "," in boundary else boundary,
                "split": None if split is None else parts_of(split),
            },
            {"variant": variant, "depth": depth, "tol": tol, "check_every": check_every},
        )
        with RunDisplay(len(given.channels), steps, Console(stderr=True)) as display:
            values, reports = job.run(
                steps, display.update, outputs.write_frame if frames else None, outputs.frame_every
            )
        asked = {"steps": steps, "method": method, "ratio": ratio, "boundary": boundary, "split": split}
        facts = job.facts(reports, asked={**asked, "tol": tol, "check_every": check_every})
        outputs.write(values, facts)
    console = Console(highlight=False)
    show_reports(reports, job.machine.choice, console)
    for place in (target, frames, report):
        if place is not None:
            console.print(f"wrote {place}", markup=False, soft_wrap=True)


def parts_of(split: str) -> tuple[int, ...]:
    """Reads `2,2` or `2x2` as (2, 2)."""
    try:
        return tuple(int(n) for n in split.replace("x", ",").split(","))
    except ValueError:
        raise ArgumentError(f"split = {split!r}; give devices per axis with commas between, such as 2,2") from None
