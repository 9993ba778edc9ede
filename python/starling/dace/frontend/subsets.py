"""Subsets of arrays and update functions, as DaCe has them."""

from __future__ import annotations

import ast
from typing import Any

import sympy

from starling.dace.frontend.expressions import index_of

__all__ = ["as_long", "count_of", "element_of", "ranges_of", "reduction_of", "same_length"]

REDUCTIONS = {"+": "sum", "max": "max", "min": "min"}


def as_long(a: tuple[Any, Any, Any], b: tuple[Any, Any, Any]) -> bool:
    """Whether two ranges have equally many numbers. Of quotients that SymPy cannot compare many sizes are tried."""
    first, second = count_of(a), count_of(b)
    if sympy.expand(first - second) == 0:
        return True
    if not (first - second).has(sympy.floor, sympy.ceiling):
        return False
    names = sorted((first - second).free_symbols, key=str)
    tried = [{n: sympy.Integer(50 + k + 7 * j) for j, n in enumerate(names)} for k in range(24)]
    return all((first - second).xreplace(values) == 0 for values in tried)


def same_length(begin: Any, end: Any, n: Any) -> bool:
    return bool(sympy.expand(end - begin + 1 - n) == 0)


def ranges_of(subset: Any) -> list[tuple[Any, Any, Any]]:
    """Begin, last and step of each axis."""
    return [tuple(r) for r in subset.ranges]


def count_of(r: tuple[Any, Any, Any]) -> Any:
    begin, last, step = (index_of(x) for x in r)
    return sympy.expand(last - begin + 1 if step == 1 else sympy.floor((last - begin) / step) + 1)


def element_of(subset: Any) -> tuple[Any, ...] | None:
    """The index, if a subset is one element."""
    ranges = ranges_of(subset)
    if any(sympy.expand(index_of(b) - index_of(e)) != 0 for b, e, _ in ranges):
        return None
    return tuple(index_of(b) for b, _, _ in ranges)


def reduction_of(wcr: Any) -> str | None:
    """sum, max or min, if a function of two values is one of these."""
    text = wcr if isinstance(wcr, str) else ast.unparse(wcr)
    body = ast.parse(text.strip(), mode="eval").body
    if not isinstance(body, ast.Lambda):
        return None
    if isinstance(body.body, ast.BinOp) and isinstance(body.body.op, ast.Add):
        return "sum"
    if isinstance(body.body, ast.Call) and isinstance(body.body.func, ast.Name):
        return REDUCTIONS.get(body.body.func.id)
    return None
