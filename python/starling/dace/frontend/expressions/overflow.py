"""Whole numbers of Python, which have no limit there and 64 bits here.

What a program computes of them is compared with that limit, as floating point numbers, where it could be reached: not
by counting up.
"""

from __future__ import annotations

import ast

from starling.dace.frontend.translation import Translation
from starling.dace.ir import Apply, Cast, Expression, Number, Value, parts_of

__all__ = ["check_fits", "check_size", "check_stored"]

LIMIT = 2.0**63 - 1024
STEP = 2**31  # what may be added without a look
WORDS = (
    "a whole number of Python has more than 64 bits there; compute with np.int64(...), which wraps around, or floats"
)


def check_size(t: Translation, op: str, parts: list[Expression], made: Expression, node: ast.AST) -> None:
    """Ends the program, or refuses the call, where a number would have more bits; Python also raises for negative
    shifts."""
    if any(t.type(e) != "weak int" for e in parts) or not any(_unknown(t, e) for e in parts):
        return
    if op in ("<<", ">>"):
        t.guard(Apply("<", (parts[1], Number(0))), "ValueError", "negative shift count")
    size = _size(op, parts)
    if size is None:
        return
    found = t.as_sym(made)
    if found is not None and not t.computed(found):
        t.require(node, 2**63 - 1 - found, WORDS)
        t.require(node, found + 2**63, WORDS)
    else:
        t.guard(Apply(">=", (Apply("abs", (size,)), Number(LIMIT))), "ProgramError", f"{ast.unparse(node)}: {WORDS}")


def _unknown(t: Translation, e: Expression) -> bool:
    """Whether a number is computed, or passed."""
    return any(
        isinstance(x, Value) and (x.name in t.program.variables or x.name in t.program.weak) for x in parts_of(e)
    )


def _size(op: str, parts: list[Expression]) -> Expression | None:
    a, *rest = (Cast("float64", e) for e in parts)
    if op in ("+", "-"):
        small = any(isinstance(e, Number) and abs(e.value) < STEP for e in parts)
        return None if small else Apply(op, (a, *rest))
    if op in ("*", "**"):
        return Apply(op, (a, *rest))
    if op == "<<":
        return Apply("*", (a, Apply("**", (Cast("float64", Number(2)), *rest))))
    return None


def check_fits(t: Translation, e: Expression, node: ast.AST) -> None:
    """NumPy raises where a number of Python meets int32, which does not hold it: the call is checked, or the number
    when the program runs."""
    words = "is a number of Python that does not fit in int32, the type of what it meets"
    found = t.as_sym(e)
    if found is not None:
        t.require(node, 2**31 - 1 - found, words)
        t.require(node, found + 2**31, words)
        return
    size = Apply("abs", (Cast("float64", e),))
    t.guard(Apply(">=", (size, Number(2.0**31))), "OverflowError", "Python integer out of bounds for int32")


def check_stored(t: Translation, e: Expression, kind: str, node: ast.AST) -> None:
    """NumPy raises where a number that an element takes does not fit in its whole type."""
    have = t.type(e)
    if isinstance(e, Number) or t.parallel or not kind.startswith("int"):
        return
    if have in ("weak int", "int64") and kind == "int32":
        check_fits(t, e, node)
    elif have.endswith(("float", "float32", "float64")):
        limit = Number(2.0 ** (int(kind[3:]) - 1))
        inside = Apply("and", (Apply("<", (e, limit)), Apply(">", (e, Number(-limit.value - 1)))))
        t.guard(Apply("not", (inside,)), "ProgramError", f"{ast.unparse(node)}: the number does not fit in {kind}")
