"""Expressions in C++."""

from __future__ import annotations

import math
from typing import Any

import sympy

from starling.dace.emit.rows import ReadOfRow
from starling.dace.frontend.names import N_PES, PE, is_neighbour, neighbour_of
from starling.dace.ir import Apply, Cast, Expression, Fold, Index, Number, Program, Read, Value
from starling.dace.passes.types import COMPARISONS, FLOATING, WEAK, common_type, type_of
from starling.dace.program_error import ProgramError

__all__ = ["CPP", "FOLDS", "cpp_index", "cpp_name", "cpp_value", "minus"]

CPP = {"bool": "bool", "int32": "std::int32_t", "int64": "std::int64_t", "float32": "float", "float64": "double"}
OPERATORS = ("+", "-", "*", "&", "|", "^")
WRAPPING = {"+": "add", "-": "subtract", "*": "multiply"}  # of whole numbers
FUNCTIONS = {name: f"std::{name}" for name in (*FLOATING, "floor", "ceil")}
FOLDS = {"sum": "plus", "dot": "plus", "max": "maximum", "min": "minimum"}
# Names that C++ or the kernel have taken.
TAKEN = frozenset(
    [
        "and",
        "or",
        "not",
        "xor",
        "b",
        "st",
        "sg",
        "auto",
        "bool",
        "break",
        "case",
        "char",
        "class",
        "const",
        "continue",
        "default",
        "delete",
        "do",
        "double",
        "else",
        "enum",
        "explicit",
        "export",
        "extern",
        "false",
        "float",
        "for",
        "friend",
        "goto",
        "if",
        "inline",
        "int",
        "long",
        "mutable",
        "namespace",
        "new",
        "operator",
        "private",
        "protected",
        "public",
        "register",
        "return",
        "short",
        "signed",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "this",
        "throw",
        "true",
        "try",
        "typedef",
        "typename",
        "union",
        "unsigned",
        "using",
        "virtual",
        "void",
        "volatile",
        "while",
        "pes",
        "signals",
        "slots",
        "round",
        "packets",
        "turns",
    ]
)


def cpp_name(name: str) -> str:
    """A name of the program as C++ may have it."""
    if name in TAKEN or name.startswith(("_", "owner_", "packets_", "pitch_", "sent_")) or "__" in name:
        return "v" + name.replace("__", "_").rstrip("_") + "_"
    return name


def cpp_index(e: Any) -> str:
    """A whole number."""
    e = sympy.sympify(e)
    if e.is_Integer:
        return str(int(e))
    if e.is_Symbol:
        return _symbol(str(e))
    if e.is_Add:
        terms = sorted(e.args, key=lambda t: (t.is_Integer, t.could_extract_minus_sign(), str(t)))
        text = cpp_index(terms[0])
        for t in terms[1:]:
            text += f" - {_factor(-t)}" if t.could_extract_minus_sign() else f" + {cpp_index(t)}"
        return text
    if e.is_Mul:
        return " * ".join(_factor(f) for f in e.args)
    if isinstance(e, sympy.Mod):
        return f"sg::modulo<st::index_t>({cpp_index(e.args[0])}, {cpp_index(e.args[1])})"
    if isinstance(e, sympy.floor):
        over, under = sympy.fraction(sympy.together(e.args[0]))
        return f"sg::floor_divide<st::index_t>({cpp_index(over)}, {cpp_index(under)})"
    if isinstance(e, sympy.ceiling):
        return cpp_index(-sympy.floor(-e.args[0]))
    if isinstance(e, (sympy.Min, sympy.Max)):
        call = "sg::least" if isinstance(e, sympy.Min) else "sg::most"
        text = cpp_index(e.args[0])
        for a in e.args[1:]:
            text = f"{call}({text}, {cpp_index(a)})"
        return text
    if e.is_Pow and e.exp.is_Integer and e.exp > 0:
        return " * ".join([_factor(e.base)] * int(e.exp))
    raise ProgramError(f"index {e}: is no sum, product, quotient or remainder of sizes and numbers", node=str(e))


def minus(e: Any) -> str:
    """What takes a whole number away from the text before; empty for 0."""
    e = sympy.expand(e)
    return "" if e == 0 else f" - {_factor(e)}"


def _factor(e: Any) -> str:
    text = cpp_index(e)
    return f"({text})" if sympy.sympify(e).is_Add else text


def _symbol(name: str) -> str:
    if name == PE:
        return "b.pe()"
    if name == N_PES:
        return "b.n_pes()"
    if is_neighbour(name):
        axis, step, ring = neighbour_of(name)
        return f"pes.{'ring_' if ring else ''}neighbour({'0, ' * axis}{step})"
    return cpp_name(name)


def cpp_value(e: Expression, p: Program, want: str = "") -> str:
    """A value. `want`: the type to convert it to; empty: its own."""
    have = type_of(e, p)
    text = _value(e, p, want if have in WEAK and want else WEAK.get(have, have))
    exact = have if have not in WEAK else (want or WEAK[have])
    return text if not want or exact == want else f"static_cast<{CPP[want]}>({text})"


def _value(e: Expression, p: Program, kind: str) -> str:
    """A value; a number of Python's own as `kind`."""
    if isinstance(e, ReadOfRow):
        return f"row_{e.row}_(lane_, {e.offset})"
    if isinstance(e, Read):
        if p.arrays[e.array].scalar:
            return cpp_name(e.array)
        return f"{cpp_name(e.array)}({', '.join(cpp_index(i) for i in e.index)})"
    if isinstance(e, Value):
        name = _symbol(e.name)
        declared = p.scalars.get(e.name) or p.variables.get(e.name) or "weak int"
        return f"static_cast<{CPP[kind]}>({name})" if declared in WEAK and WEAK[declared] != kind else name
    if isinstance(e, Number):
        return _number(e.value, kind)
    if isinstance(e, Index):
        return f"static_cast<{CPP[kind]}>({cpp_index(e.value)})"
    if isinstance(e, Cast):
        return cpp_value(e.value, p, e.dtype)
    if isinstance(e, Fold):
        inner = type_of(e, p)
        call = f"sg::fold<{CPP[inner]}>(st::{FOLDS[e.op]}{{}}, {cpp_index(e.begin)}, {cpp_index(e.end)}, "
        return f"{call}[&](st::index_t {e.variable}) {{ return {cpp_value(e.value, p, inner)}; }})"
    assert isinstance(e, Apply)
    return _apply(e, p, kind)


def _number(value: bool | int | float, kind: str) -> str:
    if kind == "bool":
        return "true" if value else "false"
    if kind.startswith("int"):
        if value == -(2**63):  # C++ has no literal for it
            return "std::numeric_limits<std::int64_t>::lowest()"
        return str(int(value)) if kind == "int32" else f"{int(value)}l"
    if math.isinf(value):
        return f"{'-' if value < 0 else ''}std::numeric_limits<{CPP[kind]}>::infinity()"
    if math.isnan(value):
        return f"std::numeric_limits<{CPP[kind]}>::quiet_NaN()"
    if kind == "float32":
        return f"static_cast<float>({float(value)!r})"
    text = repr(float(value))
    return f"({text})" if value < 0 else text


def _apply(e: Apply, p: Program, kind: str) -> str:
    op, arguments = e.op, e.arguments
    if op in ("and", "or", "not"):
        parts = [f"({cpp_value(a, p, 'bool')})" for a in arguments]
        return f"!{parts[0]}" if op == "not" else f" {'&&' if op == 'and' else '||'} ".join(parts)
    types = [type_of(a, p) for a in (arguments[1:] if op == "where" else arguments)]
    joined = types[0] if len(types) == 1 else common_type(types[0], types[1])
    if op in COMPARISONS:
        common = WEAK.get(joined, joined)
        a, b = (cpp_value(x, p, common) for x in arguments)
        return f"({a} {op} {b})"
    result = WEAK.get(type_of(e, p), type_of(e, p)) if type_of(e, p) not in WEAK else kind
    if op == "where":
        condition, a, b = cpp_value(arguments[0], p, "bool"), *(cpp_value(x, p, result) for x in arguments[1:])
        return f"({condition} ? {a} : {b})"
    parts = [cpp_value(a, p, result) for a in arguments]
    t = CPP[result]
    if op in WRAPPING and result.startswith("int"):
        return f"sg::{WRAPPING[op]}<{t}>({parts[0]}, {parts[1]})"
    if op in OPERATORS or op == "/":
        return f"({parts[0]} {op} {parts[1]})"
    if op == "**":
        return _power(arguments, parts, result, t)
    if op in ("//", "%"):
        return f"sg::{'floor_divide' if op == '//' else 'modulo'}<{t}>({parts[0]}, {parts[1]})"
    if op in ("minimum", "maximum"):
        return f"st::{op}{{}}({parts[0]}, {parts[1]})"
    if op == "abs":
        return f"sg::absolute<{t}>({parts[0]})"
    if op == "negative":
        return f"sg::subtract<{t}>(0, {parts[0]})" if result.startswith("int") else f"(-{parts[0]})"
    if op == "positive":
        return parts[0]
    if op == "~":
        return f"(!{parts[0]})" if result == "bool" else f"(~{parts[0]})"
    if op in ("floor", "ceil") and result.startswith("int"):
        return parts[0]
    return f"{FUNCTIONS[op]}({', '.join(parts)})"


def _power(arguments: tuple[Expression, ...], parts: list[str], result: str, t: str) -> str:
    """NumPy multiplies for squares, divides for -1 and takes roots for one half."""
    exponent = arguments[1]
    value = exponent.value if isinstance(exponent, Number) else None
    if value is None and isinstance(exponent, Cast) and isinstance(exponent.value, Number):
        value = exponent.value.value
    if value == 1:
        return parts[0]
    if value == 2 and result.startswith("float"):
        return f"({parts[0]} * {parts[0]})"
    if value == -1 and result.startswith("float"):
        return f"({_number(1, result)} / {parts[0]})"
    if value == 0.5 and result.startswith("float"):
        return f"std::sqrt({parts[0]})"
    return f"sg::power<{t}>({parts[0]}, {parts[1]})"
