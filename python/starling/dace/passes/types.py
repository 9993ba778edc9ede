"""Element types of expressions: NumPy's rules, in which Python's own numbers take the type of what they meet."""

from __future__ import annotations

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
    Reduce,
    Value,
    statements,
)
from starling.dace.program_error import ProgramError

__all__ = ["WEAK", "check_types", "common_type", "type_of"]

WEAK = {"weak bool": "bool", "weak int": "int64", "weak float": "float64"}
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not")
FLOATING = ("sqrt", "exp", "log", "sin", "cos", "tan", "tanh", "asin", "acos", "atan", "atan2", "sinh", "cosh")


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
        return p.scalars.get(e.name) or p.variables.get(e.name) or "weak int"
    if isinstance(e, Number):
        return "weak bool" if isinstance(e.value, bool) else "weak int" if isinstance(e.value, int) else "weak float"
    if isinstance(e, Index):
        return "weak int"
    if isinstance(e, Cast):
        return e.dtype
    if isinstance(e, Fold):
        return _strong(type_of(e.value, p))
    assert isinstance(e, Apply)
    if e.op in COMPARISONS:
        return "bool"
    types = [type_of(a, p) for a in (e.arguments[1:] if e.op == "where" else e.arguments)]
    joined = types[0] if len(types) == 1 else common_type(types[0], types[1])
    if (e.op == "/" or e.op in FLOATING) and not joined.endswith(("float", "float32", "float64")):
        return "weak float" if joined in WEAK else "float64"
    return joined


def _strong(t: str) -> str:
    return WEAK.get(t, t)


def check_types(p: Program) -> None:
    """Gives scalars that hold only Python's numbers their weak types, and refuses temporaries of another type than
    NumPy would give them.

    Raises:
        ProgramError: Such a temporary, with both types.
    """
    given: dict[str, list[Assign | Reduce]] = {}
    for _, s in statements(p.body):
        if isinstance(s, (Assign, Reduce)):
            given.setdefault(s.name, []).append(s)
    changed = True
    while changed:
        changed = False
        for name, writers in given.items():
            kinds = {type_of(s.value, p) for s in writers if isinstance(s, Assign)}
            weak = all(isinstance(s, Assign) for s in writers) and kinds <= set(WEAK)
            if weak and p.variables[name] not in WEAK:
                p.variables[name] = max(kinds, key=list(WEAK).index)
                changed = True
    for _, s in statements(p.body):
        if isinstance(s, Compute) and not p.arrays[s.target].argument:
            have, name = p.arrays[s.target].dtype, s.target
        elif isinstance(s, Assign):
            have, name = p.variables[s.name], s.name
        else:
            continue
        want = type_of(s.value, p)
        if not isinstance(s.value, Read) and want not in WEAK and want != have and have not in WEAK:
            raise ProgramError.at(
                s.place, name, f"is {have} here and {want} in NumPy; give all operands of the expression one type"
            )
