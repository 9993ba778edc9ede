"""Collects the lines of a source: indentation, and the lines of the user's file that they come from."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from starling.dace.ir import Compute, Program, Reduce, same
from starling.dace.program_error import Place

__all__ = ["Launch", "Writer"]

Launch = Callable[["Writer", Compute | Reduce], None]


class Writer:
    """Lines of C++.

    Args:
        program: What is written.
        launch: Writes the launch of a loop over elements, in code of the host; None: these are lines of a kernel.
        packets: Channels whose messages are packets.
    """

    def __init__(self, program: Program, launch: Launch | None = None, packets: frozenset[int] = frozenset()) -> None:
        self.program = program
        self.launch = launch
        self.packets = packets
        self.backwards = "turns.next()"  # whether the next loop over elements goes backwards
        self.loops: list[str] = []  # variables of the loops around what is written
        self.owners: dict[tuple[int | None, Any], str] = {}
        self._lines: list[str] = []
        self._depth = 0
        self._place = Place("", 0)

    def line(self, text: str) -> None:
        """Adds a line; braces indent what follows."""
        if text.startswith(("}", ")")):
            self._depth -= 1
        if self._place.line and text and not text.startswith("}"):
            self._lines.append(f"#line {self._place.line} {json.dumps(self._place.file)}")
        self._lines.append("  " * self._depth + text if text else "")
        if text.endswith("{"):
            self._depth += 1

    def at(self, place: Place) -> None:
        """What follows comes from this line of the user's."""
        self._place = place

    def owner(self, split: bool, axis: int, length: Any) -> str:
        """The variable that says which layers of an axis are whose. `axis`: of the grid, if the PEs share it."""
        key = axis if split else None
        for (was_key, was_length), name in self.owners.items():
            if was_key == key and same(was_length, length):
                return name
        name = f"owner_{len(self.owners)}"
        self.owners[key, length] = name
        return name

    def text(self) -> str:
        """All lines."""
        return "\n".join(self._lines) + "\n"
