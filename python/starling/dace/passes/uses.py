"""What statements use and write themselves, without what stands in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy

from starling.dace.ir import (
    Assign,
    Collective,
    Compute,
    Expression,
    For,
    If,
    Number,
    Put,
    Reduce,
    Require,
    Statement,
    Trade,
    Value,
    Wait,
    While,
    map_expression,
    reads_of,
    values_of,
)

__all__ = ["expressions_of", "indices_of", "symbols_of", "uses_of", "written_by"]


def expressions_of(s: Statement) -> list[Expression]:
    """The expressions that a statement evaluates."""
    if isinstance(s, (Compute, Reduce, Assign)):
        return [s.value]
    if isinstance(s, While):
        return [s.condition]
    if isinstance(s, If):
        return [c for c, _ in s.branches if c is not None]
    if isinstance(s, (Put, Wait)):
        return [s.peer] + ([s.value] if s.value is not None else [])
    if isinstance(s, Collective):
        return [s.peer]
    return []


def indices_of(s: Statement) -> Iterator[Any]:
    """Its index expressions, but for those in its expressions."""
    if isinstance(s, (Compute, Reduce)):
        yield from (x for q in s.params for x in (q.begin, q.end))
    if isinstance(s, Compute):
        yield from s.index
    if isinstance(s, For):
        yield from (s.begin, s.end)
    if isinstance(s, (Put, Wait, Collective)):
        yield from (x for r in s.box for x in r[:2])
    if isinstance(s, (Put, Collective)):
        yield from (x for r in s.source_box for x in r[:2])
    if isinstance(s, Require):
        yield s.low


def symbols_of(s: Statement) -> set[str]:
    """Names in its index expressions, those in its expressions too."""
    found = {str(n) for i in indices_of(s) for n in sympy.sympify(i).free_symbols}
    for e in expressions_of(s):
        found |= values_of(map_expression(e, lambda x: Number(0) if isinstance(x, Value) else x, lambda i: i))
    return found


def uses_of(s: Statement) -> set[str]:
    """Arrays, scalars and symbols that it reads."""
    found = symbols_of(s)
    for e in expressions_of(s):
        found |= values_of(e) | {r.array for r in reads_of(e)}
    if isinstance(s, (Put, Collective)):
        found |= {s.source} - {""}
    if isinstance(s, Trade):
        found |= {s.array, s.other}
    return found


def written_by(s: Statement) -> set[str]:
    """Arrays, scalars and loop variables that it writes."""
    if isinstance(s, Compute):
        return {s.target}
    if isinstance(s, (Assign, Reduce)):
        return {s.name}
    if isinstance(s, For):
        return {s.variable}
    if isinstance(s, Trade):
        return {s.array, s.other}
    if isinstance(s, (Put, Wait, Collective)):
        return {s.array} - {""}
    return set()
