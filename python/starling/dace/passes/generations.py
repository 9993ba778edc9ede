"""Arrays that a loop updates in place get two generations: a pass reads one, writes the other, and they change places.

NumPy computes the right side first, so an update that reads other elements of its target goes through a temporary, with
a barrier before what is read is overwritten. The temporary can be the array's next generation if one statement alone
writes the array, and writes the same elements each time: let W be these. The generations are equal outside of W. They
are at first, since both get what the caller gives; and a pass changes elements of W alone, of the one that is not read,
and then lets them change places. Inside of W a pass writes all elements before anything reads them. So the generation
that has the array's name holds at any time what NumPy's array would.

W is the same in all passes and runs if the index and the ranges of the parameters name nothing but parameters and
lengths of arrays: a loop variable or a scalar of the program differs between passes, and an argument between runs.
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
from starling.dace.passes.uses import indices_of, written_by

__all__ = ["generations", "turned"]


def generations(p: Program, without: frozenset[str] = frozenset()) -> None:
    """Makes them, but for the arrays named."""
    if p.per_pe:
        return  # the user's puts name places of one array
    for s in [s for _, s in statements(p.body) if isinstance(s, (For, While))]:
        for k, (first, second) in enumerate(zip(s.body, s.body[1:], strict=False)):
            name = _updated(p, first, second)
            if name and name not in without and _alone(p, name) and _writes_the_same(p, first):
                _replace(p, s.body, k, name)
                break


def _updated(p: Program, first: object, second: object) -> str:
    """The array that two statements update, the first of them through a temporary; empty: none."""
    if not isinstance(first, Compute) or not isinstance(second, Compute):
        return ""
    copied = second.value == Read(first.target, first.index) and second.index == first.index
    alike = second.params == first.params and p.arrays[first.target].like == second.target
    return second.target if copied and alike else ""


def _writes_the_same(p: Program, s: object) -> bool:
    """Whether a statement writes the same elements each time."""
    assert isinstance(s, Compute)
    named = {str(n) for i in indices_of(s) for n in sympy.sympify(i).free_symbols}
    return named <= {q.name for q in s.params} | set(p.sizes)


def _alone(p: Program, name: str) -> bool:
    """Whether one statement alone writes an argument."""
    a = p.arrays[name]
    writers = [s for _, s in statements(p.body) if name in written_by(s)]
    return a.argument and not a.scalar and len(writers) == 1


def _replace(p: Program, body: Body, k: int, name: str) -> None:
    a, first = p.arrays[name], body[k]
    assert isinstance(first, Compute)
    other, turn = p.fresh("next", name), p.fresh("turn", name)
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
