"""Temporaries that one statement writes are replaced by what it writes, where they are read.

A reader stands behind the statement in the same list, so that it is not reached without it. A value that is computed
where it is read must be what was computed before: nothing between writes what it reads, the symbols of its index and
its ranges among it, and no element is read that the statement does not write, which may have a value from an earlier
pass. Ends of loops and of the program between do no harm, since temporaries are not seen behind them.
"""

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
    Fold,
    For,
    If,
    Param,
    Program,
    Put,
    Read,
    Reduce,
    Statement,
    Value,
    Wait,
    While,
    map_expression,
    parts_of,
    reads_of,
    same,
    statements,
    substitute,
    symbol,
)
from starling.dace.passes.in_place import split_in_place
from starling.dace.passes.ranges import is_inside, least_of, never_less, ranges_in
from starling.dace.passes.types import WEAK, type_of
from starling.dace.passes.unused import drop_unused
from starling.dace.passes.uses import symbols_of, uses_of, written_by

__all__ = ["fuse", "split_in_place", "written_by"]

MOST_COPIES = 8  # operations that may be computed again for a temporary with several readers


def fuse(p: Program) -> None:
    """Replaces temporaries until none is left that can be, and removes what is not used."""
    drop_unused(p)
    while _fuse_list(p, p.body):
        pass
    drop_unused(p)


def _fuse_list(p: Program, body: Body) -> bool:
    for s in body:
        inner = [s.body] if isinstance(s, (For, While)) else [b for _, b in s.branches] if isinstance(s, If) else []
        if any(_fuse_list(p, b) for b in inner):
            return True
    return any(_temporary(p, s) is not None and _replace(p, body, k) for k, s in enumerate(body))


def _temporary(p: Program, s: Statement) -> str | None:
    """The temporary that this statement alone writes."""
    if isinstance(s, Compute) and not p.arrays[s.target].argument:
        name = s.target
    elif isinstance(s, Assign):
        name = s.name
    else:
        return None
    writers = [w for _, w in statements(p.body) if name in written_by(w)]
    return name if writers == [s] else None


def _replace(p: Program, body: Body, k: int) -> bool:
    """Replaces the temporary that statement k of a list writes, if that changes nothing."""
    made = body[k]
    assert isinstance(made, (Compute, Assign))
    (name,) = written_by(made)
    kind = _kind_of(p, made)
    if kind in WEAK and type_of(made.value, p) != kind:
        return False  # Python's own number, made of another one
    readers = [s for _, s in statements(p.body) if name in uses_of(s)]
    behind = body[k + 1 :]
    if not readers or any(s not in behind or name in symbols_of(s) for s in readers):
        return False
    if not _stays(made, body[k + 1 : body.index(readers[-1]) + 1]):
        return False
    changed = []
    for s in readers:
        value = _with(p, s, made) if isinstance(s, (Compute, Assign, Reduce)) else None
        if value is None:
            return False
        changed.append((s, value))
    if not is_inside(p, made) and not any(_reads_all(s, made) for s in readers):
        return False  # a call is refused for an element that is computed, though it is not read
    if not _is_worth_it(made, [s.value for s in readers if isinstance(s, (Compute, Assign, Reduce))]):
        return False
    for s, value in changed:
        assert isinstance(s, (Compute, Assign, Reduce))
        s.value = value
    body.remove(made)
    return True


def _stays(made: Compute | Assign, until: Body) -> bool:
    """Whether a value would be the same up to the last of some statements, which may write what it has read."""
    needed = uses_of(made)
    arrays = {r.array for r in reads_of(made.value)}
    for s in until:
        for _, inner in statements([s]):
            if isinstance(inner, (Put, Wait, Collective)) and arrays:
                return False
            if inner is not until[-1] and written_by(inner) & needed:
                return False
    return True


def _reads_all(s: Statement, made: Compute | Assign) -> bool:
    """Whether a reader reads the elements at the ends of all that a statement writes."""
    if isinstance(made, Assign) or not isinstance(s, (Compute, Assign, Reduce)):
        return True
    ranges = ranges_in(s)
    own = {symbol(q.name) for q in ranges}
    for r in reads_of(s.value):
        at = _parameters_of(r, made) if r.array == made.target else None
        if at is not None and all(_spans(at[symbol(q.name)], q, ranges) for q in made.params):
            named = [n for i in at.values() for n in i.free_symbols & own]
            return len(named) == len(set(named))
    return False


def _spans(i: Any, q: Param, ranges: list[Param]) -> bool:
    """Whether the least and the greatest value of an index expression are those of a parameter."""
    least, most = least_of(i, ranges), least_of(-i, ranges)
    return least is not None and most is not None and same(least, q.begin) and same(-most, q.end - 1)


def _is_worth_it(made: Compute | Assign, readers: list[Expression]) -> bool:
    """Whether not too much is computed again."""
    (name,) = written_by(made)
    places = {(k, r.index) for k, e in enumerate(readers) for r in reads_of(e) if r.array == name}
    copies = max(len(places), len(readers)) - 1
    again = isinstance(made, Assign) or copies == 0
    size = sum(isinstance(x, (Apply, Fold)) for x in parts_of(made.value))
    return size * copies <= MOST_COPIES or (again and copies == 0)


def _with(p: Program, s: Compute | Assign | Reduce, made: Compute | Assign) -> Expression | None:
    """The value of a reader with the temporary replaced; None: the reader does not say which element it reads, or it
    may be one that the statement has not written."""
    if _has_fold(made.value) and _has_fold(s.value):
        return None
    failed = False
    kind, ranges = _kind_of(p, made), ranges_in(s)

    def leaf(x: Expression) -> Expression:
        nonlocal failed
        if isinstance(made, Assign):
            return _typed(p, made.value, kind) if isinstance(x, Value) and x.name == made.name else x
        if not isinstance(x, Read) or x.array != made.target:
            return x
        changes = _parameters_of(x, made)
        if changes is None or not all(_is_among(changes[symbol(q.name)], q, ranges) for q in made.params):
            failed = True
            return x
        return _typed(p, substitute(made.value, changes), kind)

    result = map_expression(s.value, leaf, lambda i: i)
    return None if failed else result


def _is_among(i: Any, q: Param, ranges: list[Param]) -> bool:
    """Whether an index expression is certainly a value of a parameter."""
    return never_less(i, q.begin, ranges) and never_less(q.end - 1, i, ranges)


def _parameters_of(read: Read, made: Compute) -> dict[Any, Any] | None:
    """The parameters for which a statement has written what is read, each alone along an axis."""
    changes: dict[Any, Any] = {}
    names = {symbol(q.name) for q in made.params}
    for written, index in zip(made.index, read.index, strict=True):
        found = sympy.sympify(written).free_symbols & names
        if not found:
            if not same(written, index):
                return None
            continue
        if len(found) > 1:
            return None
        (param,) = found
        rest = sympy.expand(written - param)
        if param in rest.free_symbols or param in changes:
            return None
        changes[param] = sympy.expand(index - rest)
    return changes if changes.keys() == names else None


def _has_fold(e: Expression) -> bool:
    return any(isinstance(x, Fold) for x in parts_of(e))


def _kind_of(p: Program, made: Compute | Assign) -> str:
    return p.arrays[made.target].dtype if isinstance(made, Compute) else p.variables[made.name]


def _typed(p: Program, e: Expression, kind: str) -> Expression:
    """A value with the type that the temporary had."""
    have = type_of(e, p)
    return e if have == kind or kind in WEAK else Cast(kind, e)
