"""Jacobi's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from starling import _regions
from starling._arguments import MOST_STEPS, finite_number, one_of, whole_number
from starling._measuring import Measuring
from starling._region_report import Progress, Report
from starling._regions import Agent, Exchange, Where
from starling.errors import ArgumentError, ElementTypeError, NotConverged, NotDominant
from starling.linalg import _matrix, _vectors
from starling.machine import Machine

if TYPE_CHECKING:
    from typing_extensions import Unpack

Layout = Literal["auto", "csr", "dia"]
LAYOUTS: tuple[Layout, ...] = ("auto", "csr", "dia")
MOST_PADDING = 1.25  # values that diagonals may store for each entry, before rows are better
LEAST_ITERATIONS = 1000

Values: TypeAlias = "NDArray[Any]"


class BandedOptions(Where, total=False):
    """The keyword arguments of :func:`jacobi_banded`."""

    rtol: SupportsFloat
    atol: SupportsFloat
    maxiter: SupportsIndex | None
    exchange: Exchange


class JacobiOptions(BandedOptions, total=False):
    """The keyword arguments of :func:`jacobi`."""

    layout: Layout


@overload
def jacobi(
    A: Any, b: Any, x0: Any = None, *, report: Literal[False] = False, **options: Unpack[JacobiOptions]
) -> Values: ...
@overload
def jacobi(
    A: Any, b: Any, x0: Any = None, *, report: Literal[True], **options: Unpack[JacobiOptions]
) -> tuple[Values, Report]: ...
def jacobi(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: SupportsFloat = 1e-5,
    atol: SupportsFloat = 0.0,
    maxiter: SupportsIndex | None = None,
    layout: Layout = "auto",
    exchange: Exchange = "auto",
    devices: int | None = None,
    machine: Machine | str | None = None,
    agent: Agent = "auto",
    chunk: int | str | None = None,
    agent_blocks: SupportsIndex | None = None,
    deadline: SupportsFloat | None = None,
    report: bool = False,
    progress: Callable[[Progress], object] | None = None,
    measuring: Measuring | None = None,
) -> Any:
    """Solves ``A x = b`` by Jacobi's method, on all devices of a machine, for a strictly diagonally dominant `A`.

    In each iteration every row is solved for its own unknown, with the others as they were.

    Args:
        A: Sparse matrix or array of SciPy in any format, or a NumPy array, of shape (N, N). In each row the absolute
            value on the diagonal is larger than those beside it together. float32 or float64; whole numbers become
            float64. It is not changed.
        b: Right-hand side, of shape (N,) or (N, 1).
        x0: Start, of the same shapes. None: zero. It is not changed.
        rtol, atol: The solve ends when ``norm(b - A @ x) <= max(rtol * norm(b), atol)``.
        maxiter: The most iterations, at least 1. None: 10 N, but at least 1000.
        layout: ``"csr"`` stores rows, ``"dia"`` diagonals; ``"auto"``: diagonals where they are nearly full.
        exchange: ``"region"``: every device gets the whole x; ``"halo"``: the part that its rows read; ``"auto"``: the
            latter for diagonals, whose rows read what is near.
        devices, machine, agent, chunk, agent_blocks, deadline, report, progress, measuring: As in
            :func:`starling.graph.pagerank`.

    Returns:
        A new array of shape (N,), float32 if `A` and `b` both are, else float64. With `report`, ``(x, report)``.

    Raises:
        NotDominant: A row is not strictly diagonally dominant; has ``row``, ``diagonal`` and ``others``.
        NotConverged: `maxiter` did not suffice; ``last`` holds the x so far, ``change`` its residual.
        ArgumentError: Another value is not allowed: `A` is not square, holds NaN, shapes that differ, ...
        ElementTypeError: An array is complex or of another element type, or `A` no matrix.
        OutOfMemory, Unsupported, StallError: As in :func:`starling.graph.pagerank`.

    Source: C. G. J. Jacobi, 1845; Y. Saad, "Iterative Methods for Sparse Linear Systems", 2003, 4.1.

    >>> import numpy as np
    >>> from starling.linalg import jacobi
    >>> A = np.array([[4.0, -1, 0], [-1, 4, -1], [0, -1, 4]])
    >>> jacobi(A, A @ [1, 2, 3], rtol=1e-10, devices=2).round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    csr = _matrix.as_csr(A)
    _matrix.check_finite(csr)
    wanted = one_of("layout", layout, LAYOUTS)
    right, start, csr = _system(csr, b, x0)
    diagonal = csr.diagonal()
    _check_dominant(diagonal, csr)
    others = _beside_diagonal(csr)
    offsets = _offsets(others)
    full = bool(offsets.size * csr.shape[0] <= MOST_PADDING * max(others.nnz, csr.shape[0]))
    if wanted == "dia" or (wanted == "auto" and full):
        rest: tuple[Any, ...] = (offsets, _diagonals(others, offsets))
    else:
        rest = _matrix.arrays_of(others)
    ending = {"rtol": rtol, "atol": atol, "maxiter": maxiter}
    where = {
        "devices": devices,
        "machine": machine,
        "agent": agent,
        "chunk": chunk,
        "agent_blocks": agent_blocks,
        "deadline": deadline,
        "measuring": measuring,
    }
    return _solved(rest, diagonal, right, start, others.nnz, ending, where, exchange, report, progress)


@overload
def jacobi_banded(
    l_and_u: Sequence[SupportsIndex],
    ab: Any,
    b: Any,
    x0: Any = None,
    *,
    report: Literal[False] = False,
    **options: Unpack[BandedOptions],
) -> Values: ...
@overload
def jacobi_banded(
    l_and_u: Sequence[SupportsIndex],
    ab: Any,
    b: Any,
    x0: Any = None,
    *,
    report: Literal[True],
    **options: Unpack[BandedOptions],
) -> tuple[Values, Report]: ...
def jacobi_banded(
    l_and_u: Sequence[SupportsIndex],
    ab: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: SupportsFloat = 1e-5,
    atol: SupportsFloat = 0.0,
    maxiter: SupportsIndex | None = None,
    exchange: Exchange = "auto",
    devices: int | None = None,
    machine: Machine | str | None = None,
    agent: Agent = "auto",
    chunk: int | str | None = None,
    agent_blocks: SupportsIndex | None = None,
    deadline: SupportsFloat | None = None,
    report: bool = False,
    progress: Callable[[Progress], object] | None = None,
    measuring: Measuring | None = None,
) -> Any:
    """:func:`jacobi` for a banded matrix, given as in ``scipy.linalg.solve_banded``.

    Args:
        l_and_u: ``(l, u)``, the numbers of diagonals below and above the main one.
        ab: Array of shape (l + u + 1, N): ``ab[u + i - j, j]`` is entry (i, j). What lies outside the matrix is not
            read. It is not changed.
        b, x0, rtol, atol, maxiter, exchange: As in :func:`jacobi`, which also says what is returned and raised.
        devices, machine, agent, chunk, agent_blocks, deadline, report, progress, measuring: As there.

    Source: as :func:`jacobi`.

    >>> import numpy as np
    >>> from starling.linalg import jacobi_banded
    >>> ab = np.array([[0.0, -1, -1], [4, 4, 4], [-1, -1, 0]])
    >>> jacobi_banded((1, 1), ab, [2.0, 4, 10], rtol=1e-10, devices=2).round(6).tolist()
    [1.0, 2.0, 3.0]
    """
    lower, upper, band = _band(l_and_u, ab)
    n = band.shape[1]
    right = _vectors.as_vector(b, "b", n)
    dtype = _matrix.common_type(band.dtype, right.dtype)
    offsets = np.array([k for k in range(-lower, upper + 1) if k != 0], np.int32)
    # Entry (i, i + k) is at ab[u - k, i + k]; here it is at [k, i].
    values = np.zeros((len(offsets), n), dtype)
    for row, k in zip(values, offsets, strict=True):
        rows = slice(max(0, -k), min(n, n - k))
        row[rows] = band[upper - k, rows.start + k : rows.stop + k]
    diagonal = np.ascontiguousarray(band[upper], dtype)
    for k, row in [(0, diagonal), *zip(offsets.tolist(), values, strict=True)]:
        bad = np.flatnonzero(~np.isfinite(row))
        if bad.size:
            i = int(bad[0])
            raise ArgumentError(f"ab[{upper - k}, {i + k}], entry ({i}, {i + k}), is {row[i]}; all must be finite")
    _check_sums(np.abs(diagonal), np.abs(values).sum(axis=0, dtype=np.float64))
    start = _start(x0, n, dtype)
    ending = {"rtol": rtol, "atol": atol, "maxiter": maxiter}
    where = {
        "devices": devices,
        "machine": machine,
        "agent": agent,
        "chunk": chunk,
        "agent_blocks": agent_blocks,
        "deadline": deadline,
        "measuring": measuring,
    }
    right = right.astype(dtype, copy=False)
    entries = int(np.count_nonzero(values))
    return _solved((offsets, values), diagonal, right, start, entries, ending, where, exchange, report, progress)


def _solved(
    rest: tuple[Any, ...],
    diagonal: Values,
    b: Values,
    x0: Values | None,
    entries: int,
    ending: dict[str, Any],
    where: dict[str, Any],
    exchange: object,
    report: bool,
    progress: Callable[[Progress], object] | None,
) -> Any:
    _vectors.finite_columns(b, "b", b.size)
    relative = finite_number("rtol", ending["rtol"], least=0)
    target = max(relative * _norm(b), finite_number("atol", ending["atol"], least=0))
    given = ending["maxiter"]
    most = max(10 * b.size, LEAST_ITERATIONS) if given is None else whole_number("maxiter", given, most=MOST_STEPS)
    way = one_of("exchange", exchange, _regions.EXCHANGES)
    if way == "auto":
        by_diagonals = len(rest) == 2
        way = "halo" if by_diagonals else "region"
    sending = _regions.sending(
        where["agent"], where["chunk"], where["agent_blocks"], where["deadline"], progress, target, where["measuring"]
    )
    on = _regions.on(where["machine"], where["devices"], b.size)
    subject = _regions.Subject("jacobi", on, b.size, entries, b.dtype.name, True, target)
    x, done = _regions.jacobi(
        subject, rest, diagonal, b, x0, target=target, most_iterations=most, exchange=way, sending=sending
    )
    if not done.converged:
        residual = done.history[-1] if done.history else float("nan")
        advice = "allow more with maxiter, or ask for less with rtol" if np.isfinite(residual) else "scale the system"
        raise NotConverged(
            f"jacobi: the residual is {residual:.3g} after {done.iterations} iterations, the target {target:.3g}; "
            f"{advice}",
            done.iterations,
            x,
            residual,
            done,
        )
    return (x, done) if report else x


def _norm(b: Values) -> float:
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(b.astype(np.float64)))
    if not np.isfinite(norm):
        raise ArgumentError(f"jacobi: the norm of b is {norm}; scale the system down")
    if norm == 0 and b.any():
        raise ArgumentError("jacobi: the norm of b is 0, but b is not; scale the system up")
    return norm


def _system(csr: sparse.csr_array, b: Any, x0: Any) -> tuple[Values, Values | None, sparse.csr_array]:
    """Right-hand side, start and matrix in one element type."""
    right = _vectors.as_vector(b, "b", csr.shape[0])
    dtype = _matrix.common_type(csr.dtype, right.dtype)
    return right.astype(dtype, copy=False), _start(x0, csr.shape[0], dtype), csr.astype(dtype, copy=False)


def _start(x0: Any, rows: int, dtype: np.dtype[Any]) -> Values | None:
    if x0 is None:
        return None
    start = _vectors.as_vector(x0, "x0", rows)
    _vectors.finite_columns(start, "x0", rows)
    return start.astype(dtype, copy=False)


def _check_dominant(diagonal: Values, csr: sparse.csr_array) -> None:
    sizes = np.abs(diagonal).astype(np.float64)
    sums = np.zeros(csr.shape[0], np.float64)
    rows = np.flatnonzero(np.diff(csr.indptr))
    if rows.size:
        sums[rows] = np.add.reduceat(np.abs(csr.data), csr.indptr[rows], dtype=np.float64)
    # Summed again without the diagonal where the difference is near to rounding errors.
    for row in np.flatnonzero(2 * sizes <= sums * (1 + 1e-12)):
        entries = slice(csr.indptr[row], csr.indptr[row + 1])
        beside = np.abs(csr.data[entries][csr.indices[entries] != row]).sum(dtype=np.float64)
        _check_sums(sizes[row : row + 1], beside[None], int(row))


def _check_sums(diagonal: Values, others: Values, first: int = 0) -> None:
    """Raises NotDominant for the first row whose diagonal is not larger than what is beside it."""
    wrong = ~(diagonal > others)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise NotDominant(
            f"row {first + at} of the matrix is not strictly diagonally dominant: {diagonal[at]:g} on the diagonal, "
            f"{others[at]:g} beside it; Jacobi's method may then not converge: use cg, or another solver",
            first + at,
            float(diagonal[at]),
            float(others[at]),
        )


def _beside_diagonal(csr: sparse.csr_array) -> sparse.csr_array:
    rows = np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))
    stays = (csr.indices != rows) & (csr.data != 0)
    starts = np.concatenate([[0], np.cumsum(stays)])[csr.indptr]
    return sparse.csr_array((csr.data[stays], csr.indices[stays], starts), shape=csr.shape)


def _offsets(csr: sparse.csr_array) -> NDArray[np.int32]:
    """The diagonals that have entries."""
    n = csr.shape[0]
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(csr.indptr))
    there = np.zeros(2 * n - 1, bool)
    there[csr.indices - rows + n - 1] = True
    offsets: NDArray[np.int32] = (np.flatnonzero(there) - (n - 1)).astype(np.int32)
    return offsets


def _diagonals(csr: sparse.csr_array, offsets: NDArray[np.int32]) -> Values:
    """[k, i]: entry (i, i + offset[k])."""
    rows = np.repeat(np.arange(csr.shape[0], dtype=np.int64), np.diff(csr.indptr))
    values = np.zeros((len(offsets), csr.shape[0]), csr.dtype)
    values[np.searchsorted(offsets, csr.indices - rows), rows] = csr.data
    return values


def _band(l_and_u: Any, ab: Any) -> tuple[int, int, Values]:
    try:
        lower, upper = l_and_u
    except (TypeError, ValueError):
        raise ElementTypeError(f"l_and_u = {l_and_u!r}; pass (l, u), two whole numbers") from None
    low = whole_number("l", lower, least=0)
    high = whole_number("u", upper, least=0)
    try:
        band = np.asarray(ab)
    except (TypeError, ValueError, RuntimeError):
        band = np.asarray(None)
    if band.dtype.kind not in "biufc":
        raise ElementTypeError(f"ab is a {type(ab).__name__}; pass an array of {low + high + 1} rows")
    band = np.asarray(band, dtype=_matrix.element_type(band.dtype, "ab"))
    if band.ndim != 2 or band.shape[0] != low + high + 1:
        raise ArgumentError(
            f"ab has the shape {band.shape}; with (l, u) = ({low}, {high}) it must have {low + high + 1} rows"
        )
    n = band.shape[1]
    if n == 0 or max(low, high) >= n:
        raise ArgumentError(f"(l, u) = ({low}, {high}) for {n} columns; each must be less than their number")
    return low, high, band
