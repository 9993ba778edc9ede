"""Logical data: arrays wherever their copies are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.stf._access import Access, Mode

if TYPE_CHECKING:
    from starling.stf._context import Context


class LogicalData:
    """A piece of data of a context; made by ``logical_data`` and ``token`` of :class:`starling.stf.Context`.

    When the last reference to it goes, its value returns to the user's array, if it came from one, and its copies are
    freed, without waiting; the array has the value after ``synchronize()`` of work that comes later, or ``finalize()``.

    Attributes:
        context: Where it belongs.
        shape: Of the array; None for a token.
        dtype: Of the array; None for a token.
        name: For errors and drawings; may be empty.
    """

    def __init__(
        self,
        context: Context,
        bound: native.StfData,
        shape: tuple[int, ...] | None,
        dtype: np.dtype[Any] | None,
        name: str | None,
        array: Any = None,
        writable: bool = True,
    ) -> None:
        if name is not None and not isinstance(name, str):
            raise ElementTypeError(f"name = {name!r} is a {type(name).__name__}; pass a text")
        self.context = context
        self.shape = shape
        self.dtype = dtype
        self.name = name or ""
        self._bound = bound
        self._array = array
        self._writable = writable
        self._writers: tuple[int, ...] = ()  # the newest task that writes it, by number; of what was split, several
        if name:
            bound.set_name(name)

    @property
    def layout(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and element type; raises ArgumentError for a token, which has neither."""
        if self.shape is None or self.dtype is None:
            raise ArgumentError(f"{self.describe()} is a token, which has no shape and no elements")
        return self.shape, self.dtype

    @property
    def is_token(self) -> bool:
        """Whether it orders tasks and carries nothing."""
        return self.shape is None

    def read(self, place: native.data_place | None = None) -> Access:
        """The task reads it. Its view cannot be written."""
        return self._access("read", place)

    def write(self, place: native.data_place | None = None) -> Access:
        """The task gives it a new value and does not read the old one.

        Raises:
            ArgumentError: It is a read-only array.
        """
        return self._access("write", place)

    def rw(self, place: native.data_place | None = None) -> Access:
        """The task reads and changes it.

        Raises:
            ArgumentError: It is a read-only array.
        """
        return self._access("rw", place)

    def _access(self, mode: Mode, place: native.data_place | None) -> Access:
        if place is None:
            place = native.data_place.affine()
        if not isinstance(place, native.data_place):
            raise ElementTypeError(
                f"{mode}: the place is a {type(place).__name__}; pass a starling.stf.data_place, or nothing"
            )
        if mode != "read" and not self._writable:
            raise ArgumentError(
                f"{mode}: {self.describe()} is a read-only array; use read(), or make logical data of a copy"
            )
        return Access(self, mode, place)

    def describe(self) -> str:
        """Its name for errors."""
        return f"logical data '{self.name}'" if self.name else "logical data"

    def __repr__(self) -> str:
        name = f" '{self.name}'" if self.name else ""
        if self.shape is None:
            return f"<starling.stf.LogicalData{name}: token>"
        return f"<starling.stf.LogicalData{name}: {self.dtype}, shape {self.shape}>"
