"""Whether a program stays inside of its arrays, for the sizes and scalars of a call.

NumPy cuts slices off where an array ends, and raises for elements beyond it. A kernel would read other memory, so such
a call is refused. Loop variables and parameters are known by the range of their values, and by the conditions under
which a statement stands.
"""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.conditions import facts_of
from starling.dace.exponents import is_given, whole_exponent
from starling.dace.ir import (
    Apply,
    Body,
    Break,
    Cast,
    Collective,
    Compute,
    Continue,
    Expression,
    Fold,
    For,
    If,
    Program,
    Put,
    Read,
    Reduce,
    Require,
    Statement,
    Stop,
    While,
)
from starling.dace.ir.names import is_made, shown
from starling.dace.passes.resolve import as_index
from starling.dace.passes.uses import expressions_of
from starling.dace.program_error import ProgramError
from starling.dace.spans import Known, Span

__all__ = ["check_bounds"]


def check_bounds(p: Program, values: dict[str, int]) -> None:
    """Checks all statements.

    Args:
        p: After all passes.
        values: Sizes and whole scalars by name.

    Raises:
        ProgramError: One may leave its array, or cannot be known not to.
    """
    _Check(p).list(p.body, Known.of(values))


class _Check:
    """The statements of a program in a call."""

    def __init__(self, p: Program) -> None:
        self.p = p
        self.integers = {n for n, t in p.scalars.items() if t.startswith("int")}
        self.unbounded = self.integers & p.weak  # in whose sums nothing wraps around

    def list(self, body: Body, known: Known) -> None:
        for s in body:
            behind = self.statement(s, known)
            if behind is None:
                return
            known = behind

    def statement(self, s: Statement, known: Known) -> Known | None:
        """Checks a statement; what is known behind it, None: nothing comes to there."""
        if isinstance(s, If):
            return self.branches(s, known)
        if isinstance(s, (Break, Continue, Stop)):
            return None
        if isinstance(s, Require):
            self.requirement(s, known)
        elif isinstance(s, For):
            inside = known.within(s.variable, s.begin, s.end, s.step)
            if inside is not None:
                self.list(s.body, inside)
        else:
            self.used(s, known)
            if isinstance(s, While):
                self.list(s.body, known)
        return known

    def branches(self, s: If, known: Known) -> Known | None:
        """What holds behind it: that no branch was taken that leads elsewhere."""
        behind: Known | None = known
        others = True  # whether all branches so far lead elsewhere
        for condition, inner in s.branches:
            if condition is not None:
                self.expression(s, condition, known)
            taken = known.where(facts_of(condition, True, self.unbounded))
            if taken is not None:
                self.list(inner, taken)
                others = others and bool(inner) and isinstance(inner[-1], (Break, Continue, Stop))
            rest = None if condition is None else known.where(facts_of(condition, False, self.unbounded))
            if others:
                behind = rest
            if rest is None:
                break
            known = rest
        return behind

    def used(self, s: Statement, known: Known) -> None:
        """What a statement uses itself, without what stands in it."""
        for q in s.params if isinstance(s, (Compute, Reduce)) else ():
            inside = known.within(q.name, q.begin, q.end)
            if inside is None:
                return
            known = inside
        for e in expressions_of(s):
            self.expression(s, e, known)
        if isinstance(s, Compute):
            self.element(s, s.target, s.index, known)
        if isinstance(s, (Put, Collective)) and not (isinstance(s, Put) and s.inserted):
            for name, box in ((s.array, s.box), (s.source, s.source_box)):
                for ends in (tuple(b for b, _, _ in box), tuple(e - 1 for _, e, _ in box)):
                    if name:
                        self.element(s, name, ends, known)

    def expression(self, s: Statement, e: Expression, known: Known) -> None:
        if isinstance(e, Read):
            self.element(s, e.array, e.index, known)
        elif isinstance(e, Fold):
            inside = known.within(e.variable, e.begin, e.end)
            if inside is not None:
                self.expression(s, e.value, inside)
        elif isinstance(e, Apply):
            exponent = whole_exponent(self.p, e)
            if exponent is not None:
                self.exponent(s, exponent, known)
            for k, a in enumerate(e.arguments):
                there: Known | None = known
                if k and e.op in ("and", "or", "choose"):  # evaluated where the first operand says so
                    holds = e.op == "and" or (e.op == "choose" and k == 1)
                    there = known.where(facts_of(e.arguments[0], holds, self.unbounded))
                if there is not None:
                    self.expression(s, a, there)
        elif isinstance(e, Cast):
            self.expression(s, e.value, known)

    def exponent(self, s: Statement, e: Expression, known: Known) -> None:
        index = as_index(e, self.integers)
        have = None if index is None else known.span(index)
        if is_given(self.p, e) or (have is not None and have[0] >= 0):
            return
        what = "is computed and may be negative" if have is None else f"is {have[0]} in this call"
        name = _text(index) if index is not None else shown(e.array) if isinstance(e, Read) else ""
        raise ProgramError.at(
            s.place,
            name or "exponent",
            f"as exponent of whole numbers {what}; NumPy would raise: make the base or the exponent float64",
        )

    def requirement(self, s: Require, known: Known) -> None:
        have = known.span(s.low)
        if have is None or have[0] < 0 or (s.zero and have != (0, 0)):
            value = "a number that the program computes" if have is None else _numbers(have)
            raise ProgramError.at(s.place, s.name, s.words.replace("{value}", value))

    def element(self, s: Statement, name: str, index: tuple[Any, ...], known: Known) -> None:
        for axis, (i, n) in enumerate(zip(index, self.p.arrays[name].shape, strict=True)):
            if {str(x) for x in sympy.sympify(i).free_symbols} & self.p.checked:
                continue
            have, length = known.span(i), known.span(n)
            by = _text(i)
            if have is None or length is None:
                what = by or "what the program computes"
                raise ProgramError.at(
                    s.place, shown(name), f"is indexed by {what}, which is computed; use sizes, loops and arguments"
                )
            if have[0] < 0 or have[1] >= length[0]:
                raise ProgramError.at(s.place, shown(name), _beyond(have, axis, length[0], by))


def _beyond(have: Span, axis: int, length: int, by: str) -> str:
    several = have[0] != have[1]
    words = f"element{'s' if several else ''} {_numbers(have)} along axis {axis}, which has the length {length}, "
    words += f"{'are' if several else 'is'} used in this call" + (f" by the index {by}" if by else "")
    return words + ("; Python counts from the end where an index is negative: add the length" if have[0] < 0 else "")


def _numbers(have: Span) -> str:
    return str(have[0]) if have[0] == have[1] else f"{have[0]} to {have[1]}"


def _text(i: Any) -> str:
    """An index expression in names of the user; empty: it has others, or is a number."""
    names = {str(n) for n in sympy.sympify(i).free_symbols}
    if not names or any(map(is_made, names)):
        return ""
    return str(sympy.sympify(i).xreplace({n: sympy.Symbol(shown(str(n))) for n in sympy.sympify(i).free_symbols}))
