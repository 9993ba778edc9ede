"""What the model of bench/scale computes with: latencies and rates out of committed results, and assumptions.

Times are in microseconds, rates in bytes per microsecond (1,000 are 1 GB/s), sizes in bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent.parent
GB_PER_S = 1000.0
GPUS = 4  # whose results the flights are from


@dataclass(frozen=True)
class Known:
    """A number of the model, and where it is from."""

    value: float
    source: str
    assumed: bool = False


@dataclass(frozen=True)
class Parameters:
    """See the table of docs/scale.md, which `scale_page.py` writes from these."""

    packet_own: Known
    packet_host: Known
    packet_between: Known
    signal_own: Known
    signal_host: Known
    signal_between: Known
    rate_host: Known
    rate_between: Known
    message_between: Known
    call: Known
    packet_call: Known
    next_sender: Known
    meeting: Known
    meet_blocks: Known
    sync_pe: Known
    stencil_exchange: Known
    cache: Known
    imbalance: Known
    pes_per_host: int = 8

    def known(self) -> dict[str, Known]:
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "pes_per_host"}

    def flight(self, pes: int) -> float:
        """The longest of a packet among so many PEs."""
        if pes == 1:
            return self.packet_own.value
        return self.packet_host.value if pes <= self.pes_per_host else self.packet_between.value


TITLES = {
    "packet_own": "flight of a packet within a GPU, us",
    "packet_host": "flight of a packet to another GPU of the host, us",
    "packet_between": "flight of a packet to another host, us",
    "signal_own": "flight of a signal within a GPU, us",
    "signal_host": "flight of data and their signal to another GPU, us",
    "signal_between": "flight of data and their signal to another host, us",
    "rate_host": "a GPU's link to those of its host, each way, GB/s",
    "rate_between": "a GPU's network card, each way, GB/s",
    "message_between": "what a card takes for a message beside its bytes, us",
    "call": "a call of a block, us",
    "packet_call": "a packet that a block sends or takes, us",
    "next_sender": "taking what one more PE has sent, us",
    "meeting": "a block's own part in a barrier or a reduction, us",
    "meet_blocks": "what 16 blocks of a GPU add to a reduction, us",
    "sync_pe": "`sync_pe`, us",
    "stencil_exchange": "exchange of a step of the stencil's faces within a host, us",
    "cache": "bytes that a GPU's L2 holds, MB",
    "imbalance": "work of the busiest of 4 GPUs over the mean, RMAT-22",
}


def results_of(file: str) -> list[dict[str, Any]]:
    """The lines of a committed result file, named from bench/."""
    lines: list[dict[str, Any]] = json.loads((BENCH / file).read_text())["results"]
    return lines


def least(file: str, wanted: Mapping[str, object]) -> float:
    """The least time of the line that has these values; KeyError if none has."""
    found = [
        min(line["us"])
        for line in results_of(file)
        if line.get("us") and all(line.get(key) == value for key, value in wanted.items())
    ]
    if not found:
        raise KeyError(f"{file} has no line with {dict(wanted)}")
    return float(min(found))


def pagerank(devices: int, way: str) -> float:
    """Of RMAT-22, the graph that the model is of."""
    wanted = {"application": "pagerank", "graph": "RMAT-22", "devices": devices, "way": way}
    return least(PAGERANK, wanted)


CALLS = "results/nvidia-h200-x4.json"
COMMUNICATION = "communication/results/nvidia-h200-x4.json"
STENCIL = "cpu_free_stencil/results/nvidia-h200-x4.json"
CG = "cpu_free_cg/results/nvidia-h200-x4.json"
PAGERANK = "proact/results/7/nvidia-h200-x4.json"


def measured() -> Parameters:
    """The parameters out of the results of this repository."""

    def call(what: str, devices: int = GPUS, size: int = 0) -> float:
        return least(CALLS, {"what": what, "devices": devices, "bytes": size})

    def way(to: int) -> float:
        return least(COMMUNICATION, {"what": "packets", "measure": "latency", "from": 0, "to": to, "bytes": 8})

    def all_reduce(devices: int) -> float:
        return call("all_reduce of 2 doubles, 1 block", devices, 16)

    per_call = 0.05
    packet = call("put_packets", size=8)
    meeting = all_reduce(1) - per_call
    next_sender = (all_reduce(4) - all_reduce(2)) / 2
    sync_pe = call("sync_pe, 1 blocks", 1)
    large = 67108864
    stream = least(COMMUNICATION, {"what": "stores", "measure": "stream", "from": 0, "to": 1, "bytes": large})
    bare = least(STENCIL, {"domain": "256x256", "variant": "cpu_free", "devices": 2, "compute": False})
    blocks = least(COMMUNICATION, {"what": "all_reduce", "blocks": 16}) - all_reduce(4)
    one = pagerank(1, "one device")
    fast = pagerank(4, "infinitely fast links")
    publication = "assumed: a put of 4 B from a GPU's kernel by its network card, as the publication of GIO measured it"
    return Parameters(
        packet_own=Known(
            packet - (way(1) - way(0)),
            f"`{CALLS}`, less what a channel's message is faster to the own GPU in `{COMMUNICATION}`",
        ),
        packet_host=Known(packet, f"`{CALLS}`: put_packets of 8 B"),
        packet_between=Known(5.15, publication, True),
        signal_own=Known(sync_pe - meeting - 3 * per_call, "`sync_pe` less its calls and the block's own part"),
        signal_host=Known(call("put_signal", size=8), f"`{CALLS}`: put_signal of 8 B"),
        signal_between=Known(5.15, publication, True),
        rate_host=Known(large / stream, f"`{COMMUNICATION}`: stores of 64 MiB by 16 blocks"),
        rate_between=Known(50 * GB_PER_S, "assumed: 400 Gb/s", True),
        message_between=Known(0.01, "assumed: 100 million messages a second", True),
        call=Known(per_call, "assumed", True),
        packet_call=Known(
            (call("put_packets", size=65536) - packet) / (65536 // 8 - 1) / 2,
            f"`{CALLS}`: half of what a packet adds to put_packets, 8 B to 64 KiB",
        ),
        next_sender=Known(next_sender, f"`{CALLS}`: what a PE adds to an all_reduce, from 2 to 4"),
        meeting=Known(meeting, f"`{CALLS}`: all_reduce on one GPU less a call"),
        meet_blocks=Known(blocks, f"`{COMMUNICATION}`: all_reduce of 16 blocks less that of one"),
        sync_pe=Known(sync_pe, f"`{CALLS}`"),
        stencil_exchange=Known(bare, f"`{STENCIL}`: 256x256 on 2 GPUs without computing"),
        cache=Known(50e6, "assumed: the data sheet's", True),
        imbalance=Known(GPUS * fast / one, f"`{PAGERANK}`: 4 GPUs with infinitely fast links over one"),
    )
