"""Options that several commands have."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from starling._arguments import whole_number
from starling._native import native
from starling.errors import ArgumentError

HELP_FILES = "Files"
HELP_MACHINE = "Machine"

Devices = Annotated[
    int | None,
    typer.Option(help="How many devices; all GPUs or 4 virtual devices by default.", rich_help_panel=HELP_MACHINE),
]
MachineKind = Annotated[
    Literal["auto", "host", "cuda"],
    typer.Option(help="host: virtual devices, cuda: GPUs, auto: GPUs if any.", rich_help_panel=HELP_MACHINE),
]
PesPerGpu = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="N devices share each GPU; STARLING_PES_PER_GPU, or 1.", rich_help_panel=HELP_MACHINE
    ),
]
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="What was done, as JSON.", rich_help_panel=HELP_FILES)
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error, and the log.")]


def share_gpus(pes_per_gpu: int | None, devices: int | None, machine: str) -> None:
    """Lets so many devices of this command share each GPU.

    Raises:
        ArgumentError: The number makes no sense, or there are too few GPUs for so many devices; says how they suffice.
    """
    if pes_per_gpu is not None:
        os.environ["STARLING_PES_PER_GPU"] = str(whole_number("--pes-per-gpu", pes_per_gpu))
    if machine == "host" or os.environ.get("STARLING_MACHINE") == "host" or devices is None:
        return
    require_gpus(native.probe_cuda().devices, whole_number("--devices", devices))


def require_gpus(gpus: int, devices: int) -> None:
    """Whether so many GPUs are enough, if there are any at all.

    >>> require_gpus(4, 4)
    >>> require_gpus(0, 4)
    """
    text = os.environ.get("STARLING_PES_PER_GPU", "")
    each = int(text) if text.isdecimal() else 1
    if gpus == 0 or devices <= gpus * max(each, 1):
        return
    there = "1 GPU" if gpus == 1 else f"{gpus} GPUs"
    needed = -(-devices // gpus)
    raise ArgumentError(
        f"--devices {devices}: this machine has {there}; let several devices share one with --pes-per-gpu {needed}, or "
        "take virtual devices with --machine host"
    )
