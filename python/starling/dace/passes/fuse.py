"""Temporaries that one statement writes are replaced by what it writes, where they are read.

DaCe's tree has a temporary for each operation of NumPy. What is written in place while it is read at other places gets
a temporary again: NumPy computes the right side first.
"""

from __future__ import annotations

from typing import Any

import sympy

from starling.dace.ir import (
    Apply,
    Array,
    Assign,
    Body,
    Cast,
    Collective,
    Compute,
    Expression,
    Fold,
    For,
    If,
    Program,
    Put,
    Read,
    Reduce,
    Statement,
    Trade,
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
    values_of,
)
from starling.dace.passes.resolve import expressions_of
from starling.dace.passes.types import WEAK, type_of

__all__ = ["fuse", "split_in_place"]

MOST_COPIES = 8  # operations that may be computed again for a temporary with several readers


def fuse(p: Program) -> None:
    """Replaces temporaries until none is left that can be."""
    while _fuse_list(p, p.body):
        pass
    _drop_unused(p)


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


def written_by(s: Statement) -> set[str]:
    """What a statement writes, without what stands in it."""
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


def _uses(p: Program, name: str, s: Statement) -> bool:
    return (
        any(name in values_of(e) or any(r.array == name for r in reads_of(e)) for e in expressions_of(s))
        or name in _symbols_of(s)
        or (isinstance(s, (Put, Collective)) and s.source == name)
    )


def _symbols_of(s: Statement) -> set[str]:
    """Names in the index expressions of a statement, but for those of its expressions."""
    exprs: list[Any] = []
    if isinstance(s, (Compute, Reduce)):
        exprs += [x for q in s.params for x in (q.begin, q.end)]
    if isinstance(s, Compute):
        exprs += s.index
    if isinstance(s, For):
        exprs += [s.begin, s.end]
    if isinstance(s, (Put, Wait, Collective)):
        exprs += [x for r in s.box for x in r[:2]]
    if isinstance(s, (Put, Collective)):
        exprs += [x for r in s.source_box for x in r[:2]]
    return {str(n) for x in exprs for n in sympy.sympify(x).free_symbols}


def _replace(p: Program, body: Body, k: int) -> bool:
    """Replaces the temporary that statement k of a list writes, if that changes nothing."""
    made = body[k]
    assert isinstance(made, (Compute, Assign))
    name = made.target if isinstance(made, Compute) else made.name
    readers: list[Any] = [s for _, s in statements(p.body) if _uses(p, name, s)]
    behind = body[k + 1 :]
    if not readers or any(s not in behind or not isinstance(s, (Compute, Assign, Reduce)) for s in readers):
        return False
    if any(name in _symbols_of(s) for s in readers):
        return False
    values = values_of(made.value)
    arrays = {r.array for r in reads_of(made.value)}
    last = max(body.index(s) for s in readers)
    for s in body[k + 1 : last + 1]:
        for _, inner in statements([s]):
            if isinstance(inner, (Put, Wait, Collective)) and arrays:
                return False
            if inner is not body[last] and written_by(inner) & (arrays | values):
                return False
    places = [(s, r.index) for s in readers for r in _reads_by(s, name)]
    if len(set(places)) > 1 and _size(made.value) * (len(set(places)) - 1) > MOST_COPIES:
        return False
    if _has_fold(made.value) and any(isinstance(e, Fold) for s in readers for e in parts_of(s.value)):
        return False
    changed = []
    for s in readers:
        value = _with(p, s.value, made)
        if value is None:
            return False
        changed.append((s, value))
    for s, value in changed:
        s.value = value
    body.remove(made)
    return True


def _reads_by(s: Any, name: str) -> list[Any]:
    found: list[Any] = [r for r in reads_of(s.value) if r.array == name]
    return found or [Read(name, ())]


def _size(e: Expression) -> int:
    return sum(isinstance(x, (Apply, Fold)) for x in parts_of(e))


def _has_fold(e: Expression) -> bool:
    return any(isinstance(x, Fold) for x in parts_of(e))


def _with(p: Program, e: Expression, made: Compute | Assign) -> Expression | None:
    """The expression with the temporary replaced; None: it is read in a way that does not say which element."""
    failed = False
    kind = p.arrays[made.target].dtype if isinstance(made, Compute) else p.variables[made.name]

    def leaf(x: Expression) -> Expression:
        nonlocal failed
        if isinstance(made, Assign):
            return _typed(p, made.value, kind) if isinstance(x, Value) and x.name == made.name else x
        if not isinstance(x, Read) or x.array != made.target:
            return x
        changes: dict[Any, Any] = {}
        names = {symbol(q.name) for q in made.params}
        for written, read in zip(made.index, x.index, strict=True):
            found = written.free_symbols & names
            if not found:
                failed = failed or not same(written, read)
                continue
            (param,) = found if len(found) == 1 else (None,)
            if param is None or not same(written - param, (written - param).subs(param, 0)) or param in changes:
                failed = True
                return x
            changes[param] = sympy.expand(read - (written - param))
        failed = failed or len(changes) != len(made.params)
        return _typed(p, substitute(made.value, changes), kind)

    result = map_expression(e, leaf, lambda i: i)
    return None if failed else result


def _typed(p: Program, e: Expression, kind: str) -> Expression:
    """A value with the type that the temporary had."""
    have = type_of(e, p)
    return e if have == kind or kind in WEAK else Cast(kind, e)


def _in_place(s: Compute, value: Expression) -> bool:
    """Whether it would read elements of its target that it writes for other values of the parameters."""
    if not s.params:
        return False
    names = {symbol(q.name) for q in s.params}
    for r in reads_of(value):
        if r.array != s.target or all(same(a, b) for a, b in zip(r.index, s.index, strict=True)):
            continue
        apart = any(
            not (a.free_symbols | b.free_symbols) & names and sympy.expand(a - b).is_nonzero
            for a, b in zip(map(sympy.sympify, r.index), map(sympy.sympify, s.index), strict=True)
        )
        if not apart:
            return True
    return False


def split_in_place(p: Program) -> None:
    """Gives a temporary to each statement that reads its target where it writes it for other parameters."""
    made: dict[str, str] = {}
    for body, s in list(statements(p.body)):
        if not isinstance(s, Compute) or not _in_place(s, s.value):
            continue
        if s.target not in made:
            name = made[s.target] = p.fresh(f"before_{s.target}")
            target = p.arrays[s.target]
            p.arrays[name] = Array(name, target.dtype, target.shape, False, like=s.target)
        name = made[s.target]
        body.insert(body.index(s), Compute(s.place, list(s.params), name, s.index, s.value))
        s.value = Read(name, s.index)


def _drop_unused(p: Program) -> None:
    """Arrays and scalars that nothing names any more."""
    used: set[str] = set()
    for _, s in statements(p.body):
        used |= written_by(s) | _symbols_of(s)
        for e in expressions_of(s):
            used |= values_of(e) | {r.array for r in reads_of(e)}
        if isinstance(s, (Put, Collective)):
            used.add(s.source)
    p.arrays = {n: a for n, a in p.arrays.items() if n in used or a.argument}
    p.variables = {n: t for n, t in p.variables.items() if n in used}
