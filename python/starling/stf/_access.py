"""How a task uses a piece of logical data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

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

    @property
    def reads(self) -> bool:
        """Whether the task looks at the value that is there."""
        return self.mode != "write"

    @property
    def writes(self) -> bool:
        """Whether the task changes the value."""
        return self.mode != "read"


def checked(call: str, accesses: tuple[object, ...]) -> tuple[Access, ...]:
    """The arguments of a call, if they are accesses."""
    found = []
    for number, access in enumerate(accesses):
        if not isinstance(access, Access):
            raise ElementTypeError(
                f"{call}: argument {number} is a {type(access).__name__}; "
                "pass what read(), write() or rw() of logical data returns"
            )
        found.append(access)
    return tuple(found)
