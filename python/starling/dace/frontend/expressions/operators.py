"""Operators of Python and functions of elements, with NumPy's types."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

import sympy

from starling.dace.frontend.expressions.overflow import check_fits, check_size
from starling.dace.frontend.expressions.shapes import broadcast, one_element
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import Elements, Meaning, Scalar, View
from starling.dace.ir import Apply, Cast, Expression, Number, Sym
from starling.dace.ir.pes import N_PES
from starling.dace.passes.types import CHOICES, WEAK, common_type

__all__ = [
    "BINARY",
    "COMPARE",
    "UNARY",
    "apply",
    "cast",
    "fits",
    "is_positive",
    "number_of",
    "truth",
]

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "~"}
OF_PYTHON: dict[str, Callable[..., Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    "**": operator.pow,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
    "<<": operator.lshift,
    ">>": operator.rshift,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
    "negative": operator.neg,
    "positive": operator.pos,
    "~": operator.invert,
    "abs": abs,
}
OF_BITS = ("&", "|", "^", "<<", ">>", "~")
ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "negative", "positive", "abs")
WHOLE = ("int32", "int64", "weak int")
BOOLS = ("bool", "weak bool")


def number_of(t: Translation, value: Meaning, node: ast.AST) -> Scalar | Elements | View:
    """The value as a number or an array of them."""
    if isinstance(value, (Scalar, View, Elements)):
        return value
    what = "a tuple or list" if type(value).__name__ == "Items" else "no number and no array"
    raise t.error(node, f"is {what}, of which nothing can be computed here")


def apply(t: Translation, op: str, values: list[Meaning], node: ast.AST) -> Scalar | Elements:
    """An operation on elements."""
    given = [number_of(t, v, node) for v in values]
    if op in OF_PYTHON and all(isinstance(v, Scalar) and isinstance(v.expr, Number) for v in given):
        return Scalar(_folded(t, op, [v.expr.value for v in given], node))  # type: ignore[union-attr]
    if all(isinstance(v, Scalar) for v in given):
        parts = [v.expr for v in given]  # type: ignore[union-attr]
        _check_divisor(t, op, parts, node)
        made = _applied(t, op, parts, node)
        check_size(t, op, parts, made, node)
        return Scalar(made)
    shape, elements = broadcast(t, node, given)
    return Elements(shape, _applied(t, op, [e.expr for e in elements], node))


def _folded(t: Translation, op: str, values: list[Any], node: ast.AST) -> Number:
    try:
        found = OF_PYTHON[op](*values)
    except (ArithmeticError, TypeError, ValueError) as problem:
        raise t.error(node, f"raises {type(problem).__name__}: {problem}") from problem
    if isinstance(found, complex):
        raise t.error(node, "is complex; a program knows no complex numbers")
    if isinstance(found, int) and not -(2**63) <= found < 2**63:
        raise t.error(node, f"is {found}, which does not fit in int64")
    return Number(found)


def _check_divisor(t: Translation, op: str, parts: list[Expression], node: ast.AST) -> None:
    """Python raises where one of its own numbers is divided by 0, or shifted by a negative number."""
    if op not in ("/", "//", "%") or not all(x in WEAK for e in parts for x in t.types_of(e)):
        return
    divisor = parts[1]
    if isinstance(divisor, Number):
        if divisor.value == 0:
            raise t.error(node, f"raises ZeroDivisionError: {_words_for_zero(op, [t.type(e) for e in parts])}")
        return
    zero = Apply("==", (divisor, Number(0)))
    known = t.as_sym(divisor)
    if known is not None and is_positive(known, {*t.program.sizes, N_PES}):
        return
    t.guard(zero, "ZeroDivisionError", _words_for_zero(op, [t.type(e) for e in parts]))


def _words_for_zero(op: str, kinds: list[str]) -> str:
    """What Python says of a division by 0."""
    a, b = (0.0 if k == "weak float" else 0 for k in kinds)
    try:
        OF_PYTHON[op](a, b)
    except ZeroDivisionError as problem:
        return str(problem)
    raise AssertionError


def _applied(t: Translation, op: str, parts: list[Expression], node: ast.AST) -> Expression:
    kinds = [t.type(e) for e in parts]
    _check_kinds(t, op, parts, kinds, node)
    made = Apply(op, tuple(parts))
    results = {WEAK.get(x, x) for x in t.types_of(made)}
    if len(results) > 1:
        raise t.error(
            node,
            f"would be {' or '.join(sorted(results))}, since a number in it has several types; give it one from the "
            "start, such as 0.0 for 0",
        )
    _check_numbers(t, made, node)
    return made


def _check_kinds(t: Translation, op: str, parts: list[Expression], kinds: list[str], node: ast.AST) -> None:
    if op in OF_BITS:
        wrong = [k for k in kinds if k not in (*WHOLE, *BOOLS)]
        if wrong:
            raise t.error(node, f"is of {WEAK.get(wrong[0], wrong[0])}; {op} takes whole numbers and truth values")
        if op in ("<<", ">>") and any(k in BOOLS for k in kinds):
            raise t.error(node, f"is of truth values; {op} takes whole numbers")
        if op == "~" and kinds[0] == "weak bool":
            raise t.error(node, "is ~ of a truth value of Python; write not")
    if op in ARITHMETIC and all(k in BOOLS for k in kinds):
        if op in ("-", "negative", "positive"):
            raise t.error(
                node, f"is {'-' if op != 'positive' else '+'} of truth values, which NumPy refuses; use ^ or ~"
            )
        if "weak bool" in kinds or op not in ("+", "*"):
            raise t.error(node, "computes with truth values alone; write & or |, or np.int64(...) around them")
    if op == "**" and all(k in WEAK for k in kinds) and not _is_plain_exponent(parts[1]):
        raise t.error(
            node, "is a power of Python's own numbers with a computed exponent; write np.float64(...) around the base"
        )


def _is_plain_exponent(e: Expression) -> bool:
    """Whether an exponent is a literal with which Python neither raises nor changes the type of a power."""
    return isinstance(e, Number) and e.value >= 0 and float(e.value).is_integer()


def _check_numbers(t: Translation, e: Apply, node: ast.AST) -> None:
    """Refuses numbers of Python that do not fit in the whole type of what they meet."""
    if e.op in ("and", "or", "not", "isnan"):
        return
    own = e.arguments[1:] if e.op in CHOICES else e.arguments
    joined = t.type(own[0])
    for a in own[1:]:
        joined = common_type(joined, t.type(a))
    kind = WEAK.get(joined, joined)
    for a in own:
        if isinstance(a, Number) and kind in ("int32", "int64") and not fits(a, kind):
            raise t.error(str(a.value), f"does not fit in {kind}, the type of what it meets")
        if kind == "int32" and t.type(a) == "weak int" and not isinstance(a, Number) and not t.parallel:
            check_fits(t, a, node)
    if e.op == "**" and kind in ("int32", "int64") and isinstance(own[1], Number) and own[1].value < 0:
        raise t.error(str(own[1].value), "is a negative exponent of whole numbers; make the base float64")


def is_positive(e: Sym, sizes: set[str]) -> bool:
    """Whether an index expression is at least 1 whatever these sizes are, which are 1 or more."""
    more = {s: sympy.Symbol(f"more_{s}", integer=True, nonnegative=True) + 1 for s in sympy.sympify(e).free_symbols}
    if any(str(s) not in sizes for s in more):
        return False
    low = sympy.expand(sympy.sympify(e).xreplace(more)) - 1
    return low.is_nonnegative is True


def fits(number: Number, kind: str) -> bool:
    """Whether a whole type holds a number."""
    bits = int(kind[3:]) - 1
    return bool(-(2**bits) <= number.value < 2**bits)


def cast(t: Translation, dtype: str, value: Meaning, node: ast.AST) -> Scalar | Elements:
    """The value as an element type."""
    given = number_of(t, value, node)
    if isinstance(given, Scalar):
        return Scalar(Cast(dtype, given.expr))
    shape, (made,) = broadcast(t, node, [given])
    return Elements(shape, Cast(dtype, made.expr))


def truth(t: Translation, value: Meaning, node: ast.AST) -> Expression:
    """Whether Python takes a value for true."""
    one = one_element(value)
    if one is None:
        if isinstance(value, (View, Elements)):
            raise t.error(node, "is an array, whose truth value is ambiguous; reduce it with np.any, np.all or np.max")
        raise t.error(node, "is no condition")
    if isinstance(one.expr, Number):
        return Number(bool(one.expr.value))
    if t.type(one.expr) in BOOLS:
        return one.expr
    return Apply("!=", (one.expr, Number(0)))
