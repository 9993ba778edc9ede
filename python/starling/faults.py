"""Faults that virtual devices make happen on purpose, to see what a program does when something goes wrong.

A fault says at which call it fires: the ``nth`` of those that match, counted from :meth:`Machine.inject` on, over all
runs. Every run that a fault disturbs ends with a typed error that names the fault, and the machine can run again.

>>> import numpy as np
>>> from starling import errors, faults, machine, stencil
>>> m = machine.host(4, faults=[faults.kill_block(pe=2, block=0, nth=40)])
>>> u = np.ones((32, 32), dtype="float32")
>>> try:
...     stencil.jacobi(u, steps=100, machine=m)
... except errors.FaultError as error:
...     print(str(error)[:45])
injected fault: kill_block ended PE 2 block 0
>>> [fired.kind for fired in m.faults_fired()]
['kill_block']
>>> m.inject([])  # no more faults
>>> bool((stencil.jacobi(u, steps=100, machine=m) == 1).all())
True

Arguments that several faults share:

* ``pe``: the device whose blocks make the call; None: any.
* ``block``: the number of the block on its device; None: any.
* ``nth``: at which matching call the fault fires, from 1.
* ``times``: at how many calls from there on; None: for ever.
* ``calls``: which calls count: ``"user"``, those on arrays of the program; ``"control"``, those by which barriers and
  reductions meet; ``"all"``; ``"usual"``, which is ``"user"`` for faults of signals and ``"all"`` for faults of blocks.
"""

from __future__ import annotations

from collections.abc import Iterable

from starling._arguments import finite_number, whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError

__all__ = [
    "Fault",
    "FiredFault",
    "corrupt_epoch",
    "delay_signal",
    "drop_signal",
    "fail_allocation",
    "kill_block",
    "lose_link",
    "slow_pe",
]

Fault = native.Fault
FiredFault = native.FiredFault

MOST_CALLS = 2**62
MOST_SECONDS = 3600
CALLS = ("usual", "user", "control", "all")


def drop_signal(
    pe: int | None = None, *, block: int | None = None, nth: int = 1, times: int | None = 1, calls: str = "usual"
) -> Fault:
    """A signal is never raised; its data arrives. A receiver that waits for it ends the run with ``StallError``, whose
    ``injected`` names this fault.

    >>> drop_signal(pe=1, nth=3)
    drop_signal(pe=1, nth=3)
    """
    return _fault("drop_signal", pe, block, nth, times, calls)


def delay_signal(
    seconds: float,
    pe: int | None = None,
    *,
    block: int | None = None,
    nth: int = 1,
    times: int | None = 1,
    calls: str = "usual",
) -> Fault:
    """A signal is raised later by so many seconds; the block that raises it waits as long. ``StallError`` where that is
    longer than a deadline, otherwise the run succeeds.

    >>> delay_signal(0.5, pe=0).kind
    'delay_signal'
    """
    return _fault("delay_signal", pe, block, nth, times, calls, seconds=_duration(seconds))


def corrupt_epoch(
    pe: int | None = None,
    *,
    flip: int = 1 << 63,
    block: int | None = None,
    nth: int = 1,
    times: int | None = 1,
    calls: str = "usual",
) -> Fault:
    """A packet arrives with another number: the bits of ``flip`` are inverted. Its receiver ends the run with
    ``StallError``, whose report shows the number wanted and the number seen.

    >>> corrupt_epoch(pe=2, flip=4)
    corrupt_epoch(pe=2, flip=0x4)
    """
    return _fault("corrupt_epoch", pe, block, nth, times, calls, flip=whole_number("flip", flip, most=2**64 - 1))


def kill_block(
    pe: int | None = None, *, block: int | None = None, nth: int = 1, times: int | None = 1, calls: str = "usual"
) -> Fault:
    """A block ends at a call of any kind, and the run with it: ``FaultError`` names the block and the call.

    >>> kill_block(pe=0, block=1, nth=20)
    kill_block(pe=0, block=1, nth=20)
    """
    return _fault("kill_block", pe, block, nth, times, calls)


def slow_pe(seconds: float, pe: int | None = None, *, block: int | None = None, calls: str = "usual") -> Fault:
    """Every call of a device's blocks takes longer by so many seconds.

    >>> slow_pe(0.001, pe=3)
    slow_pe(pe=3, seconds=0.001)
    """
    return _fault("slow_pe", pe, block, 1, 1, calls, seconds=_duration(seconds))


def lose_link(
    pe: int | None = None, *, block: int | None = None, nth: int = 1, times: int | None = 1, calls: str = "usual"
) -> Fault:
    """A network card finds no way to the device of another host that a call is for: ``NetworkError``.

    >>> lose_link(pe=1)
    lose_link(pe=1)
    """
    return _fault("lose_link", pe, block, nth, times, calls)


def fail_allocation(nth: int = 1, *, times: int | None = 1) -> Fault:
    """An allocation of symmetric memory fails with ``OutOfMemory``.

    >>> fail_allocation(2)
    fail_allocation(nth=2)
    """
    return _fault("fail_allocation", None, None, nth, times, "usual")


def checked(faults: object) -> list[Fault]:
    """The argument ``faults`` of a call."""
    if isinstance(faults, Fault) or not isinstance(faults, Iterable):
        raise ElementTypeError(f"faults = {faults!r}; pass a list such as [starling.faults.drop_signal(pe=1)]")
    return list(faults)


def _fault(
    kind: str,
    pe: int | None,
    block: int | None,
    nth: int,
    times: int | None,
    calls: str,
    *,
    seconds: float = 0.0,
    flip: int = 0,
) -> Fault:
    if not isinstance(calls, str) or calls not in CALLS:
        raise ArgumentError(f"calls = {calls!r}; must be 'usual', 'user', 'control' or 'all'")
    return native.Fault.make(
        kind,
        None if pe is None else whole_number("pe", pe, least=0),
        None if block is None else whole_number("block", block, least=0),
        whole_number("nth", nth, most=MOST_CALLS),
        0 if times is None else whole_number("times", times, most=MOST_CALLS),
        calls,
        seconds,
        flip,
    )


def _duration(seconds: float) -> float:
    number = finite_number("seconds", seconds)
    if not 0 < number <= MOST_SECONDS:
        raise ArgumentError(f"seconds = {number}; must be more than 0 and at most {MOST_SECONDS}")
    return number
