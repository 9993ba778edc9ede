"""Arrays that a program makes: zeros, ones, full, empty and their like, arange, copies."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from starling.dace.frontend.calls.arguments import bound
from starling.dace.frontend.expressions.operators import number_of
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ZERO,
    Elements,
    Items,
    Meaning,
    Outside,
    Scalar,
    View,
    elements_of,
    parameter,
    shape_of,
)
from starling.dace.ir import Cast, Expression, Index, Number, Sym
from starling.dace.passes.types import WEAK

__all__ = ["arange", "copied", "dtype_of", "filled", "like"]

DTYPES = ("bool", "int32", "int64", "float32", "float64")
FILLS: dict[str, Any] = {"zeros": 0, "ones": 1, "empty": None, "full": None}


def dtype_of(t: Translation, value: Meaning, node: ast.AST) -> str:
    """An element type: NumPy's, DaCe's, Python's, or its name."""
    given = value.value if isinstance(value, Outside) else None
    name = ""
    if given is not None and hasattr(given, "to_string"):
        name = str(given.to_string())
    elif isinstance(given, (str, type, np.dtype)):
        try:
            name = str(np.dtype(given))
        except TypeError:
            name = ""
    if name not in DTYPES:
        raise t.error(node, f"has the element type {name or ast.unparse(node)}; a program knows {', '.join(DTYPES)}")
    return name


def _lengths(t: Translation, value: Meaning, node: ast.AST) -> tuple[Sym, ...]:
    items = value.items if isinstance(value, Items) else (value,)
    return tuple(t.sym(v, node) for v in items)


def filled(t: Translation, name: str, node: ast.Call) -> View:
    """np.zeros, ones, empty, full."""
    given = bound(t, node, "shape fill_value dtype" if name == "full" else "shape dtype", 2 if name == "full" else 1)
    shape = _lengths(t, given["shape"], node)
    kind = dtype_of(t, given["dtype"], node) if "dtype" in given else ""
    return _made(t, name, shape, kind, "float64", given.get("fill_value"), node)


def like(t: Translation, name: str, node: ast.Call) -> View:
    """np.zeros_like and its kin."""
    given = bound(t, node, "a fill_value dtype" if name == "full" else "a dtype", 2 if name == "full" else 1)
    model = number_of(t, given["a"], node)
    if isinstance(model, Scalar):
        raise t.error(node, "is like a number; pass an array")
    own = t.type(elements_of(model).expr)
    kind = dtype_of(t, given["dtype"], node) if "dtype" in given else WEAK.get(own, own)
    return _made(t, name, shape_of(model), kind, "", given.get("fill_value"), node)


def _made(
    t: Translation, name: str, shape: tuple[Sym, ...], kind: str, usual: str, fill: Meaning | None, node: ast.Call
) -> View:
    if t.parallel:
        raise t.error(node, "makes an array in a parallel loop; make it before")
    value: Expression | None = None if FILLS[name] is None else Number(FILLS[name])
    if fill is not None:
        number = number_of(t, fill, node)
        if not isinstance(number, Scalar):
            raise t.error(node, "is filled with an array; assign it to a part, such as x[:] = ...")
        value = number.expr
    if not kind:
        own = t.type(value) if fill is not None and value is not None else usual
        kind = WEAK.get(own, own)
    made = t.array(shape, kind)
    if value is not None:
        t.compute(made, Scalar(value))
    return made


def copied(t: Translation, value: Meaning, node: ast.AST) -> View:
    """A new array with the same elements."""
    given = number_of(t, value, node)
    if isinstance(given, Scalar):
        raise t.error(node, "copies a number; assign it to a name")
    return t.stored(given)


def arange(t: Translation, node: ast.Call) -> Elements:
    """np.arange of whole numbers."""
    given = bound(t, node, "start stop step")
    begin, end = (ZERO, t.sym(given["start"], node)) if "stop" not in given else (
        t.sym(given["start"], node), t.sym(given["stop"], node))  # fmt: skip
    if "step" in given:
        raise t.error(node, "has a step; multiply np.arange(n) by it")
    if t.computed(begin, end):
        raise t.error(node, "has a length that the program computes")
    return Elements((end - begin,), Cast("int64", Index(begin + parameter(0))))
