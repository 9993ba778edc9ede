"""``starling launch``: a program in several processes of this host."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from starling._arguments import finite_number, whole_number
from starling._launch import Job
from starling.cli._messages import told
from starling.cli._options import Debug
from starling.machine import MOST_VIRTUAL_DEVICES


def command(
    run: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARGS]...", help="What to run.")],
    processes: Annotated[int, typer.Option("--processes", "-n", help="How many processes.")],
    devices: Annotated[int | None, typer.Option(help="PEs in all processes together; one in each by default.")] = None,
    grace: Annotated[
        float, typer.Option(help="Seconds that the others have to end by themselves when one has failed.")
    ] = 5.0,
    debug: Debug = False,
) -> None:
    """Run a program in several processes that share a machine.

    machine::distributed() and machine.distributed() find the others; machine.best() takes that machine unless
    STARLING_MACHINE says otherwise. What processes print has their number in front. When one fails, all end; Ctrl-C
    ends all. The exit code is that of the process that failed first.
    """
    with told(debug):
        n = whole_number("processes", processes, most=MOST_VIRTUAL_DEVICES)
        variables = {"PYTHONUNBUFFERED": "1"}
        if devices is not None:
            variables["STARLING_DEVICES"] = str(whole_number("devices", devices, most=MOST_VIRTUAL_DEVICES))
        ended = Job(run, n, variables, finite_number("grace", grace, least=0)).run()
    if ended.why:
        print(f"starling: {ended.why}; all have ended", file=sys.stderr)
    raise typer.Exit(ended.code)
