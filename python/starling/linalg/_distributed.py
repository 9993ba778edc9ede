"""A matrix that lives on the devices between calls."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, SupportsFloat, SupportsIndex, overload

import numpy as np
from scipy.sparse.linalg import LinearOperator

from starling import machine as machines
from starling._arguments import callable_or_none, one_of, whole_number
from starling._closing import Closing
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.linalg import _choices, _columns, _matrix, _vectors
from starling.linalg._choices import Control, Method, Partition, Reorder, SolveOptions, Storage, Vector
from starling.linalg._order import order_of
from starling.linalg._preconditioners import (
    BlockJacobi,
    Chebyshev,
    Jacobi,
    Preconditioner,
    check_block_size,
    described,
    native_options,
    preconditioner,
)
from starling.linalg._report import Facts, Progress, Report
from starling.machine import Machine, Traffic

if TYPE_CHECKING:
    from typing_extensions import Unpack

log = logging.getLogger("starling")


# For matrices that are not symmetric.
MAKE_TRANSPOSE = ", else make another DistributedMatrix of A.T with products_only=True and multiply with that"


class _Kept(NamedTuple):
    """What a matrix has on its devices."""

    solver: Any
    """The native one."""
    machine: Machine


class DistributedMatrix(Closing[_Kept], LinearOperator):  # type: ignore[misc]  # SciPy has no types
    """A sparse matrix whose rows are partitioned among the devices of a machine, where they stay.

    It is a SciPy ``LinearOperator``: ``A @ x`` multiplies on the devices, and SciPy's own functions take it. Use it
    instead of :func:`cg` to solve again and again with one matrix. Calls from several threads take turns; a callback of
    its solve must not call it.

    Args:
        A: Square matrix: a sparse matrix or array of SciPy in any format, or a NumPy array of 2 dimensions, whose
            entries that are not zero are stored. float32 or float64; whole numbers become float64. It is copied.
        devices: How many; None: all GPUs, or 4 virtual devices, or fewer where there are fewer rows.
        machine: A machine, or ``"host"``, ``"cuda"`` or ``"auto"``; None: ``"auto"``.
        partition: ``"nonzeros"`` divides the rows, in order, so that devices have about equally many entries;
            ``"rows"`` gives equally many rows.
        reorder: None keeps the order of the rows. ``"rcm"`` brings entries near the diagonal (reverse Cuthill-McKee).
            ``"graph"`` finds parts with few entries between them, one for each device (METIS; needs the package
            pymetis). What goes in and comes out is in your order all the same.
        storage: ``"sliced"`` (32 rows side by side), ``"sliced_3x3"`` (the same of dense blocks of 3 x 3),
            ``"compressed"`` (for very uneven rows) or ``"auto"``, chosen from the matrix.
        block_size: Rows of the blocks on the diagonal whose inverses are kept, for solves with ``M="block_jacobi"``:
            1, 2, 3, 4, 6, 8, 12, 16, 24 or 32. None: none are kept.
        products_only: The matrix need not be symmetric or positive definite; :meth:`solve` is then refused.

    Raises:
        ArgumentError: A value is not allowed; `A` is not square, not symmetric, has a diagonal entry that is not
            positive, or a NaN.
        ElementTypeError: `A` is no matrix, or of another element type.
        OutOfMemory: The matrix does not fit into the memory of the devices.
        Unsupported: The machine asked for cannot be had, or pymetis is missing.

    >>> import numpy as np
    >>> from starling.linalg import DistributedMatrix, matrices
    >>> A = DistributedMatrix(matrices.grid_2d(8, 8), devices=2)
    >>> y = A @ np.ones(64)
    >>> x, info = A.solve(y, rtol=1e-10)
    >>> info, bool(np.allclose(x, 1))
    (0, True)
    >>> A.close()

    ``with DistributedMatrix(...) as A:`` closes it at the end.
    """

    _lost = "rows"

    def __init__(
        self,
        A: Any,
        *,
        devices: int | None = None,
        machine: Machine | str | None = None,
        partition: Partition = "nonzeros",
        reorder: Reorder | None = None,
        storage: Storage = "auto",
        block_size: SupportsIndex | None = None,
        products_only: bool = False,
    ) -> None:
        csr = _matrix.as_csr(A)
        one_of("partition", partition, _choices.PARTITIONS)
        one_of("storage", storage, _choices.STORAGES)
        if reorder is not None:
            one_of("reorder", reorder, _choices.REORDERS)
        self._block_size = None if block_size is None else check_block_size("block_size", block_size)
        rows = csr.shape[0]
        if storage == "sliced_3x3" and rows % 3 != 0:
            raise ArgumentError(
                f"storage = 'sliced_3x3' for {rows} rows, whose number must be a multiple of 3; take 'auto', 'sliced' "
                "or 'compressed'"
            )
        on = machines.of(machine, devices)
        if devices is None and not isinstance(machine, Machine) and on.size > rows:
            on = machines.named(on.kind, rows)  # nobody asked for more
        if on.size > rows:
            raise ArgumentError(
                f"A has {rows} rows for {on.size} devices; every device needs at least one: use fewer devices"
            )
        if not products_only:
            _matrix.check_finite(csr)
            if reorder is not None:  # after that the rows have other numbers
                _matrix.check_system(csr)
        self._order = order_of(csr, reorder, on.size, partition, not products_only)
        system = native.LinearSystemF32 if csr.dtype == np.float32 else native.LinearSystemF64
        solver = system(
            on,
            *_matrix.arrays_of(self._order.matrix(csr)),
            split=partition,
            storage=storage,
            first_rows=list(self._order.first_rows),
            block_size=self._block_size or 0,
            products_only=products_only,
        )
        self._kept = _Kept(solver, on)
        self._products_only = products_only
        super().__init__(csr.dtype, csr.shape)

    @property
    def machine(self) -> Machine:
        return self._open().machine

    @property
    def facts(self) -> Facts:
        """How the matrix lies on the devices."""
        return self._facts(self._open())

    def _facts(self, kept: _Kept) -> Facts:
        f = kept.solver.facts()
        return Facts(
            rows=f.rows,
            nonzeros=f.nonzeros,
            storage=f.storage,
            offset_bits=f.offset_bits,
            first_rows=tuple(f.first_rows),
            halo=tuple(f.halo),
            bytes=tuple(f.bytes),
            reorder=self._order.name,
            machine=kept.machine.kind,
            devices=kept.machine.size,
        )

    def __repr__(self) -> str:
        kept = self._kept
        where = "closed" if kept is None else f"on {kept.machine!r}"
        return f"<starling.linalg.DistributedMatrix: {self.dtype} {self.shape} {where}>"

    def _repr_html_(self) -> str:
        kept = self._kept
        return "a matrix that was closed" if kept is None else str(self._facts(kept)._repr_html_())

    # ---- what SciPy asks of an operator ----

    def matvec(self, x: Any) -> Vector:
        """``A @ x`` on the devices.

        Args:
            x: Array of shape (rows,) or (rows, 1). A float32 matrix does not take float64: nothing is rounded
                unasked.
        """
        v = self._own_type(_vectors.as_vector(x, "x", self.shape[0]), "x")
        y = self._multiply(v)
        return y.reshape(np.shape(x))

    def _matvec(self, x: Any) -> Vector:
        return self.matvec(x)

    def matmat(self, X: Any) -> Vector:
        """``A @ X`` on the devices, one column after the other."""
        shape = np.shape(X)
        if len(shape) != 2 or shape[0] != self.shape[1]:
            raise ArgumentError(f"X has the shape {shape}, the matrix {self.shape}; X must have {self.shape[1]} rows")
        columns = [self.matvec(np.asarray(X)[:, i]) for i in range(shape[1])]
        return np.stack(columns, axis=1) if columns else np.zeros(shape, self.dtype)

    def _matmat(self, X: Any) -> Vector:
        return self.matmat(X)

    def _rmatvec(self, x: Any) -> Vector:
        self._must_be_symmetric("The product with its transpose", MAKE_TRANSPOSE)
        return self.matvec(x)

    def _rmatmat(self, X: Any) -> Vector:
        self._must_be_symmetric("The product with its transpose", MAKE_TRANSPOSE)
        return self.matmat(X)

    def _adjoint(self) -> LinearOperator:
        return super()._adjoint() if self._products_only else self

    def _transpose(self) -> LinearOperator:
        return super()._transpose() if self._products_only else self

    def _must_be_symmetric(self, what: str, otherwise: str) -> None:
        if self._products_only:
            raise ArgumentError(
                f"{what} needs a symmetric matrix, and this one was made with products_only=True; make it without that "
                f"if it is symmetric{otherwise}"
            )

    def _own_type(self, v: Vector, name: str) -> Vector:
        if self.dtype == np.float32 and v.dtype == np.float64:
            raise ElementTypeError(
                f"{name} holds float64, the matrix float32; pass {name}.astype('float32'), or make the matrix of "
                "float64"
            )
        return v.astype(self.dtype, copy=False)

    def _multiply(self, v: Vector) -> Vector:
        out = np.empty(self.shape[0], self.dtype)
        self._open().solver.multiply(np.ascontiguousarray(self._order.into(v)), out)
        return self._order.back(out) if self._order.rows is not None else out

    # ---- solving ----

    @overload
    def solve(
        self, b: Any, x0: Any = None, *, report: Literal[False] = False, **options: Unpack[SolveOptions]
    ) -> tuple[Vector, int]: ...
    @overload
    def solve(
        self, b: Any, x0: Any = None, *, report: Literal[True], **options: Unpack[SolveOptions]
    ) -> tuple[Vector, int, Any]: ...
    def solve(
        self,
        b: Any,
        x0: Any = None,
        *,
        rtol: SupportsFloat = 1e-5,
        atol: SupportsFloat = 0.0,
        maxiter: SupportsIndex | None = None,
        M: Preconditioner | None = None,
        callback: Callable[[Vector], object] | None = None,
        method: Method = "auto",
        control: Control = "cpu_free",
        blocks: SupportsIndex | None = None,
        fixed_iterations: SupportsIndex | None = None,
        replace_every: SupportsIndex = 0,
        deadline: SupportsFloat | None = None,
        report: bool = False,
        progress: Callable[[Progress], object] | None = None,
    ) -> Any:
        """Solves ``A x = b`` by conjugate gradients; see :func:`cg` for the arguments, the result and the errors.

        With `b` of shape (N, k), for each of its columns in turn, with the same bits as alone: one persistent program
        goes from column to column by itself. `x0` then has a column for each, `callback` gets the column that is being
        solved for, and ``Progress.column`` says which. Returns ``(X, info)`` with X of the shape of `b`, and 0, or the
        most iterations of a column whose residual did not come to its target; with `report` also a tuple of reports.
        A breakdown names the column.

        >>> import numpy as np
        >>> from starling.linalg import DistributedMatrix, matrices
        >>> A = DistributedMatrix(matrices.grid_2d(8, 8), devices=2)
        >>> X, info = A.solve(A @ np.eye(64)[:, :3], rtol=1e-10)
        >>> X.shape, info, bool(np.allclose(X, np.eye(64)[:, :3], atol=1e-8))
        ((64, 3), 0, True)
        """
        self._must_be_symmetric("solve", "; conjugate gradients solve no others")
        rows = self.shape[0]
        m = self._preconditioner(M)
        end = _choices.ending(rows, rtol, atol, maxiter, fixed_iterations)
        options = {
            "method": _choices.method_named(method),
            "control": one_of("control", control, _choices.CONTROLS),
            "replace_every": whole_number("replace_every", replace_every, least=0),
            **_choices.launch(blocks, deadline),
            **native_options(m),
        }
        callable_or_none("callback", callback)
        callable_or_none("progress", progress)
        right = self._own_type(_vectors.finite_columns(b, "b", rows), "b")
        x = _columns.into(self._start(x0, right.shape), self._order, self.dtype)
        kept = self._open()
        moved_before = kept.machine.traffic
        results = kept.solver.solve(
            _columns.into(right, self._order, self.dtype),
            x,
            rtol=end.rtol,
            atol=end.atol,
            max_iterations=end.iterations,
            fixed=end.fixed,
            watch=_columns.watch(callback, progress, x, self._order),
            each=callback is not None,
            **options,
        )
        _columns.raise_breakdown(results, described(m))
        solution = _columns.back(x, self._order, right.shape)
        info = _columns.info(results)
        for done in results:
            if done.why == "stagnated":
                log.warning(
                    "cg: stagnated after %d iterations: the residual %.3g does not become smaller, the target is %.3g; "
                    "rtol or atol asks for more than %s can give here, or a preconditioner is needed",
                    done.iterations, done.residual, done.target, self.dtype,
                )  # fmt: skip
        if not report:
            return solution, info
        traffic = machines.traffic_since(kept.machine, moved_before)
        reports = tuple(self._report(kept, done, options, described(m), traffic) for done in results)
        return solution, info, reports[0] if len(reports) == 1 else reports

    def _preconditioner(self, m: Preconditioner | None) -> Jacobi | BlockJacobi | Chebyshev | None:
        """What `M` means for this matrix, whose blocks have been made already."""
        if isinstance(m, str) and m == "block_jacobi" and self._block_size:
            return BlockJacobi(self._block_size)
        meant = preconditioner(m)
        if isinstance(meant, BlockJacobi) and meant.size != self._block_size:
            kept = "none" if self._block_size is None else f"blocks of {self._block_size} rows"
            raise ArgumentError(f"M = {meant}, but the matrix has kept {kept}; make it with block_size={meant.size}")
        return meant

    def _start(self, x0: Any, shape: tuple[int, ...]) -> Vector:
        if x0 is None:
            return np.zeros(shape, self.dtype)
        if isinstance(x0, str):
            raise ElementTypeError(f"x0 = {x0!r}; pass an array, or None to start from zero")
        start = _vectors.finite_columns(x0, "x0", self.shape[0])
        if start.shape != shape:
            raise ArgumentError(
                f"x0 has {start.shape[1]} columns, b {shape[1]}; pass one start for each, or None to start from zero"
            )
        return start  # it may be rounded

    def _report(
        self, kept: _Kept, done: native.SolveResult, options: dict[str, Any], m: str, traffic: tuple[Traffic, ...]
    ) -> Report:
        f = self._facts(kept)
        return Report(
            why=done.why,
            iterations=done.iterations,
            residual=done.residual,
            target=done.target,
            history=tuple(done.history),
            replacements=done.replacements,
            seconds=done.seconds,
            microseconds_per_iteration=1e6 * done.seconds / max(done.iterations, 1),
            method=options["method"],
            control=options["control"],
            preconditioner=m,
            storage=f.storage,
            offset_bits=f.offset_bits,
            reorder=f.reorder,
            rows=f.rows,
            nonzeros=f.nonzeros,
            first_rows=f.first_rows,
            halo=f.halo,
            dtype=str(self.dtype),
            machine=f.machine,
            devices=f.devices,
            blocks=done.blocks,
            threads=done.threads,
            kept_bytes=done.kept_bytes,
            shared=machines.sharing(kept.machine),
            traffic=traffic,
        )
