"""Scalars of the program that are known by an expression of sizes, arguments and PE numbers are replaced by it."""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.ir import (
    Apply,
    Assign,
    Body,
    Cast,
    Collective,
    Compute,
    Expression,
    For,
    If,
    Index,
    Number,
    Param,
    Program,
    Put,
    Reduce,
    Require,
    Statement,
    Value,
    Wait,
    While,
    map_expression,
    statements,
    symbol,
)
from starling.dace.passes.types import WEAK
from starling.dace.passes.uses import expressions_of

__all__ = ["as_index", "expressions_of", "replace_in", "resolve"]


def as_index(e: Expression, integers: set[str]) -> Any | None:
    """The index expression that equals an expression of whole numbers; None: there is none."""
    if isinstance(e, Index):
        return e.value
    if isinstance(e, Number) and isinstance(e.value, int) and not isinstance(e.value, bool):
        return sympy.Integer(e.value)
    if isinstance(e, Value):
        return symbol(e.name) if e.name in integers else None
    if isinstance(e, Apply):
        parts: list[Any] = [as_index(a, integers) for a in e.arguments]
        if any(a is None for a in parts):
            return None
        if e.op == "negative":
            return -parts[0]
        if len(parts) == 2:
            a, b = parts
            if e.op == "%":
                return sympy.Mod(a, b)
            if e.op == "//":
                return sympy.floor(a / b)
            return {"+": a + b, "-": a - b, "*": a * b}.get(e.op)
    return None


def replace_in(s: Statement, change: Any, index: Any) -> None:
    """Applies `change` to the leaves of all expressions of a statement, and `index` to its index expressions."""

    def of(e: Expression) -> Expression:
        return map_expression(e, change, index)

    def box(b: tuple[tuple[Any, Any, Any], ...]) -> tuple[tuple[Any, Any, Any], ...]:
        return tuple((index(x), index(y), z) for x, y, z in b)

    if isinstance(s, (Compute, Reduce)):
        s.params = [Param(p.name, index(p.begin), index(p.end)) for p in s.params]
    if isinstance(s, Compute):
        s.index = tuple(index(i) for i in s.index)
    if isinstance(s, (Compute, Reduce, Assign)):
        s.value = of(s.value)
    if isinstance(s, For):
        s.begin, s.end = index(s.begin), index(s.end)
    if isinstance(s, While):
        s.condition = of(s.condition)
    if isinstance(s, Require):
        s.low = index(s.low)
    if isinstance(s, If):
        s.branches = [(None if c is None else of(c), b) for c, b in s.branches]
    if isinstance(s, (Put, Wait, Collective)):
        s.peer, s.box = of(s.peer), box(s.box)
    if isinstance(s, (Put, Collective)):
        s.source_box = box(s.source_box)
    if isinstance(s, (Put, Wait)) and s.value is not None:
        s.value = of(s.value)


def resolve(p: Program) -> None:
    """Replaces them everywhere."""
    while _resolve_one(p):
        pass


def _resolve_one(p: Program) -> bool:
    writes: dict[str, int] = {}
    for _, s in statements(p.body):
        if isinstance(s, (Assign, Reduce)):
            writes[s.name] = writes.get(s.name, 0) + 1
    integers = {n for n, t in {**p.scalars, **p.variables}.items() if t in ("int32", "int64", "weak int")}
    loops = {s.variable for _, s in statements(p.body) if isinstance(s, For)}
    changing = set(p.variables) | loops
    for body, s in list(statements(p.body)):
        if not isinstance(s, Assign) or writes[s.name] != 1 or s.name not in integers:
            continue
        value = as_index(s.value, integers)
        if value is None or {str(x) for x in value.free_symbols} & changing:
            continue
        kind = p.variables[s.name]
        _replace(p.body, s.name, value, "" if kind in WEAK else kind)
        body.remove(s)
        del p.variables[s.name]
        return True
    return False


def _replace(body: Body, name: str, value: Any, kind: str) -> None:
    """`kind`: the element type of the scalar; empty: it is a number of Python's."""

    def leaf(e: Expression) -> Expression:
        if not isinstance(e, Value) or e.name != name:
            return e
        return Cast(kind, Index(value)) if kind else Index(value)

    def index(i: Any) -> Any:
        return sympy.sympify(i).xreplace({symbol(name): value})

    for _, s in statements(body):
        replace_in(s, leaf, index)
