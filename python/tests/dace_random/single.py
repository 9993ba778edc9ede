"""Elements and layers that numbers choose, indices that are too large, divisions by 0, names with another meaning."""

from __future__ import annotations

from dace_random.arrays import observe, of_whole
from dace_random.columns import across, open_axis
from dace_random.expressions import store, value
from dace_random.maker import Maker, feature
from dace_random.numbers import element_of, literal, whole_within
from dace_random.scalars import change, free, new_number, use
from dace_random.scope import Field, Scalar, Word

__all__: list[str] = []

LONGEST = 14  # of axes that are not shared, and more


@feature(2)
def one_element(g: Maker) -> bool:
    """An element of an array that is not shared becomes a number, or gets one."""
    found = element_of(g)
    if found is None:
        return False
    x, text = found
    if g.chance(0.5):
        name = g.name()
        bounded = f"{text} % 7" if x.whole else f"np.maximum(np.minimum({text}, 2.0), -2.0)"
        g.add(f"{name} = {bounded}")
        use(g, g.scalar(x.dtype, 0, 6 if x.whole else 0, name=name))
    elif x.whole:
        g.add(f"{text} = {whole_within(g, -9, 9).text}")
    else:
        g.add(g.of((f"{text} = {literal(g)}", f"{text} += {literal(g)}", f"{text} *= 0.5")))
    return True


@feature(2.5)
def layer_of_number(g: Maker) -> bool:
    """A layer that a number chooses, along an axis that is not shared."""
    found = open_axis(g)
    numbers = g.scalars(lambda n: n.whole and n.low >= 0 and n.high <= 8)
    if found is None or not numbers:
        return False
    x, axis = found
    n = g.of(numbers)
    places = [n.name, str(g.pick(9)), n.name, f"{n.name} // 2", f"8 - {n.name}", f"({n.name} + 1) % 9", "-1"]
    window = across(g, x, axis, Word(tuple(g.some(places, 4))))
    store(g, x, window, value(g, x.family, window, x.dtype))
    return True


def _certain(g: Maker) -> list[Scalar]:
    """Numbers that are Python's own for sure."""
    return g.scalars(lambda x: x.kind == "int" and x.fixed and x not in g.outside)


@feature(1.5, main=True)
def index_too_large(g: Maker) -> bool:
    """An index that the program computes, which in some calls lies beyond its axis."""
    found = [(f, k) for f in g.writable() for k in f.family.open if not f.trimmed and k not in f.family.short]
    numbers = _certain(g)
    if not found or not numbers:
        return False
    x, axis = g.of(found)
    name, n, length = g.name(), g.of(numbers), x.family.lengths[axis]
    first = length - g.pick(3) - 1
    g.add(f"{name} = {n.name} + {first - max(n.low, 0)} + q[0]")  # which is 0
    g.scalar("int64", 0, LONGEST + max(n.high, 0), name=name, fixed=True)
    for index in range(length, length + 40):
        g.messages.append(f"index {index} is out of bounds for axis {axis} with size {length}")
    window = across(g, x, axis, Word((name,)))
    store(g, x, window, value(g, x.family, window, x.dtype))
    return True


@feature(1, main=True)
def divided_by_zero(g: Maker) -> bool:
    """A quotient of Python's own numbers whose divisor is 0 in some calls."""
    numbers = _certain(g)
    if not numbers:
        return False
    n, m = g.of(numbers), g.of(numbers)
    op = g.of(("//", "%"))
    try:
        eval(f"1 {op} 0")
    except ZeroDivisionError as raised:
        g.messages.append(str(raised))
    g.add(f"q[{1 + g.pick(7)}] = ({m.name} + 7) {op} ({n.name} - {n.high})")
    return True


@feature(1.5)
def two_numbers(g: Maker) -> bool:
    """Two numbers in one statement."""
    if g.chance(0.5):
        a, b = g.name(), g.name()
        g.add(f"{a} = {b} = {literal(g)}")
        x, y = g.scalar("float", name=a), g.scalar("float", name=b)
    else:
        a, b = g.name(), g.name()
        g.add(f"{a}, {b} = {g.pick(5)}, {literal(g)}")
        x, y = g.scalar("int", 0, 4, name=a), g.scalar("float", name=b)
    g.add(f"{x.name} = {change(g, x)}")
    use(g, x)
    use(g, y)
    return True


@feature(4, main=True)
def other_meaning(g: Maker) -> bool:
    """A name of a number or of an array stands for something of another kind from here on."""
    scope = g.scope
    if scope.depth > 0:
        return False
    numbers = [x for x in free(g) if x.name != g.number]
    arrays = [f for f in scope.fields if not f.argument]
    if not numbers and not arrays:
        return False
    both: list[Scalar | Field] = [*numbers, *arrays]
    old = g.of(both)
    name = old.name
    like = [f for f in g.writable() if f.argument]
    text = of_whole(g, x := g.of(like)) if like else ""
    scope.scalars = [y for y in scope.scalars if y.name != name]
    scope.fields = [f for f in scope.fields if f.name != name]
    scope.private.discard(name)
    if like and (isinstance(old, Scalar) or old.family != x.family or old.dtype != x.dtype):
        g.add(f"{name} = {text}")
        made = g.temporary(x, name=name)
        observe(g, made)
    elif isinstance(old, Scalar) and old.whole:
        g.add(f"{name} = {literal(g)}")
        use(g, g.scalar("float", name=name))
    else:
        g.add(f"{name} = {g.pick(5)}")
        use(g, g.scalar("int", 0, 4, name=name))
    use(g, new_number(g))
    return True
