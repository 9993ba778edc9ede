"""Assignments: names get values, parts of arrays are written."""

from __future__ import annotations

import ast
import math

import sympy

from starling.dace.frontend.expressions import evaluate as expressions
from starling.dace.frontend.expressions.operators import BINARY, apply, cast, fits, number_of
from starling.dace.frontend.expressions.overflow import check_stored
from starling.dace.frontend.expressions.shapes import fits_into, one_element
from starling.dace.frontend.expressions.subscripts import part_of, parts_between
from starling.dace.frontend.scopes.joins import note_write
from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import (
    ZERO,
    Dim,
    Elements,
    Items,
    Meaning,
    Outside,
    Scalar,
    View,
    elements_of,
    parameter,
    placed,
    shape_of,
)
from starling.dace.ir import Number, Read
from starling.dace.passes.types import WEAK

__all__ = ["assign", "assign_to", "augment", "bind", "fixed", "store"]

KINDS = {"bool": 0, "int32": 1, "int64": 1, "float32": 2, "float64": 2}


def assign(t: Translation, node: ast.Assign) -> None:
    """One value for all targets, from left to right."""
    value = expressions.evaluate(t, node.value)
    if len(node.targets) > 1 or not isinstance(node.targets[0], ast.Subscript):
        value = fixed(t, value, node.targets)
    for target in node.targets:
        assign_to(t, target, value, node)


def fixed(t: Translation, value: Meaning, targets: list[ast.expr]) -> Meaning:
    """A value that later writes do not change, as in Python: but views stay what they are."""
    if isinstance(value, Items):
        return Items(tuple(fixed(t, v, targets) for v in value.items))
    name = targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""
    if isinstance(value, Scalar):
        return Scalar(t.kept(value.expr, name))
    return t.stored(value, name) if isinstance(value, Elements) else value


def assign_to(t: Translation, target: ast.expr, value: Meaning, node: ast.AST) -> None:
    """Gives a target a value."""
    if isinstance(target, ast.Name):
        bind(t, target.id, value)
    elif isinstance(target, (ast.Tuple, ast.List)):
        starred = next((e for e in target.elts if isinstance(e, ast.Starred)), None)
        if starred is not None:
            raise t.error(starred, "takes what is left, which a program cannot have; name each")
        if not isinstance(value, Items) or len(value.items) != len(target.elts):
            have = f"{len(value.items)} values" if isinstance(value, Items) else "a single value"
            raise t.error(target, f"takes {len(target.elts)} values and gets {have}")
        for part, item in zip(target.elts, value.items, strict=True):
            assign_to(t, part, item, node)
    elif isinstance(target, ast.Subscript):
        _write(t, target, value, None, node)
    else:
        raise t.error(target, "is assigned to; a program assigns to names and to parts of arrays")


def bind(t: Translation, name: str, value: Meaning) -> None:
    """From now on the name means the value."""
    if isinstance(value, Outside) and value.value is None:
        raise t.error(name, "would be None; a program has numbers and arrays")
    t.env[name] = value


def augment(t: Translation, node: ast.AugAssign) -> None:
    """x += y: arrays are changed in place, numbers are new ones."""
    if isinstance(node.op, ast.MatMult):
        raise t.error(node.target, "is updated by @=; write it with @")
    op = BINARY[type(node.op)]
    if isinstance(node.target, ast.Subscript):
        _write(t, node.target, expressions.evaluate(t, node.value), op, node)
        return
    if not isinstance(node.target, ast.Name):
        raise t.error(node.target, "is updated; a program updates names and parts of arrays")
    name = node.target.id
    have = expressions.read_name(t, name, node.target)
    value = expressions.evaluate(t, node.value)
    if isinstance(have, View):
        _update(t, have, op, value, node)
        return
    made = apply(t, op, [have, value], node)
    bind(t, name, fixed(t, made, [node.target]))


def _write(t: Translation, target: ast.Subscript, value: Meaning, op: str | None, node: ast.AST) -> None:
    """Writes a part of an array, or updates it by an operation."""
    owner = expressions.evaluate(t, target.value)
    if isinstance(owner, Items):
        raise t.error(target, "is part of a list or tuple of Python, which cannot be written; use an array")
    if isinstance(owner, Elements):
        raise t.error(target, "is part of an array without a name, so nothing could read it")
    if not isinstance(owner, View):
        raise t.error(target, "is no part of an array")
    keys = parts_between(target)
    if len(keys) == 1 and not isinstance(keys[0], ast.Slice):
        mask = expressions.evaluate(t, keys[0])
        if isinstance(mask, (View, Elements)) and one_element(mask) is None:
            _write_where(t, owner, mask, value, op, target)
            return
    part = part_of(t, owner, target, [(e, expressions.key_of(t, e)) for e in keys])
    assert isinstance(part, View)
    if op is not None:
        _update(t, part, op, value, node)
    else:
        store(t, part, value, node)


def _write_where(
    t: Translation, owner: View, mask: View | Elements, value: Meaning, op: str | None, node: ast.AST
) -> None:
    """Writes a number to the elements where a mask holds: the others are written as they are."""
    given = elements_of(mask)
    if t.type(given.expr) != "bool":
        raise t.error(node, "is indexed by an array of numbers, which a program cannot; use slices, or a mask")
    one = one_element(value)
    if one is None:
        raise t.error(
            node, "gets as many elements as its mask says; write np.where(mask, values, array) of whole arrays"
        )
    rank, own = len(shape_of(owner)), len(given.shape)
    if own > rank:
        raise t.error(node, f"has a mask of {own} axes for an array of {rank}")
    whole = View(owner.array, owner.base, owner.dims)
    spread: View | Elements = given
    if own < rank:
        spread = Elements((*given.shape, *(sympy.Integer(1) for _ in range(rank - own))), given.expr)
    leading = View(
        owner.array, owner.base, tuple(d if k < own else Dim(sympy.Integer(1), None) for k, d in enumerate(owner.dims))
    )
    fits_into(t, node, given, View(leading.array, leading.base, leading.dims[:own]))
    made: Meaning = one if op is None else apply(t, op, [whole, one], node)
    kind = t.program.arrays[owner.array].dtype
    _check_number(t, one, kind, node)
    chosen = apply(t, "where", [spread, cast(t, kind, made, node), whole], node)
    store(t, owner, chosen, node)


def _update(t: Translation, target: View, op: str, value: Meaning, node: ast.AST) -> None:
    made = apply(t, op, [_loaded(target), value], node)
    have = t.program.arrays[target.array].dtype
    result = t.type(made.expr if isinstance(made, Scalar) else elements_of(made).expr)
    if target.dims and KINDS[WEAK.get(result, result)] > KINDS[have]:
        raise t.error(
            node,
            f"raises UFuncTypeError: the result is {WEAK.get(result, result)} and the array {have}; write x[:] = x ... "
            "if it is to be cut off",
        )
    store(t, target, made, node)


def _loaded(target: View) -> Meaning:
    return target if target.dims else Scalar(Read(target.array, target.base))


def store(t: Translation, target: View, value: Meaning, node: ast.AST) -> None:
    """Writes a value into part of an array, as NumPy does: it is stretched, and becomes the array's type."""
    given = number_of(t, value, node)
    kind = t.program.arrays[target.array].dtype
    if isinstance(given, Scalar):
        _check_number(t, given, kind, node)
        check_stored(t, given.expr, kind, node)
    elif not target.dims:
        one = one_element(given)
        if one is None:
            raise t.error(node, "sets an element to an array")
        given = one
    else:
        fits_into(t, node, given, target)
        while len(shape_of(given)) > len(target.dims):
            given = _without_first(given)
    note_write(t, target.array, node)
    t.compute(target, given)


def _without_first(value: View | Elements) -> View | Elements:
    """The array without its first axis, which has length 1."""
    shape = shape_of(value)
    if isinstance(value, View):
        return View(value.array, value.base, value.dims[1:])
    at = (ZERO, *(parameter(k) for k in range(len(shape) - 1)))
    return Elements(shape[1:], placed(value, at))


def _check_number(t: Translation, value: Scalar, kind: str, node: ast.AST) -> None:
    """NumPy raises for numbers of Python that a whole type does not hold."""
    if not isinstance(value.expr, Number) or not kind.startswith("int"):
        return
    if isinstance(value.expr.value, float):
        if not math.isfinite(value.expr.value):
            raise t.error(node, f"raises an error: {value.expr.value} is no whole number")
        return
    if not fits(value.expr, kind):
        raise t.error(node, f"raises OverflowError: {value.expr.value} does not fit in {kind}")
