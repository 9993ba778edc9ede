"""Element types of expressions: NumPy's rules, in which Python's own numbers take the type of what they meet.

The front end says which types arrays and scalars have. Python's own numbers are of weak types, and so is what is
computed of these alone.
"""

from __future__ import annotations

import math

import numpy as np

from starling.dace.ir import (
    Apply,
    Assign,
    Cast,
    Compute,
    Expression,
    Fold,
    Index,
    Number,
    Program,
    Read,
    Statement,
    Value,
    parts_of,
    statements,
)
from starling.dace.ir.names import shown
from starling.dace.passes.uses import expressions_of
from starling.dace.program_error import Place, ProgramError

__all__ = ["CHOICES", "COMPARISONS", "FLOATING", "LOGICAL", "WEAK", "check_types", "common_type", "type_of"]

WEAK = {"weak bool": "bool", "weak int": "int64", "weak float": "float64"}
CHOICES = ("where", "choose")  # of elements, and of Python, which computes the one that it chooses alone
BOOLS = ("bool", "weak bool")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
LOGICAL = ("and", "or", "not")
FLOATING = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "atan2", "sinh", "cosh")
OF_BITS = ("&", "|", "^", "~", "<<", ">>")
# Of truth values Python makes whole numbers.
COUNTING = ("+", "-", "*", "//", "%", "**", "<<", ">>", "~", "negative", "positive", "abs")


def common_type(a: str, b: str) -> str:
    """The type of what two types make together.

    >>> common_type("float32", "weak float"), common_type("int32", "float32"), common_type("int64", "weak float")
    ('float32', 'float64', 'float64')
    """
    if a in WEAK and b in WEAK:
        return max(a, b, key=list(WEAK).index)
    if a in WEAK:
        a, b = b, a
    if b in WEAK:
        if b == "weak bool" or (b == "weak int" and a != "bool") or a.startswith("float"):
            return a
        return WEAK[b]
    return str(np.result_type(a, b))


def type_of(e: Expression, p: Program) -> str:
    """The type of an expression's value: an element type, or one of WEAK."""
    if isinstance(e, Read):
        return p.arrays[e.array].dtype
    if isinstance(e, Value):
        if e.name in p.weak:
            return "weak int" if p.scalars[e.name] == "int64" else "weak float"
        return p.scalars.get(e.name) or p.variables.get(e.name) or "weak int"
    if isinstance(e, Number):
        return "weak bool" if isinstance(e.value, bool) else "weak int" if isinstance(e.value, int) else "weak float"
    if isinstance(e, Index):
        return "weak int"
    if isinstance(e, Cast):
        return e.dtype
    if isinstance(e, Fold):
        return _sum_type(type_of(e.value, p)) if e.op == "sum" else _strong(type_of(e.value, p))
    assert isinstance(e, Apply)
    return _result(e.op, [type_of(a, p) for a in e.arguments])


def _result(op: str, types: list[str]) -> str:
    """The type of what an operation makes of operands of these types."""
    if op == "isnan":
        return "bool"
    if op in CHOICES:
        types = types[1:]
    joined = types[0]
    for t in types[1:]:
        joined = common_type(joined, t)
    if op in COMPARISONS or op in LOGICAL:
        return "weak bool" if joined in WEAK else "bool"
    if op == "/" or op in FLOATING:
        return joined if _is_float(joined) else "weak float" if joined in WEAK else "float64"
    return "weak int" if op in COUNTING and joined == "weak bool" else joined


def _strong(t: str) -> str:
    return WEAK.get(t, t)


def _is_float(t: str) -> bool:
    return t in ("float32", "float64", "weak float")


def _sum_type(t: str) -> str:
    """What NumPy adds values of a type in: whole numbers in int64.

    >>> _sum_type("int32"), _sum_type("bool"), _sum_type("float32")
    ('int64', 'int64', 'float32')
    """
    return "int64" if _strong(t) in ("bool", "int32") else _strong(t)


def check_types(p: Program) -> None:
    """Checks that all operations are among those that NumPy has for the types.

    Raises:
        ProgramError: One is not, or a number does not fit in a type.
    """
    for _, s in statements(p.body):
        for e in expressions_of(s):
            for part in parts_of(e):
                if isinstance(part, Apply):
                    _check_operation(p, part, s.place)
                    _check_numbers(p, part, s.place)
        _check_stored(p, s)


def _check_operation(p: Program, e: Apply, place: Place) -> None:
    """NumPy has no differences and signs of truth values, no bits of fractions, and makes numbers of 8 or 16 bits of
    truth values elsewhere."""
    types = [type_of(a, p) for a in e.arguments]
    if e.op in OF_BITS and any(map(_is_float, types)):
        raise ProgramError.at(place, e.op, "is of floating point numbers; it is there for whole numbers alone")
    if all(t in WEAK for t in types):
        return
    bools = all(t in BOOLS for t in types)
    if bools and e.op in ("-", "negative", "positive"):
        raise ProgramError.at(
            place, "+" if e.op == "positive" else "-", "is of truth values, which NumPy refuses; use ^ or ~"
        )
    short = bools and (e.op in ("//", "%", "**", "<<", ">>") or e.op in FLOATING)
    if short or (e.op == "**" and types[0] == "bool" and types[1] == "weak int"):
        raise ProgramError.at(
            place, e.op, "is of truth values, of which NumPy makes short numbers; write np.int64(...) around them"
        )


def _check_numbers(p: Program, e: Apply, place: Place) -> None:
    """Python's numbers fit in the whole type of what they meet, and exponents of whole numbers are not negative."""
    if e.op in (*LOGICAL, "isnan"):
        return
    own = e.arguments[1:] if e.op in CHOICES else e.arguments
    joined = type_of(own[0], p)
    for a in own[1:]:
        joined = common_type(joined, type_of(a, p))
    t = _strong(joined)
    for number in own:
        if isinstance(number, Number) and t in ("int32", "int64") and not _fits(number.value, t):
            raise ProgramError.at(place, str(number.value), f"does not fit in {t}, the type of what it meets")
    exponent = e.arguments[-1]
    if e.op == "**" and t in ("int32", "int64") and isinstance(exponent, Number) and exponent.value < 0:
        raise ProgramError.at(
            place, str(exponent.value), "is a negative exponent of whole numbers; make the base float64"
        )


def _check_stored(p: Program, s: Statement) -> None:
    """Numbers fit in what they are written to."""
    if isinstance(s, (Assign, Compute)) and isinstance(s.value, Number):
        name = s.name if isinstance(s, Assign) else s.target
        have = _strong(p.variables[name] if isinstance(s, Assign) else p.arrays[name].dtype)
        if have in ("int32", "int64") and not _fits(s.value.value, have):
            raise ProgramError.at(s.place, shown(name), f"holds {have}, in which {s.value.value} does not fit")


def _fits(value: bool | int | float, t: str) -> bool:
    limits = np.iinfo(t)
    return math.isfinite(value) and int(limits.min) <= value <= int(limits.max)
