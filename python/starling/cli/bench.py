"""``starling bench``: measures parts of Starling on the machine at hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from starling import _card_times, communication
from starling import machine as machines
from starling._card_times import CardTime, CardTimes
from starling._files import check_writable, write_json
from starling._native import native
from starling.cli._messages import told
from starling.cli._options import HELP_FILES, Debug, Devices, MachineKind, PesPerGpu, share_gpus
from starling.communication import WAYS, CommunicationTime
from starling.errors import ArgumentError

app = typer.Typer(help="Measure parts of Starling on the machine at hand.", no_args_is_help=True)

LEAST_BYTES = 8
MOST_BYTES = 2**32


@app.command("comm")
def comm(
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    max_bytes: Annotated[
        str | None, typer.Option(help="Of the longest message, such as 64K or 16M; 64M on GPUs by default, else 64K.")
    ] = None,
    ways: Annotated[str | None, typer.Option(help=f"Some of {','.join(WAYS)}, with commas; all by default.")] = None,
    repetitions: Annotated[int, typer.Option(help="How often each time is taken, after one to warm up.")] = 5,
    seconds: Annotated[float, typer.Option(help="How long a repetition lasts, about.")] = 0.01,
    blocks: Annotated[
        int | None, typer.Option(help="That send a stream; as many as suit the machine by default.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE.json", help="All times, by repetition.", rich_help_panel=HELP_FILES),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE.png", help="Latency and bandwidth by size.", rich_help_panel=HELP_FILES),
    ] = None,
    debug: Debug = False,
) -> None:
    """Measure messages between every two devices, by size and by way, and barriers and reductions of all devices.

    Latencies are microseconds of a message one way, with its notification; the least and the median of the repetitions.
    Of several processes, `starling launch -n 2 -- starling bench comm`, process 0 writes what all have measured.
    """
    console = Console(highlight=False)
    with told(debug):
        share_gpus(pes_per_gpu, devices, machine)
        for path, suffix in ((json, ".json"), (plot, ".png")):
            if path is not None:
                check_writable(path, [suffix])
        names = None if ways is None else [w.strip() for w in ways.split(",") if w.strip()]
        m = machines.named(machine, devices)
        console.quiet = m.process != 0
        sizes = _sizes(_most(max_bytes, m.kind))
        with console.status("measuring") as status:
            times = communication.measure(
                machine=m,
                sizes=sizes,
                ways=names,
                repetitions=repetitions,
                seconds=seconds,
                blocks=blocks,
                told=lambda t: status.update(f"measuring {t.what}, {t.bytes} B, {t.source} to {t.destination}"),
            )
        for table in _tables(times):
            console.print(table)
        if json is not None and m.process == 0:
            write_json(json, {"machine": _facts(m), "results": [t.as_dict() for t in times]})
            console.print(f"wrote {json}", markup=False, soft_wrap=True)
        if plot is not None and m.process == 0:
            # Here, because it takes long to load.
            from starling._communication_plot import plot_times

            plot_times(plot, times)
            console.print(f"wrote {plot}", markup=False, soft_wrap=True)


@app.command("gio")
def gio(
    machine: MachineKind = "auto",
    ways: Annotated[
        str | None, typer.Option(help=f"Some of {','.join(_card_times.WAYS)}, with commas; all by default.")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(metavar="BYTES,...", help="Of puts; 4,8,64,512,1K,4K by default.")
    ] = None,
    blocks: Annotated[
        str | None, typer.Option(metavar="N,...", help="That put at the same time; 1,2,4,8,16,32,64 by default.")
    ] = None,
    repetitions: Annotated[int, typer.Option(help="How often each time is taken, after one to warm up.")] = 5,
    iterations: Annotated[
        int | None, typer.Option(help="Puts of a repetition; as many as suit the machine by default.")
    ] = None,
    json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE.json", help="All times, by repetition.", rich_help_panel=HELP_FILES),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE.png", help="A put by size and way, and by blocks.", rich_help_panel=HELP_FILES
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Measure puts to another host: by a block that asks a network card, and by the host.

    Two PEs play two hosts, and their cards are models: the time on the wire is the model's, and nothing here tells of a
    network. What the machine at hand has no way for is named and left out.
    """
    console = Console(highlight=False)
    with told(debug):
        for path, suffix in ((json, ".json"), (plot, ".png")):
            if path is not None:
                check_writable(path, [suffix])
        with console.status("measuring") as status:
            found = _card_times.measure(
                kind=machine,
                ways=None if ways is None else _parts(ways),
                sizes=[int(native.parse_bytes(part, "--sizes")) for part in _parts(sizes or "")],
                blocks=[_number("--blocks", part) for part in _parts(blocks or "")],
                repetitions=repetitions,
                iterations=iterations,
                told=lambda t: status.update(f"measuring {t.way}, {t.what}, {t.bytes} B, {t.blocks} blocks"),
            )
        for table in _card_tables(found):
            console.print(table)
        for what, why in found.left_out.items():
            console.print(f"left out: {what}: {why}", markup=False, soft_wrap=True)
        console.print(_card_times.NOTE, soft_wrap=True)
        if json is not None:
            write_json(json, found.as_dict())
            console.print(f"wrote {json}", markup=False, soft_wrap=True)
        if plot is not None:
            # Here, because it takes long to load.
            from starling._card_plot import plot_times

            plot_times(plot, found)
            console.print(f"wrote {plot}", markup=False, soft_wrap=True)


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(option: str, text: str) -> int:
    if not text.isdecimal():
        raise ArgumentError(f"{option} {text}; must be whole numbers with commas")
    return int(text)


def _card_tables(found: CardTimes) -> list[Table]:
    tables = []
    for what, title in (
        ("latency", "payload and signal seen at the target: us, least / median"),
        ("quiet", "put and quiet: us, least / median"),
    ):
        chosen = {(t.bytes, t.way): t for t in found.times if t.what == what and t.blocks == 1}
        tables.append(_grid(title, "bytes", chosen, lambda t: f"{t.least:.2f} / {t.median:.2f}"))
    by_blocks = {(t.blocks, f"{t.bytes} B"): t for t in found.times if t.what == "quiet" and t.way == "gio"}
    tables.append(
        _grid("gio, put and quiet by several blocks: us, least", "blocks", by_blocks, lambda t: f"{t.least:.2f}")
    )
    rates = {(t.blocks, t.way): t for t in found.times if t.what == "rate"}
    tables.append(_grid("puts of 8 bytes: millions a second", "blocks", rates, lambda t: f"{1 / t.least:.3g}"))
    if found.cycles:
        table = Table(title="cycles of a thread that posts, from the call", title_justify="left")
        for column in ("entry", "until it is written", "until the doorbell"):
            table.add_column(column)
        for entry, count in found.cycles.items():
            table.add_row(entry, str(count["to_entry"]), str(count["to_doorbell"]))
        tables.append(table)
    return [table for table in tables if table.row_count]


def _grid(title: str, rows: str, chosen: dict[tuple[int, str], CardTime], shown: Callable[[CardTime], str]) -> Table:
    table = Table(title=title, title_justify="left")
    table.add_column(rows, justify="right")
    columns = list(dict.fromkeys(column for _, column in chosen))
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for row in sorted({row for row, _ in chosen}):
        times = [chosen.get((row, column)) for column in columns]
        table.add_row(str(row), *(shown(t) if t is not None else "" for t in times))
    return table


def _most(text: str | None, kind: str) -> int:
    if text is None:
        return 2**26 if kind == "cuda" else 2**16
    most = int(native.parse_bytes(text, "--max-bytes"))
    if not LEAST_BYTES <= most <= MOST_BYTES:
        raise ArgumentError(f"--max-bytes {text}; must be from {LEAST_BYTES} to {MOST_BYTES} bytes")
    return most


def _sizes(most: int) -> list[int]:
    """Powers of two up to `most`: eightfold while messages are short, then fourfold, and the longest."""
    sizes = [LEAST_BYTES]
    while (following := sizes[-1] * (8 if sizes[-1] < 1024 else 4)) <= most:
        sizes.append(following)
    longest = most // 8 * 8
    return sizes if sizes[-1] == longest else [*sizes, longest]


def _facts(m: machines.Machine) -> dict[str, Any]:
    return {"kind": m.kind, "devices": [d.name for d in m.devices], "choice": m.choice}


def _tables(times: list[CommunicationTime]) -> list[Table]:
    tables = []
    for pair in dict.fromkeys((t.source, t.destination) for t in times if t.measure != "call"):
        of_pair = [t for t in times if (t.source, t.destination) == pair]
        there = f"device {pair[0]} to {'itself' if pair[0] == pair[1] else pair[1]}"
        tables.append(_by_size(f"{there}: us one way, least / median", of_pair, "latency"))
        tables.append(_by_size(f"{there}: GB/s of messages one behind the other", of_pair, "stream"))
    calls = [t for t in times if t.measure == "call"]
    if calls:
        table = Table(title="calls of all devices: us, least / median", title_justify="left")
        for column in ("call", "blocks a device", "us"):
            table.add_column(column)
        for t in calls:
            table.add_row(t.what, str(t.blocks), _shown(t))
        tables.append(table)
    return tables


def _by_size(title: str, times: list[CommunicationTime], measure: str) -> Table:
    chosen = {(t.bytes, t.what): t for t in times if t.measure == measure}
    ways = [w for w in WAYS if any(way == w for _, way in chosen)]
    table = Table(title=title, title_justify="left")
    table.add_column("bytes", justify="right")
    for way in ways:
        table.add_column(way, justify="right", no_wrap=True)
    for size in sorted({size for size, _ in chosen}):
        row = [chosen.get((size, way)) for way in ways]
        table.add_row(str(size), *(_shown(t) if t is not None else "" for t in row))
    return table


def _shown(t: CommunicationTime) -> str:
    if t.measure == "stream":
        return f"{t.gigabytes_per_second:.3g}"
    return f"{t.least:.2f} / {t.median:.2f}"
