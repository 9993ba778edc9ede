"""What a statement reads of the rows of its arrays, so that a GPU may compute several elements of a row at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import sympy

from starling.dace.ir import Apply, Cast, Compute, Expression, Program, Read, Sym, same, symbol

__all__ = ["ReadOfRow", "Row", "along_row", "rows_of"]

# Of these operations only the first operand is evaluated in any case.
LAZY = ("where", "choose", "and", "or")


@dataclass(frozen=True)
class Row:
    """Elements around one, at these offsets along the last axis; `index` is that of offset 0."""

    array: str
    index: tuple[Sym, ...]
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class ReadOfRow(Read):
    """A read of row number `row`, so far from the element that is computed."""

    row: int
    offset: int


def along_row(s: Compute) -> bool:
    """Whether what a statement stores along its last parameter are neighbours in memory."""
    x = symbol(s.params[-1].name)
    return not any(sympy.expand(i).has(x) for i in (*s.index[:-1], s.index[-1] - x))


def rows_of(s: Compute, p: Program) -> tuple[list[Row], Expression]:
    """The rows that a statement reads along its last parameter, and its value in terms of them.

    A row is read in any case, in steps of one along the last axis of the target, and not on one side of the element
    alone. Other reads stay as they are.
    """
    x = symbol(s.params[-1].name)
    at = sympy.expand(s.index[-1] - x)
    if not at.is_Integer or not along_row(s):
        return [], s.value
    found: list[Row] = []
    for e in _evaluated(s.value):
        offset = _offset(e, x, at, p)
        if offset is None:
            continue
        k = _number(found, e)
        if k is None:
            found.append(Row(e.array, (*e.index[:-1], x + at), (offset,)))
        else:
            found[k] = replace(found[k], offsets=tuple(sorted({*found[k].offsets, offset})))
    rows = [r for r in found if r.offsets[0] <= 0 <= r.offsets[-1]]

    def row_of(e: Read) -> Expression:
        offset, k = _offset(e, x, at, p), _number(rows, e)
        return e if offset is None or k is None else ReadOfRow(e.array, e.index, k, offset)

    return rows, _with_rows(s.value, row_of)


def _evaluated(e: Expression) -> Iterator[Read]:
    """The reads that are made in any case."""
    if isinstance(e, Read):
        yield e
    elif isinstance(e, Cast):
        yield from _evaluated(e.value)
    elif isinstance(e, Apply):
        for a in e.arguments[: 1 if e.op in LAZY else None]:
            yield from _evaluated(a)


def _with_rows(e: Expression, row_of: Callable[[Read], Expression]) -> Expression:
    """The expression, these reads replaced; the others may be of the same rows, but of elements that are not there."""
    if isinstance(e, Read):
        return row_of(e)
    if isinstance(e, Cast):
        return Cast(e.dtype, _with_rows(e.value, row_of))
    if isinstance(e, Apply):
        n = 1 if e.op in LAZY else len(e.arguments)
        return Apply(e.op, (*(_with_rows(a, row_of) for a in e.arguments[:n]), *e.arguments[n:]))
    return e


def _offset(e: Read, x: Sym, at: Sym, p: Program) -> int | None:
    """How far a read is from element x + at of its row; None: it is not in a row of x."""
    if p.arrays[e.array].scalar or any(sympy.sympify(i).has(x) for i in e.index[:-1]):
        return None
    offset = sympy.expand(e.index[-1] - x - at)
    return int(offset) if offset.is_Integer else None


def _number(rows: list[Row], e: Read) -> int | None:
    for k, r in enumerate(rows):
        if r.array == e.array and all(same(a, b) for a, b in zip(r.index[:-1], e.index[:-1], strict=True)):
            return k
    return None
