"""The words that arguments of solvers take, and what they become."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, SupportsIndex, TypeAlias, TypedDict

from numpy.typing import NDArray

from starling._arguments import MOST_STEPS, finite_number, one_of, whole_number
from starling.errors import ArgumentError
from starling.linalg._preconditioners import Preconditioner
from starling.linalg._report import Progress
from starling.machine import Machine

Method = Literal["auto", "standard", "fused", "pipelined"]
Control = Literal["cpu_free", "streams", "graph"]
Storage = Literal["auto", "sliced", "sliced_3x3", "compressed"]
Partition = Literal["nonzeros", "rows"]
Reorder = Literal["rcm", "graph"]

Vector: TypeAlias = "NDArray[Any]"


class Where(TypedDict, total=False):
    """The keyword arguments that say how a matrix lies on devices; :class:`DistributedMatrix` explains them."""

    devices: int | None
    machine: Machine | str | None
    partition: Partition
    reorder: Reorder | None
    storage: Storage


class SolveOptions(TypedDict, total=False):
    """The keyword arguments of a solve; :func:`cg` explains them."""

    rtol: SupportsFloat
    atol: SupportsFloat
    maxiter: SupportsIndex | None
    M: Preconditioner | None
    callback: Callable[[Vector], object] | None
    method: Method
    control: Control
    blocks: SupportsIndex | None
    fixed_iterations: SupportsIndex | None
    replace_every: SupportsIndex
    deadline: SupportsFloat | None
    progress: Callable[[Progress], object] | None


class CgOptions(SolveOptions, Where, total=False):
    """Both."""


METHODS: tuple[Method, ...] = ("auto", "standard", "fused", "pipelined")
CONTROLS: tuple[Control, ...] = ("cpu_free", "streams", "graph")
STORAGES: tuple[Storage, ...] = ("auto", "sliced", "sliced_3x3", "compressed")
PARTITIONS: tuple[Partition, ...] = ("nonzeros", "rows")
REORDERS: tuple[Reorder, ...] = ("rcm", "graph")

AUTO_METHOD: Method = "fused"  # what "auto" means: one reduction an iteration, and the residuals of "standard"


def method_named(method: object) -> str:
    """The method itself, never "auto".

    >>> method_named("auto")
    'fused'
    """
    name = one_of("method", method, METHODS)
    return AUTO_METHOD if name == "auto" else name


@dataclass(frozen=True)
class Ending:
    """When a solve ends.

    Attributes:
        fixed: Whether it does all its iterations, whatever the residual is.
    """

    rtol: float
    atol: float
    iterations: int
    fixed: bool


def ending(
    rows: int,
    rtol: SupportsFloat,
    atol: SupportsFloat,
    maxiter: SupportsIndex | None,
    fixed_iterations: SupportsIndex | None,
) -> Ending:
    """These arguments, checked; without any number of iterations, ten times the rows."""
    tolerances = finite_number("rtol", rtol, least=0), finite_number("atol", atol, least=0)
    if fixed_iterations is not None:
        if maxiter is not None:
            raise ArgumentError(
                f"maxiter = {maxiter} and fixed_iterations = {fixed_iterations}; give one: fixed_iterations does "
                "exactly so many, maxiter at most"
            )
        return Ending(*tolerances, whole_number("fixed_iterations", fixed_iterations, most=MOST_STEPS), True)
    most = 10 * rows if maxiter is None else whole_number("maxiter", maxiter, most=MOST_STEPS)
    return Ending(*tolerances, most, False)


def launch(blocks: SupportsIndex | None, deadline: SupportsFloat | None) -> dict[str, Any]:
    """How programs are started, for the native solver."""
    seconds = 0.0 if deadline is None else finite_number("deadline", deadline)
    if deadline is not None and not 0 < seconds < 1e6:
        raise ArgumentError(f"deadline = {deadline} s; must be more than 0 and less than 1e6")
    return {"blocks": 0 if blocks is None else whole_number("blocks", blocks), "deadline": seconds}
