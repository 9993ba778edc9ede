"""Python's expressions, as DaCe leaves them in tasklets and conditions, and DaCe's symbolic ones, as ours."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import sympy

from dace import symbolic
from starling.dace.ir import Apply, Cast, Expression, Index, Number, Value, parts_of, symbol
from starling.dace.program_error import Place, ProgramError

__all__ = ["CALLS", "DTYPES", "expression_of", "index_of"]

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
}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Not: "not", ast.Invert: "~"}
# Functions of one or two numbers, as tasklets call them.
CALLS = {
    "abs": "abs",
    "sqrt": "sqrt",
    "exp": "exp",
    "log": "log",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "tanh": "tanh",
    "asin": "asin",
    "acos": "acos",
    "atan": "atan",
    "atan2": "atan2",
    "sinh": "sinh",
    "cosh": "cosh",
    "floor": "floor",
    "ceil": "ceil",
    "min": "minimum",
    "max": "maximum",
}
REMAINDERS = {"PyMod": "%", "py_mod": "%", "int_floor": "//", "py_floor": "//", "PyFloorDiv": "//"}
SYMPY_DIGITS = 15
DTYPES = ("bool", "int32", "int64", "float32", "float64")


def index_of(e: Any) -> Any:
    """DaCe's symbolic expression with symbols by name alone, so that equal names are equal symbols."""
    e = sympy.sympify(e)
    e = e.replace(symbolic.int_floor, lambda a, b: sympy.floor(a / b))
    e = e.replace(symbolic.int_ceil, lambda a, b: sympy.ceiling(a / b))
    return e.xreplace({s: symbol(str(s)) for s in e.free_symbols})


def expression_of(
    node: ast.AST, names: Callable[[str], Expression | None], place: Place, own_casts: bool = True
) -> Expression:
    """The expression of a syntax tree.

    Args:
        node: An expression of Python.
        names: What a name stands for; None: a scalar or a symbol of the program.
        place: Where the statement stands, for errors.
        own_casts: Whether casts of operands are the user's. Those of DaCe are left away: they make types that are not
            always NumPy's, which passes/types.py finds.

    Raises:
        ProgramError: Something in it is outside of the subset.
    """

    def refuse(what: str) -> ProgramError:
        return ProgramError.at(place, what, "has no meaning in a program; see the subset in docs/dace.md")

    def of(n: ast.AST) -> Expression:
        if isinstance(n, ast.Expression):
            return of(n.body)
        if isinstance(n, ast.Constant):
            if isinstance(n.value, (bool, int, float)):
                return Number(n.value)
            raise refuse(repr(n.value))
        if isinstance(n, ast.Name):
            known = names(n.id)
            return Value(n.id) if known is None else known
        if isinstance(n, ast.BinOp) and type(n.op) in BINARY:
            a, b = of(n.left), of(n.right)
            if (_is_symbolic(a) and _is_rounded(b)) or (_is_symbolic(b) and _is_rounded(a)):
                raise ProgramError.at(
                    place,
                    ast.unparse(n),
                    "is of sizes and loop variables alone, which DaCe rounds; write np.float64(...) around one",
                )
            return Apply(BINARY[type(n.op)], (a, _whole_exponent(a, b) if isinstance(n.op, ast.Pow) else b))
        if isinstance(n, ast.UnaryOp) and type(n.op) in UNARY:
            value = of(n.operand)
            if isinstance(value, Number) and isinstance(n.op, ast.USub):
                return Number(-value.value)
            return Apply(UNARY[type(n.op)], (value,))
        if isinstance(n, ast.BoolOp):
            op = "and" if isinstance(n.op, ast.And) else "or"
            result = of(n.values[0])
            for v in n.values[1:]:
                result = Apply(op, (result, of(v)))
            return result
        if isinstance(n, ast.Compare) and len(n.ops) == 1 and type(n.ops[0]) in COMPARE:
            return Apply(COMPARE[type(n.ops[0])], (of(n.left), of(n.comparators[0])))
        if isinstance(n, ast.IfExp):
            return Apply("where", (of(n.test), of(n.body), of(n.orelse)))
        if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name):
            return subscript(n)
        if isinstance(n, ast.Call):
            return call(n)
        raise refuse(ast.unparse(n) if isinstance(n, ast.expr) else type(n).__name__)

    def subscript(n: ast.Subscript) -> Expression:
        assert isinstance(n.value, ast.Name)
        known = names(n.value.id)
        if isinstance(n.slice, ast.Constant) and n.slice.value == 0 and not isinstance(known, Index):
            return Value(n.value.id) if known is None else known
        raise refuse(ast.unparse(n))

    def call(n: ast.Call) -> Expression:
        name = ast.unparse(n.func).split(".")[-1]
        if name in DTYPES and len(n.args) == 1:
            value = of(n.args[0])
            return Cast(name, value) if own_casts or n is node else value
        if name in REMAINDERS and len(n.args) == 2:
            return Apply(REMAINDERS[name], (of(n.args[0]), of(n.args[1])))
        if name in CALLS and len(n.args) in (1, 2):
            return Apply(CALLS[name], tuple(of(a) for a in n.args))
        raise refuse(f"call of {name}")

    return of(node)


def _whole_exponent(base: Expression, exponent: Expression) -> Expression:
    """The exponent: of loop variables and sizes SymPy prints whole ones with a point."""
    if _is_symbolic(base) and isinstance(exponent, Number) and float(exponent.value).is_integer():
        return Number(int(exponent.value))
    return exponent


def _is_symbolic(e: Expression) -> bool:
    """Whether it is of loop variables and sizes alone, which DaCe leaves to SymPy."""
    parts = parts_of(e)
    return any(isinstance(x, Index) for x in parts) and all(isinstance(x, (Apply, Index, Number)) for x in parts)


def _is_rounded(e: Expression) -> bool:
    """Whether it is a number with as many digits as SymPy prints."""
    if not isinstance(e, Number) or not isinstance(e.value, float) or not math.isfinite(e.value):
        return False
    return len(Decimal(repr(e.value)).normalize().as_tuple().digits) >= SYMPY_DIGITS
