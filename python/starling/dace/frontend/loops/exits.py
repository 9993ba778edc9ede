"""What is behind a loop: each end of a pass sets what the next one finds, and names mean what the last pass left."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from starling.dace.frontend.loops.carried import Head, Plan
from starling.dace.frontend.loops.ranges import Range, surely
from starling.dace.frontend.loops.sites import Loop, Site
from starling.dace.frontend.scopes.joins import common_types
from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import Meaning, Scalar, View
from starling.dace.ir import Apply, Assign, Body, Expression, Number, Value, While, parts_of, values_of

__all__ = ["State", "after_loop"]


@dataclass
class State:
    """What names mean behind a loop, where a condition holds."""

    condition: Expression
    env: dict[str, Meaning | Unbound]


def after_loop(
    t: Translation,
    s: ast.For | ast.While,
    over: Range | None,
    plan: Plan,
    made: Loop,
    names: list[str],
    head: Head,
    entry: dict[str, Meaning | Unbound],
) -> list[State]:
    """Adds what passes leave for the next, and says what names mean behind the loop."""
    live = t.frame.live.behind[s]
    leaves = _leaves_by_head(made)
    sure = over is not None and surely(t, over)
    result = dict(head.env)
    late: dict[str, str] = {}  # variables of names that only passes bind
    for name in names:
        if (
            isinstance(result.get(name), Unbound)
            and name in live
            and name not in plan.unusable
            and unbound_before(entry, name)
        ):
            result[name] = _bound_in_passes(t, name, made, leaves and not sure, late, over)
    if over is not None:
        assert isinstance(s, ast.For)
        assert isinstance(s.target, ast.Name)
        if s.target.id in live and s.target.id not in head.variables and s.target.id not in late:
            result.setdefault(s.target.id, Unbound("has a value behind its loop only if the loop has a pass"))
    states = _states(t, plan, made, live)
    for site in made.sites:
        _leave(t, site, {**head.variables, **late}, head, plan, states)
    for name in names:
        if name not in live:
            result.pop(name, None)
    t.frame.env = result
    t.reached = leaves or any(x.word == "break" for x in made.sites)
    return _with_states(t, plan, head, result, states)


def unbound_before(entry: dict[str, Meaning | Unbound], name: str) -> bool:
    """Whether a name has no value, or none on some path, before the loop."""
    return entry.get(name) is None or isinstance(entry.get(name), Unbound)


def _leaves_by_head(made: Loop) -> bool:
    """Whether the loop can end by its condition."""
    loop = made.statement
    return not (isinstance(loop, While) and isinstance(loop.condition, Number) and loop.condition.value)


def _bound_in_passes(
    t: Translation, name: str, made: Loop, maybe_none: bool, late: dict[str, str], over: Range | None
) -> Meaning | Unbound:
    """What a name means that had no value before the loop."""
    found = [s.env.get(name) for s in made.sites]
    for f in found:
        if isinstance(f, Unbound) and maybe_none is False:
            return f
    if maybe_none or not found or any(f is None or isinstance(f, Unbound) for f in found):
        return Unbound("has a value only if the loop has a pass that gives it one; give it one before")
    if all(isinstance(f, Scalar) for f in found):
        types = common_types(t, name, [f.expr for f in found])  # type: ignore[union-attr]
        if isinstance(types, Unbound):
            return types
        variable = late[name] = t.named(name)
        t.program.variables[variable] = types[0]
        if len(types[1]) > 1:
            t.types[variable] = types[1]
        return Scalar(Value(variable))
    first = found[0]
    if isinstance(first, View) and all(f == first for f in found):
        moving = {str(x) for b in first.base for x in b.free_symbols} - set(t.program.sizes) - set(t.program.scalars)
        if not moving:
            return first
    return Unbound("is bound by passes of a loop; give it a value before, of the same shape and type")


def _states(t: Translation, plan: Plan, made: Loop, live: frozenset[str]) -> str:
    """The variable that tells how often names have changed places when the loop ends; empty: nobody asks."""
    if not set(plan.turning) & live:
        return ""
    name = t.generated("state")
    t.program.variables[name] = "int64"
    at = t.body.index(made.statement)  # type: ignore[arg-type]
    t.body.insert(at, Assign(place=t.place, name=name, value=Number(0)))
    return name


def _leave(t: Translation, site: Site, variables: dict[str, str], head: Head, plan: Plan, states: str) -> None:
    """Adds to the end of a pass what the next one, or what is behind the loop, finds."""
    made: Body = []
    with t.into(made):
        _set_numbers(t, site, variables)
        _set_arrays(t, site, head)
        if states and site.word == "break":
            t.add(Assign(name=states, value=Number(plan.turns_at(site.env, head.env) or 0)))
    at = len(site.body) if site.at is None else site.body.index(site.at)
    site.body[at:at] = made


def _set_numbers(t: Translation, site: Site, variables: dict[str, str]) -> None:
    """All at once: what one of them is set to may be another one."""
    sets: list[tuple[str, Expression]] = []
    for name, variable in variables.items():
        value = site.env.get(name)
        if isinstance(value, Scalar) and value.expr != Value(variable):
            sets.append((variable, value.expr))
    targets = {v for v, _ in sets}
    ready = []
    for variable, e in sets:
        needs = ({x.name for x in parts_of(e) if isinstance(x, Value)} | values_of(e)) & (targets - {variable})
        ready.append((variable, t.variable(e) if needs else e))
    for variable, e in ready:
        t.add(Assign(name=variable, value=e))


def _set_arrays(t: Translation, site: Site, head: Head) -> None:
    waiting = {}
    for name, copy in head.copies.items():
        value = site.env.get(name)
        if isinstance(value, View) and value != copy:
            waiting[name] = (copy, value)
    while waiting:
        free = next((n for n, (copy, _) in waiting.items() if not any(
            v.array == copy.array for m, (_, v) in waiting.items() if m != n)), None)  # fmt: skip
        if free is None:  # they change places
            name, (copy, value) = next(iter(waiting.items()))
            waiting[name] = (copy, t.stored(value))
            continue
        copy, value = waiting.pop(free)
        t.compute(copy, value)
        t.stale.pop(copy.array, None)


def _with_states(
    t: Translation, plan: Plan, head: Head, result: dict[str, Meaning | Unbound], states: str
) -> list[State]:
    if not plan.turning:
        return []
    if not states:
        for name in plan.turning:
            t.env.pop(name, None)
        return []
    found = []
    for k in range(plan.order):
        env = dict(result)
        env.update(plan.after_turns(head.env, k))
        found.append(State(Apply("==", (Value(states), Number(k))), env))
    return found
