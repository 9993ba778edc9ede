"""Operations of an element type in C++."""

from __future__ import annotations

from starling.dace.emit.literals import CPP, literal
from starling.dace.passes.types import FLOATING

__all__ = ["compared", "operated", "power"]

OF_BOOLS = {"+": "||", "|": "||", "maximum": "||", "*": "&&", "&": "&&", "minimum": "&&", "^": "!="}
OF_WHOLE = {
    "+": "sg::add",
    "-": "sg::subtract",
    "*": "sg::multiply",
    "//": "sg::floor_divide",
    "%": "sg::modulo",
    "<<": "sg::shift_left",
    ">>": "sg::shift_right",
    "abs": "sg::absolute",
}
OF_FLOATS = {
    "//": "sg::floor_divide",
    "%": "sg::modulo",
    "abs": "sg::absolute",
}
FUNCTIONS = {name: f"std::{name}" for name in (*FLOATING, "floor", "ceil")}


def compared(op: str, kind: str, a: str, b: str) -> str:
    """Two values of an element type that are compared."""
    if kind == "bool" and op not in ("==", "!="):
        a, b = (f"static_cast<int>({x})" for x in (a, b))
    return f"({a} {op} {b})"


def operated(op: str, kind: str, parts: list[str]) -> str:
    """What an operation makes of values of an element type, which is of this type too."""
    if op in ("where", "choose"):
        return f"({parts[0]} ? {parts[1]} : {parts[2]})"
    if op in ("positive", "floor", "ceil", "abs") and (kind == "bool" or (kind.startswith("int") and op != "abs")):
        return parts[0]
    if op == "positive":
        return parts[0]
    if kind == "bool":
        return f"(!{parts[0]})" if op == "~" else f"({parts[0]} {OF_BOOLS[op]} {parts[1]})"
    whole = kind.startswith("int")
    named = (OF_WHOLE if whole else OF_FLOATS).get(op)
    if named is not None:
        return f"{named}<{CPP[kind]}>({', '.join(parts)})"
    if op in ("minimum", "maximum"):
        return f"st::{op}{{}}({parts[0]}, {parts[1]})"
    if op == "negative":
        return f"sg::subtract<{CPP[kind]}>(0, {parts[0]})" if whole else f"(-{parts[0]})"
    if op == "~":
        return f"(~{parts[0]})"
    if op in FUNCTIONS:
        return f"{FUNCTIONS[op]}({', '.join(parts)})"
    return f"({parts[0]} {op} {parts[1]})"


def power(kind: str, parts: list[str], exponent: bool | int | float | None) -> str:
    """A power; `exponent`: if it is a literal number. NumPy multiplies for squares, divides for -1 and takes roots for
    one half."""
    if exponent == 1:
        return parts[0]
    if kind.startswith("float"):
        if exponent == 2:
            return f"sg::square<{CPP[kind]}>({parts[0]})"
        if exponent == -1:
            return f"({literal(1, kind)} / {parts[0]})"
        if exponent == 0.5:
            return f"std::sqrt({parts[0]})"
    return f"sg::power<{CPP[kind]}>({parts[0]}, {parts[1]})"
