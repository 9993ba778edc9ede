"""What a context has done so far, as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from starling import _html
from starling._native import native


@dataclass(frozen=True)
class PlaceUsage:
    """The memory of a context on one place, in bytes.

    Attributes:
        device: Which; None is the host, or managed memory.
        reserved: Taken from the machine.
        in_use: Of that, in copies of data.
        most_in_use: The most so far.
        largest_free: In one piece.
        cap: The most it may take; 0: all there is.
        managed: Whether it is managed memory.
    """

    device: int | None
    reserved: int
    in_use: int
    most_in_use: int
    largest_free: int
    cap: int
    managed: bool = False

    @property
    def name(self) -> str:
        """As ``"device 0"``, ``"host"`` or ``"managed"``."""
        return "managed" if self.managed else "host" if self.device is None else f"device {self.device}"


@dataclass(frozen=True)
class ClassOnDevice:
    """Tasks of one class on one device.

    Attributes:
        device: Which.
        chosen: Tasks there, those too whose place the program gave.
        explored: Of these, to learn how long they take there.
        samples: Measured tasks.
        seconds: Their mean.
    """

    device: int
    chosen: int
    explored: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class TaskClass:
    """Tasks of one name that touch about as many bytes, of contexts in which tasks leave their place to the context.

    Attributes:
        name: Of the tasks.
        most_bytes: A task touches up to so many, and more than half of them.
        devices: Device by device.
    """

    name: str
    most_bytes: int
    devices: tuple[ClassOnDevice, ...]


@dataclass(frozen=True)
class EpochTimes:
    """Epochs of one kind on one back end.

    Attributes:
        epochs: How many.
        samples: Of these, measured.
        seconds: The shortest that counts; 0: none yet.
    """

    epochs: int
    samples: int
    seconds: float


@dataclass(frozen=True)
class EpochClass:
    """Epochs of the same tasks, of contexts that choose between streams and graphs.

    Attributes:
        tasks: In each.
        on_streams: Those whose tasks went into streams.
        as_graph: Those that became graphs.
        settled: Whether the times of both are known.
        chosen: ``"stream"`` or ``"graph"``, for the next one.
        refused: Why it cannot become a graph; empty: it can.
    """

    tasks: int
    on_streams: EpochTimes
    as_graph: EpochTimes
    settled: bool
    chosen: str
    refused: str


@dataclass(frozen=True)
class Statistics:
    """What a context has done so far.

    Attributes:
        tasks: Begun, functions of the host and waits for values among them.
        copies: Of data between places.
        copied_bytes: In them.
        evictions: Copies that left a device because its memory was full.
        epochs: Ended, of the back ends ``"graph"`` and ``"automatic"``.
        graphs_reused: Epochs that found a graph which could be updated.
        places: Memory, device by device, then the host, and managed memory if there is any.
        classes: Of tasks, once one has left its place to the context.
        epoch_classes: Of the back end ``"automatic"``, in the order in which they were first seen.
    """

    tasks: int
    copies: int
    copied_bytes: int
    evictions: int
    epochs: int
    graphs_reused: int
    places: tuple[PlaceUsage, ...]
    classes: tuple[TaskClass, ...]
    epoch_classes: tuple[EpochClass, ...]


def statistics_of(values: dict[str, Any]) -> Statistics:
    """From what the native module says."""
    return Statistics(
        **{
            **values,
            "places": tuple(PlaceUsage(**p) for p in values["places"]),
            "classes": tuple(_task_class(c) for c in values["classes"]),
            "epoch_classes": tuple(_epoch_class(e) for e in values["epoch_classes"]),
        }
    )


def _task_class(values: dict[str, Any]) -> TaskClass:
    return TaskClass(**{**values, "devices": tuple(ClassOnDevice(**d) for d in values["devices"])})


def _epoch_class(values: dict[str, Any]) -> EpochClass:
    times = {key: EpochTimes(**values[key]) for key in ("on_streams", "as_graph")}
    return EpochClass(**{**values, **times})


def statistics_html(s: Statistics, title: str) -> str:
    """What notebooks show of a context."""
    done = [
        ("tasks", s.tasks),
        ("copies", f"{s.copies}, {native.format_bytes(s.copied_bytes)}"),
        ("evictions", s.evictions),
        ("epochs", s.epochs),
    ]
    places = [(p.name, *(native.format_bytes(n) for n in (p.in_use, p.most_in_use, p.reserved))) for p in s.places]
    return _html.table(title, done) + _html.table("memory", places, ("place", "in use", "most so far", "reserved"))
