"""The progress bar of PageRank, shortest paths and Jacobi's method, and the table of their results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from starling._measuring import Arrivals
from starling._native import native
from starling._region_report import Progress as At
from starling._region_report import Report
from starling.cli._messages import FAILED
from starling.cli._options import HELP_MACHINE
from starling.cli._solve_display import part_done
from starling.errors import NotConverged

HELP_FILE = "Matrix Market (.mtx), SciPy's .npz, or a list of edges: .txt as SNAP has them, .csv; each also with .gz."

Base = Annotated[
    int | None,
    typer.Option(min=0, max=1, help="The number of the first vertex in a list of edges, 0 or 1; 0 by default."),
]
AgentName = Annotated[
    Literal["auto", "inline", "polling", "own_warp", "launched", "copy_engine"],
    typer.Option(help="How finished parts come to the other devices.", rich_help_panel=HELP_MACHINE),
]
Chunk = Annotated[
    str | None,
    typer.Option(metavar="BYTES", help="How much is sent at a time, 4K to 16M.", rich_help_panel=HELP_MACHINE),
]
AgentBlocks = Annotated[
    int | None,
    typer.Option(
        help="How many blocks of a device send, or streams of its copy engines.", min=1, rich_help_panel=HELP_MACHINE
    ),
]


class RegionDisplay:
    """The iterations, and a bar from the first change to the target. Only on terminals."""

    def __init__(self, what: str, console: Console) -> None:
        self._first: float | None = None
        self._bar = Progress(
            TextColumn("iteration {task.fields[iterations]}"),
            BarColumn(),
            TextColumn(what + " {task.fields[value]}{task.fields[target]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=1.0, iterations="0", value="...", target="")

    def __enter__(self) -> RegionDisplay:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def update(self, at: At) -> None:
        if self._first is None:
            self._first = at.value
        target = 0.0 if at.target is None else at.target
        self._bar.update(
            self._task,
            completed=part_done(self._first, at.value, target),
            iterations=f"{at.iterations:,}",
            value=f"{at.value:.3g}",
            target="" if at.target is None else f" -> {at.target:.2e}",
        )


def show_report(r: Report, console: Console, end: str) -> None:
    """What was done and how it went."""
    table = Table(title=r.choice.replace("[", r"\["), title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    kind = "" if r.weights else " without weights"
    table.add_row("matrix", f"{r.rows:,} rows, {r.entries:,} entries{kind}, {r.dtype}, storage {r.storage}")
    table.add_row("devices", f"{r.devices}, {r.blocks} blocks each")
    table.add_row("sending", f"{_agent(r)}, {native.format_bytes(r.chunk_bytes)} at a time, {_sent(r.bytes_sent)}")
    if r.arrivals:
        table.add_row("arrivals", _arrived(r.arrivals))
    table.add_row("converged", "[green]yes[/]" if r.converged else "[red]no[/]")
    table.add_row("iterations", f"{r.iterations:,}, {r.microseconds_per_iteration:.2f} us each")
    if r.program == "sssp":
        table.add_row("tiles", _computed(r))
    table.add_row("end", end)
    console.print(table)


def _computed(r: Report) -> str:
    every = r.tiles * r.devices * (r.iterations + 1)
    return f"{r.tiles_skipped:,} of {every:,} not computed, nothing that they read had changed"


def _agent(r: Report) -> str:
    return (
        f"{r.agent} ({r.agent_blocks} {'streams' if r.agent == 'copy_engine' else 'blocks'})"
        if r.agent_blocks
        else r.agent
    )


def _sent(sent: Sequence[Sequence[int]]) -> str:
    """
    >>> _sent([[0, 2048], [1024, 0]])
    'at most 2 KiB from one device to another'
    """
    most = max((n for row in sent for n in row), default=0)
    return f"at most {native.format_bytes(most)} from one device to another" if most else "nothing sent"


def _arrived(arrivals: Sequence[Arrivals]) -> str:
    """
    >>> _arrived([Arrivals(0.002, 3, 0.0001, 0.0021, 1, 0.5), Arrivals(0.002, 0, 0.0, 0.0, 0, 0.5)])
    'first after 0.1 ms, last after 2.1 ms of 2 ms; at most 1 parts of a device after the end'
    """
    sent = [a for a in arrivals if a.parts > 0]
    if not sent:
        return "none"
    first, last, kernel = (1e3 * f(times) for f, times in (
        (min, [a.first for a in sent]), (max, [a.last for a in sent]), (max, [a.kernel for a in sent]),
    ))  # fmt: skip
    late = max(a.after_end for a in sent)
    return (
        f"first after {first:.4g} ms, last after {last:.4g} ms of {kernel:.4g} ms; at most {late} parts of a device "
        "after the end"
    )


def show_top(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]], console: Console) -> None:
    """The first vertices of a result."""
    table = Table(title=title, title_justify="left")
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        table.add_row(*(f"{v:,.6g}" if isinstance(v, float) else str(v) for v in row))
    if table.rows:
        console.print(table)


def end_unless_converged(problem: NotConverged | None) -> None:
    """A result that has not converged is written all the same; the exit code tells."""
    if problem is None:
        return
    Console(stderr=True, highlight=False).print(f"starling: {problem}", markup=False, soft_wrap=True)
    raise typer.Exit(FAILED)
