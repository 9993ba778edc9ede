"""Attributes: of modules, and of arrays."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import sympy

from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.outside import meaning_of, note
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ArrayValue,
    Elements,
    Flags,
    Items,
    Meaning,
    Method,
    Outside,
    Scalar,
    View,
    parameter,
    shape_of,
)
from starling.dace.ir import Index, Number, Sym, substitute
from starling.dace.passes.types import WEAK

__all__ = ["attribute", "length_as_number", "transposed"]

METHODS = ("all", "any", "astype", "copy", "dot", "fill", "max", "mean", "min", "sum", "transpose")


def attribute(t: Translation, node: ast.Attribute) -> Meaning:
    """The value of an attribute."""
    owner = expressions.evaluate(t, node.value)
    if isinstance(owner, Outside):
        return _of_object(t, owner.value, node)
    if isinstance(owner, (View, Elements)):
        return _of_array(t, owner, node)
    if isinstance(owner, Scalar):
        raise t.error(node, "is an attribute of a number")
    assert isinstance(owner, (Items, Flags, Method))
    raise t.error(node, "is an attribute of a tuple or list")


def _of_object(t: Translation, owner: Any, node: ast.Attribute) -> Meaning:
    try:
        found = getattr(owner, node.attr)
    except AttributeError as problem:
        raise t.error(node, f"does not exist: {problem}") from problem
    note(t, owner, node.attr, found)
    return meaning_of(t, found, node)


def _of_array(t: Translation, owner: ArrayValue, node: ast.Attribute) -> Meaning:
    shape, name = shape_of(owner), node.attr
    if name == "shape":
        return Items(tuple(Scalar(length_as_number(t, n, node)) for n in shape))
    if name == "size":
        for n in shape:
            length_as_number(t, n, node)
        return Scalar(length_as_number(t, sympy.Mul(*shape), node))
    if name == "ndim":
        return Scalar(Number(len(shape)))
    if name == "T":
        return transposed(owner, tuple(reversed(range(len(shape)))))
    if name == "dtype":
        kind = t.program.arrays[owner.array].dtype if isinstance(owner, View) else t.type(owner.expr)
        return Outside(np.dtype(WEAK.get(kind, kind)))
    if name in METHODS:
        return Method(owner, name)
    raise t.error(
        node,
        "is no attribute of arrays that a program knows; these are shape, size, ndim, T, dtype and "
        f"{', '.join(METHODS)}",
    )


def length_as_number(t: Translation, n: Sym, node: ast.AST) -> Number | Index:
    """A length; an axis that would begin behind its end has none."""
    if n.is_Integer:
        return Number(max(0, int(n)))
    if not n.is_Symbol:
        t.require(node, n, "is asked for a length that is {value} in this call, since a slice begins behind its end")
    return Index(n)


def transposed(value: ArrayValue, order: tuple[int, ...]) -> ArrayValue:
    """The array with its axes in another order."""
    if isinstance(value, View):
        return View(value.array, value.base, tuple(value.dims[k] for k in order))
    changes = {parameter(k): parameter(order.index(k)) for k in range(len(order))}
    return Elements(tuple(value.shape[k] for k in order), substitute(value.expr, changes))
