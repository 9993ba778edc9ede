"""The memory of arrays that a context works on in place: each byte belongs to one piece of logical data at a time."""

from __future__ import annotations

import math
import weakref
from bisect import bisect_left, insort
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from starling.errors import ArgumentError
from starling.stf._adopt import Adopted

if TYPE_CHECKING:
    from starling.stf._data import LogicalData


@dataclass(frozen=True)
class Rows:
    """Rows of bytes; one where all is in one piece."""

    begin: int
    rows: int
    row_bytes: int
    pitch: int

    @property
    def end(self) -> int:
        """Behind the last byte."""
        return self.begin + (self.rows - 1) * self.pitch + self.row_bytes

    def overlaps(self, other: Rows) -> bool:
        """Whether a byte is of both, exactly."""
        if self.end <= other.begin or other.end <= self.begin:
            return False
        if self.pitch == other.pitch or self.rows == 1 or other.rows == 1:
            pitch = other.pitch if self.rows == 1 else self.pitch
            return _meet(self.begin - other.begin, pitch, self, other)
        few, many = (self, other) if self.rows <= other.rows else (other, self)
        return any(
            _meet(few.begin + row * few.pitch - many.begin, many.pitch, Rows(0, 1, few.row_bytes, many.pitch), many)
            for row in range(few.rows)
        )


def _meet(distance: int, pitch: int, a: Rows, b: Rows) -> bool:
    """Whether rows of the same pitch have a byte in common; `a` begins `distance` bytes behind `b`.

    Row i of `a` and row k of `b` do if -a.row_bytes < distance + (i - k) * pitch < b.row_bytes.
    """
    first = (-a.row_bytes - distance) // pitch + 1
    last = (b.row_bytes - distance - 1) // pitch
    return max(first, 1 - b.rows) <= min(last, a.rows - 1)


def rows_of(a: Adopted) -> Rows:
    """The bytes of an array that is not empty."""
    n_bytes = math.prod(a.shape) * a.dtype.itemsize
    if a.pitch == 0:
        return Rows(a.address, 1, n_bytes, n_bytes)
    return Rows(a.address, a.shape[0], n_bytes // a.shape[0], a.pitch)


class Known(NamedTuple):
    """An array, and the logical data that it was given to."""

    begin: int
    end: int
    rows: Rows
    data: weakref.ref[LogicalData]


_begin = attrgetter("begin")


class ArraysInUse:
    """Those that a context was given, in the order of their first bytes."""

    def __init__(self) -> None:
        self._known: list[Known] = []
        self._longest = 0  # from the first byte to the last, of any

    def check(self, a: Adopted) -> list[Known]:
        """Raises ArgumentError for an array that shares memory with one that is in use.

        Returns:
            Those that it shares memory with and whose logical data is gone: their values may still come back.
        """
        if 0 in a.shape:
            return []
        wanted = rows_of(a)
        first = bisect_left(self._known, wanted.begin - self._longest, key=_begin)
        last = bisect_left(self._known, wanted.end, key=_begin)
        near = [k for k in self._known[first:last] if k.end > wanted.begin and k.rows.overlaps(wanted)]
        for known in near:
            data = known.data()
            if data is not None:
                raise ArgumentError(
                    f"the array overlaps that of {data.describe()} of this context, and each would overwrite what "
                    "the other writes back; use that logical data, split it for parts, or pass a copy"
                )
        return near

    def forget(self, gone: list[Known]) -> None:
        """Those have their values."""
        self._known = [known for known in self._known if known not in gone]

    def add(self, a: Adopted, data: LogicalData) -> None:
        """An array is in use as long as its logical data lives."""
        if 0 in a.shape:
            return
        rows = rows_of(a)
        self._longest = max(self._longest, rows.end - rows.begin)
        insort(self._known, Known(rows.begin, rows.end, rows, weakref.ref(data)), key=_begin)

    def clear(self) -> None:
        """None is in use any more."""
        self._known.clear()
