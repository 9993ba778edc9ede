"""What a program on regions says of itself at its end."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from starling import _html
from starling._measuring import Arrivals
from starling.machine import Traffic


def first_not_finite(history: Sequence[float]) -> int | None:
    """Where the numbers of a program became NaN or infinite, for errors: more iterations then lead nowhere.

    >>> first_not_finite([0.5, 0.25, float("nan")])
    2
    """
    return next((i for i, value in enumerate(history) if not math.isfinite(value)), None)


@dataclass(frozen=True)
class Progress:
    """Where a program is."""

    iterations: int
    """Done so far."""
    value: float
    """What the last one changed, as in the history of the :class:`Report`."""
    target: float | None
    """What that has to come to; None: it ends when nothing changes."""


@dataclass(frozen=True, repr=False)
class Report:
    """What PageRank, shortest paths or Jacobi's method did."""

    program: str
    """``pagerank``, ``sssp`` or ``jacobi``."""
    converged: bool
    iterations: int
    history: tuple[float, ...]
    """By iteration. PageRank: the sum of absolute changes; shortest paths: how many vertices have a new distance;
    Jacobi's method: norm of b - A x, from the start on."""
    target: float | None
    """What the history had to come to; None: it ends when nothing changes."""
    seconds: float
    """Time of the iterations alone, without moving arrays to the devices and back."""
    microseconds_per_iteration: float
    rows: int
    """Vertices of the graph."""
    entries: int
    """Edges of the graph, parallel ones as one; of a system, entries beside the diagonal."""
    weights: bool
    """Whether entries have values; those of a graph without weights are not stored."""
    storage: str
    """How the devices store the matrix."""
    dtype: str
    machine: str
    """Kind of the devices: host or cuda."""
    devices: int
    choice: str
    """Which machine was taken and why."""
    first_rows: tuple[int, ...]
    """The first row of each device, and the end."""
    agent: str
    """What sent finished chunks."""
    chunk_bytes: int
    agent_blocks: int
    """Blocks, or streams, of each device that send; 0: those that compute do."""
    blocks: int
    """Blocks used on each device."""
    threads: int
    """Threads of a block."""
    tiles: int
    """Of each device."""
    tiles_skipped: int
    """Shortest paths: tiles of all devices and rounds, the last one included, that were not computed since nothing that
    they read had changed."""
    bytes_sent: tuple[tuple[int, ...], ...]
    """From each device to each, in all iterations."""
    wait_seconds: tuple[float, ...]
    """By device: how long a block waited for chunks of others, on average."""
    sending: str = "all"
    """What travelled; unless it is all, the result of more than one device is wrong by intent."""
    simulated_links: tuple[float, float] | None = None
    """Bytes a second and seconds of latency that links were slowed down to; None: links as they are."""
    line_stores: tuple[int, int] = (0, 0)
    """How many pieces of 128-byte lines an iteration sends: as inline stores, and as whole chunks."""
    traffic: tuple[Traffic, ...] = ()
    """Of several processes: what calls of this one have moved between PEs; GPUs do not count it."""
    arrivals: tuple[Arrivals, ...] = ()
    """By device; empty unless ``Measuring(timed=True)`` asked for it."""

    def __repr__(self) -> str:
        end = "converged" if self.converged else "not converged"
        if self.sending != "all":
            end = f"wrong by intent ({self.sending})"
        return (
            f"<starling Report: {self.program}, {end} after {self.iterations} iterations of "
            f"{self.microseconds_per_iteration:.4g} us, {self.agent} on {self.devices} {self.machine} devices"
            f"{', simulated links' if self.simulated_links else ''}>"
        )

    def _repr_html_(self) -> str:
        left_out = ("history", "first_rows", "bytes_sent", "wait_seconds", "line_stores", "arrivals", "traffic")
        fields = [(n, v) for n, v in self.as_dict().items() if n not in left_out and v is not None]
        return _html.table(self.program, fields) + _html.curve(self.history, self.target or 0.0, "change by iteration")

    def as_dict(self) -> dict[str, object]:
        """The fields by name, for JSON."""
        return asdict(self)
