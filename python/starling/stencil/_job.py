"""A stencil run from file to file: what the command line does, without its arguments and its display."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling import _arrays, _files, _pictures
from starling._arguments import whole_number
from starling._native import __version__
from starling.errors import ArgumentError
from starling.machine import Machine
from starling.stencil import _problem
from starling.stencil._choice import machine_for
from starling.stencil._report import Progress, Report
from starling.stencil._solver import Stencil

METHODS = ("jacobi", "heat")
OUTPUT_SUFFIXES = (".npy", ".png")


@dataclass(frozen=True)
class Input:
    """What is to be solved: one array, or the three channels of a picture, each a domain of its own."""

    path: Path
    channels: list[NDArray[Any]]
    low: float  # black in pictures of the result
    high: float  # white
    alpha: NDArray[Any] | None = None  # of a picture; it goes into the result as it is

    def joined(self, channels: Sequence[NDArray[Any]]) -> NDArray[Any]:
        """The channels and the alpha channel as one array."""
        all_channels = [*channels, *([] if self.alpha is None else [self.alpha])]
        return all_channels[0] if len(all_channels) == 1 else np.stack(all_channels, axis=-1)


def read_input(path: Path) -> Input:
    """Reads a .npy file or a picture; raises ArgumentError with the reason when that is not possible."""
    _files.check_readable(path)
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz"):
        array = _files.read_npy(path)
        if array.dtype.newbyteorder("=") not in (np.float32, np.float64):
            remedy = _arrays.remedy_for(array.dtype.name, "u", "astype('float32')", "save")
            raise ArgumentError(f"{path} holds {array.dtype}; stencils compute in float32 or float64: {remedy}")
        if array.ndim not in (2, 3) or 0 in array.shape:
            raise ArgumentError(f"{path} holds an array of shape {array.shape}; must have 2 or 3 dimensions and cells")
        finite = array[np.isfinite(array)]
        low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
        return Input(path, [array], low, high)
    if suffix not in _pictures.suffixes():
        raise ArgumentError(
            f"{path}: the suffix {suffix or '(none)'} is not known here; must be .npy or one of a picture, such as .png"
        )
    picture = _pictures.read(path)
    return Input(path, picture.channels, 0.0, 1.0, picture.alpha)


def coefficients_for(method: str, ratio: float | None, dimensions: int) -> list[float]:
    """The coefficients of a method; a heat step without a ratio takes half of the largest that is stable."""
    if method not in METHODS:
        raise ArgumentError(f"method = {method!r}; must be {' or '.join(METHODS)}")
    if method == "heat":
        return _problem.heat_coefficients(dimensions, 1 / (4 * dimensions) if ratio is None else ratio)
    if ratio is not None:
        raise ArgumentError(f"ratio = {ratio} goes with the method heat, not {method}; leave it out or take heat")
    return _problem.jacobi_coefficients(dimensions)


class Outputs:
    """Where results go. Made before the run, so that a wrong place is known before any work is done."""

    def __init__(
        self, array: Path | None, frames: Path | None, frame_every: int | None, report: Path | None, given: Input
    ) -> None:
        self.given, self.array, self.frames, self.report = given, array, frames, report
        flat = given.channels[0].ndim == 2
        if array is not None:
            _files.check_writable(array, OUTPUT_SUFFIXES)
            if array.suffix.lower() == ".png" and not flat:
                raise ArgumentError(f"{array}: an array of 3 dimensions is no picture; write .npy")
        if report is not None:
            _files.check_writable(report)
        if (frames is None) != (frame_every is None):
            raise ArgumentError("--frames DIR and --frame-every N go together; give both or none")
        self.frame_every = None if frame_every is None else whole_number("frame_every", frame_every)
        if frames is not None:
            if not flat:
                raise ArgumentError(f"{frames}: frames are pictures, and the array has 3 dimensions; write .npy")
            if frames.exists() and not frames.is_dir():
                raise ArgumentError(f"{frames} is not a folder; name a folder for the frames")
            _files.check_folder(frames if frames.exists() else frames.parent, frames)

    def write_frame(self, step: int, values: NDArray[Any]) -> None:
        if self.frames is not None:
            self.frames.mkdir(exist_ok=True)
            _pictures.write_png(self.frames / f"frame_{step:08d}.png", values, self.given.low, self.given.high)

    def write(self, values: NDArray[Any], facts: dict[str, Any]) -> None:
        if self.array is not None and self.array.suffix.lower() == ".npy":
            _files.write_npy(self.array, values)
        elif self.array is not None:
            _pictures.write_png(self.array, values, self.given.low, self.given.high)
        if self.report is not None:
            _files.write_json(self.report, facts)


class Job:
    """All channels of an input, on one machine.

    Args:
        solver: Arguments of :class:`Stencil` besides shape and type.
        march: Arguments of :meth:`Stencil.march`.
    """

    def __init__(self, given: Input, solver: dict[str, Any], march: dict[str, Any]) -> None:
        self.given = given
        self._solvers: list[Stencil] = []
        first = given.channels[0]
        machine = machine_for(
            march["variant"],
            first.shape,
            first.dtype.name,
            solver.get("devices"),
            solver.get("machine"),
            solver.get("boundary", "fixed"),
            solver.get("split"),
        )
        solver = {**solver, "machine": machine}
        for channel in given.channels:
            if self._solvers:
                solver = {**solver, "devices": None, "machine": self._solvers[0].machine}
            self._solvers.append(Stencil(channel.shape, channel.dtype.name, **solver))
        self._march = march

    @property
    def machine(self) -> Machine:
        return self._solvers[0].machine

    def run(
        self,
        steps: int,
        progress: Callable[[int, Progress], None],
        frame: Callable[[int, NDArray[Any]], None] | None = None,
        frame_every: int | None = None,
    ) -> tuple[NDArray[Any], list[Report]]:
        """Runs every channel. `progress` gets the number of the channel too, `frame` the picture of all channels at
        step 0, at every multiple of `frame_every` and at the end."""
        marches = [s.march(steps, stop_every=frame_every, **self._march) for s in self._solvers]
        for solver, channel in zip(self._solvers, self.given.channels, strict=True):
            solver.load(channel)
        if frame is not None:
            frame(0, self.given.joined(self.given.channels))
        ends: dict[int, Progress] = {}
        goal = 0
        going = True
        while going:
            goal = min(goal + (frame_every or steps), steps)
            for i, march in enumerate(marches):
                while (i not in ends or (ends[i].done < goal and not ends[i].converged)) and (at := next(march, None)):
                    ends[i] = at
                    progress(i, at)
            going = any(end.done < steps and not end.converged for end in ends.values())
            if frame is not None:
                frame(max(end.done for end in ends.values()), self._values())
        variant = self._march["variant"]
        return self._values(), [s.report(ends[i], variant) for i, s in enumerate(self._solvers)]

    def _values(self) -> NDArray[Any]:
        return self.given.joined([s.store() for s in self._solvers])

    def facts(self, reports: Sequence[Report], **more: Any) -> dict[str, Any]:
        """What a report file holds."""
        shape = list(self.given.channels[0].shape)
        return {
            "starling": __version__,
            "input": str(self.given.path),
            "shape": shape,
            "dtype": self.given.channels[0].dtype.name,
            **more,
            "machine": self.machine.kind,
            "choice": self.machine.choice,
            "devices": [d.name for d in self.machine.devices],
            "channels": [r.as_dict() for r in reports],
        }
