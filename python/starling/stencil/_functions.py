"""Stencils as functions: an array in, a new array of the same kind out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, TypedDict, TypeVar, overload

from starling import _arrays
from starling.machine import Machine
from starling.stencil import _problem
from starling.stencil._choice import machine_for
from starling.stencil._problem import Boundary, Variant
from starling.stencil._report import Progress, Report
from starling.stencil._solver import Stencil

if TYPE_CHECKING:
    from typing_extensions import Unpack

A = TypeVar("A")


class Options(TypedDict, total=False):
    """The keyword arguments that all functions here share; :func:`jacobi` explains them."""

    devices: int | None
    machine: Machine | str | None
    variant: Variant
    boundary: Boundary
    split: Sequence[int] | None
    tol: float | None
    check_every: int | None
    blocks: int | None
    depth: int | None
    out: Any
    progress: Callable[[Progress], object] | None


@overload
def jacobi(u: A, steps: int = 1000, *, report: Literal[False] = False, **options: Unpack[Options]) -> A: ...
@overload
def jacobi(u: A, steps: int = 1000, *, report: Literal[True], **options: Unpack[Options]) -> tuple[A, Report]: ...
def jacobi(
    u: Any,
    steps: int = 1000,
    *,
    devices: int | None = None,
    machine: Machine | str | None = None,
    variant: Variant = "auto",
    boundary: Boundary = "fixed",
    split: Sequence[int] | None = None,
    tol: float | None = None,
    check_every: int | None = None,
    blocks: int | None = None,
    depth: int | None = None,
    report: bool = False,
    out: Any = None,
    progress: Callable[[Progress], object] | None = None,
) -> Any:
    """Steps of Jacobi's method for Laplace's equation: every cell becomes the mean of its neighbours.

    Source of the variant ``"cpu_free"`` and of the comparison with the others: CPU-free execution, chapter 4.

    Args:
        u: Array of 2 or 3 dimensions and float32 or float64, of NumPy, CuPy or PyTorch, in the memory of the host or
            of a GPU. It is not changed. Where it is not contiguous, a copy is used.
        steps: At least 1.
        devices: How many devices take part. None: with the variant ``"auto"`` as many GPUs as are worth it, otherwise
            all, or 4 virtual devices, or fewer where the first axis is shorter.
        machine: A machine, or ``"host"``, ``"cuda"`` or ``"auto"``. None: ``"auto"``, GPUs where they can be used.
        variant: One of :data:`VARIANTS`: who controls the steps, and how cells travel. All give the same bits.
            ``"auto"``: the one that is expected to be fastest; it also chooses how many GPUs take part, where neither
            `devices` nor `split` says so.
        boundary: ``"fixed"`` keeps the first and last layer along an axis, ``"periodic"`` joins them. One for all axes,
            or one per axis.
        split: Devices per axis, their product the number of devices. None: all along the first axis.
        tol: Stop when the largest change of a cell in one step is not above this, in units of `u`. None: only when no
            cell changes any more, if that is checked.
        check_every: Steps between two convergence checks. None: 100 with `tol` (or `steps`, if fewer), else never.
        blocks: On each device; None: chosen from the domain and the device.
        depth: Steps between two exchanges of the variant ``"temporal"``, up to 16; None: chosen.
        report: Return a :class:`Report` too.
        out: Array for the result, of the shape and element type of `u`; may be `u`. None: a new array of the same kind.
            It is written at the very end, and not at all when something goes wrong.
        progress: Called with a :class:`Progress` after every chunk of steps, which last a fraction of a second.

    Returns:
        The array after the steps: `out`, or a new array of the library, element type and place of `u`. With `report`, a
        tuple of it and the report.

    Raises:
        ElementTypeError: `u` or `out` is no array, or of another element type.
        ArgumentError: A value is not allowed: shape, steps, devices that the domain cannot be partitioned over, ...
        LaunchError: A device does not hold so many blocks at once.
        OutOfMemory: The domain does not fit into the memory of the devices.
        Unsupported: The machine asked for cannot be had.
        StallError: A wait on a device passed its deadline.

    >>> import numpy as np
    >>> u = np.zeros((6, 6))
    >>> u[0] = 1.0
    >>> v, r = jacobi(u, 50, devices=2, variant="overlap", check_every=10, report=True)
    >>> v.shape, v.dtype, r.steps, r.variant
    ((6, 6), dtype('float64'), 50, 'overlap')
    """
    array = _arrays.adopt(u)
    coefficients = _problem.jacobi_coefficients(len(array.shape))
    return _solve(array, steps, coefficients, report, boundary, split, devices, machine, out, variant=variant,
                  tol=tol, check_every=check_every, blocks=blocks, depth=depth, progress=progress)  # fmt: skip


@overload
def heat(u: A, steps: int, ratio: float, *, report: Literal[False] = False, **options: Unpack[Options]) -> A: ...
@overload
def heat(u: A, steps: int, ratio: float, *, report: Literal[True], **options: Unpack[Options]) -> tuple[A, Report]: ...
def heat(
    u: Any,
    steps: int,
    ratio: float,
    *,
    devices: int | None = None,
    machine: Machine | str | None = None,
    variant: Variant = "auto",
    boundary: Boundary = "fixed",
    split: Sequence[int] | None = None,
    tol: float | None = None,
    check_every: int | None = None,
    blocks: int | None = None,
    depth: int | None = None,
    report: bool = False,
    out: Any = None,
    progress: Callable[[Progress], object] | None = None,
) -> Any:
    """Explicit steps of the heat equation.

    Args:
        ratio: diffusivity * time step / spacing squared, without a unit; above 0 and at most 1 / (2 * dimensions),
            beyond which the step is not stable.

    The other arguments, the result and the errors are those of :func:`jacobi`.

    >>> import numpy as np
    >>> u = np.zeros((5, 5))
    >>> u[2, 2] = 1.0
    >>> heat(u, 1, 0.125, devices=1)[2].tolist()
    [0.0, 0.125, 0.5, 0.125, 0.0]
    """
    array = _arrays.adopt(u)
    coefficients = _problem.heat_coefficients(len(array.shape), ratio)
    return _solve(array, steps, coefficients, report, boundary, split, devices, machine, out, variant=variant,
                  tol=tol, check_every=check_every, blocks=blocks, depth=depth, progress=progress)  # fmt: skip


@overload
def run(
    u: A,
    steps: int,
    coefficients: Sequence[SupportsFloat],
    *,
    report: Literal[False] = False,
    **options: Unpack[Options],
) -> A: ...
@overload
def run(
    u: A, steps: int, coefficients: Sequence[SupportsFloat], *, report: Literal[True], **options: Unpack[Options]
) -> tuple[A, Report]: ...
def run(
    u: Any,
    steps: int,
    coefficients: Sequence[SupportsFloat],
    *,
    devices: int | None = None,
    machine: Machine | str | None = None,
    variant: Variant = "auto",
    boundary: Boundary = "fixed",
    split: Sequence[int] | None = None,
    tol: float | None = None,
    check_every: int | None = None,
    blocks: int | None = None,
    depth: int | None = None,
    report: bool = False,
    out: Any = None,
    progress: Callable[[Progress], object] | None = None,
) -> Any:
    """Steps of a star stencil with coefficients of your own.

    Args:
        coefficients: 5 finite numbers in two dimensions, 7 in three: the centre, then the low and the high neighbour of
            each axis. They are rounded to the element type of `u`.

    The other arguments, the result and the errors are those of :func:`jacobi`.

    >>> import numpy as np
    >>> u = np.arange(16.0).reshape(4, 4)
    >>> run(u, 1, [0, 0, 0, 1, 0], devices=1, boundary="periodic")[0].tolist()  # everything moves right by one cell
    [3.0, 0.0, 1.0, 2.0]
    """
    array = _arrays.adopt(u)
    return _solve(array, steps, coefficients, report, boundary, split, devices, machine, out, variant=variant,
                  tol=tol, check_every=check_every, blocks=blocks, depth=depth, progress=progress)  # fmt: skip


def _solve(
    u: _arrays.Array,
    steps: int,
    coefficients: Sequence[SupportsFloat],
    report: bool,
    boundary: Boundary,
    split: Sequence[int] | None,
    devices: int | None,
    machine: Machine | str | None,
    out: Any,
    **options: Any,
) -> Any:
    if out is not None:
        _arrays.check_out(out, u.shape, u.dtype)
    variant = options["variant"]
    machine = machine_for(variant, u.shape, u.dtype, devices, machine, boundary, split)
    solver = Stencil(u.shape, u.dtype, coefficients, devices=devices, machine=machine, boundary=boundary, split=split)
    result = _arrays.new_like(u) if out is None else out
    solver.load(u.data)
    done = solver.advance(steps, **options)
    solver.store(result)
    return (result, done) if report else result
