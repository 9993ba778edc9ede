"""What can be executed after what: the control flow of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from starling.dace.ir import Body, Break, Continue, For, If, Number, Statement, Stop, While

__all__ = ["Flow"]


class _Loop:
    """A loop around statements, and those that leave it."""

    def __init__(self, head: Statement) -> None:
        self.head = head
        self.breaks: list[Statement] = []


class Flow:
    """The graph of a program's statements.

    Loops and branches are nodes too, for their conditions. `entry` and `exit` stand before and behind all; a Stop leads
    to `exit`. Statements that nothing leads to are nodes without edges to them.
    """

    def __init__(self, body: Body) -> None:
        self.entry = Statement()
        self.exit = Statement()
        self.after: dict[Statement, list[Statement]] = {self.entry: [], self.exit: []}
        self.before: dict[Statement, list[Statement]] = {self.entry: [], self.exit: []}
        for last in self._sequence(body, [self.entry], None):
            self._edge(last, self.exit)

    def _node(self, s: Statement) -> None:
        self.after.setdefault(s, [])
        self.before.setdefault(s, [])

    def _edge(self, a: Statement, b: Statement) -> None:
        self._node(a)
        self._node(b)
        self.after[a].append(b)
        self.before[b].append(a)

    def _sequence(self, body: Body, ends: list[Statement], loop: _Loop | None) -> list[Statement]:
        """Adds a list behind `ends`; returns where it ends. `loop`: the innermost around it."""
        for s in body:
            self._node(s)
            for e in ends:
                self._edge(e, s)
            ends = self._behind(s, loop)
        return ends

    def _behind(self, s: Statement, loop: _Loop | None) -> list[Statement]:
        """Adds what stands in a statement; returns from where the next one of its list is reached."""
        if isinstance(s, (For, While)):
            return self._loop(s)
        if isinstance(s, If):
            ends = [e for _, inner in s.branches for e in self._sequence(inner, [s], loop)]
            return ends if any(c is None for c, _ in s.branches) else [*ends, s]
        if isinstance(s, Stop):
            self._edge(s, self.exit)
        elif isinstance(s, Break):
            assert loop is not None
            loop.breaks.append(s)
        elif isinstance(s, Continue):
            assert loop is not None
            self._edge(s, loop.head)
        else:
            return [s]
        return []

    def _loop(self, s: For | While) -> list[Statement]:
        inner = _Loop(s)
        for last in self._sequence(s.body, [s], inner):
            self._edge(last, s)
        endless = isinstance(s, While) and isinstance(s.condition, Number) and bool(s.condition.value)
        return inner.breaks if endless else [s, *inner.breaks]

    def reaches(
        self,
        start: Iterable[Statement],
        wanted: Callable[[Statement], bool],
        stop: Callable[[Statement], bool],
        *,
        back: bool = False,
    ) -> bool:
        """Whether a path from behind (before, with `back`) these statements comes to a wanted one.

        A path ends at the first that is to stop it; one that is wanted and stops counts.
        """
        edges = self.before if back else self.after
        todo = [n for s in start for n in edges[s]]
        seen: set[Statement] = set()
        while todo:
            n = todo.pop()
            if n in seen:
                continue
            seen.add(n)
            if wanted(n):
                return True
            if not stop(n):
                todo.extend(edges[n])
        return False
