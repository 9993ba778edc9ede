"""Logical data as parts that move and wait alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from starling._arguments import whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.stf._access import Access
from starling.stf._data import LogicalData
from starling.stf._functions import refuse_within_function

if TYPE_CHECKING:
    from starling.stf._context import Context

log = logging.getLogger("starling")


class Parts:
    """The parts of logical data; made by :meth:`starling.stf.Context.split`.

    Each is logical data of its own. The whole cannot be used until :meth:`join`, which the end of a ``with`` block
    calls, and the end of the last reference and of the context too.
    """

    def __init__(self, context: Context, whole: LogicalData, bound: native.StfParts) -> None:
        dtype = whole.layout[1]
        self.context = context
        self._bound = bound
        self._whole = whole
        self._parts: list[LogicalData] = []
        self._joined = False
        for i in range(bound.size()):
            name = f"{whole.name}[{i}]" if whole.name else ""
            extents = tuple(end - begin for begin, end in bound.box(i))
            part = LogicalData(context, bound.part(i), extents, dtype, name, whole._array, whole._writable)
            part._writers = whole._writers
            self._parts.append(part)

    def __len__(self) -> int:
        return len(self._parts)

    def __getitem__(self, number: SupportsIndex) -> LogicalData:
        return self._parts[number]

    def __iter__(self) -> Iterator[LogicalData]:
        return iter(self._parts)

    def index_of(self, number: SupportsIndex) -> tuple[slice, ...]:
        """Where part `number` lies in the whole: ``array[parts.index_of(i)]``."""
        return tuple(slice(begin, end) for begin, end in self._bound.box(self._checked(number)))

    def index_with_halo(self, number: SupportsIndex) -> tuple[slice | NDArray[np.int64], ...]:
        """The same of what :meth:`with_halo` shows; where that goes round the ends, the first index is an array."""
        which = self._checked(number)
        begin, end = self._bound.rows_with_halo(which)
        extent = (self._whole.shape or (0,))[0]
        inside = begin >= 0 and end <= extent
        rows = slice(begin, end) if inside else np.arange(begin, end) % extent
        return (rows, *self.index_of(which)[1:])

    def with_halo(self, number: SupportsIndex, place: native.data_place | None = None) -> Access:
        """The part and the rows around it that there are, to read. Of its neighbours only these rows move.

        Raises:
            ArgumentError: The data was split without a halo.
        """
        which = self._checked(number)
        access = self._parts[which].read(place)
        rows = self._bound.rows_with_halo(which)
        shape = (rows[1] - rows[0], *(self._parts[which].shape or ())[1:])
        extent = (self._whole.shape or (0,))[0]
        near = [
            p
            for i, p in enumerate(self._parts)
            if i != which and any(self._overlaps(i, rows, shift) for shift in (-extent, 0, extent))
        ]
        return Access(access.data, access.mode, access.place, (self._bound, which), shape, tuple(near))

    def join(self) -> None:
        """Makes the whole one again; the parts cannot be used any more. Again: nothing.

        Raises:
            ArgumentError: A part is frozen or split, or has no value while others have.
        """
        refuse_within_function("Parts.join")
        self._bound.join()
        if not self._joined:
            self._whole._writers = tuple({w for p in self._parts for w in p._writers})
        self._joined = True

    def __enter__(self) -> Parts:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None:
            return self.join()
        try:
            self.join()
        except Exception as problem:
            log.warning("split: %s, while the parts were left for %s", problem, kind.__name__)
        return None

    def _overlaps(self, number: int, rows: tuple[int, int], shift: int) -> bool:
        """Whether rows reach into a part, or into its copy `shift` rows on, as there is of one round the ends."""
        begin, end = self._bound.box(number)[0]
        return begin + shift < rows[1] and end + shift > rows[0]

    def _checked(self, number: SupportsIndex) -> int:
        return range(len(self._parts))[number]

    def __repr__(self) -> str:
        return f"<starling.stf.Parts: {len(self._parts)} of {self._whole.describe()}>"


def counts_of(parts: object, dimensions: int) -> list[int]:
    """How many parts along each dimension."""
    if isinstance(parts, SupportsIndex):
        return [whole_number("parts", parts, least=1), *[1] * (dimensions - 1)]
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        raise ElementTypeError(
            f"parts = {parts!r} is a {type(parts).__name__}; pass a number, or one for each dimension"
        )
    if len(parts) != dimensions:
        raise ArgumentError(f"parts = {tuple(parts)!r} for data of {dimensions} dimensions; pass a number for each")
    return [whole_number(f"parts[{i}]", n, least=1) for i, n in enumerate(parts)]
