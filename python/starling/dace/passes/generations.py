"""Arrays that a loop updates in place get two generations: a pass reads one, writes the other, and they change places.

NumPy computes the right side first, so an update that reads other elements of its target goes through a temporary, with
a barrier before what is read is overwritten. Where nothing else writes the array, the temporary can be the array's next
generation: elements that the update leaves out are the same in both.
"""

from __future__ import annotations

import sympy

from starling.dace.ir import (
    Apply,
    Array,
    Body,
    Compute,
    For,
    Number,
    Program,
    Put,
    Read,
    Trade,
    While,
    statements,
)

__all__ = ["generations", "turned"]


def generations(p: Program, without: frozenset[str] = frozenset()) -> None:
    """Makes them, but for the arrays named."""
    if p.per_pe:
        return  # the user's puts name places of one array
    for s in [s for _, s in statements(p.body) if isinstance(s, (For, While))]:
        for k, (first, second) in enumerate(zip(s.body, s.body[1:], strict=False)):
            name = _updated(p, first, second)
            if name and name not in without and _alone(p, name):
                _replace(p, s.body, k, name)
                break


def _updated(p: Program, first: object, second: object) -> str:
    """The array that two statements update, the first of them through a temporary; empty: none."""
    if not isinstance(first, Compute) or not isinstance(second, Compute):
        return ""
    copied = second.value == Read(first.target, first.index) and second.index == first.index
    return second.target if copied and p.arrays[first.target].like == second.target else ""


def _alone(p: Program, name: str) -> bool:
    """Whether one statement alone writes an argument."""
    a = p.arrays[name]
    writers = [s for _, s in statements(p.body) if isinstance(s, Compute) and s.target == name]
    return a.argument and not a.scalar and len(writers) == 1


def _replace(p: Program, body: Body, k: int, name: str) -> None:
    a, first = p.arrays[name], body[k]
    assert isinstance(first, Compute)
    other, turn = p.fresh(f"next_{name}"), p.fresh(f"turn_{name}")
    del p.arrays[first.target]
    p.arrays[other] = Array(other, a.dtype, a.shape, False, like=name)
    p.arrays[turn] = Array(turn, "int64", (sympy.Integer(1),), False)
    a.next, a.turn = other, turn
    first.target = other
    flip = Compute(first.place, [], turn, (sympy.Integer(0),), Apply("-", (Number(1), Read(turn, (sympy.Integer(0),)))))
    body[k + 1 : k + 2] = [flip, Trade(first.place, name, other)]


def turned(p: Program) -> frozenset[str]:
    """Arrays with two generations for which a put must wait for a credit, which counts one generation alone."""
    puts = [s for _, s in statements(p.body) if isinstance(s, Put)]
    return frozenset(s.array for s in puts if s.credit and p.arrays[s.array].next)
