"""np.roll: elements that come round from the other end of an axis."""

from __future__ import annotations

import ast

import sympy

from starling.dace.frontend.calls.arguments import bound, whole_literals
from starling.dace.frontend.expressions.operators import number_of
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import Dim, Meaning, Scalar, View, shape_of

__all__ = ["roll"]


def roll(t: Translation, node: ast.Call) -> Meaning:
    """np.roll by literal numbers, along axes or of a vector: a new array in two pieces for each axis."""
    given = bound(t, node, "a shift axis", 2)
    value = number_of(t, given["a"], node)
    if isinstance(value, Scalar):
        raise t.error(node, "rolls a number")
    shifts = whole_literals(t, given["shift"], node, "shift")
    rank = len(shape_of(value))
    if "axis" not in given and rank != 1:
        raise t.error(node, "rolls an array of several axes as one line; name an axis")
    axes = whole_literals(t, given["axis"], node, "axis") if "axis" in given else [0]
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(axes) != len(shifts) or not all(-rank <= k < rank for k in axes):
        raise t.error(node, f"rolls by {shifts} along the axes {axes} of an array of {rank}")
    result = value if isinstance(value, View) else t.stored(value)
    for k, shift in zip(axes, shifts, strict=True):
        result = _rolled(t, result, k % rank, shift, node)
    return t.stored(result) if result is value else result


def _rolled(t: Translation, source: View, axis: int, shift: int, node: ast.AST) -> View:
    n = shape_of(source)[axis]
    if shift == 0:
        return source
    low = sympy.expand(n - abs(shift))
    t.require(node, low, "shifts by more than the length of its axis, which is {value} less than that")
    head = sympy.Integer(shift) if shift > 0 else low  # so many elements come round from the end
    made = t.array(shape_of(source), t.program.arrays[source.array].dtype)
    for into, out_of, count in ((head, 0, sympy.expand(n - head)), (0, sympy.expand(n - head), head)):
        t.compute(_cut(made, axis, into, count), _cut(source, axis, out_of, count))
    return made


def _cut(view: View, axis: int, begin: object, count: object) -> View:
    """Part of a view along one axis."""
    at = tuple(sympy.sympify(begin) if k == axis else sympy.Integer(0) for k in range(len(view.dims)))
    dims = tuple(Dim(count, d.axis, d.step) if k == axis else d for k, d in enumerate(view.dims))
    return View(view.array, view.index(at), dims)
