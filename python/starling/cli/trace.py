"""``starling trace``: runs a command and writes what its devices did as a timeline."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from starling._arguments import whole_number
from starling._files import check_writable
from starling.cli._command import Ended, run_command
from starling.cli._messages import told
from starling.cli._options import Debug
from starling.errors import ArgumentError
from starling.trace import _record, _timeline
from starling.trace._pictures import bytes_text


def command(
    output: Annotated[Path, typer.Argument(metavar="OUT.json", help="The timeline, for Perfetto and `starling plot`.")],
    run: Annotated[list[str], typer.Argument(metavar="-- COMMAND [ARGS]...", help="What to run.")],
    records: Annotated[
        int | None, typer.Option(help="How many records of a block are kept, the newest; 8192 by default.")
    ] = None,
    events: Annotated[
        int, typer.Option(help="How many calls the timeline shows, the newest. The numbers count all.")
    ] = _timeline.MOST_EVENTS,
    debug: Debug = False,
) -> None:
    """Run a command and record what every block and the host do.

    Writes a timeline that ui.perfetto.dev opens and `starling plot` draws, and prints who sent how much to whom, where
    the time went and how much communication was hidden.

    The exit code is the command's.
    """
    with told(debug):
        check_writable(output, [".json"])
        whole_number("events", events)
        if records is not None:
            whole_number("records", records, _record.LEAST_RECORDS, _record.MOST_RECORDS)
        with tempfile.TemporaryDirectory(prefix="starling_trace_") as folder:
            ended = run_command(run, _record.environment_for(Path(folder), records))
            # A command that was killed leaves a file that ends somewhere.
            trace = _record.collected(Path(folder), partial=ended.code != 0)
            if not trace.machines:
                raise_nothing(run, ended)
            summary = _timeline.write(trace, output, events)
    show(summary, Console(highlight=False, stderr=True))
    console = Console(highlight=False, stderr=True)
    if ended.interrupted_by:
        console.print(f"{run[0]} was interrupted ({ended.interrupted_by}): this is what it had done", markup=False)
    console.print(f"wrote {output}", markup=False, soft_wrap=True)
    raise typer.Exit(ended.code)


def raise_nothing(run: list[str], ended: Ended) -> None:
    if ended.code == 0:
        raise ArgumentError(f"{run[0]} made no machine of Starling, so there is nothing to show; trace one that does")
    how = f"was interrupted ({ended.interrupted_by})" if ended.interrupted_by else f"ended with {ended.code}"
    Console(stderr=True).print(
        f"starling: {run[0]} {how} before it made a machine; nothing was written", markup=False, soft_wrap=True
    )
    raise typer.Exit(ended.code)


def show(summary: dict[str, Any], console: Console) -> None:
    """The numbers of a trace as tables."""
    for number, m in enumerate(summary["machines"]):
        which = f"machine {number}: " if len(summary["machines"]) > 1 else ""
        kind = "virtual devices" if m["kind"] == "host" else "GPUs"
        where = m["machine"] or f"{len(m['devices'])} {kind}"
        clocks = (
            "one clock"
            if m["kind"] == "host"
            else f"PEs aligned to +-{m['alignment_error_ns']} ns, host to +-{m['host_error_ns']} ns"
        )
        console.print(
            f"{which}{where}, {m['runs']} programs, {m['blocks']} blocks, "
            f"{m['records']:,} records, {m['dropped']:,} dropped; {clocks}",
            soft_wrap=True,
        )
        if m["unfinished"]:
            console.print(f"[yellow]{m['unfinished']} calls did not return[/]")
        console.print(_matrix(m))
        if m["cards"]["posts"]:
            console.print(_cards(m["cards"]), soft_wrap=True)
        if m["roles"]:
            console.print(_roles(m["roles"]))
        if m["overlap_all"] is not None:
            each = ", ".join("-" if r is None else f"{100 * r:.1f} %" for r in m["overlap"])
            console.print(f"communication hidden behind computation: {100 * m['overlap_all']:.1f} % (by PE: {each})")
    for problem in summary["problems"]:
        console.print(f"[yellow]read in part:[/] {plain(problem)}", soft_wrap=True)
    if summary["left_out_of_timeline"]:
        console.print(f"{summary['left_out_of_timeline']:,} older entries are not in the timeline (--events)")


def plain(text: object) -> str:
    return str(text).replace("[", r"\[")


def _matrix(m: dict[str, Any]) -> Table:
    table = Table(title="bytes and messages, from (row) to", title_justify="left", header_style="bold")
    table.add_column("")
    for pe in range(len(m["devices"])):
        table.add_column(f"PE {pe}", justify="right")
    for a in range(len(m["devices"])):
        row = []
        for b in range(len(m["devices"])):
            count = m["messages"][a][b] + m["host_messages"][a][b]
            size = m["bytes"][a][b] + m["host_bytes"][a][b]
            row.append(f"{bytes_text(size)} / {count:,}" if count else "")
        table.add_row(f"PE {a}", *row)
    return table


def _cards(c: dict[str, Any]) -> str:
    text = f"network cards: {c['posts']:,} entries posted, {c['completed']:,} completed"
    if c["median_us"] is not None:
        text += f", after {c['median_us']:.4g} us in the median"
    if c["failed"]:
        text += f", [yellow]{c['failed']:,} answered with an error[/]"
    unseen = c["posts"] - c["completed"] - c["failed"]
    return text + (f", [yellow]{unseen:,} without a completion[/]" if unseen else "")


def _roles(roles: dict[str, dict[str, float]]) -> Table:
    table = Table(title="time per role, over all its blocks", title_justify="left", header_style="bold")
    table.add_column("role")
    for kind in ("compute", "put", "wait", "sync"):
        table.add_column(kind, justify="right")
    for role, times in roles.items():
        total = sum(times.values()) or 1
        table.add_row(plain(role), *(f"{us / 1e3:.4g} ms {100 * us / total:4.1f} %" for us in times.values()))
    return table
