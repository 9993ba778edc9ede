"""Right-hand sides column by column: how they go to the native solver, who watches, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling._native import native
from starling.errors import BreakdownError, NotPositiveDefinite
from starling.linalg._choices import Vector
from starling.linalg._order import Order
from starling.linalg._report import Progress


def into(columns: NDArray[Any], order: Order, dtype: Any) -> NDArray[Any]:
    """(rows, columns) of the user as a new (columns, rows) in the order of the devices."""
    return np.array(order.into(columns).T, dtype=dtype, order="C")


def back(x: NDArray[Any], order: Order, like: tuple[int, ...]) -> NDArray[Any]:
    """The other way round; of one column (rows,)."""
    if x.shape[0] == 1:
        return order.back(x[0])
    return np.ascontiguousarray(order.back(x.T)).reshape(like)


def watch(
    callback: Callable[[Vector], object] | None,
    progress: Callable[[Progress], object] | None,
    x: NDArray[Any],
    order: Order,
) -> Callable[[int, int, float, float], None] | None:
    """What the native solver calls between stretches of iterations."""
    if callback is None and progress is None:
        return None
    last = (0, 0)

    def report(column: int, iterations: int, residual: float, target: float) -> None:
        nonlocal last
        if callback is not None and iterations > 0 and (column, iterations) > last:
            callback(order.back(x[column]))
        last = (column, iterations)
        if progress is not None:
            progress(Progress(iterations, residual, target, column))

    return report


def has_converged(done: native.SolveResult) -> bool:
    return bool(done.why == "converged" or done.residual <= done.target)


def info(results: list[native.SolveResult]) -> int:
    """SciPy's: 0, or the number of iterations of a solve that did not come to its end; of several the most."""
    return max(0 if has_converged(done) else max(int(done.iterations), 1) for done in results)


def raise_breakdown(results: list[native.SolveResult], m: str) -> None:
    """Raises what ended the solve, if a breakdown did."""
    for column, done in enumerate(results):
        where = f"at iteration {done.iterations}" + (f" for column {column} of b" if len(results) > 1 else "")
        if done.why == "not positive definite":
            culprit = "A" if m == "none" else f"A, or M = {m},"
            raise NotPositiveDefinite(
                f"cg: {culprit} is not positive definite: {where} a product that must be positive is "
                f"{done.breakdown_value:.6g}; conjugate gradients need a symmetric positive definite matrix",
                done.iterations,
                done.breakdown_value,
            )
        if done.why == "not finite":
            raise BreakdownError(
                f"cg: {where} a sum became {done.breakdown_value:g}: numbers grow beyond the element type; scale A and "
                "b, or use float64",
                done.iterations,
                done.breakdown_value,
            )
