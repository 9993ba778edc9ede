"""What a context has done so far, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class PlaceUsage:
    """The memory of a context on one place, in bytes.

    Attributes:
        device: Which; None is the host.
        reserved: Taken from the machine.
        in_use: Of that, in copies of data.
        most_in_use: The most so far.
        largest_free: In one piece.
        cap: The most it may take; 0: all there is.
    """

    device: int | None
    reserved: int
    in_use: int
    most_in_use: int
    largest_free: int
    cap: int


@dataclass(frozen=True)
class Statistics:
    """What a context has done so far.

    Attributes:
        tasks: Begun, functions of the host and waits for values among them.
        copies: Of data between places.
        copied_bytes: In them.
        evictions: Copies that left a device because its memory was full.
        epochs: Ended, of the graph back end.
        graphs_reused: Epochs that found a graph which could be updated.
        places: Memory, device by device, then the host.
    """

    tasks: int
    copies: int
    copied_bytes: int
    evictions: int
    epochs: int
    graphs_reused: int
    places: tuple[PlaceUsage, ...]


def statistics_of(values: dict[str, Any]) -> Statistics:
    """From what the native module says."""
    return Statistics(**{**values, "places": tuple(PlaceUsage(**p) for p in values["places"])})
