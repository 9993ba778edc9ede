"""``starling tune``: measures what choices go by: a stencil's variant, or how parts of a program on regions travel."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from starling import graph
from starling import machine as machines
from starling._files import check_writable
from starling.cli._messages import told
from starling.cli._options import Debug, Devices, MachineKind, PesPerGpu, share_gpus
from starling.errors import ArgumentError
from starling.stencil import _choice

EXAMPLES = ((256, 256), (2048, 2048), (8192, 8192), (256, 256, 256))


def command(
    program: Annotated[
        Literal["pagerank", "sssp", "jacobi", "microbenchmark"] | None,
        typer.Argument(help="None: stencils.", show_default=False),
    ] = None,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A graph or matrix for it.", show_default=False)
    ] = None,
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    seconds: Annotated[
        float | None,
        typer.Option(help="Stencils: for each of about eight measurements (0.1). Programs: for all (60).", min=0),
    ] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Measure all settings equally long.")] = False,
    explain: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Print all measurements and draw them as a map.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Measure what auto goes by.

    Of stencils, how long a step takes without work, and how fast work is done. Of PageRank, shortest paths and Jacobi's
    method, for inputs of the size of FILE, which agent, which chunk and how many of the agent's blocks are fastest; of
    the microbenchmark, a vector that takes as long to compute as to copy, the same. The result is kept in
    $XDG_CACHE_HOME/starling or ~/.cache/starling.
    """
    if program is None:
        tune_stencils(devices, pes_per_gpu, machine, 0.1 if seconds is None else seconds, debug)
    else:
        most = 60 if seconds is None else seconds
        tune_program(program, file, devices, pes_per_gpu, machine, most, exhaustive, explain, debug)


def tune_stencils(devices: int | None, pes_per_gpu: int | None, machine: str, seconds: float, debug: bool) -> None:
    with told(debug, "the costs were not measured to the end, and those of before stay"):
        share_gpus(pes_per_gpu, devices, machine)
        m = machines.named(machine, devices)
        result = _choice.tune(machine=m, seconds=seconds)
        chosen = [(shape, _choice.choose(shape, machine=m)) for shape in EXAMPLES]
    console = Console(highlight=False)
    for name, value in result.costs.items():
        console.print(f"{name:20} {value:.4g}", markup=False)
    for shape, choice in chosen:
        console.print(f"{' x '.join(map(str, shape))}: {choice.why}", markup=False, soft_wrap=True)
    console.print(f"wrote {result.path}", markup=False, soft_wrap=True)


def tune_program(
    program: Literal["pagerank", "sssp", "jacobi", "microbenchmark"],
    file: Path | None,
    devices: int | None,
    pes_per_gpu: int | None,
    machine: str,
    seconds: float,
    exhaustive: bool,
    explain: Path | None,
    debug: bool,
) -> None:
    console = Console(highlight=False)
    with told(debug, "the search did not come to its end, and what was found before stays"):
        if program == "microbenchmark" and file is not None:
            raise ArgumentError(f"tune microbenchmark makes its own input; leave {file} out")
        if program != "microbenchmark" and file is None:
            raise ArgumentError(f"tune {program} needs a file: starling tune {program} FILE")
        if explain is not None:
            check_writable(explain, (".png",))
        share_gpus(pes_per_gpu, devices, machine)
        result = graph.tune(
            program,
            None if file is None else graph.read(file),
            machine=machine,
            devices=devices,
            every=exhaustive,
            seconds=seconds,
        )
        if explain is not None:
            graph.plot_tuning(explain, result)
    if explain is not None:
        for t in result.trials:
            blocks = f"{t.setting.blocks} blocks" if t.setting.blocks else ""
            what = f"{t.setting.agent:11} {t.setting.chunk // 1024:5} KiB {blocks:>10}"
            console.print(f"{what} {t.iterations:5} iterations {t.microseconds:10.4g} us", markup=False)
        console.print(f"wrote {explain}", markup=False, soft_wrap=True)
    for agent, why in result.left_out.items():
        console.print(f"left out: {agent}: {why}", markup=False, soft_wrap=True)
    blocks = f", {result.agent_blocks} blocks of it" if result.agent_blocks else ""
    console.print(f"{program}: {result.agent}, {result.chunk // 1024} KiB at a time{blocks}", markup=False)
    console.print(f"wrote {result.path}", markup=False, soft_wrap=True)
