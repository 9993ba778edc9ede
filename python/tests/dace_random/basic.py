"""Statements, loops and branches over parts of arrays."""

from __future__ import annotations

from dace_random.expressions import added, lasting, store, value, written
from dace_random.maker import Maker, feature
from dace_random.numbers import condition, literal, whole_within
from dace_random.scope import At, Field, Span
from dace_random.windows import fits, full, read, target, window_for

__all__ = ["assign", "loop_over"]


def some_field(g: Maker, *, rank: int = 1) -> Field | None:
    """An array of numbers that can be written, of at least so many axes."""
    found = [f for f in g.writable() if f.family.rank >= rank]
    return g.of(found) if found else None


@feature(5)
def assign(g: Maker) -> bool:
    """A part of an array is computed, at times with a stride or in place."""
    x = some_field(g)
    if x is None:
        return False
    window = window_for(g, x)
    step = 2 if g.chance(0.08) and all(isinstance(p, Span) and p.high > 0 for p in window) else 1
    text = value(g, x.family, window, x.dtype, step)
    op = "="
    if x.whole or step > 1 or g.chance(0.8):
        text = written(lasting(g, x, window, text, step), x.dtype)
    else:
        op, text = g.weighted([(("+=", added(g, text)), 4.0), (("-=", added(g, text)), 1.0), (("*=", literal(g)), 1.0)])
    g.add(f"{target(g, x, window, step)} {op} {text}")
    return True


@feature(1.5)
def part_by_name(g: Maker) -> bool:
    """A part of an array has a name before it is written."""
    x = some_field(g)
    if x is None:
        return False
    window = window_for(g, x)
    if not all(isinstance(p, Span) for p in window):
        return False
    dtype = x.dtype
    text = written(value(g, x.family, window, dtype, strict=True), dtype)
    part = g.temporary(x, trims=tuple((p.low, p.high) for p in window if isinstance(p, Span)))
    g.add(f"{part.name} = {text}")
    store(g, x, window, f"{part.name} % 7" if x.whole else f"0.5 * {part.name} + {value(g, x.family, window, dtype)}")
    return True


@feature(1.5)
def assign_twice(g: Maker) -> bool:
    """Two parts get one value in one statement."""
    x, y = some_field(g), some_field(g)
    if x is None or y is None or x.dtype != y.dtype:
        return False
    parts = []
    for f in (x, y):
        axis = g.pick(f.family.rank)
        low, high = f.trim[axis]
        edge = At(low) if g.chance(0.6) else At(-1 - high)
        parts.append(target(g, f, tuple(edge if k == axis else p for k, p in enumerate(full(f)))))
    if parts[0] == parts[1]:
        return False
    g.add(f"{parts[0]} = {parts[1]} = {g.pick(9) if x.whole else literal(g)}")
    return True


# ---- loops ----


def loop_over(g: Maker, variable: str, most: int = 3) -> tuple[str, int, int, bool]:
    """The header of a loop of a few passes, the range of its variable, and whether it runs for sure."""
    n = 1 + g.pick(most)
    how = g.pick(10)
    if how == 0:
        bounds, low, high = f"1, {n} + 1", 1, n
    elif how == 1:
        bounds, low, high = f"{n}, 0, -1", 1, n
    elif how == 2:
        bounds, low, high = f"0, {2 * n}, 2", 0, 2 * n - 2
    elif how == 3:
        bounds, low, high = f"-{n}, {n - 1}", -n, n - 2
    elif how == 4 and (wholes := g.scalars(lambda x: x.whole)):
        last = whole_within(g, 0, 3, least=wholes)
        return f"for {variable} in range({last.text}):", 0, max(last.high - 1, 0), last.low > 0
    elif how == 5 and (wholes := g.scalars(lambda x: x.whole and x.low >= 0 and x.high <= 6)):
        x = g.of(wholes)
        return f"for {variable} in range({x.name}, {x.high}):", x.low, max(x.high - 1, x.low), False
    else:
        bounds, low, high = str(n), 0, n - 1
    return f"for {variable} in range({bounds}):", low, high, True


@feature(5, nests=True)
def loop(g: Maker) -> bool:
    """A loop of a few passes; its variable is used after it, where it ran for sure."""
    name = g.loop_name()
    again = g.scalars(lambda x: x.kind == "int" and not x.fixed)
    if again and g.scope.loops == 0 and g.chance(0.15):
        name = g.of(again).name  # which the loop changes
    header, low, high, sure = loop_over(g, name)
    before = [x for x in g.scope.scalars if x.name == name]
    with g.block(header, loop=True):
        g.scalar("int", low, high, fixed=True, name=name)
        g.body()
    if before:
        x = before[0]
        g.scalar("int", min(low, x.low), max(high, x.high), name=name)
    elif sure and g.chance(0.5 if g.scope.loops == 0 else 0.2):
        g.scalar("int", low, high, name=name)
    return True


@feature(5, nests=True)
def branch(g: Maker) -> bool:
    with g.block(f"if {condition(g)}:"):
        g.body()
    if g.chance(0.25):
        with g.block(f"elif {condition(g)}:"):
            g.body()
    if g.chance(0.5):
        with g.block("else:"):
            g.body()
    return True


@feature(1.5, nests=True, main=True)
def halving(g: Maker) -> bool:
    """A loop until a number of an array is small."""
    if "halving" in g.made or g.scope.loops > 1:
        return False
    g.made.append("halving")
    g.add("w[0] = 4.0")
    with g.block("while w[0] > 1.0:", loop=True):
        g.add("w[0] = w[0] * 0.5")
        g.body()
    return True


@feature(3, main=True)
def reduction(g: Maker) -> bool:
    """A sum, a maximum or a minimum of a part of an array, in an element of another one."""
    x = some_field(g)
    if x is None:
        return False
    window = window_for(g, x) if g.chance(0.5) else full(x)
    fields = [f for f in g.fields(x.family) if f.whole == x.whole and fits(f, window)]
    if not fields:
        return False
    text = read(g, fields, window)
    if g.chance(0.3):
        text = f"{text} * {text}" if "[" not in text else f"({text} - {read(g, fields, window)})"
    if x.whole:
        call = g.of(("np.sum({0})", "np.max(np.abs({0}))", "np.min({0})", "({0}).max()", "({0}).sum()"))
        g.add(f"q[{1 + g.pick(7)}] = {call.format(text)}")
    elif g.chance(0.4):
        g.summed = True
        g.add(f"s[0] = 0.001 * {g.of(('np.sum({0})', '({0}).sum()')).format(text)}")
    else:
        largest = g.of(("np.minimum(np.max(np.abs({0})), 4.0)", "np.minimum(({0}).max(), 2.0)"))
        smallest = g.of(("np.min(np.abs({0}))", "np.maximum(np.min({0}), -2.0)"))
        g.add(f"s[1] = {g.of((largest, smallest)).format(text)}")
    return True


@feature(0.7)
def nothing_much(g: Maker) -> bool:
    """Lines that do nothing."""
    for line in g.some(("pass", "pass  # nothing", '"""Text."""', "if False:\n{0}    pass"), 1 + g.pick(2)):
        g.add(line.format("    " * g.scope.indent))
    return True
