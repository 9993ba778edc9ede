"""Symbols of index expressions that stand for numbers of PEs."""

from __future__ import annotations

import re

__all__ = ["N_PES", "PE", "is_neighbour", "neighbour_name", "neighbour_of"]

PE = "my_pe'"
N_PES = "n_pes'"
NEIGHBOUR = "neighbour"
FORM = re.compile(NEIGHBOUR + r"(\d)_(ring_)?([mp])(\d+)'")


def neighbour_name(step: int, axis: int = 0, ring: bool = False) -> str:
    """The symbol of the PE that is so many further along an axis of the grid.

    >>> neighbour_of(neighbour_name(-2, 1, True))
    (1, -2, True)
    """
    return f"{NEIGHBOUR}{axis}_{'ring_' if ring else ''}{'m' if step < 0 else 'p'}{abs(step)}'"


def is_neighbour(name: str) -> bool:
    """Whether a symbol stands for a PE that neighbour() has named."""
    return FORM.fullmatch(name) is not None


def neighbour_of(name: str) -> tuple[int, int, bool]:
    """Axis, step and ring of the call that such a symbol stands for."""
    found = FORM.fullmatch(name)
    assert found is not None
    return int(found[1]), int(found[4]) * (-1 if found[3] == "m" else 1), found[2] is not None
