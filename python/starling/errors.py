"""The errors that Starling raises.

Every message names the argument or resource, the value seen, what is allowed, and the next step. Each class is also one
of Python's own, so that ``except ValueError`` and the like work as usual.

>>> from starling import errors
>>> issubclass(errors.ArgumentError, errors.Error), issubclass(errors.ArgumentError, ValueError)
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = [
    "ArgumentError",
    "BreakdownError",
    "CheckError",
    "DeviceError",
    "ElementTypeError",
    "EntryError",
    "Error",
    "FaultError",
    "LaunchError",
    "MatrixFileError",
    "NetworkError",
    "NotConverged",
    "NotDominant",
    "NotPositiveDefinite",
    "OutOfMemory",
    "ProcessError",
    "ProgramError",
    "RangeError",
    "RegionError",
    "StallError",
    "TaskError",
    "TraceFileError",
    "Unsupported",
]


class Error(Exception):
    """Base of all errors that Starling raises."""


class ArgumentError(Error, ValueError):
    """An argument has a value that is not allowed."""


class TraceFileError(ArgumentError):
    """A file is not a whole trace.

    Attributes:
        offset: The byte where it stops making sense.
    """

    def __init__(self, message: str = "", offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset

    def __reduce__(self) -> tuple[type[TraceFileError], tuple[str, int]]:
        return type(self), (str(self), self.offset)


class MatrixFileError(ArgumentError):
    """A file is not a whole matrix or vector.

    Attributes:
        line: Where it stops making sense, from 1; None where that is not known.
    """

    def __init__(self, message: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.line = line

    def __reduce__(self) -> tuple[type[MatrixFileError], tuple[str, int | None]]:
        return type(self), (str(self), self.line)


class ProgramError(ArgumentError):
    """A program of :mod:`starling.dace`, or an argument of its call, that cannot be compiled or run.

    Attributes:
        file: The user's source; empty where that is not known.
        line: The line in it, from 1; 0 where that is not known.
        node: What stands there: an operation, an array or an argument, by name.
    """

    def __init__(self, message: str = "", file: str = "", line: int = 0, node: str = "") -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.node = node

    def __reduce__(self) -> tuple[type[ProgramError], tuple[str, str, int, str]]:
        return type(self), (str(self), self.file, self.line, self.node)

    @classmethod
    def at(cls, place: Any, node: str, message: str) -> ProgramError:
        """The error for a node at a place, which has a file and a line; the message begins with both."""
        where = f"{place}: " if place.file else ""
        return cls(f"{where}{node}: {message}", place.file, place.line, node)


class BreakdownError(ArgumentError, ArithmeticError):
    """Conjugate gradients cannot go on: a number that the next iteration needs is not finite.

    Attributes:
        iteration: Where that was found; 0 is the start.
        value: The number.
    """

    def __init__(self, message: str = "", iteration: int = 0, value: float = 0.0) -> None:
        super().__init__(message)
        self.iteration = iteration
        self.value = value

    def __reduce__(self) -> tuple[type[BreakdownError], tuple[str, int, float]]:
        return type(self), (str(self), self.iteration, self.value)


class NotPositiveDefinite(BreakdownError):
    """A matrix or preconditioner is not positive definite: a product that must be positive is not."""


class EntryError(ArgumentError):
    """An entry of a matrix, or the weight of an edge, is not allowed: negative, or not finite.

    Attributes:
        row, column: Its place; of an edge, the numbers of the vertices that it leads from and to.
        value: What it is.
    """

    def __init__(self, message: str = "", row: int = 0, column: int = 0, value: float = 0.0) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.value = value

    def __reduce__(self) -> tuple[type[EntryError], tuple[str, int, int, float]]:
        return type(self), (str(self), self.row, self.column, self.value)


class NotDominant(ArgumentError):
    """A row of a matrix is not strictly diagonally dominant.

    Attributes:
        row: The first one.
        diagonal: The absolute value on its diagonal.
        others: The sum of the absolute values beside it, which must be less.
    """

    def __init__(self, message: str = "", row: int = 0, diagonal: float = 0.0, others: float = 0.0) -> None:
        super().__init__(message)
        self.row = row
        self.diagonal = diagonal
        self.others = others

    def __reduce__(self) -> tuple[type[NotDominant], tuple[str, int, float, float]]:
        return type(self), (str(self), self.row, self.diagonal, self.others)


class NotConverged(Error, ArithmeticError):
    """The iterations that were allowed did not suffice.

    Attributes:
        iterations: How many were done.
        last: What they came to, in the form of the result.
        change: What was to become small: how far the last iteration moved it, or its residual.
        report: What was done, a :class:`starling.graph.Report`.
    """

    def __init__(
        self, message: str = "", iterations: int = 0, last: Any = None, change: float = 0.0, report: Any = None
    ) -> None:
        super().__init__(message)
        self.iterations = iterations
        self.last = last
        self.change = change
        self.report = report

    def __reduce__(self) -> tuple[type[NotConverged], tuple[Any, ...]]:
        return type(self), (str(self), self.iterations, self.last, self.change, self.report)


class ElementTypeError(Error, TypeError):
    """An argument has the wrong type, or an array the wrong element type."""


class RangeError(Error, IndexError):
    """An index, a PE or an address is out of range."""


class OutOfMemory(Error, MemoryError):
    """Memory of a device does not suffice."""


class LaunchError(Error, ValueError):
    """A persistent program has more blocks than the device holds at once."""


class Unsupported(Error, RuntimeError):
    """The machine, the build or the driver lacks something that was asked for."""


class DeviceError(Error, RuntimeError):
    """A device or its driver reported a failure."""


class RegionError(Error, RuntimeError):
    """A kernel has used a region against its rules."""


class FaultError(Error, RuntimeError):
    """A fault that was injected on purpose ended a block; see :mod:`starling.faults`."""


class ProcessError(Error, RuntimeError):
    """Another process of a distributed machine has died, does not come, or has failed; the message names it."""


class NetworkError(Error, RuntimeError):
    """A network card could not do what a block asked for; the message names call, block and the card's status."""


class TaskError(Error, RuntimeError):
    """A task of :mod:`starling.stf` reads data that has no value, because a task that should have written it failed."""


class CheckError(Error, RuntimeError):
    """Check mode has found a defect.

    The message says what and where; the attributes hold the same as data.

    Attributes:
        kind: ``deadlock``, ``lost signal``, ``unordered read`` and so on.
        seed: Replays the schedule that showed it.
        blocks: A dictionary for each block concerned: ``pe``, ``block``, ``role`` and its last ``calls``.
    """

    def __init__(self, message: str = "", kind: str = "", seed: int = 0, blocks: Sequence[dict[str, Any]] = ()) -> None:
        super().__init__(message)
        self.kind = kind
        self.seed = seed
        self.blocks = list(blocks)

    def __reduce__(self) -> tuple[type[CheckError], tuple[str, str, int, list[dict[str, Any]]]]:
        return type(self), (str(self), self.kind, self.seed, self.blocks)


class StallError(Error, TimeoutError):
    """A wait in a program passed its deadline.

    The message says what every block was doing; the attributes hold the same as data.

    Attributes:
        reports: One dictionary per block, ordered by PE, then block: ``pe``, ``block``, ``role`` (its number),
            ``state``, ``operation``, ``peer`` (the PE that should act; None
            if it is not known), ``compare``, ``wanted``, ``seen``, ``signal_offset`` (bytes from the start of
            symmetric memory), ``file``, ``line``.
            The state is ``expired`` (its wait passed the deadline), ``waiting`` (it was in a wait when the run was
            ended), ``running`` (it computed; on GPUs: its kernel has not ended) or ``finished`` (it had returned; on
            GPUs also: it returned later without coming to another wait).
        cycle: Blocks that wait for one another in a ring, as (PE, block); empty when no ring was found.
        injected: Faults that were injected on purpose, a line each: if there are any, they are the cause.
    """

    def __init__(
        self,
        message: str = "",
        reports: Sequence[dict[str, Any]] = (),
        cycle: Sequence[tuple[int, int]] = (),
        injected: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.reports = list(reports)
        self.cycle = list(cycle)
        self.injected = list(injected)

    def __reduce__(self) -> tuple[type[StallError], tuple[Any, ...]]:
        return type(self), (str(self), self.reports, self.cycle, self.injected)
