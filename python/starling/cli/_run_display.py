"""The progress bar of a run, and the table of its reports."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from starling.stencil import Progress as At
from starling.stencil import Report


class RunDisplay:
    """A bar over the steps of all channels, with the rate and, where it is checked, the change. Only on terminals."""

    def __init__(self, channels: int, steps: int, console: Console) -> None:
        self._done = [0] * channels
        self._seconds = [0.0] * channels
        self._bar = Progress(
            TextColumn("step"),
            MofNCompleteColumn(),
            BarColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[change]}"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("", total=channels * steps, rate="", change="")

    def __enter__(self) -> RunDisplay:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._bar.stop()

    def update(self, channel: int, at: At) -> None:
        # A channel that converged has no steps left to wait for.
        self._done[channel] = at.steps if at.converged else at.done
        self._seconds[channel] = at.seconds
        rate = sum(self._done) / max(sum(self._seconds), 1e-9)
        change = "" if at.change is None else f"change {at.change:.2e}"
        self._bar.update(self._task, completed=sum(self._done), rate=f"{rate:,.0f} steps/s", change=change)


def show_reports(reports: Sequence[Report], choice: str, console: Console) -> None:
    """One row per channel."""
    names = ["red", "green", "blue"] if len(reports) == 3 else [""] * len(reports)
    table = Table(title=choice.replace("[", r"\["), title_justify="left", header_style="bold")
    for column in ("channel", "steps", "us per step", "change", "converged", "variant", "blocks"):
        if column != "channel" or len(reports) > 1:
            table.add_column(column, justify="left" if column in ("channel", "variant") else "right")
    for name, r in zip(names, reports, strict=True):
        change = "-" if r.change is None else f"{r.change:.3e}"
        row = [str(r.steps), f"{r.microseconds_per_step:.2f}", change, "yes" if r.converged else "no", r.variant]
        table.add_row(*([name] if len(reports) > 1 else []), *row, str(r.blocks))
    console.print(table)
    for why in sorted({r.why for r in reports if r.why}):
        console.print(why, markup=False, soft_wrap=True)
