"""The solver object: a domain that lives on the devices between calls."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, SupportsFloat

import numpy as np
from numpy.typing import NDArray

from starling import _arrays
from starling import machine as machines
from starling._arguments import MOST_STEPS, callable_or_none, finite_number, whole_number
from starling._closing import Closing
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.machine import Machine
from starling.stencil import _problem
from starling.stencil._chunks import Pace, next_chunk
from starling.stencil._problem import Boundary, Variant
from starling.stencil._report import Progress, Report

log = logging.getLogger("starling")

CHECK_EVERY = 100  # steps, where a tolerance is given and nothing else


class _Kept(NamedTuple):
    """What a solver has on its devices."""

    solver: Any
    """The native one."""
    machine: Machine


class Stencil(Closing[_Kept]):
    """A domain on the devices of a machine, advanced step by step.

    Use it instead of :func:`jacobi` and the like for long runs, or to read the cells in between.

    Args:
        shape: 2 or 3 extents of the domain, in cells.
        dtype: ``"float32"`` or ``"float64"``.
        coefficients: 5 numbers in two dimensions, 7 in three: the centre, then the low and high neighbour of each axis.
            None: those of Jacobi's method.
        devices: How many; None: all GPUs, or 4 virtual devices, or fewer where the domain has fewer layers.
        machine: A machine, or ``"host"``, ``"cuda"`` or ``"auto"``; None: ``"auto"``.
        boundary: ``"fixed"`` keeps the first and last layer, ``"periodic"`` joins them; one for all axes, or one each.
        split: Devices per axis, their product the number of devices. None: all along the first axis.

    Raises:
        ArgumentError: A value is not allowed; the message names it.
        ElementTypeError: `dtype` is neither float32 nor float64.
        OutOfMemory: The domain does not fit into the memory of the devices.
        Unsupported: The machine asked for cannot be had.

    >>> import numpy as np
    >>> from starling.stencil import Stencil
    >>> s = Stencil((4, 4), devices=2, boundary="periodic")
    >>> s.load(np.eye(4, dtype="float32"))
    >>> s.advance(10, variant="overlap").steps
    10
    >>> float(s.store().sum())
    4.0
    >>> s.close()

    ``with Stencil(...) as s:`` closes it at the end.
    """

    _lost = "cells"

    def __init__(
        self,
        shape: Sequence[int],
        dtype: str = "float32",
        coefficients: Sequence[SupportsFloat] | None = None,
        *,
        devices: int | None = None,
        machine: Machine | str | None = None,
        boundary: Boundary = "fixed",
        split: Sequence[int] | None = None,
    ) -> None:
        extents = _problem.shape_of(shape)
        dimensions = len(extents)
        self._dtype = _element_type(dtype)
        if coefficients is None:
            coefficients = _problem.jacobi_coefficients(dimensions)
        numbers = _problem.coefficients_of(coefficients, dimensions)
        periodic = _problem.periodic_axes(boundary, dimensions)
        parts = _problem.split_of(split, dimensions)
        if parts and devices is None and not isinstance(machine, Machine):
            devices = math.prod(parts)
        on = machines.of(machine, devices)
        if devices is None and not isinstance(machine, Machine) and on.size > extents[0]:
            on = machines.named(on.kind, extents[0])  # nobody asked for more
        solver = native.StencilF32 if self._dtype == "float32" else native.StencilF64
        self._kept = _Kept(solver(on, extents, numbers, periodic, parts), on)
        self._shape = tuple(extents)
        self._ran = ("", 1, "")  # variant, depth and reason of the last chunk
        self._moved_before: list[tuple[int, int, str, int]] = []  # when the last march began

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shape

    @property
    def dtype(self) -> str:
        return self._dtype

    @property
    def machine(self) -> Machine:
        return self._open().machine

    def __repr__(self) -> str:
        kept = self._kept
        where = "closed" if kept is None else f"on {kept.machine!r}"
        return f"<starling.stencil.Stencil: {self._dtype} {self._shape} {where}>"

    def load(self, u: Any) -> None:
        """Copies the whole domain in.

        Args:
            u: Array of the solver's shape and element type, of NumPy, CuPy, PyTorch or a library that has DLPack or
                ``__cuda_array_interface__``.

        Raises:
            ElementTypeError: `u` is no array, or of another element type.
            ArgumentError: `u` has another shape.
        """
        solver, on = self._open()
        array = _arrays.adopt(u)
        if array.dtype != self._dtype:
            raise ElementTypeError(
                f"u holds {array.dtype}, the solver {self._dtype}; convert u, or make a solver of {array.dtype}"
            )
        if array.shape != self._shape:
            raise ArgumentError(f"u has the shape {array.shape}, the solver {self._shape}; they must be equal")
        solver.load(array.for_machine(on.kind))

    def store(self, out: Any = None) -> Any:
        """Copies the whole domain out.

        Args:
            out: Array to write to, of the solver's shape and element type. None: a new NumPy array.

        Returns:
            `out`, or the new array.

        Raises:
            ArgumentError: Nothing has been loaded, or not since an error; or `out` has another shape or is read-only.
            ElementTypeError: `out` is no array, or of another element type.
        """
        solver, on = self._open()
        if out is None:
            new: NDArray[Any] = np.empty(self._shape, self._dtype)
            solver.store(new)
            return new
        _arrays.check_out(out, self._shape, self._dtype)
        _arrays.write(solver, out, on.kind)
        return out

    def advance(
        self,
        steps: int,
        *,
        variant: Variant = "auto",
        tol: float | None = None,
        check_every: int | None = None,
        blocks: int | None = None,
        depth: int | None = None,
        packet_bytes: int | None = None,
        deadline: float | None = None,
        compute: bool = True,
        progress: Callable[[Progress], object] | None = None,
    ) -> Report:
        """Goes on by `steps` steps from where the domain is.

        Ctrl-C ends it between two chunks of steps; the domain is then at the end of a step, and can be stored or
        advanced further. After any other error, load again.

        Args:
            steps: At least 1.
            variant: Who controls the steps; see :mod:`starling.stencil`. All give the same bits. ``"auto"``: the one
                that is expected to be fastest on the solver's devices.
            tol: Stop when the largest change of a cell, found every `check_every` steps, is not above this. None: only
                when no cell changes any more.
            check_every: Steps between two convergence checks. None: 100 with `tol` (or `steps`, if fewer), else never.
            blocks: On each device; None: chosen from the domain and the device.
            depth: Steps between two exchanges of the variant ``"temporal"``, up to 16; None: chosen.
            packet_bytes: Up to so many bytes a face of a device travels as packets, a larger one with a signal; None:
                chosen, on virtual devices 0. The edges of the tiles of ``"resident"`` and ``"temporal"`` always do.
            deadline: Seconds that a wait on a device may last; None: ``STARLING_DEADLINE``.
            compute: False: cells keep their values and only communication happens, to measure it.
            progress: Called after every chunk of steps, which last a fraction of a second.

        Raises:
            ArgumentError: A value is not allowed, or nothing has been loaded.
            LaunchError: A device does not hold so many blocks at once.
            StallError: A wait passed its deadline.
        """
        callable_or_none("progress", progress)
        march = self.march(
            steps,
            variant=variant,
            tol=tol,
            check_every=check_every,
            blocks=blocks,
            depth=depth,
            packet_bytes=packet_bytes,
            deadline=deadline,
            compute=compute,
        )
        for at in march:
            if progress is not None:
                progress(at)
        return self.report(at, variant)

    def march(
        self,
        steps: int,
        *,
        variant: Variant = "auto",
        tol: float | None = None,
        check_every: int | None = None,
        blocks: int | None = None,
        depth: int | None = None,
        packet_bytes: int | None = None,
        deadline: float | None = None,
        compute: bool = True,
        stop_every: int | None = None,
    ) -> Iterator[Progress]:
        """Goes on like :meth:`advance`, but hands over after every chunk of steps.

        Args:
            stop_every: Hand over at every multiple of this, among others; the domain can be stored there.

        >>> s = Stencil((8, 8), devices=1)
        >>> s.load(np.ones((8, 8), dtype="float32"))
        >>> [p.done for p in s.march(30, stop_every=10)]
        [10, 20, 30]
        """
        self._open()
        steps = whole_number("steps", steps, most=MOST_STEPS)
        tolerance = 0.0 if tol is None else finite_number("tol", tol, least=0)
        if check_every is not None:
            every = whole_number("check_every", check_every, most=MOST_STEPS)
        else:
            every = 0 if tol is None else min(CHECK_EVERY, steps)
        options: dict[str, Any] = {
            "tolerance": tolerance if every else 0.0,
            "blocks": 0 if blocks is None else whole_number("blocks", blocks),
            "depth": _problem.depth_of(depth),
            "packet_bytes": -1 if packet_bytes is None else whole_number("packet_bytes", packet_bytes, least=0),
            "deadline": 0.0 if deadline is None else finite_number("deadline", deadline),
            "compute": bool(compute),
        }
        if deadline is not None and not 0 < options["deadline"] < 1e6:
            raise ArgumentError(f"deadline = {deadline} s; must be more than 0 and less than 1e6")
        stops = 0 if stop_every is None else whole_number("stop_every", stop_every, most=MOST_STEPS)
        return self._march(steps, _problem.check_variant(variant), every, stops, options)

    def _march(
        self, steps: int, variant: str, check_every: int, stop_every: int, options: dict[str, Any]
    ) -> Iterator[Progress]:
        on = self._open().machine
        self._moved_before = on.traffic
        pace = Pace(math.prod(self._shape), on.kind == "cuda")
        done = 0
        seconds = 0.0
        change: float | None = None
        converged = False
        while done < steps and not converged:
            chunk = next_chunk(done, steps, pace.steps, check_every, stop_every)
            without_check = {"tolerance": 0.0} if chunk.check_every == 0 else {}
            start = time.perf_counter()
            result = self._open().solver.advance(
                variant, chunk.steps, check_every=chunk.check_every, **{**options, **without_check}
            )
            self._ran = (result.variant, result.depth, result.why)
            pace.saw(result.steps, on.agree(time.perf_counter() - start))  # alike in all processes
            done += result.steps
            seconds += result.seconds
            if chunk.check_every:
                change, converged = result.change, result.converged
            log.debug("%s: %d of %d steps, change %s", variant, done, steps, change)
            yield Progress(done, steps, change, converged, seconds, result.blocks)

    def report(self, end: Progress, variant: str) -> Report:
        """The report of a march that ended so."""
        on = self._open().machine
        ran, depth, why = self._ran
        return Report(
            steps=end.done,
            change=end.change,
            converged=end.converged,
            seconds=end.seconds,
            microseconds_per_step=1e6 * end.seconds / end.done,
            variant=ran or variant,
            machine=on.kind,
            devices=on.size,
            blocks=end.blocks,
            depth=depth,
            why=why,
            shared=machines.sharing(on),
            traffic=machines.traffic_since(on, self._moved_before),
        )


def _element_type(dtype: Any) -> str:
    try:
        name = str(np.dtype(dtype).newbyteorder("="))
    except TypeError:
        name = str(dtype).removeprefix("torch.")
    if name not in _arrays.ELEMENT_TYPES:
        raise ElementTypeError(f"dtype = {name!r}; stencils compute in 'float32' or 'float64'")
    return name
