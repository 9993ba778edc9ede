"""for and while: what a pass finds in each name, and what it leaves for the next.

A loop is translated with an assumption of what names mean at its head, and again with another one until what the passes
leave fits to it. A number that passes change is a variable. An array that a pass binds to a name anew is copied into
one that is carried from pass to pass; but where names only change places, the loop is written out until they are back.
"""

from __future__ import annotations

import ast

from starling.dace.frontend import assignments, statements
from starling.dace.frontend.loops import carried, parallel
from starling.dace.frontend.loops.carried import Plan
from starling.dace.frontend.loops.exits import State, after_loop
from starling.dace.frontend.loops.ranges import Range, range_of
from starling.dace.frontend.loops.sites import Loop, Site
from starling.dace.frontend.scopes.assigned import assigned_in
from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import Items, Meaning, Scalar
from starling.dace.ir import Apply, Body, Break, Expression, For, If, Index, Number, While, symbol

__all__ = ["State", "loop"]

MOST_ATTEMPTS = 40
MOST_WRITTEN_OUT = 64  # passes of a loop


def loop(t: Translation, s: ast.For | ast.While) -> list[State]:
    """Translates a loop; several states are returned where it depends on the number of passes which arrays names mean.

    Raises:
        ProgramError: Something in it is outside of the language.
    """
    if s.orelse:
        raise t.error("else", "of a loop is not known; set a flag before break and write an if")
    if isinstance(s, ast.For):
        if parallel.is_parallel(t, s):
            parallel.parallel_loop(t, s)
            return []
        over = range_of(t, s)
        if isinstance(over, Items):
            _written_out(t, s, list(over.items))
            return []
        if over.values is not None and (t.frame.file, t.frame.first + s.lineno) in t.unroll:
            _written_out(t, s, [Scalar(Number(k)) for k in over.values])
            return []
        return _attempts(t, s, over)
    return _attempts(t, s, None)


def _written_out(t: Translation, s: ast.For, items: list[Meaning]) -> None:
    if len(items) > MOST_WRITTEN_OUT:
        raise t.error(
            s.iter, f"has {len(items)} passes, which are written out one by one; at most {MOST_WRITTEN_OUT} are"
        )
    t.frame.loops.append(None)
    for item in items:
        if t.reached:
            assignments.assign_to(t, s.target, item, s)
            statements.block(t, s.body)
    t.frame.loops.pop()


def _attempts(t: Translation, s: ast.For | ast.While, over: Range | None) -> list[State]:
    plan = Plan()
    place = t.place
    for _ in range(MOST_ATTEMPTS):
        before, reached = t.snapshot(), t.reached
        found = _attempt(t, s, over, plan)
        if found is not None:
            return found
        t.restore(before)
        t.reached, t.place = reached, place
    raise t.error(
        s.target if isinstance(s, ast.For) else s.test, "changes names so that no pass finds what the last one left"
    )


def _attempt(t: Translation, s: ast.For | ast.While, over: Range | None, plan: Plan) -> list[State] | None:
    """One translation; None: the plan was changed."""
    changed = assigned_in([s])
    live = t.frame.live.behind[s]
    names = sorted(changed & (t.frame.live.heads[s] | live))
    entry = dict(t.env)
    head = carried.enter(t, names, plan)
    made = Loop()
    t.frame.loops.append(made)
    if over is not None:
        assert isinstance(s, ast.For)
        _for(t, s, over, plan, made, entry)
    else:
        assert isinstance(s, ast.While)
        _while(t, s, plan, made)
    t.frame.loops.pop()
    if not carried.fits(t, names, head, made.sites, plan):
        return None
    return after_loop(t, s, over, plan, made, names, head, entry)


def _for(t: Translation, s: ast.For, over: Range, plan: Plan, made: Loop, entry: dict[str, Meaning | Unbound]) -> None:
    assert isinstance(s.target, ast.Name)
    name = t.named(s.target.id)
    times = plan.order
    body: Body = []
    made.statement = For(variable=name, begin=over.begin, end=over.end, step=over.step * times, body=body)
    t.add(made.statement)
    t.ranges[name] = over
    with t.into(body):
        for k in range(times):
            if not t.reached:
                break
            at = symbol(name) + k * over.step
            if k:
                past = Apply(">=" if over.step > 0 else "<=", (Index(at), Index(over.end)))
                _leave_unless(t, made, past)
            t.env[s.target.id] = Scalar(Index(at))
            statements.block(t, s.body)
        _end(t, made, body)


def _while(t: Translation, s: ast.While, plan: Plan, made: Loop) -> None:
    times = plan.order
    body: Body = []
    before: Body = []
    with t.into(before):
        condition = statements.condition_of(t, s.test)
    made.statement = While(place=t.place, condition=condition, body=body)  # type: ignore[arg-type]
    t.body.append(made.statement)
    with t.into(body):
        if before:
            made.statement.condition = Number(True)
            body.extend(before)
            if not (isinstance(condition, Number) and condition.value):
                _leave_unless(t, made, _opposite(condition))  # type: ignore[arg-type]
        for k in range(times):
            if not t.reached:
                break
            if k:
                again = statements.condition_of(t, s.test)
                if not (isinstance(again, Number) and again.value):
                    _leave_unless(t, made, _opposite(again))  # type: ignore[arg-type]
            statements.block(t, s.body)
        _end(t, made, body)


def _opposite(e: Expression) -> Expression:
    return Number(not e.value) if isinstance(e, Number) else Apply("not", (e,))


def _leave_unless(t: Translation, made: Loop, past: Expression) -> None:
    """Ends the loop between two of its passes."""
    leave = Break(place=t.place)
    inner: Body = [leave]
    t.add(If(branches=[(past, inner)]))
    made.sites.append(Site(inner, dict(t.env), "break", leave))


def _end(t: Translation, made: Loop, body: Body) -> None:
    if t.reached:
        made.sites.append(Site(body, dict(t.env), "end", None))
    t.reached = True
