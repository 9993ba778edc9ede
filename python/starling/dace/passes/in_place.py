"""What is written in place while it is read at other places gets a temporary: NumPy computes the right side first."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.ir import Array, Compute, Expression, Param, Program, Read, reads_of, same, statements
from starling.dace.ir.names import shown
from starling.dace.program_error import ProgramError

__all__ = ["is_in_place", "split_in_place"]


def split_in_place(p: Program) -> None:
    """Gives a temporary to each statement that reads its target where it writes it for other parameters.

    Raises:
        ProgramError: A statement may write an element several times.
    """
    made: dict[str, str] = {}
    for body, s in list(statements(p.body)):
        if not isinstance(s, Compute):
            continue
        _check_once(s)
        if not is_in_place(s, s.value):
            continue
        if s.target not in made:
            name = made[s.target] = p.fresh("before", s.target)
            target = p.arrays[s.target]
            p.arrays[name] = Array(name, target.dtype, target.shape, False, like=s.target)
        name = made[s.target]
        body.insert(body.index(s), Compute(s.place, list(s.params), name, s.index, s.value))
        s.value = Read(name, s.index)


def _check_once(s: Compute) -> None:
    """Each parameter that has several values tells elements apart along an axis."""
    names = {q.name for q in s.params}
    several = {q.name for q in s.params if not _at_most_one(q)}
    if several - _pinned(s.index, s.index, names):
        raise ProgramError.at(
            s.place,
            shown(s.target),
            "may be written several times at one place by one parallel loop; let each index of the loop stand alone "
            "along one axis",
        )


def _at_most_one(q: Param) -> bool:
    length = sympy.expand(q.end - q.begin)
    return bool(length.is_Integer and length <= 1)


def is_in_place(s: Compute, value: Expression) -> bool:
    """Whether a statement with this value may read elements of its target that it writes for other parameters."""
    if not s.params:
        return False
    names = {q.name for q in s.params}
    return any(
        r.array == s.target and not _apart(r.index, s.index, names) and _pinned(r.index, s.index, names) != names
        for r in reads_of(value)
    )


def _pinned(read: tuple[Any, ...], written: tuple[Any, ...], names: set[str]) -> set[str]:
    """Parameters that are the same where both indices name the same element: each stands alone, with the same factor
    and the same rest, at some axis of both. Absent parameters, and those in quotients and the like, are not."""
    pinned = set()
    for a, b in zip(map(sympy.sympify, read), map(sympy.sympify, written), strict=True):
        of_a, of_b = (_parameters(i, names) for i in (a, b))
        if of_a == of_b and len(of_a) == 1 and same(a, b) and _is_linear(a, of_a[0]):
            pinned.add(str(of_a[0]))
    return pinned


def _parameters(index: Any, names: set[str]) -> list[Any]:
    return [n for n in index.free_symbols if str(n) in names]


def _is_linear(index: Any, parameter: Any) -> bool:
    """Whether an index is a multiple of a parameter, other than 0 times, and something without it."""
    scale = sympy.expand(index).coeff(parameter)
    rest = sympy.expand(index - scale * parameter)
    return bool(scale.is_Integer and scale != 0 and parameter not in rest.free_symbols)


def _apart(read: tuple[Any, ...], written: tuple[Any, ...], names: set[str]) -> bool:
    """Whether an axis, along which no parameter counts, tells elements that are read from those that are written."""
    return any(
        not _parameters(a, names) and not _parameters(b, names) and bool(sympy.expand(a - b).is_nonzero)
        for a, b in zip(map(sympy.sympify, read), map(sympy.sympify, written), strict=True)
    )
