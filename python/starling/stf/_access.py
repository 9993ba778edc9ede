"""How a task uses a piece of logical data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from starling._native import native
from starling.errors import ElementTypeError

if TYPE_CHECKING:
    from starling.stf._data import LogicalData

Mode = Literal["read", "write", "rw"]


@dataclass(frozen=True)
class Access:
    """One access of a task; made by ``read()``, ``write()`` and ``rw()`` of logical data."""

    data: LogicalData
    mode: Mode
    place: native.data_place
    # With a halo: what the data is a part of, and its number; the extents of the view; the parts around it.
    halo: tuple[native.StfParts, int] | None = None
    extents: tuple[int, ...] | None = None
    near: tuple[LogicalData, ...] = ()
    last: bool = False

    def last_use(self) -> Access:
        """The same access, as the last use of this copy in a while: where a device is full such copies give way first,
        and those of which there is another one without being copied. It changes no value."""
        return replace(self, last=True)

    @property
    def layout(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and element type of the view; raises ArgumentError for a token."""
        shape, dtype = self.data.layout
        return (shape if self.extents is None else self.extents), dtype

    @property
    def bound(self) -> tuple[native.StfData, str, native.data_place, native.StfParts | None, int, bool]:
        """As the native module takes it."""
        parts, number = self.halo or (None, 0)
        return self.data._bound, self.mode, self.place, parts, number, self.last

    @property
    def reads(self) -> bool:
        """Whether the task reads the value that is there."""
        return self.mode != "write"

    @property
    def writes(self) -> bool:
        """Whether the task changes the value."""
        return self.mode != "read"


def checked(call: str, accesses: tuple[object, ...]) -> tuple[Access, ...]:
    """The arguments of a call, if they are accesses; a list of accesses counts as its members."""
    found = []
    for number, given in enumerate(accesses):
        for access in given if isinstance(given, (list, tuple)) else (given,):
            if not isinstance(access, Access):
                within = f"a member of argument {number}" if access is not given else f"argument {number}"
                raise ElementTypeError(
                    f"{call}: {within} is a {type(access).__name__}; "
                    "pass what read(), write() or rw() of logical data returns, or a list of that"
                )
            found.append(access)
    return tuple(found)
