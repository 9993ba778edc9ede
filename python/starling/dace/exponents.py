"""Exponents of whole numbers, which NumPy raises for where they are negative.

A kernel cannot raise, so a call is refused whose exponents are negative, or are computed and could be.
"""

from __future__ import annotations

from collections.abc import Iterator

from starling.dace.arguments import Arguments
from starling.dace.ir import Apply, Cast, Expression, Program, Read, Statement, parts_of, statements
from starling.dace.passes.resolve import expressions_of
from starling.dace.passes.types import WEAK, type_of
from starling.dace.program_error import ProgramError

__all__ = ["check_exponents", "is_given", "whole_exponents"]


def whole_exponents(p: Program, s: Statement) -> Iterator[Expression]:
    """The exponents of whole numbers in a statement."""
    for e in expressions_of(s):
        for part in parts_of(e):
            if isinstance(part, Apply) and part.op == "**":
                t = type_of(part, p)
                if WEAK.get(t, t).startswith("int"):
                    exponent = part.arguments[1]
                    yield exponent.value if isinstance(exponent, Cast) else exponent


def is_given(p: Program, e: Expression) -> bool:
    """Whether it is an element of an argument that stays as the caller gives it."""
    return isinstance(e, Read) and p.arrays[e.array].argument and not p.arrays[e.array].written


def check_exponents(p: Program, given: Arguments) -> None:
    """Checks the arrays of a call that hold exponents.

    Raises:
        ProgramError: One holds a negative number.
    """
    for _, s in statements(p.body):
        for e in whole_exponents(p, s):
            if not isinstance(e, Read) or not is_given(p, e):
                continue
            least = min(int(part.min()) for part in given.arrays[e.array])
            if least < 0:
                raise ProgramError.at(
                    s.place,
                    e.array,
                    f"holds {least}, a negative exponent of whole numbers; make the base or the exponent float64",
                )
