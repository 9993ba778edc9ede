"""Check mode from Python: runs programs on virtual devices under seeded schedules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from starling._arguments import whole_number
from starling._native import native
from starling.errors import ElementTypeError
from starling.machine import MOST_VIRTUAL_DEVICES, Machine

__all__ = ["CheckSummary", "check"]

MOST_SEED = 2**64 - 1


@dataclass(frozen=True)
class CheckSummary:
    """What check mode has explored.

    Attributes:
        programs: Runs of programs, and batches of work that streams were given.
        schedules: Executions, of all of them.
        calls: Calls that blocks made.
        deliveries: Pieces of puts and gets, and signals, that were delivered.
        seconds: Time that it took.
        accesses_seen: Whether loads and stores of all kernels were seen. If not, calls alone were checked: set
            ``STARLING_CHECK`` before Python starts, or use ``starling check``.
        threads_seen: The most threads that a block has had.
        written_alike: Bytes to which several threads of a block have written the same without a barrier between.
    """

    programs: int
    schedules: int
    calls: int
    deliveries: int
    seconds: float
    accesses_seen: bool
    threads_seen: int
    written_alike: int


def check(
    run: Callable[[Machine], object], *, devices: int = 4, seeds: int = 1000, first_seed: int = 1, threads: int = 0
) -> CheckSummary:
    """Runs something on virtual devices in check mode: each of its programs under many schedules.

    Blocks take turns at every call, and what they put arrives as late and as disordered as the contract allows. Each
    program that ``run`` starts is executed once for each seed, all from the same memory; what is left is the result of
    one more execution, whose schedule is plain.

    Args:
        run: Called once, with the machine to use.
        devices: How many virtual devices it has, 1 to 256.
        seeds: How many schedules each program is explored under.
        first_seed: The first of their seeds. With ``seeds=1`` it replays what an error named.
        threads: Of a block, 1 to 1024, in kernels whose loads and stores are seen; 0: each seed chooses 1, 2, 3 or
            5, or, one in 32, 32.

    Raises:
        CheckError: A schedule has found a defect; the message names the seed, the source lines and the last calls.

    >>> import numpy as np, starling
    >>> u = np.ones((16, 16), dtype="float32")
    >>> found = starling.check(lambda m: starling.stencil.jacobi(u, steps=3, machine=m), devices=2, seeds=5)
    >>> found.schedules % found.programs
    0
    """
    if not callable(run):
        raise ElementTypeError(f"run is a {type(run).__name__}; pass a function that takes the machine")
    m = native.Machine.checked_host(
        whole_number("devices", devices, most=MOST_VIRTUAL_DEVICES),
        seeds=whole_number("seeds", seeds, most=2**31 - 1),
        first_seed=whole_number("first_seed", first_seed, least=0, most=MOST_SEED),
        threads=whole_number("threads", threads, least=0, most=1024),
    )
    run(m)
    return CheckSummary(**m.checked())
