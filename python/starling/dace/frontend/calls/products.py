"""Products of matrices and vectors."""

from __future__ import annotations

import ast

import sympy

from starling.dace.frontend.calls.reductions import total
from starling.dace.frontend.expressions.operators import apply, cast, number_of
from starling.dace.frontend.expressions.shapes import joined_shape
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ZERO,
    ArrayValue,
    Dim,
    Elements,
    Meaning,
    Scalar,
    View,
    parameter,
    placed,
    shape_of,
)
from starling.dace.ir import Apply, Fold, Sym, symbol

__all__ = ["dot", "matmul", "norm", "outer"]


def _array(t: Translation, value: Meaning, node: ast.AST) -> ArrayValue:
    given = number_of(t, value, node)
    if isinstance(given, Scalar):
        raise t.error(node, "multiplies a number as a matrix; write *")
    return given


def _kind(t: Translation, value: ArrayValue) -> str:
    return t.program.arrays[value.array].dtype if isinstance(value, View) else t.type(value.expr)


def matmul(t: Translation, first: Meaning, second: Meaning, node: ast.AST) -> Meaning:
    """a @ b of vectors and matrices."""
    a, b = _array(t, first, node), _array(t, second, node)
    left, right = shape_of(a), shape_of(b)
    if not 1 <= len(left) <= 2 or not 1 <= len(right) <= 2:
        raise t.error(node, "multiplies arrays of more than two axes; vectors and matrices can be multiplied")
    if "bool" in (_kind(t, a), _kind(t, b)):
        raise t.error(node, "multiplies matrices of truth values; make them int64 with .astype")
    joined_shape(t, node, [left[-1:], right[:1]])
    if (left[-1] == 1) != (right[0] == 1):
        raise t.error(node, f"has the inner lengths {left[-1]} and {right[0]}; they must be equal")
    if len(left) == len(right) == 1:
        return _of_vectors(t, a, b, node)
    # An operand that is computed is computed once, and not for each element of the result.
    a, b = (x if isinstance(x, View) else t.stored(x) for x in (a, b))
    k = t.generated("k")
    shape: list[Sym] = []

    def element(x: View, inner: int) -> object:
        at = []
        for axis, n in enumerate(shape_of(x)):
            if axis == inner:
                at.append(symbol(k))
            else:
                at.append(parameter(len(shape)))
                shape.append(n)
        return placed(x, tuple(at))

    x, y = element(a, len(left) - 1), element(b, 0)
    e = Fold("dot", k, ZERO, left[-1], Apply("*", (x, y)))  # type: ignore[arg-type]
    return t.stored(Elements(tuple(shape), e))


def _of_vectors(t: Translation, a: ArrayValue, b: ArrayValue, node: ast.AST) -> Meaning:
    product = apply(t, "*", [a, b], node)
    assert isinstance(product, Elements)
    kind = t.type(product.expr)
    if kind == "int32":  # whose sum NumPy makes in int64, and whose product in int32
        raise t.error(
            node, "multiplies vectors of int32, whose product NumPy adds in int32; make them int64 with .astype"
        )
    return Scalar(total(t, "sum", product))


def dot(t: Translation, a: Meaning, b: Meaning, node: ast.AST) -> Meaning:
    """np.dot: of numbers a product, else as @."""
    if isinstance(a, Scalar) or isinstance(b, Scalar):
        return apply(t, "*", [a, b], node)
    return matmul(t, a, b, node)


def outer(t: Translation, first: Meaning, second: Meaning, node: ast.AST) -> Meaning:
    """np.outer of two vectors."""
    a, b = _array(t, first, node), _array(t, second, node)
    if len(shape_of(a)) != 1 or len(shape_of(b)) != 1:
        raise t.error(node, "is the outer product of arrays that are no vectors")
    (n,), one = shape_of(a), sympy.Integer(1)
    column = View(a.array, a.base, (*a.dims, Dim(one, None))) if isinstance(a, View) else Elements((n, one), a.expr)
    return apply(t, "*", [column, b], node)


def norm(t: Translation, value: Meaning, node: ast.AST) -> Meaning:
    """np.linalg.norm of all elements."""

    given: Meaning = _array(t, value, node)
    assert isinstance(given, (View, Elements))
    if not _kind(t, given).startswith("float"):
        given = cast(t, "float64", given, node)
    square = apply(t, "*", [given, given], node)
    assert isinstance(square, Elements)
    return apply(t, "sqrt", [Scalar(total(t, "sum", square))], node)
