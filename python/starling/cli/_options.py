"""Options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

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
ReportFile = Annotated[
    Path | None, typer.Option(metavar="FILE.json", help="What was done, as JSON.", rich_help_panel=HELP_FILES)
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error, and the log.")]
