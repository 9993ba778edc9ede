"""What has no effect is removed: statements that cannot be reached, values that are not read, empty branches.

A value counts as read if something that has an effect reads it, also by way of other values: not if only the statement
that makes it does, as in a loop that only counts. A Stop and a Require have an effect, and so has what a call may
be refused for: an element that an array may not have, and a power.
"""

from __future__ import annotations

from starling.dace.ir import (
    Apply,
    Assign,
    Body,
    Break,
    Compute,
    Continue,
    For,
    If,
    Program,
    Reduce,
    Statement,
    Stop,
    While,
    parts_of,
    statements,
)
from starling.dace.passes.ranges import is_inside
from starling.dace.passes.uses import uses_of, written_by

__all__ = ["drop_unused"]


def drop_unused(p: Program) -> None:
    """Removes it, and the arrays and scalars that nothing names any more."""
    _drop_unreachable(p.body)
    if p.body and isinstance(p.body[-1], Stop) and p.body[-1].number == 0:
        p.body.pop()
    while _drop_unread(p) or _drop_empty(p.body):
        pass
    named = {n for _, s in statements(p.body) for n in uses_of(s) | written_by(s)}
    p.arrays = {n: a for n, a in p.arrays.items() if n in named or a.argument}
    p.variables = {n: t for n, t in p.variables.items() if n in named}


def _drop_unreachable(body: Body) -> None:
    for k, s in enumerate(body):
        for inner in _lists_in(s):
            _drop_unreachable(inner)
        if isinstance(s, (Break, Continue, Stop)):
            del body[k + 1 :]


def _lists_in(s: Statement) -> list[Body]:
    if isinstance(s, (For, While)):
        return [s.body]
    return [inner for _, inner in s.branches] if isinstance(s, If) else []


def _makes(p: Program, s: Statement) -> str:
    """The value for which alone a statement is there; empty: it has another effect."""
    if not isinstance(s, (Assign, Reduce, Compute)) or not _is_harmless(p, s):
        return ""
    if isinstance(s, Compute):
        return "" if p.arrays[s.target].argument else s.target
    return s.name


def _is_harmless(p: Program, s: Assign | Compute | Reduce) -> bool:
    """Whether no call is refused for what a statement computes."""
    return not any(isinstance(e, Apply) and e.op == "**" for e in parts_of(s.value)) and is_inside(p, s)


def _drop_unread(p: Program) -> bool:
    makers = [(body, s, _makes(p, s)) for body, s in statements(p.body)]
    read = {n for _, s, made in makers if not made for n in uses_of(s)}
    size = -1
    while size != (size := len(read)):
        read.update(n for _, s, made in makers if made in read for n in uses_of(s))
    unread = [(body, s) for body, s, made in makers if made and made not in read]
    for body, s in unread:
        body.remove(s)
    return bool(unread)


def _drop_empty(body: Body) -> bool:
    """Removes branches and loops over numbers in which nothing stands. A while loop may go on for ever."""
    found = False
    for s in list(body):
        lists = _lists_in(s)
        for inner in lists:
            found = _drop_empty(inner) or found
        if isinstance(s, (If, For)) and not any(lists):
            body.remove(s)
            found = True
    return found
