"""The progress bar of a solve, and the table of its result."""

from __future__ import annotations

import math
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from starling.linalg import Progress as At
from starling.linalg import Report


def part_done(start: float, residual: float, target: float) -> float:
    """How far the residual has come from its start to its target, on a logarithmic scale, from 0 to 1.

    >>> part_done(1.0, 1e-2, 1e-4)
    0.5
    """
    if not 0 < target < start:
        return 0.0
    if residual <= target:
        return 1.0
    return min(1.0, max(0.0, math.log(start / residual) / math.log(start / target))) if residual < start else 0.0


class SolveDisplay:
    """A bar from the first residual to the target, with both and the iterations. Only on terminals."""

    def __init__(self, start: float, console: Console) -> None:
        self._start = start
        self._bar = Progress(
            TextColumn("iteration {task.fields[iterations]}"),
            BarColumn(),
            TextColumn("residual {task.fields[residual]} -> {task.fields[target]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=1.0, iterations="0", residual=f"{start:.2e}", target="...")

    def __enter__(self) -> SolveDisplay:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def update(self, at: At) -> None:
        self._bar.update(
            self._task,
            completed=part_done(self._start, at.residual, at.target),
            iterations=f"{at.iterations:,}",
            residual=f"{at.residual:.2e}",
            target=f"{at.target:.2e}",
        )


def show_report(r: Report, choice: str, error: float | None, console: Console) -> None:
    """What was solved and how it went."""
    table = Table(title=choice.replace("[", r"\["), title_justify="left", show_header=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    table.add_row("matrix", f"{r.rows:,} rows, {r.nonzeros:,} entries, {r.dtype}, storage {r.storage}")
    halo = "none" if not any(r.halo) else f"{max(r.halo):,} values at most"
    order = f"reordered by {r.reorder}" if r.reorder else "in the order of the file"
    table.add_row("devices", f"{r.devices}, {r.blocks} blocks each, {order}; from others: {halo}")
    table.add_row("method", f"{r.method}, {r.control}, preconditioner {r.preconditioner}")
    verdict = "[green]yes[/]" if r.converged else f"[red]no[/]: {r.why}"
    table.add_row("converged", verdict)
    table.add_row("iterations", f"{r.iterations:,}, {r.microseconds_per_iteration:.2f} us each")
    table.add_row("residual", f"{r.residual:.3e}, target {r.target:.3e}")
    if error is not None:
        table.add_row("largest error", f"{error:.3e}")
    console.print(table)
