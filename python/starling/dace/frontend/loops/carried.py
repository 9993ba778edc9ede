"""What passes of a loop carry: the assumption at its head, and whether the ends of a pass fit to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from starling.dace.frontend.loops.sites import Site
from starling.dace.frontend.scopes.joins import Joined, alone, common_types, not_alike, origins
from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import Meaning, Scalar, View, shape_of
from starling.dace.ir import Assign, Expression, Value
from starling.dace.passes.types import common_type

__all__ = ["Head", "Plan", "enter", "fits"]

MOST_TURNS = 4  # passes that are written out for names that change places


@dataclass
class Plan:
    """What is assumed of names at the head of a loop."""

    types: dict[str, frozenset[str]] = field(default_factory=dict)  # of numbers
    copied: set[str] = field(default_factory=set)  # arrays that are copied from pass to pass
    shared: set[str] = field(default_factory=set)  # of these, what other names show too
    sources: dict[str, set[str]] = field(default_factory=dict)  # and the arrays before the loop that passes leave there
    unusable: dict[str, str] = field(default_factory=dict)  # and what is to be said when they are read
    stale: dict[str, str] = field(default_factory=dict)
    turning: tuple[str, ...] = ()  # arrays that change places
    order: int = 1  # after how many passes they are back
    step: tuple[int, ...] = ()  # which of them each one is after a pass

    def after_turns(self, env: dict[str, Meaning | Unbound], turns: int) -> dict[str, Meaning | Unbound]:
        """What they mean after so many passes."""
        now = list(range(len(self.turning)))
        for _ in range(turns):
            now = [now[self.step[i]] for i in range(len(now))]
        return {n: env[self.turning[k]] for n, k in zip(self.turning, now, strict=True)}

    def turns_at(self, env: dict[str, Meaning | Unbound], head: dict[str, Meaning | Unbound]) -> int | None:
        """After how many passes they mean what they mean in `env`; None: after none."""
        for k in range(self.order):
            if all(env.get(n) == v for n, v in self.after_turns(head, k).items()):
                return k
        return None


@dataclass
class Head:
    """What names mean at the head of a loop, and what stood for them before it."""

    env: dict[str, Meaning | Unbound]
    entry: dict[str, Meaning | Unbound]
    arrays: frozenset[str] = frozenset()  # all that there were before
    copies: dict[str, View] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def enter(t: Translation, names: list[str], plan: Plan) -> Head:
    """Sets up the names that passes change."""
    head = Head({}, dict(t.env), frozenset(t.program.arrays))
    for name in names:
        entry = t.env.get(name)
        if name in plan.unusable:
            t.env[name] = Unbound(plan.unusable[name])
        elif isinstance(entry, Scalar):
            made = head.variables[name] = t.named(name)
            types = plan.types.setdefault(name, t.types_of(entry.expr))
            t.program.variables[made] = _declared(types)
            if len(types) > 1:
                t.types[made] = types
            t.add(Assign(name=made, value=entry.expr))
            t.env[name] = Scalar(Value(made))
        elif isinstance(entry, View) and name in plan.copied:
            copy = head.copies[name] = t.array(shape_of(entry), t.program.arrays[entry.array].dtype, name)
            t.compute(copy, entry)
            own = alone(t, name, entry, head.entry, [n for n in head.entry if n != name])
            sources = origins(t, entry.array) | plan.sources.get(name, set())
            t.joined[copy.array] = Joined(name, sources, own and name not in plan.shared)
            t.env[name] = copy
        elif entry is None:
            t.env[name] = Unbound("has no value in the first pass of the loop; give it one before")
    t.stale.update({n: w for n, w in plan.stale.items() if n in t.program.arrays})
    head.env = dict(t.env)
    return head


def _declared(types: frozenset[str]) -> str:
    found = sorted(types)
    declared = found[0]
    for x in found[1:]:
        declared = common_type(declared, x)
    return declared


def fits(t: Translation, names: list[str], head: Head, sites: list[Site], plan: Plan) -> bool:
    """Whether each end of a pass leaves what the head assumes; else the plan becomes another one."""
    good = True
    for name in names:
        at_head = head.env.get(name)
        if isinstance(at_head, Unbound):
            continue
        ends = [s.env.get(name) for s in sites]
        if isinstance(at_head, Scalar):
            good = _fits_scalar(t, name, head, ends, plan) and good
        elif not isinstance(at_head, View) and any(e != at_head for e in ends):
            plan.unusable[name] = "is bound anew by passes of a loop, and is no number and no array; use another name"
            good = False
    good = _fits_arrays(t, names, head, sites, plan) and good
    new = {
        n: w
        for n, w in t.stale.items()
        if n not in plan.stale and n in {v.array for v in head.env.values() if isinstance(v, View)}
    }
    if new:
        plan.stale.update(new)
        good = False
    return good


def _fits_scalar(t: Translation, name: str, head: Head, ends: list[Meaning | Unbound | None], plan: Plan) -> bool:
    wrong = next((e for e in ends if not isinstance(e, Scalar)), None)
    if wrong is not None or any(e is None for e in ends):
        words = (
            wrong.words
            if isinstance(wrong, Unbound)
            else "is a number before the loop and something else in a pass; use another name"
        )
        plan.unusable[name] = words
        return False
    entry = head.entry[name]
    assert isinstance(entry, Scalar)
    sources: list[Expression] = [entry.expr, *(e.expr for e in ends if isinstance(e, Scalar))]
    have = plan.types[name]
    types = frozenset(x for e in sources for x in t.types_of(e))
    if not types <= have:
        plan.types[name] = have | types
        return False
    found = common_types(t, name, [e for e in sources if e != Value(head.variables[name])])
    if isinstance(found, Unbound):
        plan.unusable[name] = found.words
        return False
    return True


def _fits_arrays(t: Translation, names: list[str], head: Head, sites: list[Site], plan: Plan) -> bool:
    moved: dict[str, View] = {}
    for name in names:
        at_head = head.env.get(name)
        if not isinstance(at_head, View) or name in plan.turning:
            continue
        for site in sites:
            found = site.env.get(name)
            if not isinstance(found, View):
                plan.unusable[name] = (
                    found.words
                    if isinstance(found, Unbound)
                    else "is an array before the loop and something else in a pass; use another name"
                )
                return False
            if name in plan.copied:
                refused = not_alike(t, [at_head, found])
                if refused is not None:
                    plan.unusable[name] = refused.words.replace(
                        "on the paths that lead here", "before and in passes of a loop"
                    )
                    return False
                if found != at_head and name not in plan.shared and not alone(t, name, found, site.env, names):
                    plan.shared.add(name)
                    return False
                known = plan.sources.setdefault(name, set())
                left = origins(t, found.array) & head.arrays if found != at_head else frozenset()
                if not left <= known:
                    known |= left
                    return False
            elif found != at_head:
                moved[name] = found
    if plan.turning:
        return _still_turn(head, sites, plan, moved)
    if not moved:
        return True
    if not _turn(t, head, sites, plan, moved):
        plan.copied |= set(moved)
    return False


def _turn(t: Translation, head: Head, sites: list[Site], plan: Plan, moved: dict[str, View]) -> bool:
    """Whether names only change places in each pass: then the plan is to write passes out until they are back."""
    ends = [s for s in sites if s.word == "end"]
    if len(ends) != 1 or plan.copied & set(moved):
        return False
    turning = tuple(sorted(moved))
    before = [head.env[n] for n in turning]
    after = [ends[0].env[n] for n in turning]
    if len(set(before)) != len(before) or set(before) != set(after):
        return False
    step = [before.index(a) for a in after]
    now = list(range(len(turning)))
    order = 0
    while order == 0 or now != list(range(len(now))):
        now = [now[step[i]] for i in range(len(now))]
        order += 1
    if order > MOST_TURNS:
        return False
    if any(s.word == "continue" for s in sites):
        names = ", ".join(turning)
        raise t.error(names, "change places in a loop that has continue; put the rest of the pass under if")
    plan.turning, plan.order, plan.step = turning, order, tuple(step)
    return True


def _still_turn(head: Head, sites: list[Site], plan: Plan, moved: dict[str, View]) -> bool:
    """Whether written out passes bring the names back; else arrays are copied."""
    ends = [s for s in sites if s.word == "end"]
    back = all(all(s.env.get(n) == head.env[n] for n in plan.turning) for s in ends)
    known = all(plan.turns_at(s.env, head.env) is not None for s in sites)
    if moved or not back or not known:
        plan.copied |= {*plan.turning, *moved}
        plan.turning, plan.order = (), 1
        return False
    return True
