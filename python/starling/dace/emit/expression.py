"""Expressions in C++."""

from __future__ import annotations

from starling.dace.emit.index import cpp_index, cpp_symbol
from starling.dace.emit.literals import CPP, converted, literal
from starling.dace.emit.names import cpp_name
from starling.dace.emit.operations import compared, operated, power
from starling.dace.emit.rows import ReadOfRow
from starling.dace.ir import Apply, Cast, Expression, Fold, Index, Number, Program, Read, Value
from starling.dace.passes.types import CHOICES, COMPARISONS, LOGICAL, WEAK, common_type, type_of

__all__ = ["CPP", "FOLDS", "cpp_value"]

FOLDS = {"sum": "plus", "dot": "plus", "max": "maximum", "min": "minimum"}


def cpp_value(e: Expression, p: Program, want: str = "") -> str:
    """A value. `want`: the element type to convert it to; empty: its own, of Python's numbers the one they have in C++.

    What is computed of Python's numbers alone is computed in their own types, and converted then.
    """
    have = type_of(e, p)
    own = WEAK.get(have, have)
    if isinstance(e, Number):
        return literal(e.value, want or own)
    return converted(_value(e, p, own), own, want or own)


def _value(e: Expression, p: Program, kind: str) -> str:
    """A value of its own type."""
    if isinstance(e, ReadOfRow):
        return f"row_{e.row}_(lane_, {e.offset})"
    if isinstance(e, Read):
        if p.arrays[e.array].scalar:
            return cpp_name(e.array)
        return f"{cpp_name(e.array)}({', '.join(cpp_index(i) for i in e.index)})"
    if isinstance(e, Value):
        return cpp_symbol(e.name)
    if isinstance(e, Index):
        return f"static_cast<{CPP[kind]}>({cpp_index(e.value)})"
    if isinstance(e, Cast):
        return cpp_value(e.value, p, e.dtype)
    if isinstance(e, Fold):
        call = f"sg::fold<{CPP[kind]}>(st::{FOLDS[e.op]}{{}}, {cpp_index(e.begin)}, {cpp_index(e.end)}, "
        return f"{call}[&](st::index_t {cpp_name(e.variable)}) {{ return {cpp_value(e.value, p, kind)}; }})"
    assert isinstance(e, Apply)
    return _apply(e, p, kind)


def _apply(e: Apply, p: Program, kind: str) -> str:
    op, arguments = e.op, e.arguments
    if op in LOGICAL:
        parts = [cpp_value(a, p, "bool") for a in arguments]
        if op == "not":
            return f"(!{parts[0]})"
        return f"({' && '.join(parts)})" if op == "and" else f"({' || '.join(parts)})"
    if op == "isnan":
        t = type_of(arguments[0], p)
        return f"std::isnan({cpp_value(arguments[0], p)})" if WEAK.get(t, t).startswith("float") else "false"
    if op in COMPARISONS:
        joined = common_type(*(type_of(a, p) for a in arguments))
        common = WEAK.get(joined, joined)
        return compared(op, common, *(cpp_value(a, p, common) for a in arguments))
    parts = [cpp_value(a, p, "bool" if op in CHOICES and k == 0 else kind) for k, a in enumerate(arguments)]
    return power(kind, parts, _literal_of(arguments[1])) if op == "**" else operated(op, kind, parts)


def _literal_of(e: Expression) -> bool | int | float | None:
    """The number that an expression is, also with a type."""
    if isinstance(e, Cast):
        e = e.value
    return e.value if isinstance(e, Number) else None
