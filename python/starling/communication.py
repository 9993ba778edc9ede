"""How long messages and meetings take between the devices of a machine, by size and by way.

>>> from starling import communication
>>> times = communication.measure(machine="host", devices=2, sizes=[64], ways=["channel"], seconds=0.001)
>>> times[0].what, times[0].bytes, len(times[0].microseconds)
('channel', 64, 5)
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from starling import machine as machines
from starling._arguments import finite_number, whole_number
from starling._native import native
from starling.errors import ArgumentError
from starling.machine import Machine

__all__ = ["WAYS", "CommunicationTime", "measure"]

WAYS: tuple[str, ...] = tuple(native.communication_ways())
"""How bytes get from one device to another: what ``ways`` may name."""


@dataclass(frozen=True)
class CommunicationTime:
    """What one message, or one call that all devices make together, took."""

    what: str
    """A way, or the name of a call."""
    measure: Literal["latency", "stream", "call"]
    """Latency: a message one way. Stream: a message among many that follow one another. Call: a call."""
    source: int
    """The device that sends; -1: all."""
    destination: int
    bytes: int
    """Of a message."""
    blocks: int
    """That send, or that call, on each device."""
    threads: int
    """Of a block; 0: the host copies."""
    iterations: int
    """Messages or calls of a repetition."""
    microseconds: tuple[float, ...]
    """By repetition, after one to warm up."""

    @property
    def least(self) -> float:
        """The shortest time, in microseconds."""
        return min(self.microseconds)

    @property
    def median(self) -> float:
        """The median time, in microseconds."""
        return statistics.median(self.microseconds)

    @property
    def gigabytes_per_second(self) -> float:
        """Of the shortest time; 1 GB is 10^9 bytes."""
        return self.bytes / self.least / 1e3 if self.least > 0 else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it."""
        return {**asdict(self), "microseconds": list(self.microseconds)}


def measure(
    *,
    machine: Machine | str | None = None,
    devices: int | None = None,
    sizes: Sequence[int] | None = None,
    ways: Iterable[str] | None = None,
    pairs: Iterable[tuple[int, int]] | None = None,
    repetitions: int = 5,
    seconds: float = 0.01,
    blocks: int | None = None,
    meetings: bool = True,
    told: Callable[[CommunicationTime], None] | None = None,
) -> list[CommunicationTime]:
    """Measures messages between devices, and barriers and reductions of all of them.

    Args:
        machine: The devices there are: a machine, or ``"host"``, ``"cuda"`` or ``"auto"``.
        devices: How many; not with a machine.
        sizes: Of messages, in bytes: multiples of 8. None: powers of two that suit the machine.
        ways: Some of :data:`WAYS`; None: all.
        pairs: Who sends to whom. None: every device to every device, itself too.
        repetitions: How often each time is taken, after one to warm up.
        seconds: How long a repetition lasts, about.
        blocks: That send a stream; None: as many as suit the machine.
        meetings: Whether barriers and reductions are measured too.
        told: Called with each result as it comes.

    Raises:
        ArgumentError: A value is not allowed.
        RangeError: A pair names a device that is not there.
        StallError: A message did not come within the machine's deadline.
    """
    wanted = _names(ways)
    lengths = [whole_number("sizes", n, least=8, most=2**32) for n in sizes or ()]
    routes = [(whole_number("pairs", a, least=0), whole_number("pairs", b, least=0)) for a, b in pairs or ()]
    for name, empty in (("sizes", sizes is not None and not lengths), ("pairs", pairs is not None and not routes)):
        if empty:
            raise ArgumentError(f"{name} is empty; name at least one, or pass None for all that suit the machine")
    times = native.measure_communication(
        machines.of(machine, devices),
        bytes=lengths,
        ways=wanted,
        pairs=routes,
        repetitions=whole_number("repetitions", repetitions, most=1000),
        seconds=finite_number("seconds", seconds),
        blocks=0 if blocks is None else whole_number("blocks", blocks, most=1024),
        meetings=bool(meetings),
        told=None if told is None else lambda r: told(_result(r)),
    )
    return [_result(r) for r in times]


def _names(ways: Iterable[str] | None) -> list[str]:
    if ways is None:
        return []
    if isinstance(ways, str):
        raise ArgumentError(f"ways = {ways!r} is one text; pass a list of names such as {list(WAYS[:2])}")
    wanted = list(ways)
    if not wanted:
        raise ArgumentError(f"ways is empty; name some of {', '.join(WAYS)}, or pass None for all")
    for name in wanted:
        if name not in WAYS:
            raise ArgumentError(f"ways: {name!r} is not known; must be some of {', '.join(WAYS)}")
    return wanted


def _result(r: Any) -> CommunicationTime:
    return CommunicationTime(
        r.what, r.measure, r.source, r.destination, r.bytes, r.blocks, r.threads, r.iterations, tuple(r.microseconds)
    )
