"""``starling tune``: measures what the choice of a stencil's variant goes by."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console

from starling import machine as machines
from starling.cli._messages import told
from starling.cli._options import Debug, Devices, MachineKind, PesPerGpu, share_gpus
from starling.stencil import _choice

EXAMPLES = ((256, 256), (2048, 2048), (8192, 8192), (256, 256, 256))


def command(
    devices: Devices = None,
    pes_per_gpu: PesPerGpu = None,
    machine: MachineKind = "auto",
    seconds: Annotated[float, typer.Option(help="For each of about eight measurements.")] = 0.1,
    debug: Debug = False,
) -> None:
    """Measure what the stencil variant auto goes by: how long a step takes without work, and how fast work is done.

    The result is kept in $XDG_CACHE_HOME/starling or ~/.cache/starling, one file for virtual devices and one for GPUs.
    """
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
