"""Places in the user's file, and the error that names one."""

from __future__ import annotations

from dataclasses import dataclass

from starling.errors import ProgramError

__all__ = ["NOWHERE", "Place", "ProgramError"]


@dataclass(frozen=True)
class Place:
    """A line of the user's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "?"


NOWHERE = Place("", 0)
