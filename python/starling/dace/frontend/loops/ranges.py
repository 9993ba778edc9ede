"""What a for goes over: range(...), or items that are known when the program is made."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass

import sympy

from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.expressions.operators import is_positive
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import ZERO, Items, Outside
from starling.dace.ir import Sym

__all__ = ["Range", "range_of", "surely"]

MOST_VALUES = 16


@dataclass(frozen=True)
class Range:
    """Begin, end and step of a loop: found once, before its first pass.

    `values`: all of them, where they are known and few.
    """

    begin: Sym
    end: Sym
    step: int
    place: tuple[str, int]
    values: range | None


def range_of(t: Translation, s: ast.For) -> Range | Items:
    """What a for goes over.

    Raises:
        ProgramError: It is neither.
    """
    call = s.iter
    if isinstance(call, ast.Call):
        function = expressions.evaluate(t, call.func)
        if isinstance(function, Outside) and function.value is builtins.range:
            if not isinstance(s.target, ast.Name):
                raise t.error(s.target, "takes numbers of range(...); name one variable")
            return _range(t, call, s)
        raise t.error(
            call, "is gone through by a loop, which goes over range(...), dace.map[...], or a tuple or list of literals"
        )
    value = expressions.evaluate(t, call)
    if not isinstance(value, Items):
        raise t.error(
            call, "is gone through by a loop, which goes over range(...), dace.map[...], or a tuple or list of literals"
        )
    return value


def _range(t: Translation, call: ast.Call, s: ast.For) -> Range:
    if call.keywords or not 1 <= len(call.args) <= 3:
        raise t.error(call, "takes one to three whole numbers")
    given = [t.sym(expressions.evaluate(t, a), a) for a in call.args]
    begin, end = (ZERO, given[0]) if len(given) == 1 else given[:2]
    step = given[2] if len(given) == 3 else sympy.Integer(1)
    if not step.is_Integer or step == 0:
        raise t.error(call, f"has the step {step}; a step is a literal number other than 0")
    values = None
    if begin.is_Integer and end.is_Integer:
        found = range(int(begin), int(end), int(step))
        leaves = any(isinstance(n, (ast.Break, ast.Continue)) for n in ast.walk(s))
        values = found if len(found) <= MOST_VALUES and not leaves else None
    return Range(begin, end, int(step), (t.frame.file, t.frame.first + s.lineno), values)


def surely(t: Translation, over: Range) -> bool:
    """Whether there is a pass in any case. Sizes of arrays are 1 or more."""
    return is_positive(over.end - over.begin if over.step > 0 else over.begin - over.end, set(t.program.sizes))
