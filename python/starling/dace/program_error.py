"""Where a program stands in the user's file, and the error that says what of it cannot be compiled."""

from __future__ import annotations

from dataclasses import dataclass

from starling.errors import ArgumentError

__all__ = ["NOWHERE", "Place", "ProgramError"]


@dataclass(frozen=True)
class Place:
    """A line of the user's source."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else "?"


NOWHERE = Place("", 0)


class ProgramError(ArgumentError):
    """A program, or an argument of its call, that cannot be compiled or run.

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
    def at(cls, place: Place, node: str, message: str) -> ProgramError:
        """The error for a node at a line; the message begins with both."""
        where = f"{place}: " if place.file else ""
        return cls(f"{where}{node}: {message}", place.file, place.line, node)
