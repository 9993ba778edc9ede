"""Which names are still read behind a statement, before something else is bound to them.

A name that nobody reads any more may mean different things at the ends of two branches.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from starling.dace.frontend.scopes.assigned import bound_by

__all__ = ["Liveness"]

Names = frozenset[str]
NONE: Names = frozenset()


def _read_in(node: ast.AST) -> Names:
    return frozenset(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))


class Liveness:
    """Of the statements of one function.

    `behind[s]`: names that may be read behind s. `heads[s]`: of a loop, those that may be read when a pass begins.
    """

    def __init__(self, body: Iterable[ast.stmt], at_end: Names = NONE) -> None:
        self.behind: dict[ast.stmt, Names] = {}
        self.heads: dict[ast.stmt, Names] = {}
        self._list(list(body), at_end, NONE, NONE)

    def _list(self, body: list[ast.stmt], live: Names, at_break: Names, at_continue: Names) -> Names:
        for s in reversed(body):
            self.behind[s] = live
            live = self._before(s, live, at_break, at_continue)
        return live

    def _before(self, s: ast.stmt, live: Names, at_break: Names, at_continue: Names) -> Names:
        """Names that are read at a statement or behind it."""
        if isinstance(s, ast.Break):
            return at_break
        if isinstance(s, ast.Continue):
            return at_continue
        if isinstance(s, (ast.Return, ast.Raise)):
            return _read_in(s)
        if isinstance(s, ast.If):
            branches = (self._list(b, live, at_break, at_continue) for b in (s.body, s.orelse))
            return frozenset().union(*branches) | _read_in(s.test)
        if isinstance(s, (ast.For, ast.While)):
            return self._loop(s, live)
        if isinstance(s, ast.Assign):
            bound = frozenset(n for target in s.targets for n in bound_by(target))
            return (live - bound) | _read_in(s.value) | frozenset().union(*map(_read_in, s.targets))
        if isinstance(s, ast.AugAssign):
            return live | frozenset(bound_by(s.target)) | _read_in(s)
        if isinstance(s, ast.AnnAssign):
            return (live - frozenset(bound_by(s.target))) | _read_in(s)
        return live | _read_in(s)

    def _loop(self, s: ast.For | ast.While, live: Names) -> Names:
        head = NONE
        behind = self._list(s.orelse, live, NONE, NONE)
        while True:
            inner = self._list(s.body, head | behind, live, head | behind)
            if isinstance(s, ast.While):
                found = inner | _read_in(s.test) | behind
            else:
                found = (inner - frozenset(bound_by(s.target))) | behind
            if found == head:
                break
            head = found
        self.heads[s] = head
        return head | (_read_in(s.iter) if isinstance(s, ast.For) else NONE)
