"""Values that come together where paths of a program meet: behind branches, and where a pass of a loop begins.

Numbers that differ become a variable, which each path sets at its end. Arrays that differ are copied at the end of each
path into one array that stands for them. In Python there is no copy but two names for one array, and a write through
one of them is seen through the other. So such an array may be written only if nothing else names what it stands for,
and it may not be read after that has been written.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from starling.dace.frontend.translation import Translation, Unbound
from starling.dace.frontend.values import Elements, Flags, Items, Meaning, Method, Scalar, View, shape_of
from starling.dace.ir import Assign, Body, Cast, Expression, Number, Value, same
from starling.dace.passes.types import WEAK, common_type

__all__ = ["End", "Joined", "alone", "common_types", "join_array", "join_behind", "note_write", "origins", "texts_of"]

EXACT = 2**53


@dataclass(frozen=True)
class Joined:
    """What an array stands for. `exclusive`: nothing else names any of it."""

    name: str
    sources: frozenset[str]
    exclusive: bool


@dataclass
class End:
    """The end of a path: the list that it ends, and what names mean there."""

    body: Body
    env: dict[str, Meaning | Unbound]


def note_write(t: Translation, array: str, node: ast.AST | str) -> None:
    """Notes that part of an array is written.

    Raises:
        ProgramError: In Python that would be seen through another name, and here it would not.
    """
    t.written.append(array)
    mine = t.joined.get(array)
    if mine is not None and not mine.exclusive:
        raise t.error(
            node,
            f"writes into {mine.name}, which is one of several arrays there, depending on the path, and another name "
            f"has it too; write {mine.name} = {mine.name}.copy() before",
        )
    for name, other in t.joined.items():
        if array in other.sources and name != array:
            t.stale[name] = (
                f"is read here, and may be an array that {t.place} writes; let each name stand for one array, or copy "
                "it with .copy()"
            )


def origins(t: Translation, array: str) -> frozenset[str]:
    """The arrays that an array may be in Python: itself, and those that it stands for."""
    found, waiting = {array}, [array]
    while waiting:
        held = t.joined.get(waiting.pop())
        new = held.sources - found if held is not None else frozenset()
        found |= new
        waiting.extend(new)
    return frozenset(found)


def names_in(value: Meaning | Unbound | None) -> Iterable[str]:
    """The arrays that a value shows."""
    if isinstance(value, View):
        yield value.array
    elif isinstance(value, Items):
        for v in value.items:
            yield from names_in(v)
    elif isinstance(value, Method):
        yield from names_in(value.owner)


def alone(t: Translation, name: str, view: View, env: dict[str, Meaning | Unbound], live: Iterable[str]) -> bool:
    """Whether no other name that is still read shows the array."""
    if t.program.arrays[view.array].argument:
        return False
    held = t.joined.get(view.array)
    if held is not None and not held.exclusive:
        return False
    if any(view.array in names_in(v) for f in t.frames[:-1] for v in f.env.values()):
        return False
    return not any(view.array in names_in(env.get(n)) for n in live if n != name)


def common_types(t: Translation, name: str, sources: list[Expression]) -> tuple[str, frozenset[str]] | Unbound:
    """The type of a variable that gets these values by turns, and the types that its values may have."""
    found = frozenset(x for e in sources for x in t.types_of(e))
    declared = next(iter(sorted(found)))
    for x in sorted(found):
        declared = common_type(declared, x)
    want = WEAK.get(declared, declared)
    for e in sources:
        for x in t.types_of(e):
            have = WEAK.get(x, x)
            exact = have == want or (have, want) == ("float32", "float64") or _fits_exactly(e)
            if not exact:
                kinds = " and ".join(sorted({WEAK.get(x, x) for x in found}))
                return Unbound(f"has values of the types {kinds} on the paths that lead here; give them one type")
    return declared, found


def _fits_exactly(e: Expression) -> bool:
    """Whether it is a literal that every larger type holds."""
    value = e.value if isinstance(e, Cast) else e
    return isinstance(value, Number) and not isinstance(value.value, float) and abs(value.value) <= EXACT


def join_behind(t: Translation, names: Iterable[str], ends: list[End], words: str) -> None:
    """What names mean where paths meet; the statements for that go to the end of each.

    Args:
        names: Those that are still read.
        ends: Of the paths that can come here, at least one.
        words: When a name has a value that only some of the paths give it.
    """
    live = sorted(names)
    result = dict(ends[0].env)
    for name in live:
        result[name] = _joined(t, name, [e.env.get(name) for e in ends], ends, live, words)
    t.frame.env = result


def _joined(
    t: Translation, name: str, values: list[Meaning | Unbound | None], ends: list[End], live: list[str], words: str
) -> Meaning | Unbound:
    first = values[0]
    for v in values:
        if isinstance(v, Unbound):
            return v
    if any(v is None for v in values):
        return Unbound(f"has a value only if {words}; give it one before")
    if all(v == first for v in values):
        return first  # type: ignore[return-value]
    if all(isinstance(v, Scalar) for v in values):
        return _scalar(t, name, [v.expr for v in values], ends)  # type: ignore[union-attr]
    if all(isinstance(v, View) for v in values):
        return join_array(t, name, values, ends, live)  # type: ignore[arg-type]
    if all(isinstance(v, Items) for v in values) and len({len(v.items) for v in values}) == 1:  # type: ignore[union-attr]
        count = len(first.items)  # type: ignore[union-attr]
        parts = (_joined(t, name, [v.items[k] for v in values], ends, live, words) for k in range(count))  # type: ignore[union-attr]
        items = tuple(parts)
        return next((i for i in items if isinstance(i, Unbound)), None) or Items(items)  # type: ignore[arg-type]
    return Unbound(f"is {' or '.join(texts_of(values))} on the paths that lead here; let it be one")


def texts_of(values: Iterable[Meaning | Unbound | None]) -> list[str]:
    """What kinds of values there are, in words."""
    names = {Scalar: "a number", View: "an array", Elements: "an array", Items: "a tuple", Flags: "flags"}
    return sorted({names.get(type(v), "something else") for v in values})


def _scalar(t: Translation, name: str, sources: list[Expression], ends: list[End]) -> Meaning | Unbound:
    found = common_types(t, name, sources)
    if isinstance(found, Unbound):
        return found
    made = t.named(name)
    t.program.variables[made], types = found
    if len(types) > 1:
        t.types[made] = types
    for e, end in zip(sources, ends, strict=True):
        with t.into(end.body):
            t.add(Assign(name=made, value=e))
    return Scalar(Value(made))


def join_array(t: Translation, name: str, views: list[View], ends: list[End], live: Iterable[str]) -> View | Unbound:
    """One array that stands for several, copied into it at the end of each path."""
    refused = not_alike(t, views)
    if refused is not None:
        return refused
    exclusive = all(alone(t, name, v, e.env, live) for v, e in zip(views, ends, strict=True))
    made = t.array(shape_of(views[0]), t.program.arrays[views[0].array].dtype, name)
    for v, end in zip(views, ends, strict=True):
        with t.into(end.body):
            t.compute(made, v)
    sources = frozenset().union(*(origins(t, v.array) for v in views))
    t.joined[made.array] = Joined(name, sources, exclusive)
    return made


def not_alike(t: Translation, views: list[View]) -> Unbound | None:
    """Why arrays cannot be one; None: they can."""
    kinds = {t.program.arrays[v.array].dtype for v in views}
    if len(kinds) > 1:
        return Unbound(f"is an array of {' or '.join(sorted(kinds))} on the paths that lead here; give it one type")
    first = shape_of(views[0])
    for v in views[1:]:
        shape = shape_of(v)
        if len(shape) != len(first) or not all(same(a, b) for a, b in zip(shape, first, strict=True)):
            return Unbound("is an array of several shapes on the paths that lead here; let it have one")
    return None
