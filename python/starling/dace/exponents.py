"""Exponents of whole numbers, which NumPy raises for where they are negative.

A kernel cannot raise, so a call is refused whose exponents are negative, or are computed and could be.
"""

from __future__ import annotations

from collections.abc import Iterator

from starling.dace.arguments import Arguments
from starling.dace.ir import Apply, Cast, Expression, Program, Read, Statement, parts_of, statements
from starling.dace.passes.types import WEAK, type_of
from starling.dace.passes.uses import expressions_of
from starling.dace.program_error import Place, ProgramError

__all__ = ["check_exponents", "given_exponents", "is_given", "whole_exponent"]


def whole_exponent(p: Program, e: Apply) -> Expression | None:
    """The exponent of a whole number, if that is what an operation raises to a power."""
    t = type_of(e, p) if e.op == "**" else ""
    if not WEAK.get(t, t).startswith("int"):
        return None
    exponent = e.arguments[1]
    return exponent.value if isinstance(exponent, Cast) else exponent


def _whole_exponents(p: Program, s: Statement) -> Iterator[Expression]:
    for e in expressions_of(s):
        for part in parts_of(e):
            exponent = whole_exponent(p, part) if isinstance(part, Apply) else None
            if exponent is not None:
                yield exponent


def is_given(p: Program, e: Expression) -> bool:
    """Whether it is an element of an argument that stays as the caller gives it."""
    return isinstance(e, Read) and p.arrays[e.array].argument and not p.arrays[e.array].written


def given_exponents(p: Program) -> list[tuple[str, Place]]:
    """The arguments whose elements are exponents of whole numbers, and where."""
    return [
        (e.array, s.place)
        for _, s in statements(p.body)
        for e in _whole_exponents(p, s)
        if isinstance(e, Read) and is_given(p, e)
    ]


def check_exponents(exponents: list[tuple[str, Place]], given: Arguments) -> None:
    """Checks the arrays of a call that hold exponents.

    Raises:
        ProgramError: One holds a negative number.
    """
    for array, place in exponents:
        least = min(int(part.min()) for part in given.arrays[array])
        if least < 0:
            raise ProgramError.at(
                place,
                array,
                f"holds {least}, a negative exponent of whole numbers; make the base or the exponent float64",
            )
