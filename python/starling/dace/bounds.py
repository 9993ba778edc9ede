"""Whether a program stays inside of its arrays, for the sizes and scalars of a call.

NumPy cuts slices off where an array ends, and raises for elements beyond it. A kernel would read other memory, so such
a call is refused. Loop variables and parameters are known by the range of their values.
"""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.exponents import is_given, whole_exponents
from starling.dace.ir import (
    Body,
    Collective,
    Compute,
    Expression,
    Fold,
    For,
    If,
    Param,
    Program,
    Put,
    Read,
    Reduce,
    Statement,
    While,
    parts_of,
    reads_of,
)
from starling.dace.passes.resolve import as_index, expressions_of
from starling.dace.program_error import ProgramError

__all__ = ["Range", "check_bounds", "range_of"]

Range = tuple[int, int]  # the least and the largest value


def range_of(e: Any, known: dict[str, Range]) -> Range | None:
    """The values that an index expression may have; None: it depends on what is computed."""
    e = sympy.sympify(e)
    if e.is_Integer:
        return int(e), int(e)
    if e.is_Symbol:
        return known.get(str(e))
    parts = [range_of(a, known) for a in e.args]
    ranges = [r for r in parts if r is not None]
    if len(ranges) != len(parts):
        return None
    if e.is_Rational:
        return None
    if e.is_Add:
        return sum(r[0] for r in ranges), sum(r[1] for r in ranges)
    if e.is_Mul:
        low, high = ranges[0]
        for a, b in ranges[1:]:
            corners = [low * a, low * b, high * a, high * b]
            low, high = min(corners), max(corners)
        return low, high
    if isinstance(e, sympy.Mod) and ranges[1][0] > 0:
        return 0, ranges[1][1] - 1
    if isinstance(e, (sympy.Min, sympy.Max)):
        choose = min if isinstance(e, sympy.Min) else max
        return choose(r[0] for r in ranges), choose(r[1] for r in ranges)
    return None


def _rounded(e: Any, known: dict[str, Range]) -> Range | None:
    """As range_of, also of quotients that are rounded."""
    e = sympy.sympify(e)
    rounded = list(e.atoms(sympy.floor, sympy.ceiling))
    changes: dict[Any, Any] = {}
    more = dict(known)
    for k, f in enumerate(rounded):
        over, under = sympy.fraction(sympy.together(f.args[0]))
        r, n = range_of(over, known), range_of(under, known)
        if r is None or n is None or n[0] != n[1] or n[0] <= 0:
            return None
        up = n[0] - 1 if isinstance(f, sympy.ceiling) else 0
        more[f"rounded_{k}"] = ((r[0] + up) // n[0], (r[1] + up) // n[0])
        changes[f] = sympy.Symbol(f"rounded_{k}", integer=True)
    return range_of(e.xreplace(changes), more)


def check_bounds(p: Program, values: dict[str, int]) -> None:
    """Checks all statements.

    Args:
        p: After all passes.
        values: Sizes and whole scalars by name.

    Raises:
        ProgramError: One may leave its array, or cannot be known not to.
    """
    _check(p, p.body, {n: (v, v) for n, v in values.items()})


def _check(p: Program, body: Body, known: dict[str, Range]) -> None:
    for s in body:
        if isinstance(s, For):
            begin, end = _rounded(s.begin, known), _rounded(s.end, known)
            inside = {n: r for n, r in known.items() if n != s.variable}
            if begin is not None and end is not None:
                least, most = (begin[0], end[1] - 1) if s.step > 0 else (end[0] + 1, begin[1])
                if least > most:
                    continue
                inside[s.variable] = (least, most)
            _check(p, s.body, inside)
        elif isinstance(s, While):
            _check(p, s.body, known)
        elif isinstance(s, If):
            for _, inner in s.branches:
                _check(p, inner, known)
        else:
            _check_one(p, s, known)


def _check_one(p: Program, s: Statement, known: dict[str, Range]) -> None:
    inside = dict(known)
    for q in s.params if isinstance(s, (Compute, Reduce)) else ():
        if not _add(inside, q, known):
            return
    for e in expressions_of(s):
        for fold in parts_of(e):
            if isinstance(fold, Fold):
                _add(inside, Param(fold.variable, fold.begin, fold.end), known)
        for r in reads_of(e):
            _inside(p, s, r.array, r.index, inside)
    for e in whole_exponents(p, s):
        _check_exponent(p, s, e, inside)
    if isinstance(s, Compute):
        _inside(p, s, s.target, s.index, inside)
    if isinstance(s, (Put, Collective)) and not (isinstance(s, Put) and s.inserted):
        for name, box in ((s.array, s.box), (s.source, s.source_box)):
            for ends in (tuple(b for b, _, _ in box), tuple(e - 1 for _, e, _ in box)):
                if name:
                    _inside(p, s, name, ends, inside)


def _check_exponent(p: Program, s: Statement, e: Expression, known: dict[str, Range]) -> None:
    index = as_index(e, set(p.scalars))
    have = None if index is None else _rounded(index, known)
    if is_given(p, e) or (have is not None and have[0] >= 0):
        return
    what = "is computed and may be negative" if have is None else f"is {have[0]} in this call"
    name = str(index) if index is not None else e.array if isinstance(e, Read) else "exponent"
    raise ProgramError.at(
        s.place, name, f"as exponent of whole numbers {what}; NumPy would raise: make the base or the exponent float64"
    )


def _add(inside: dict[str, Range], q: Param, known: dict[str, Range]) -> bool:
    """Adds the values of a parameter; False: there are none."""
    begin, end = _rounded(q.begin, known), _rounded(q.end, known)
    if begin is None or end is None:
        return True
    inside[q.name] = (begin[0], end[1] - 1)
    return begin[0] < end[1]


def _inside(p: Program, s: Statement, name: str, index: tuple[Any, ...], known: dict[str, Range]) -> None:
    a = p.arrays[name]
    for axis, (i, n) in enumerate(zip(index, a.shape, strict=True)):
        have, length = _rounded(i, known), _rounded(n, known)
        if have is None or length is None:
            raise ProgramError.at(
                s.place, name, f"is indexed by {i}, which is computed; use sizes, loops and arguments"
            )
        if have[0] < 0 or have[1] >= length[0]:
            what = f"{have[0]}" if have[0] == have[1] else f"{have[0]} to {have[1]}"
            raise ProgramError.at(
                s.place,
                name,
                f"is indexed by {i}, which is {what} in this call, along axis {axis} of length {length[0]}",
            )
