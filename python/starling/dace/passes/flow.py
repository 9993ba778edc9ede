"""What can be executed after what: the control flow of a program."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from starling.dace.ir import Body, For, If, Statement, While

__all__ = ["Flow"]


class Flow:
    """The graph of a program's statements.

    Loops and branches are nodes too, for their conditions. `entry` and `exit` stand before and behind all.
    """

    def __init__(self, body: Body) -> None:
        self.entry = Statement()
        self.exit = Statement()
        self.after: dict[Statement, list[Statement]] = {self.entry: [], self.exit: []}
        self.before: dict[Statement, list[Statement]] = {self.entry: [], self.exit: []}
        for last in self._sequence(body, [self.entry]):
            self._edge(last, self.exit)

    def _edge(self, a: Statement, b: Statement) -> None:
        self.after.setdefault(a, []).append(b)
        self.before.setdefault(b, []).append(a)
        self.after.setdefault(b, [])
        self.before.setdefault(a, [])

    def _sequence(self, body: Body, ends: list[Statement]) -> list[Statement]:
        """Adds a list behind `ends`; returns where it ends."""
        for s in body:
            for e in ends:
                self._edge(e, s)
            ends = [s]
            if isinstance(s, (For, While)):
                for last in self._sequence(s.body, [s]):
                    self._edge(last, s)
            elif isinstance(s, If):
                ends = []
                for _, inner in s.branches:
                    ends += self._sequence(inner, [s])
                if all(c is not None for c, _ in s.branches):
                    ends.append(s)
        return ends

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
