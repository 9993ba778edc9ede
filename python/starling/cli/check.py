"""``starling check``: runs a command whose programs are explored under seeded schedules."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from starling._arguments import whole_number
from starling._check import MOST_SEED
from starling.cli._command import run_command
from starling.cli._messages import FAILED, told
from starling.cli._options import Debug
from starling.errors import ArgumentError


def command(
    run: Annotated[list[str], typer.Argument(metavar="-- COMMAND [ARGS]...", help="What to run.")],
    seeds: Annotated[
        int | None, typer.Option(help="How many schedules each program is explored under; 1000 by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Only this one: replays what a message named.")] = None,
    devices: Annotated[
        int | None, typer.Option(help="How many virtual devices, where the command leaves it open; 4 by default.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(help="How many threads a block has; by default each seed chooses 1, 2, 3, 5, 6 or 32.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run a command on virtual devices in check mode: each of its programs under many schedules.

    What a schedule finds ends the command with an error that names the seed. Loads and stores of programs in C++ are
    checked too when they are built with the CMake target starling::check.

    The exit code is 1 when something was found or nothing was checked, else the command's.
    """
    with told(debug):
        if seed is not None and seeds is not None:
            raise ArgumentError("--seed and --seeds; give one: --seed replays one schedule, --seeds explores many")
        variables = {"STARLING_MACHINE": "host"}
        if seed is not None:
            variables["STARLING_CHECK_SEED"] = str(whole_number("seed", seed, least=0, most=MOST_SEED))
            variables["STARLING_CHECK"] = "1"
        else:
            variables["STARLING_CHECK"] = str(whole_number("seeds", 1000 if seeds is None else seeds, most=2**31 - 1))
        if devices is not None:
            variables["STARLING_DEVICES"] = str(whole_number("devices", devices))
        if threads is not None:
            variables["STARLING_CHECK_THREADS"] = str(whole_number("threads", threads, least=0, most=1024))
        with tempfile.TemporaryDirectory(prefix="starling_check_") as folder:
            report = Path(folder, "report")
            ended = run_command(run, {**variables, "STARLING_CHECK_REPORT": str(report)})
            entries = read_report(report)
    console = Console(highlight=False, stderr=True)
    if ended.interrupted_by:
        so_far = "; what had been explored until then:" if entries else " before any program was explored to its end"
        console.print(f"check: interrupted ({ended.interrupted_by}){so_far}", markup=False)
    elif not entries:
        console.print(f"starling: {run[0]} ran no program on virtual devices, so nothing was checked", markup=False)
    if not entries:
        raise typer.Exit(ended.code or FAILED)
    found = show(entries, console)
    raise typer.Exit(FAILED if found else ended.code)


def read_report(report: Path) -> list[dict[str, Any]]:
    """The lines of a report: what each run has explored."""
    if not report.exists():
        return []
    return [json.loads(line) for line in report.read_text().splitlines() if line.endswith("}")]


def totals(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Sums over all lines."""
    keys = ("programs", "schedules", "calls", "deliveries", "seconds")
    seen = all(e["accesses_seen"] for e in entries)
    threads = max((e["threads_seen"] for e in entries), default=0)
    return {**{key: sum(e[key] for e in entries) for key in keys}, "accesses_seen": seen, "threads_seen": threads}


def show(entries: list[dict[str, Any]], console: Console) -> bool:
    """Prints what was explored and what was found; whether something was."""
    t = totals(entries)
    defects = [e for e in entries if "defect" in e]
    for e in defects:
        console.print(e["text"].splitlines()[0], markup=False, soft_wrap=True)  # the command has told the rest
    verdict = f"{len(defects)} found" if defects else "nothing found"
    console.print(
        f"check: {verdict}; {t['programs']} programs, {t['schedules']:,} schedules, {t['calls']:,} calls, "
        f"{t['deliveries']:,} deliveries in {t['seconds']:.2f} s; blocks of up to {t['threads_seen']} threads",
        soft_wrap=True,
    )
    if not t["accesses_seen"]:
        console.print(
            "calls alone were checked: some kernels were built without starling::check (those of this package: "
            "`cmake --build build/host --target starling_python_checked`)"
        )
    return bool(defects)
