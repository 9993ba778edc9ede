"""if: branches, and what names mean behind them."""

from __future__ import annotations

import ast

from starling.dace.frontend import statements
from starling.dace.frontend.scopes.assigned import assigned_in
from starling.dace.frontend.scopes.joins import End, join_behind
from starling.dace.frontend.translation import Translation
from starling.dace.ir import Body, If, Number

__all__ = ["branch"]


def branch(t: Translation, s: ast.If) -> None:
    """Translates an if. A branch that is never taken, as far as is known, is left away as Python leaves it away."""
    condition = statements.condition_of(t, s.test)
    if isinstance(condition, Number):
        statements.block(t, s.body if condition.value else s.orelse)
        return
    if t.parallel:
        raise t.error("if", "cannot stand in a parallel loop; use np.where for conditions")
    made = If(place=t.place)
    t.add(made)
    place, before = t.place, dict(t.env)
    ends: list[End] = []
    stale = dict(t.stale)
    after: dict[str, str] = {}
    bodies: list[Body] = []
    for source in (s.body, s.orelse):
        inner: Body = []
        bodies.append(inner)
        t.frame.env, t.reached, t.stale = dict(before), True, dict(stale)
        with t.into(inner):
            statements.block(t, source)
        after.update(t.stale)
        if t.reached:
            ends.append(End(inner, t.frame.env))
    t.reached, t.stale, t.place = bool(ends), after, place
    if ends:
        changed = assigned_in([s])
        join_behind(t, t.frame.live.behind[s] & changed, ends, f"{ast.unparse(s.test)} is {_which(ends, bodies)}")
    made.branches = [(condition, bodies[0])]  # type: ignore[list-item]
    rest = bodies[1]
    if len(rest) == 1 and isinstance(rest[0], If) and len(s.orelse) == 1 and isinstance(s.orelse[0], ast.If):
        made.branches += rest[0].branches  # elif
    elif rest:
        made.branches.append((None, rest))


def _which(ends: list[End], bodies: list[Body]) -> str:
    return "true" if ends and ends[0].body is bodies[0] else "false"
