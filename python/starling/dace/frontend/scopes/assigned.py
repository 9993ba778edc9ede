"""Names that statements bind."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

__all__ = ["assigned_in", "bound_by", "parameters_of"]


def bound_by(target: ast.expr) -> Iterator[str]:
    """The names that an assignment to a target binds; parts of arrays are written, and bind none.

    >>> list(bound_by(ast.parse("(x, A[0]), y = 1").body[0].targets[0]))
    ['x', 'y']
    """
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from bound_by(part)


def assigned_in(body: Iterable[ast.stmt]) -> set[str]:
    """All names that statements bind, and those that stand in them.

    >>> sorted(assigned_in(ast.parse("for i in range(3):\\n    x += 1").body))
    ['i', 'x']
    """
    found: set[str] = set()
    for s in body:
        if isinstance(s, ast.Assign):
            for target in s.targets:
                found.update(bound_by(target))
        elif isinstance(s, (ast.AugAssign, ast.AnnAssign)):
            found.update(bound_by(s.target))
        elif isinstance(s, ast.For):
            found.update(bound_by(s.target))
            found |= assigned_in([*s.body, *s.orelse])
        elif isinstance(s, (ast.While, ast.If)):
            found |= assigned_in([*s.body, *s.orelse])
    return found


def parameters_of(function: ast.FunctionDef) -> list[str]:
    """The names of a function's arguments."""
    given = function.args
    return [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
