"""Solving and multiplying in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, SupportsFloat, SupportsIndex, overload

import numpy as np

from starling.errors import ArgumentError
from starling.linalg import _matrix, _vectors
from starling.linalg._choices import CgOptions, Control, Method, Partition, Reorder, Storage, Vector, Where
from starling.linalg._distributed import DistributedMatrix
from starling.linalg._preconditioners import BlockJacobi, Preconditioner, preconditioner
from starling.linalg._report import Progress, Report
from starling.machine import Machine

if TYPE_CHECKING:
    from typing_extensions import Unpack


@overload
def cg(
    A: Any, b: Any, x0: Any = None, *, report: Literal[False] = False, **options: Unpack[CgOptions]
) -> tuple[Vector, int]: ...
@overload
def cg(
    A: Any, b: Any, x0: Any = None, *, report: Literal[True], **options: Unpack[CgOptions]
) -> tuple[Vector, int, Report]: ...
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: SupportsFloat = 1e-5,
    atol: SupportsFloat = 0.0,
    maxiter: SupportsIndex | None = None,
    M: Preconditioner | None = None,
    callback: Callable[[Vector], object] | None = None,
    method: Method = "auto",
    devices: int | None = None,
    machine: Machine | str | None = None,
    partition: Partition = "nonzeros",
    reorder: Reorder | None = None,
    storage: Storage = "auto",
    control: Control = "cpu_free",
    blocks: SupportsIndex | None = None,
    fixed_iterations: SupportsIndex | None = None,
    replace_every: SupportsIndex = 0,
    deadline: SupportsFloat | None = None,
    report: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Any:
    """Solves ``A x = b`` on all devices of a machine, for a symmetric positive definite `A`.

    The first arguments and the result are those of ``scipy.sparse.linalg.cg``.

    Args:
        A: Sparse matrix or array of SciPy in any format, a NumPy array of 2 dimensions, or a
            :class:`DistributedMatrix`, which is then used as it lies on its devices. float32 or float64; whole numbers
            become float64. It is not changed.
        b: Right-hand side, of shape (N,) or (N, 1). If it is zero, so is the result. :meth:`DistributedMatrix.solve`
            takes several.
        x0: Start, of the same shapes. None: zero. It is not changed.
        rtol, atol: The solve ends when ``norm(b - A @ x) <= max(rtol * norm(b), atol)``.
        maxiter: The most iterations, at least 1. None: 10 N.
        M: Preconditioner: None, ``"jacobi"``, ``"block_jacobi"`` (blocks of 3), ``"chebyshev"`` (degree 3), or
            :class:`Jacobi`, :class:`BlockJacobi`, :class:`Chebyshev`. It is made on the devices.
        callback: Called as ``callback(xk)`` after every iteration with a copy of the solution so far. That makes the
            devices stop at each iteration; `progress` does not.
        method: ``"standard"`` (Hestenes and Stiefel, two reductions an iteration), ``"fused"`` (Chronopoulos and Gear,
            one), ``"pipelined"`` (Ghysels and Vanroose, one that is hidden behind the product), or ``"auto"``: fused.
        devices, machine, partition, reorder, storage: How `A` lies on the devices; see :class:`DistributedMatrix`.
        control: ``"cpu_free"``: one persistent program does all iterations; ``"streams"`` or ``"graph"``: the host
            starts each. The numbers are the same.
        blocks: On each device; None: chosen.
        fixed_iterations: Do exactly so many iterations, whatever the residual is; instead of `maxiter`.
        replace_every: With ``"pipelined"``: iterations after which the residual is computed anew from the solution;
            0: whenever rounding errors are estimated to have come near to it; more than `maxiter`: never.
        deadline: Seconds that a wait on a device may last; None: ``STARLING_DEADLINE``.
        report: Return a :class:`Report` too.
        progress: Called with a :class:`Progress` now and then.

    Returns:
        ``(x, info)``: a new array of shape (N,), float32 if `A` and `b` both are, else float64; and 0, or, if the
        residual did not come to its target, the number of iterations done (a warning is logged when more of them would
        not help). With `report`, ``(x, info, report)``.

    Raises:
        NotPositiveDefinite: `A` or the preconditioner is not positive definite; has ``iteration`` and ``value``.
        BreakdownError: A number grew beyond the element type.
        ArgumentError: A value is not allowed: `A` is not square or not symmetric, holds NaN, shapes that differ, ...
        ElementTypeError: An array is complex or of another element type, `A` or `M` something else.
        LaunchError: A device does not hold so many blocks at once.
        OutOfMemory: The matrix does not fit into the memory of the devices.
        Unsupported: The machine asked for cannot be had, or a package is missing.
        StallError: A wait on a device passed its deadline.

    >>> import numpy as np
    >>> from starling.linalg import cg, matrices
    >>> A = matrices.grid_2d(10, 10)
    >>> x, info = cg(A, A @ np.ones(100), rtol=1e-8, devices=2)
    >>> info, bool(np.allclose(x, 1))
    (0, True)
    """
    options: dict[str, Any] = {
        "rtol": rtol, "atol": atol, "maxiter": maxiter, "M": M, "callback": callback, "method": method,
        "control": control, "blocks": blocks, "fixed_iterations": fixed_iterations, "replace_every": replace_every,
        "deadline": deadline, "report": report, "progress": progress,
    }  # fmt: skip
    where: Where = {
        "devices": devices, "machine": machine, "partition": partition, "reorder": reorder, "storage": storage,
    }  # fmt: skip
    if isinstance(A, DistributedMatrix):
        _must_be_default(where)
        return A.solve(_vectors.as_vector(b, "b", A.shape[0]), x0, **options)
    csr = _matrix.as_csr(A)
    right = _vectors.as_vector(b, "b", csr.shape[0])
    dtype = _matrix.common_type(csr.dtype, right.dtype)
    m = preconditioner(M)
    size = m.size if isinstance(m, BlockJacobi) else None
    on_devices = DistributedMatrix(csr.astype(dtype, copy=False), block_size=size, **where)
    return on_devices.solve(right.astype(dtype, copy=False), x0, **options)


def spmv(
    A: Any,
    x: Any,
    *,
    devices: int | None = None,
    machine: Machine | str | None = None,
    partition: Partition = "nonzeros",
    reorder: Reorder | None = None,
    storage: Storage = "auto",
) -> Vector:
    """``A @ x`` on all devices of a machine, for a square matrix of any kind.

    For several products make a :class:`DistributedMatrix` once; its class explains the arguments.

    >>> import numpy as np
    >>> spmv(np.array([[0.0, 2.0], [3.0, 0.0]]), [1.0, 10.0], devices=1).tolist()
    [20.0, 3.0]
    """
    where: Where = {
        "devices": devices, "machine": machine, "partition": partition, "reorder": reorder, "storage": storage,
    }  # fmt: skip
    if isinstance(A, DistributedMatrix):
        _must_be_default(where)
        return A.matvec(x)
    csr = _matrix.as_csr(A)
    v = _vectors.as_vector(x, "x", csr.shape[0])
    dtype = _matrix.common_type(csr.dtype, v.dtype)
    on_devices = DistributedMatrix(csr.astype(dtype, copy=False), products_only=True, **where)
    return on_devices.matvec(v.astype(dtype, copy=False)).reshape(np.shape(x))


def _must_be_default(where: Where) -> None:
    """A matrix that lies on devices already cannot be told where."""
    usual: Where = {"devices": None, "machine": None, "partition": "nonzeros", "reorder": None, "storage": "auto"}
    for name, value in where.items():
        if value != usual[name]:  # type: ignore[literal-required]
            raise ArgumentError(
                f"{name} = {value!r}, but A is a DistributedMatrix, which lies on its devices already; leave {name} "
                "out, or give it when you make the matrix"
            )
