"""Sums, largest and smallest elements, of whole arrays and along axes."""

from __future__ import annotations

import ast

import sympy

from starling.dace.frontend.calls.arguments import bound, literal, whole_literals
from starling.dace.frontend.calls.creation import dtype_of
from starling.dace.frontend.expressions.attributes import length_as_number
from starling.dace.frontend.expressions.operators import apply, cast, number_of
from starling.dace.frontend.loops.written_out import check_distances
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ZERO,
    ArrayValue,
    Elements,
    Meaning,
    Scalar,
    View,
    elements_of,
    parameter,
    placed,
    shape_of,
)
from starling.dace.ir import Apply, Cast, Expression, Fold, Number, Param, Reduce, Sym, Value, symbol
from starling.dace.passes.types import WEAK

__all__ = ["called", "reduce_value", "total"]

OPERATIONS = {
    "sum": "sum",
    "max": "max",
    "min": "min",
    "amax": "max",
    "amin": "min",
    "mean": "mean",
    "any": "any",
    "all": "all",
}


def called(t: Translation, name: str, node: ast.Call, owner: ArrayValue | None = None) -> Meaning:
    """A call of np.sum and the like, or of an array's method of that name."""
    names = "axis dtype keepdims" if name in ("sum", "mean") else "axis keepdims"
    given = bound(t, node, names if owner is not None else f"a {names}", 0 if owner is not None else 1)
    value = number_of(t, given["a"], node) if owner is None else owner
    if isinstance(value, Scalar):
        raise t.error(node, f"is {name} of a number")
    if "dtype" in given:
        made = cast(t, dtype_of(t, given["dtype"], node), value, node)
        assert isinstance(made, Elements)
        value = made
    axes = None
    if "axis" in given:
        axes = whole_literals(t, given["axis"], node, "axis") or None
    return reduce_value(
        t, OPERATIONS[name], value, axes, literal(t, given.get("keepdims"), node, "keepdims", False), node
    )


def reduce_value(
    t: Translation, op: str, value: ArrayValue, axes: list[int] | None, keep: bool, node: ast.AST
) -> Meaning:
    """What all elements, or those along axes, make together."""
    shape = shape_of(value)
    rank = len(shape)
    chosen = set(range(rank)) if axes is None else {k + rank if k < 0 else k for k in axes}
    if axes is not None and (not all(-rank <= k < rank for k in axes) or len(chosen) != len(axes)):
        raise t.error(node, f"names the axes {axes} of an array of {rank}")
    if op == "mean":
        return _mean(t, value, axes, keep, node)
    if op in ("any", "all"):
        return _of_truth(t, op, value, axes, keep, node)
    if op != "sum":
        for k in sorted(chosen):
            low = sympy.expand(shape[k] - 1)
            if not shape[k].is_Symbol:
                t.require(node, low, "is the largest or smallest of no elements in this call, for which NumPy raises")
    if len(chosen) == rank:
        found = Scalar(total(t, op, elements_of(value)))
        return _with_axes(found, rank) if keep else found
    return _along(t, op, elements_of(value), chosen, keep)


def _with_axes(value: Scalar, rank: int) -> Elements:
    return Elements(tuple(sympy.Integer(1) for _ in range(rank)), value.expr)


def total(t: Translation, op: str, value: Elements) -> Value:
    """One number of all elements, which every block gets."""
    if t.parallel:
        raise t.error(op, "of an array stands in a parallel loop; compute it before")
    name = t.generated("total")
    params = [Param(f"i{k}'", ZERO, n) for k, n in enumerate(value.shape)]
    _check_one_type(t, value.expr)
    made = Reduce(name=name, op=op, params=params, value=value.expr)
    t.program.variables[name] = t.type(Fold(op, "k'", ZERO, ZERO, value.expr))
    check_distances(t, made)
    t.add(made)
    return Value(name)


def _check_one_type(t: Translation, e: Expression) -> None:
    kinds = {WEAK.get(x, x) for x in t.types_of(e)}
    if len(kinds) > 1:
        raise t.error("reduction", f"is of values that are {' or '.join(sorted(kinds))}; give them one type")


def _along(t: Translation, op: str, value: Elements, chosen: set[int], keep: bool) -> View:
    """Along axes: one after the other for each element of the result."""
    at: list[Sym] = []
    shape: list[Sym] = []
    folds: list[tuple[str, Sym]] = []
    for k, n in enumerate(value.shape):
        if k in chosen:
            name = t.generated("k")
            folds.append((name, n))
            at.append(symbol(name))
            if keep:
                shape.append(sympy.Integer(1))
        else:
            at.append(parameter(len(shape)))
            shape.append(n)
    e = placed(value, tuple(at))
    _check_one_type(t, e)
    for name, n in reversed(folds):
        e = Fold(op, name, ZERO, n, e)
    return t.stored(Elements(tuple(shape), e))


def _mean(t: Translation, value: ArrayValue, axes: list[int] | None, keep: bool, node: ast.AST) -> Meaning:
    """As NumPy: the sum, of whole numbers in float64, divided by how many there are, in the type of the sum."""
    kind = WEAK.get(t.type(elements_of(value).expr), "") or t.type(elements_of(value).expr)
    if not kind.startswith("float"):
        made = cast(t, "float64", value, node)
        assert isinstance(made, Elements)
        value, kind = made, "float64"
    shape = shape_of(value)
    chosen = range(len(shape)) if axes is None else [k % len(shape) for k in axes]
    count = sympy.Mul(*(shape[k] for k in chosen))
    if not count.is_Integer:
        for k in chosen:
            if not shape[k].is_Symbol:
                t.require(node, sympy.expand(shape[k] - 1), "is the mean of no elements in this call")
    summed = reduce_value(t, "sum", value, axes, keep, node)
    number = length_as_number(t, count, node)
    return apply(t, "/", [summed, Scalar(Cast(kind, number))], node)


def _of_truth(t: Translation, op: str, value: ArrayValue, axes: list[int] | None, keep: bool, node: ast.AST) -> Meaning:
    """Whether some, or all, are true: how many are, or are not."""
    one = elements_of(value)
    e = one.expr if t.type(one.expr) == "bool" else Apply("!=", (one.expr, Number(0)))
    counted = e if op == "any" else Apply("not", (e,))
    ones = Elements(one.shape, Cast("int64", Apply("where", (counted, Number(1), Number(0)))))
    found = reduce_value(t, "sum", ones, axes, keep, node)
    return apply(t, "!=" if op == "any" else "==", [found, Scalar(Number(0))], node)
