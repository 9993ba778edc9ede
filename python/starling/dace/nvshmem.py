"""Communication between PEs, to be called in a function that ``starling.dace.program`` compiles.

Names and meanings are OpenSHMEM's. A put to ``NOBODY`` does nothing, and a wait for it passes. Regions are slices with
any step; what shape they have decides how they travel. Flags count from the start of each call.
"""

from __future__ import annotations

from typing import Any, NoReturn

from starling.dace.program_error import ProgramError

__all__ = [
    "Barrier",
    "Broadcast",
    "Fence",
    "Getmem",
    "Iput",
    "MaxReduce",
    "MinReduce",
    "P",
    "Putmem",
    "PutmemSignal",
    "Quiet",
    "SignalOp",
    "SignalWait",
    "SumReduce",
    "flags",
]


def _refuse(name: str) -> NoReturn:
    raise ProgramError(f"{name}: can be called only in a function that starling.dace.program compiles", node=name)


def flags(n: int) -> Any:
    """n signals, all 0 when the call starts; ``flags[i]`` with a constant i is one of them."""
    _refuse("flags")


def PutmemSignal(dest: Any, source: Any, flag: Any, value: Any, peer: Any, op: str = "set") -> None:  # noqa: N802
    """Writes a region to `dest` at `peer`, then sets the flag there: who sees the flag sees the data."""
    _refuse("PutmemSignal")


def SignalWait(flag: Any, value: Any, peer: Any = None) -> None:  # noqa: N802
    """Waits until the own flag is at least `value`. `peer`: who raises it; NOBODY: passes."""
    _refuse("SignalWait")


def Putmem(dest: Any, source: Any, peer: Any) -> None:  # noqa: N802
    """Writes a region to `dest` at `peer`; it has arrived after Quiet or Barrier."""
    _refuse("Putmem")


def Iput(dest: Any, source: Any, peer: Any) -> None:  # noqa: N802
    """As Putmem, of regions with strides."""
    _refuse("Iput")


def P(dest: Any, value: Any, peer: Any) -> None:  # noqa: N802
    """Writes one element to `dest` at `peer`."""
    _refuse("P")


def Getmem(dest: Any, source: Any, peer: Any) -> None:  # noqa: N802
    """Reads a region of `peer` into the own `dest`."""
    _refuse("Getmem")


def SignalOp(flag: Any, value: Any, peer: Any, op: str = "set") -> None:  # noqa: N802
    """Sets the flag at `peer`, or adds to it with ``op="add"``."""
    _refuse("SignalOp")


def Quiet() -> None:  # noqa: N802
    """Puts before it have arrived when it returns."""
    _refuse("Quiet")


def Fence() -> None:  # noqa: N802
    """Puts before it arrive before puts and signals after it, at each PE."""
    _refuse("Fence")


def Barrier() -> None:  # noqa: N802
    """All PEs meet; puts before it have arrived."""
    _refuse("Barrier")


def Broadcast(dest: Any, source: Any, root: Any) -> None:  # noqa: N802
    """The element that PE `root` has in `source`, into `dest` of every PE."""
    _refuse("Broadcast")


def SumReduce(dest: Any, source: Any) -> None:  # noqa: N802
    """The sum of one element over all PEs, into `dest` of every PE."""
    _refuse("SumReduce")


def MaxReduce(dest: Any, source: Any) -> None:  # noqa: N802
    """The maximum of one element over all PEs, into `dest` of every PE."""
    _refuse("MaxReduce")


def MinReduce(dest: Any, source: Any) -> None:  # noqa: N802
    """The minimum of one element over all PEs, into `dest` of every PE."""
    _refuse("MinReduce")
