"""Calls in a program: NumPy's functions, methods of arrays, a few of Python's own, communication, other functions."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from starling.dace.frontend.calls import creation, functions, products, reductions, rolls
from starling.dace.frontend.calls import nvshmem as nvshmem_calls
from starling.dace.frontend.calls.arguments import bound, whole_literals
from starling.dace.frontend.expressions import evaluate
from starling.dace.frontend.expressions.attributes import length_as_number, transposed
from starling.dace.frontend.expressions.operators import BOOLS, apply, cast, number_of
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ArrayValue,
    Elements,
    Items,
    Meaning,
    Method,
    Outside,
    Scalar,
    View,
    elements_of,
    shape_of,
)
from starling.dace.ir import Apply, Cast, Number
from starling.dace.passes.types import WEAK

__all__ = ["call"]

# NumPy's functions of elements, by what the program calls them.
OF_ELEMENTS: dict[Any, tuple[str, int]] = {
    np.abs: ("abs", 1),
    np.sqrt: ("sqrt", 1),
    np.exp: ("exp", 1),
    np.log: ("log", 1),
    np.sin: ("sin", 1),
    np.cos: ("cos", 1),
    np.tan: ("tan", 1),
    np.tanh: ("tanh", 1),
    np.arcsin: ("asin", 1),
    np.arccos: ("acos", 1),
    np.arctan: ("atan", 1),
    np.arctan2: ("atan2", 2),
    np.sinh: ("sinh", 1),
    np.cosh: ("cosh", 1),
    np.floor: ("floor", 1),
    np.ceil: ("ceil", 1),
    np.isnan: ("isnan", 1),
    np.minimum: ("minimum", 2),
    np.maximum: ("maximum", 2),
    np.add: ("+", 2),
    np.subtract: ("-", 2),
    np.multiply: ("*", 2),
    np.divide: ("/", 2),
    np.floor_divide: ("//", 2),
    np.remainder: ("%", 2),
    np.power: ("**", 2),
    np.negative: ("negative", 1),
    np.invert: ("~", 1),
    np.bitwise_and: ("&", 2),
    np.bitwise_or: ("|", 2),
    np.bitwise_xor: ("^", 2),
    np.less: ("<", 2),
    np.less_equal: ("<=", 2),
    np.greater: (">", 2),
    np.greater_equal: (">=", 2),
    np.equal: ("==", 2),
    np.not_equal: ("!=", 2),
}
OF_ARRAYS = {
    np.sum: "sum",
    np.max: "max",
    np.min: "min",
    np.amax: "max",
    np.amin: "min",
    np.mean: "mean",
    np.any: "any",
    np.all: "all",
}
FILLED = {np.zeros: "zeros", np.ones: "ones", np.empty: "empty", np.full: "full"}
LIKE = {np.zeros_like: "zeros", np.ones_like: "ones", np.empty_like: "empty", np.full_like: "full"}


def call(t: Translation, node: ast.Call) -> Meaning:
    """The value of a call; what it does goes into the program."""
    function = evaluate.evaluate(t, node.func)
    if not isinstance(function, (Method, Outside)):
        raise t.error(node.func, "is no function")
    with t.naming(node):
        return _method(t, function, node) if isinstance(function, Method) else _of_object(t, function.value, node)


def _of_object(t: Translation, f: Any, node: ast.Call) -> Meaning:
    try:
        known = KNOWN.get(f)
        simple = OF_ELEMENTS.get(f)
    except TypeError:  # no key
        known = simple = None
    if simple is not None:
        given = bound(t, node, "x1 x2" if simple[1] == 2 else "x", simple[1])
        return _of_elements(t, simple[0], list(given.values()), node)
    if known is not None:
        return known(t, node)
    if nvshmem_calls.is_call(f):
        return nvshmem_calls.call(t, f.__name__, node)
    if _is_type(f):
        given = bound(t, node, "x")
        return cast(t, creation.dtype_of(t, Outside(f), node.func), given["x"], node)
    inner = functions.function_of(f)
    if inner is not None:
        return functions.inline(t, inner, node)
    raise t.error(node.func, "is a call of Python, which a program cannot make; see docs/dace.md")


def _is_type(f: Any) -> bool:
    return (inspect.isclass(f) and issubclass(f, np.generic)) or hasattr(f, "to_string")


def _of_elements(t: Translation, op: str, values: list[Meaning], node: ast.Call) -> Meaning:
    """A function of NumPy makes Python's numbers NumPy's."""
    made = apply(t, op, values, node)
    if isinstance(made, Scalar):
        kind = t.type(made.expr)
        if kind in WEAK:
            return Scalar(Cast(WEAK[kind], made.expr))
    return made


# ---- methods of arrays ----


def _method(t: Translation, method: Method, node: ast.Call) -> Meaning:
    owner, name = method.owner, method.name
    if name in ("sum", "max", "min", "mean", "any", "all"):
        return reductions.called(t, name, node, owner)
    if name == "copy":
        bound(t, node, "", 0)
        return creation.copied(t, owner, node)
    if name == "astype":
        return cast(t, creation.dtype_of(t, bound(t, node, "dtype")["dtype"], node), owner, node)
    if name == "transpose":
        return _turned(t, owner, bound(t, node, "axes", 0).get("axes"), node)
    if name == "dot":
        return products.dot(t, owner, bound(t, node, "b")["b"], node)
    assert name == "fill"
    from starling.dace.frontend.assignments import store

    if not isinstance(owner, View):
        raise t.error(node, "fills what has no name")
    store(t, owner, bound(t, node, "value")["value"], node)
    return Outside(None)


def _turned(t: Translation, owner: ArrayValue, axes: Meaning | None, node: ast.AST) -> Meaning:
    rank = len(shape_of(owner))
    order = whole_literals(t, axes, node, "axes") if axes is not None else list(reversed(range(rank)))
    if sorted(order) != list(range(rank)):
        raise t.error(node, f"names the axes {order} of an array of {rank}")
    return transposed(owner, tuple(order))


# ---- functions of NumPy with rules of their own ----


def _where(t: Translation, node: ast.Call) -> Meaning:
    given = bound(t, node, "condition x y", 3)
    condition = number_of(t, given["condition"], node)
    if isinstance(condition, Scalar):
        kind = t.type(condition.expr)
        made = condition if kind in BOOLS else Scalar(Apply("!=", (condition.expr, Number(0))))
    else:
        one = elements_of(condition)
        made = one if t.type(one.expr) == "bool" else apply(t, "!=", [one, Scalar(Number(0))], node)  # type: ignore[assignment]
    result = apply(t, "where", [made, given["x"], given["y"]], node)
    e = result.expr
    kind = t.type(e)
    if kind in WEAK:
        e = Cast(WEAK[kind], e)
    return Scalar(e) if isinstance(result, Scalar) else Elements(result.shape, e)


def _clip(t: Translation, node: ast.Call) -> Meaning:
    given = bound(t, node, "a a_min a_max", 3)
    return apply(t, "minimum", [apply(t, "maximum", [given["a"], given["a_min"]], node), given["a_max"]], node)


def _square(t: Translation, node: ast.Call) -> Meaning:
    x = bound(t, node, "x")["x"]
    return apply(t, "*", [x, x], node)


def _logical(op: str) -> Callable[[Translation, ast.Call], Meaning]:
    def made(t: Translation, node: ast.Call) -> Meaning:
        given = bound(t, node, "x1 x2" if op != "~" else "x", 1 if op == "~" else 2)
        return apply(t, op, [_true(t, v, node) for v in given.values()], node)

    return made


def _true(t: Translation, value: Meaning, node: ast.AST) -> Meaning:
    given = number_of(t, value, node)
    kind = t.type(given.expr if isinstance(given, Scalar) else elements_of(given).expr)
    return cast(t, "bool", given, node) if kind in BOOLS else apply(t, "!=", [given, Scalar(Number(0))], node)


def _transpose(t: Translation, node: ast.Call) -> Meaning:
    given = bound(t, node, "a axes")
    value = number_of(t, given["a"], node)
    if isinstance(value, Scalar):
        raise t.error(node, "transposes a number")
    return _turned(t, value, given.get("axes"), node)


# ---- functions of Python ----


def _abs(t: Translation, node: ast.Call) -> Meaning:
    return apply(t, "abs", [bound(t, node, "x")["x"]], node)


def _len(t: Translation, node: ast.Call) -> Meaning:
    value = bound(t, node, "x")["x"]
    if isinstance(value, Items):
        return Scalar(Number(len(value.items)))
    if isinstance(value, (View, Elements)) and shape_of(value):
        return Scalar(length_as_number(t, shape_of(value)[0], node))
    raise t.error(node, "is the length of what has none")


def _as_python(kind: str) -> Callable[[Translation, ast.Call], Meaning]:
    """int, float and bool: a number of Python's own."""

    def made(t: Translation, node: ast.Call) -> Meaning:
        value = evaluate.one_number(t, bound(t, node, "x")["x"], node)
        have = t.type(value.expr)
        if have == kind:
            return value
        if isinstance(value.expr, Number):
            python = {"weak int": int, "weak float": float, "weak bool": bool}[kind]
            return Scalar(Number(python(value.expr.value)))
        if t.parallel:
            raise t.error(node, "stands in a parallel loop; write np.int64(...) or np.float64(...)")
        if kind == "weak int" and have.endswith(("float", "float32", "float64")):
            size = Apply("abs", (value.expr,))
            t.guard(Apply("!=", (value.expr, value.expr)), "ValueError", "cannot convert float NaN to integer")
            infinite = Apply(">", (size, Number(1.7976931348623157e308)))
            t.guard(infinite, "OverflowError", "cannot convert float infinity to integer")
            t.guard(Apply(">=", (size, Number(2.0**63))), "ProgramError", "int(...) of a float has more than 64 bits")
        e = Apply("!=", (value.expr, Number(0))) if kind == "weak bool" else Cast(WEAK[kind], value.expr)
        return Scalar(t.variable(e, declared=kind))

    return made


def _extreme(op: str) -> Callable[[Translation, ast.Call], Meaning]:
    """min and max of numbers: Python keeps the first unless the next is less, or greater."""

    def made(t: Translation, node: ast.Call) -> Meaning:
        if node.keywords or len(node.args) < 2:
            raise t.error(node, "takes two numbers or more in a program; of an array write np.min or np.max")
        result = evaluate.one_number(t, evaluate.evaluate(t, node.args[0]), node.args[0]).expr
        for source in node.args[1:]:
            other = evaluate.one_number(t, evaluate.evaluate(t, source), source).expr
            if isinstance(result, Number) and isinstance(other, Number):
                result = Number(min(result.value, other.value) if op == "<" else max(result.value, other.value))
                continue
            kinds = {t.type(result), t.type(other)}
            if len(kinds) > 1:
                raise t.error(
                    node,
                    f"is {' or '.join(sorted(kinds)).replace('weak ', 'a Python ')}; give both one type, or write "
                    "np.minimum or np.maximum",
                )
            result = Apply("where", (Apply(op, (other, result)), other, result))
        return Scalar(result)

    return made


def _no_call(words: str) -> Callable[[Translation, ast.Call], Meaning]:
    def made(t: Translation, node: ast.Call) -> Meaning:
        raise t.error(node.func, words)

    return made


def _reduced(name: str) -> Callable[[Translation, ast.Call], Meaning]:
    return lambda t, node: reductions.called(t, name, node)


def _made(
    table: Callable[[Translation, str, ast.Call], Meaning], name: str
) -> Callable[[Translation, ast.Call], Meaning]:
    return lambda t, node: table(t, name, node)


def _two(of: Callable[[Translation, Meaning, Meaning, ast.AST], Meaning]) -> Callable[[Translation, ast.Call], Meaning]:
    def made(t: Translation, node: ast.Call) -> Meaning:
        a, b = bound(t, node, "a b", 2).values()
        return of(t, a, b, node)

    return made


KNOWN: dict[Any, Callable[[Translation, ast.Call], Meaning]] = {
    **{f: _reduced(name) for f, name in OF_ARRAYS.items()},
    **{f: _made(creation.filled, name) for f, name in FILLED.items()},
    **{f: _made(creation.like, name) for f, name in LIKE.items()},
    np.arange: creation.arange,
    np.copy: lambda t, node: creation.copied(t, bound(t, node, "a")["a"], node),
    np.where: _where,
    np.clip: _clip,
    np.square: _square,
    np.logical_and: _logical("&"),
    np.logical_or: _logical("|"),
    np.logical_xor: _logical("^"),
    np.logical_not: _logical("~"),
    np.transpose: _transpose,
    np.dot: _two(products.dot),
    np.matmul: _two(products.matmul),
    np.outer: _two(products.outer),
    np.linalg.norm: lambda t, node: products.norm(t, bound(t, node, "x")["x"], node),
    np.roll: rolls.roll,
    builtins.abs: _abs,
    builtins.len: _len,
    builtins.int: _as_python("weak int"),
    builtins.float: _as_python("weak float"),
    builtins.bool: _as_python("weak bool"),
    builtins.min: _extreme("<"),
    builtins.max: _extreme(">"),
}
