"""What conditions say about index expressions."""

from __future__ import annotations

from typing import Any

from starling.dace.ir import Apply, Expression, Number
from starling.dace.passes.resolve import as_index

__all__ = ["facts_of"]

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def facts_of(condition: Expression | None, holds: bool, integers: set[str]) -> list[Any]:
    """Expressions that are not negative where a condition holds, or where it does not; -1: it cannot be so.

    >>> from starling.dace.ir import Index, symbol
    >>> facts_of(Apply("<", (Index(symbol("i")), Number(5))), True, set())
    [4 - i]
    """
    if condition is None or isinstance(condition, Number):
        return [] if condition is None or bool(condition.value) == holds else [-1]
    if not isinstance(condition, Apply):
        return []
    op, parts = condition.op, condition.arguments
    if op == "not":
        return facts_of(parts[0], not holds, integers)
    if op in ("and", "or"):
        both = (op == "and") == holds
        return [f for a in parts for f in facts_of(a, holds, integers)] if both else []
    if op not in NEGATED:
        return []
    a, b = (as_index(x, integers) for x in parts)
    if a is None or b is None:
        return []
    found = {"<": [b - a - 1], "<=": [b - a], ">": [a - b - 1], ">=": [a - b], "==": [a - b, b - a], "!=": []}
    return found[op if holds else NEGATED[op]]
