"""Shapes that operations join, as NumPy broadcasts them.

Lengths that differ for some sizes are compared when the program is called. A length that happens to be 1 in a call
stretches in NumPy; here such a call is refused.
"""

from __future__ import annotations

import ast

import sympy

from starling.dace.frontend.translation import Translation
from starling.dace.frontend.values import ZERO, ArrayValue, Elements, Meaning, Scalar, View, parameter, placed, shape_of
from starling.dace.ir import Sym, same

__all__ = ["broadcast", "fits_into", "joined_shape", "one_element"]


def joined_shape(t: Translation, node: ast.AST, shapes: list[tuple[Sym, ...]]) -> tuple[Sym, ...]:
    """The shape of what an operation on arrays of these shapes gives."""
    result: list[Sym] = []
    rank = max((len(s) for s in shapes), default=0)
    for k in range(rank):
        length: Sym = sympy.Integer(1)
        for shape in shapes:
            at = k - (rank - len(shape))
            if at < 0 or shape[at] == 1:
                continue
            if length == 1:
                length = shape[at]
            else:
                _equal(t, node, length, shape[at], shapes)
        result.append(length)
    return tuple(result)


def _equal(t: Translation, node: ast.AST, a: Sym, b: Sym, shapes: list[tuple[Sym, ...]]) -> None:
    if same(a, b):
        return
    text = " and ".join(_text(s) for s in shapes if s)
    difference = sympy.expand(a - b)
    if difference.is_Integer:
        raise t.error(node, f"could not broadcast the shapes {text}, whose lengths {a} and {b} differ")
    t.require(
        node,
        difference,
        f"has the shapes {text}, whose lengths {a} and {b} differ by {{value}} in this call",
        zero=True,
    )


def _text(shape: tuple[Sym, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def fits_into(t: Translation, node: ast.AST, value: Scalar | ArrayValue, target: View) -> None:
    """Checks that a value can be written into part of an array: only the value may be stretched."""
    have, want = shape_of(value), shape_of(target)
    while len(have) > len(want) and have[0] == 1:
        have = have[1:]
    if len(have) > len(want):
        raise t.error(node, f"could not broadcast the shape {_text(have)} into {_text(want)}")
    for a, b in zip(have, want[len(want) - len(have) :], strict=True):
        if a != 1:
            _equal(t, node, a, b, [have, want])


def broadcast(
    t: Translation, node: ast.AST, values: list[Scalar | ArrayValue]
) -> tuple[tuple[Sym, ...], list[Elements]]:
    """The joined shape of some values, and their elements in terms of its indices."""
    shape = joined_shape(t, node, [shape_of(v) for v in values])
    at = tuple(parameter(k) for k in range(len(shape)))
    found = []
    for v in values:
        own = shape_of(v)
        behind = at[len(at) - len(own) :] if own else ()
        index = tuple(
            ZERO if n == 1 and i_length != 1 else i
            for n, i, i_length in zip(own, behind, shape[len(shape) - len(own) :], strict=True)
        )
        found.append(Elements(shape, placed(v, index)))
    return shape, found


def one_element(value: Meaning) -> Scalar | None:
    """The number that a value is, also as an array of one element; None: it is none."""
    if isinstance(value, Scalar):
        return value
    if isinstance(value, (View, Elements)) and all(n == 1 for n in shape_of(value)):
        return Scalar(placed(value, tuple(ZERO for _ in shape_of(value))))
    return None
