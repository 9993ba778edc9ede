"""Which variant, and how many devices, a model of their costs expects to be fastest; and measuring these costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starling import machine as machines
from starling._arguments import finite_number
from starling._native import native
from starling.errors import ArgumentError
from starling.machine import Machine
from starling.stencil import _problem
from starling.stencil._problem import Boundary

AUTO = "auto"


@dataclass(frozen=True)
class Choice:
    """What the variant ``"auto"`` takes for a domain."""

    variant: str
    devices: int
    depth: int
    """Steps between two exchanges of the variant ``"temporal"``; 0 for the others."""
    microseconds: float
    """Expected for a step."""
    why: str


@dataclass(frozen=True)
class Tuning:
    """Costs as measured on a machine."""

    path: Path
    """The file that they are kept in."""
    device: str
    costs: dict[str, float]


def choose(
    shape: Sequence[int],
    dtype: str = "float32",
    *,
    machine: Machine | str | None = None,
    boundary: Boundary = "fixed",
) -> Choice:
    """The variant and the number of devices that are expected to be fastest, and why.

    Args:
        shape: 2 or 3 extents of the domain, in cells.
        dtype: ``"float32"`` or ``"float64"``.
        machine: The devices there are: a machine, or ``"host"``, ``"cuda"`` or ``"auto"``.
        boundary: As for :func:`starling.stencil.jacobi`.

    Raises:
        ArgumentError: A value is not allowed, or the file of measured costs is damaged or of another device.

    >>> from starling import machine, stencil
    >>> stencil.choose((64, 64), machine=machine.host(2)).devices in (1, 2)
    True
    """
    extents = _problem.shape_of(shape)
    periodic = _problem.periodic_axes(boundary, len(extents))
    m = machines.of(machine, None)
    return Choice(*native.choose_stencil(m, extents, periodic, dtype == "float64"))


def tune(*, machine: Machine | str | None = None, seconds: float = 0.1) -> Tuning:
    """Measures what :func:`choose` goes by, and keeps it in the user's cache directory.

    Args:
        machine: The devices to measure: a machine, or ``"host"``, ``"cuda"`` or ``"auto"``.
        seconds: For each of about eight measurements.

    Raises:
        ArgumentError: A value is not allowed, or the file cannot be written.
    """
    limit = finite_number("seconds", seconds)
    if not 0 < limit <= 60:
        raise ArgumentError(f"seconds = {seconds}; must be more than 0 and at most 60")
    m = machines.of(machine, None)
    path, device, costs = native.tune_stencil(m, limit)
    return Tuning(Path(path), device, costs)


def machine_for(
    variant: str,
    shape: Sequence[int],
    dtype: str,
    devices: int | None,
    machine: Machine | str | None,
    boundary: Boundary,
    split: Any,
) -> Machine | str | None:
    """The machine for a run: with the variant ``"auto"``, and nothing said of devices, as many as are worth it."""
    if variant != AUTO or devices is not None or split is not None or isinstance(machine, Machine):
        return machine
    most = machines.of(machine, None)
    if most.processes > 1:
        return most
    wanted = choose(shape, dtype, machine=most, boundary=boundary).devices
    return most if wanted == most.size else machines.named(most.kind, wanted)
