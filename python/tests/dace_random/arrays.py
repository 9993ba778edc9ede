"""Names of arrays: bound anew, shared, swapped, views, copies, and arrays that are made."""

from __future__ import annotations

from dace_random.basic import some_field
from dace_random.expressions import MODULUS, added, store, value, written
from dace_random.maker import Maker, feature
from dace_random.numbers import condition, literal
from dace_random.scope import Field, Span
from dace_random.windows import fits, full, target, window_for

__all__ = ["of_whole", "write"]


def of_whole(g: Maker, x: Field) -> str:
    """A value for all of an array, of its type."""
    return written(value(g, x.family, full(x), x.dtype, strict=True), x.dtype)


def write(g: Maker, x: Field) -> None:
    """A line that writes a part of an array, or all of it."""
    window = window_for(g, x)
    store(g, x, window, value(g, x.family, window, x.dtype))


def observe(g: Maker, x: Field) -> None:
    """A line whose effect on an argument depends on an array."""
    found = [f for f in g.writable() if f.family == x.family and f.argument and f.name != x.name]
    found = [f for f in found if f.whole == x.whole and fits(f, full(x))]
    if not found:
        return
    y = g.of(found)
    window = full(x)
    text = f"{x.name} + {value(g, x.family, window, y.dtype)}" if y.whole else f"0.5 * {x.name} + {literal(g)}"
    store(g, y, window, text)


@feature(3)
def bound_anew(g: Maker) -> bool:
    """A name, at times an argument, stands for a new array from now on."""
    found = [f for f in g.writable() if g.may_bind(f)]
    if not found:
        return False
    x = g.of(found)
    simple = f"{x.name} + {1 if x.whole else literal(g)}"
    g.add(f"{x.name} = {written(simple, x.dtype) if g.chance(0.4) else of_whole(g, x)}")
    x = g.bound(x)
    if g.chance(0.6):
        write(g, x)
    observe(g, x)
    return True


@feature(2.5)
def second_name(g: Maker) -> bool:
    """An array has two names; one is bound anew, or written, or changed in place."""
    x = some_field(g)
    if x is None:
        return False
    if g.chance(0.5):
        text = of_whole(g, x)
        x = g.temporary(x)
        g.add(f"{x.name} = {text}")
    y = g.temporary(x, private=False)
    g.add(f"{y.name} = {x.name}")
    one, other = (x, y) if g.chance(0.5) else (y, x)
    how = g.pick(3)
    if how == 0 and g.may_bind(one):
        g.add(f"{one.name} = {of_whole(g, one)}")
        g.bound(one)
    elif how == 1:
        write(g, one)
    else:
        in_place(g, one)
    observe(g, other)
    return True


def in_place(g: Maker, x: Field) -> None:
    """Lines that change an array in place by its name."""
    if x.whole:
        g.add(f"{x.name} {g.of(('+=', '-=', '*='))} {1 + g.pick(5)}")
        g.add(f"{x.name} %= {MODULUS}")
    else:
        g.add(f"{x.name} {g.of(('*= 0.5', '+= 0.25', '/= 2.0', f'+= {added(g, of_whole(g, x))}', f'-= {literal(g)}'))}")


@feature(2.5)
def temporary_in_place(g: Maker) -> bool:
    """An array that is computed, and changed in place afterwards."""
    x = some_field(g)
    if x is None:
        return False
    text = of_whole(g, x)
    made = g.temporary(x)
    g.add(f"{made.name} = {text}")
    for _ in range(1 + g.pick(2)):
        g.weighted([(in_place, 2.0), (write, 1.0)])(g, made)
    observe(g, made)
    return True


@feature(3)
def view(g: Maker) -> bool:
    """A name of a part of an array, which is written through it."""
    x = some_field(g)
    if x is None:
        return False
    cuts = [(0, 0) if k in x.family.short else (g.pick(2), g.pick(2)) for k in range(x.family.rank)]
    trims = tuple((before + a, behind + b) for (before, behind), (a, b) in zip(x.trim, cuts, strict=True))
    window = tuple(Span(*t) for t in trims)
    text = target(g, x, window)
    made = g.temporary(x, trims=trims, private=False)
    g.add(f"{made.name} = {text}")
    for _ in range(1 + g.pick(2)):
        g.weighted([(write, 3.0), (in_place, 1.0)])(g, made)
    observe(g, g.of((x, made)))
    return True


@feature(3, nests=True)
def swapped_arrays(g: Maker) -> bool:
    """Two names of arrays are swapped: once, or at the end of each pass of a loop."""
    pairs = [(a, b) for a in g.writable() for b in g.writable() if a is not b and a.like(b)]
    deep = g.scope.loops > 1 or (g.scope.loops == 1 and g.scope.depth > 1)
    if not pairs or g.scope.turning or (deep and g.chance(0.9)):
        return False
    a, b = g.of(pairs)
    swap = f"{a.name}, {b.name} = {b.name}, {a.name}"
    third = [c for c in g.writable() if c.like(a) and c is not a and c is not b]
    turned = [a, b]
    if third and g.chance(0.4):
        c = g.of(third)
        turned.append(c)
        swap = f"{a.name}, {b.name}, {c.name} = {b.name}, {c.name}, {a.name}"
    g.scope.private -= {x.name for x in turned}
    if g.scope.loops == 0 and g.chance(0.7):
        n = f"range({2 + g.pick(3)})"
        numbers = g.scalars(lambda x: x.whole and x.low >= 0 and x.high <= 6)
        if numbers and g.chance(0.4):
            n = f"range({g.of(numbers).name})"
        name = g.loop_name()
        with g.block(f"for {name} in {n}:", loop=True, kept=True):
            g.scalar("int", 0, 5, fixed=True, name=name)
            window = window_for(g, b)
            store(g, b, window, value(g, b.family, window, b.dtype))
            if g.chance(0.3):
                g.one()
            g.add(swap)
    elif g.scope.loops == 0 and g.chance(0.5):
        with g.block(f"if {condition(g)}:"):
            g.add(swap)
        g.loosen(*turned)
        if g.chance(0.6):
            g.add(f"{a.name} = {a.name}.copy()")
            write(g, g.bound(a))
        observe(g, b)
        return True
    else:
        g.add(swap)
    for _ in range(1 + g.pick(2)):
        write(g, g.of((a, b)))
    return True


@feature(2.5)
def made_array(g: Maker) -> bool:
    """An array that is made, not computed: a copy, or one that is filled."""
    x = some_field(g)
    if x is None:
        return False
    n = str(g.pick(9)) if x.whole else literal(g)
    how = g.pick(6)
    texts = (f"{x.name}.copy()", f"np.zeros_like({x.name})", f"np.empty_like({x.name})", f"np.ones_like({x.name})",
             f"np.full_like({x.name}, {n})", f"np.copy({x.name})")  # fmt: skip
    made = g.temporary(x)
    g.add(f"{made.name} = {texts[how]}")
    if how == 2:
        g.add(f"{made.name}[{g.of((':', '...'))}] = {n}" if g.chance(0.7) else f"{made.name}.fill({n})")
    if g.chance(0.7):
        write(g, made)
    observe(g, made)
    return True


@feature(2, nests=True)
def array_of_branches(g: Maker) -> bool:
    """An array that both branches of a condition make, at times one that is there already, which is read alone."""
    x = some_field(g)
    if x is None:
        return False
    choice, texts = condition(g), [of_whole(g, x), of_whole(g, x)]
    if g.chance(0.15):
        texts[g.pick(2)] = x.name
    made = g.temporary(x)
    if g.chance(0.02):
        g.add(f"{made.name} = {texts[0]} if {choice} else {texts[1]}")
    else:
        with g.block(f"if {choice}:"):
            g.add(f"{made.name} = {texts[0]}")
        with g.block("else:"):
            g.add(f"{made.name} = {texts[1]}")
    if x.name in texts:
        g.loosen(made)
    observe(g, made)
    return True


@feature(2, nests=True)
def carried_array(g: Maker) -> bool:
    """An array that each pass of a loop makes of the one before."""
    x = some_field(g)
    if x is None:
        return False
    text = of_whole(g, x)
    made = g.temporary(x)
    g.add(f"{made.name} = {text}")
    name = g.loop_name()
    with g.block(f"for {name} in range({2 + g.pick(3)}):", loop=True):
        g.scalar("int", 0, 4, fixed=True, name=name)
        if g.chance(0.4):
            g.add(f"{made.name} = {of_whole(g, made)}")
        if g.chance(0.5):
            g.one()
        g.add(f"{made.name} = {of_whole(g, made)}")
    observe(g, made)
    return True


@feature(1.5, nests=True)
def second_name_of_block(g: Maker) -> bool:
    """A name that a loop, or one branch alone, gives to an array that is there; who writes it later is seen through it,
    or the program is refused."""
    found = [f for f in g.writable() if any(h.like(f) and h.name != f.name for h in g.writable())]
    if not found:
        return False
    x = g.of(found)
    y = g.of([f for f in g.writable() if f.like(x) and f.name != x.name])
    text = of_whole(g, x)
    made = g.temporary(x)
    g.add(f"{made.name} = {text}")
    header = f"for {g.loop_name()} in range({1 + g.pick(3)}):" if g.chance(0.6) else f"if {condition(g)}:"
    with g.block(header, loop=header.startswith("for")):
        if g.chance(0.4):
            write(g, g.of((x, y)))
        line = f"{made.name} = {x.name}" if g.chance(0.7) else f"{made.name}, {x.name} = {x.name}, {y.name}"
        g.add(line)
    g.loosen(made, *([x] if "," in line else []))
    if g.chance(0.5):
        write(g, y)
    if g.chance(0.15):
        write(g, x)
    observe(g, made)
    return True
