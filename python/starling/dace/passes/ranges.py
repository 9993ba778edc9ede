"""What is known of index expressions for all values of parameters."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import sympy

from starling.dace.ir import Assign, Compute, Fold, Param, Program, Reduce, parts_of, reads_of, symbol

__all__ = ["is_inside", "least_of", "never_less", "ranges_in"]


def ranges_in(s: Compute | Assign | Reduce) -> list[Param]:
    """The parameters of a statement, and the variables of its folds."""
    folds = [Param(e.variable, e.begin, e.end) for e in parts_of(s.value) if isinstance(e, Fold)]
    return [*folds, *(s.params if isinstance(s, (Compute, Reduce)) else [])]


def least_of(e: Any, ranges: list[Param]) -> Any | None:
    """The least value of an index expression for all values of these parameters, of which there are some; None: it is
    not linear in them."""
    e = sympy.expand(sympy.sympify(e))
    for q in ranges:
        at = symbol(q.name)
        if at not in e.free_symbols:
            continue
        scale = e.coeff(at)
        rest = sympy.expand(e - scale * at)
        if not scale.is_Integer or at in rest.free_symbols:
            return None
        e = sympy.expand(rest + scale * (q.begin if scale > 0 else q.end - 1))
    return e


def never_less(a: Any, b: Any, ranges: list[Param], lengths: Collection[str] = ()) -> bool:
    """Whether it is certain that a >= b for all values of these parameters.

    `lengths`: names of what is at least 1.

    >>> n, i = symbol("N"), symbol("i")
    >>> never_less(n, i + 2, [Param("i", 0, n - 1)]), never_less(n, i + 2, [Param("i", 0, n)])
    (True, False)
    """
    difference = least_of(sympy.sympify(a) - sympy.sympify(b), ranges)
    return difference is not None and any(_is_not_negative(d, lengths) for d in _below(difference))


def _is_not_negative(e: Any, lengths: Collection[str]) -> bool:
    terms = e.as_coefficients_dict()
    known = all(n == 1 or (n.is_Symbol and str(n) in lengths and c > 0) for n, c in terms.items())
    return known and sum(terms.values()) >= 0


def _below(e: Any) -> Iterator[Any]:
    """Expressions that e is never less than: a minimum that is taken away is never more than what it is of."""
    taken = [m for m in e.atoms(sympy.Min) if e.coeff(m).is_negative]
    if not taken:
        yield e
        return
    scale = e.coeff(taken[0])
    for a in taken[0].args:
        yield from _below(sympy.expand(e - scale * taken[0] + scale * a))


def is_inside(p: Program, s: Compute | Assign | Reduce) -> bool:
    """Whether it is certain that a statement uses elements of arrays alone that there are."""
    used = [(r.array, r.index) for r in reads_of(s.value)]
    if isinstance(s, Compute):
        used.append((s.target, s.index))
    ranges = ranges_in(s)
    return all(
        never_less(i, 0, ranges, p.sizes) and never_less(n - 1, i, ranges, p.sizes)
        for name, index in used
        for i, n in zip(index, p.arrays[name].shape, strict=True)
    )
