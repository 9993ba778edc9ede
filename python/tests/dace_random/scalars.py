"""Numbers that programs compute with: made, copied, swapped, chosen, and changed."""

from __future__ import annotations

from dace_random.basic import some_field
from dace_random.expressions import mask, small, store, value
from dace_random.maker import Maker, feature
from dace_random.numbers import condition, literal, real, whole, whole_within
from dace_random.scope import Scalar
from dace_random.windows import full, window_for

__all__ = ["change", "free", "new_number", "use"]

LARGEST = 9  # of whole numbers that features make


def free(g: Maker) -> list[Scalar]:
    """Numbers that may be changed here."""
    return g.scalars(lambda x: not x.fixed and x.kind != "bool")


def change(g: Maker, x: Scalar) -> str:
    """A new value of a number, made of the one it has."""
    if x.real:
        return real(g, x.kind, x)
    kind = x.kind if g.narrow else ""
    return whole_within(g, x.low, x.high, kind=kind, least=[x]).text


def new_number(g: Maker, *, whole_only: bool = False) -> Scalar:
    """A number and the line that makes it."""
    if not whole_only and g.chance(0.4):
        kinds = [x.kind for x in g.scalars(lambda x: x.real)]
        kind = g.of(kinds) if kinds and g.chance(0.3) else "float"
        own = [x for x in g.scalars(lambda x: x.real) if x.kind == kind]
        text = real(g, kind) if own else literal(g)
        name = g.name()
        g.add(f"{name} = {text}")
        return g.scalar(kind if own else "float", name=name)
    found = whole(g, kind="int" if g.narrow and g.chance(0.5) else "")
    low, high = max(found.low, -LARGEST), min(found.high, LARGEST)
    if (low, high) != (found.low, found.high) or g.chance(0.5):
        found = whole_within(g, low := -g.pick(2) * g.pick(4), high := 3 + g.pick(5))
    if low >= high:  # a constant may be changed later
        low, high = min(low, 0), max(high, 4)
    name = g.name()
    g.add(f"{name} = {found.text}")
    return g.scalar(found.kind, low, high, name=name)


def use(g: Maker, x: Scalar) -> None:
    """A line whose effect depends on a number."""
    y = some_field(g)
    if y is not None and x.kind != "bool" and small(x) and g.chance(0.7) and not (x.real and y.whole):
        window = window_for(g, y)
        if y.whole:
            text = f"{x.name} + {value(g, y.family, window, y.dtype)}"
        else:
            text = f"0.1 * {x.name} + {value(g, y.family, window, y.dtype)}"
        store(g, y, window, text)
    elif g.scope.main:
        g.add(f"{'q' if not x.real else 'w'}[{1 + g.pick(7)}] = {x.name}")


@feature(4)
def number(g: Maker) -> bool:
    """A number, and what depends on it."""
    use(g, new_number(g))
    return True


@feature(3)
def changed_number(g: Maker) -> bool:
    """A number gets a new value, made of its own."""
    found = free(g)
    if not found:
        return False
    x = g.of(found)
    if x.real and g.chance(0.4):
        g.add(f"{x.name} *= 0.5")
        g.add(f"{x.name} {g.of(('+=', '-='))} {g.of(('1.0', '0.5'))}")
    elif x.whole and x.low == 0 and g.chance(0.4):
        g.add(f"{x.name} {g.of(('+=', '-=', '*='))} {1 + g.pick(4)}")
        g.add(f"{x.name} %= {x.high + 1}")
    else:
        g.add(f"{x.name} = {change(g, x)}")
    return True


@feature(2.5)
def copied_number(g: Maker) -> bool:
    """A number is copied before it is changed."""
    x = g.of(free(g)) if free(g) and g.chance(0.6) else new_number(g)
    name = g.name()
    g.add(f"{name} = {x.name}")
    y = g.scalar(x.kind, x.low, x.high, name=name)
    g.add(f"{x.name} = {change(g, x)}")
    if g.chance(0.4):
        g.add(f"{y.name} = {change(g, y)}")
    use(g, y)
    if g.chance(0.5):
        use(g, x)
    return True


def _pair(g: Maker) -> tuple[Scalar, Scalar] | None:
    found = free(g)
    pairs = [(a, b) for a in found for b in found if a is not b and _alike(g, a, b)]
    return g.of(pairs) if pairs else None


def _alike(g: Maker, a: Scalar, b: Scalar) -> bool:
    return g.alike(a.kind, b.kind) and (a.low, a.high) == (b.low, b.high)


@feature(2.5, nests=True)
def swapped_numbers(g: Maker) -> bool:
    """Two numbers are swapped, at times in a loop or under a condition, or take each other's place by steps."""
    pair = _pair(g)
    if pair is None:
        x = new_number(g)
        name = g.name()
        g.add(f"{name} = {change(g, x)}")
        pair = x, g.scalar(x.kind, x.low, x.high, name=name)
    a, b = pair
    text = f"{a.name}, {b.name} = {b.name}, {g.of((a.name, change(g, b)))}"
    if g.chance(0.5):
        header = f"for {g.loop_name()} in range({1 + g.pick(4)}):" if g.chance(0.6) else f"if {condition(g)}:"
        with g.block(header, loop=header.startswith("for")):
            if g.chance(0.5):
                use(g, a)
            g.add(text)
    else:
        g.add(text)
    use(g, a)
    return True


@feature(2.5, nests=True)
def old_and_new(g: Maker) -> bool:
    """A loop keeps the value of the pass before."""
    new = g.of(free(g)) if free(g) and g.chance(0.3) else new_number(g)
    name = g.name()
    g.add(f"{name} = {new.name}" if g.chance(0.5) else f"{name} = {change(g, new)}")
    old = g.scalar(new.kind, new.low, new.high, name=name)
    with g.block(f"for {(variable := g.loop_name())} in range({2 + g.pick(3)}):", loop=True):
        g.scalar("int", 0, 4, fixed=True, name=variable)
        g.add(f"{old.name} = {new.name}")
        g.add(f"{new.name} = {change(g, new)}")
        if g.chance(0.3):
            g.one()
        use(g, old)
    if g.chance(0.6):
        use(g, g.of((old, new)))
    return True


@feature(2.5)
def chosen_number(g: Maker) -> bool:
    """A number by a conditional expression."""
    name = g.name()
    if g.chance(0.5):
        g.add(f"{name} = {literal(g)} if {condition(g)} else {literal(g)}")
        x = g.scalar("float", name=name)
    else:
        low, high = g.pick(3), 3 + g.pick(4)
        g.add(f"{name} = {low} if {condition(g)} else {high}")
        x = g.scalar("int", low, high, name=name)
    use(g, x)
    return True


@feature(2.5, nests=True)
def number_of_branches(g: Maker) -> bool:
    """A number that both branches of a condition set, or one alone changes."""
    if g.chance(0.4) and free(g):
        x = g.of(free(g))
        with g.block(f"if {condition(g)}:"):
            g.add(f"{x.name} = {change(g, x)}")
            if g.chance(0.4):
                use(g, x)
    else:
        choice = condition(g)
        name = g.name()
        real_kind = g.chance(0.5)
        texts = [literal(g) if real_kind else str(g.pick(5)) for _ in range(3)]
        with g.block(f"if {choice}:"):
            g.add(f"{name} = {texts[0]}")
        if g.chance(0.3):
            with g.block(f"elif {condition(g)}:"):
                g.add(f"{name} = {texts[2]}")
        with g.block("else:"):
            g.add(f"{name} = {texts[1]}")
        x = g.scalar("float", name=name) if real_kind else g.scalar("int", 0, 4, name=name)
    use(g, x)
    return True


@feature(3)
def number_of_array(g: Maker) -> bool:
    """A number that a sum of whole numbers, a maximum, a count, a length or an element is."""
    y = some_field(g)
    if y is None:
        return False
    how, name = g.pick(6), ""
    if how == 0 and (choice := mask(g, y.family, full(y))):
        text, kind, n = f"np.sum({choice}) % 7", "int64", 6
    elif how == 1:
        size = g.of((f"{y.name}.shape[{g.pick(y.family.rank)}]", f"len({y.name})", f"{y.name}.size", f"{y.name}.ndim"))
        text, kind, n = f"{size} % 7", "int", 6
    elif how == 2 and g.scope.main and not g.sums_used:
        element = g.of(("s[1]", "w[1]"))
        text, kind, n = f"np.minimum(np.abs({element}), 2.0)", "float64" if element[0] == "w" else g.real_type, 0
    elif how == 3 and g.scope.main:
        text, kind, n = f"q[{1 + g.pick(7)}] % 7", "int64", 6
    elif y.whole:
        call = g.of(("np.sum({0})", "np.max({0})", "{0}.sum()", "np.min({0})", "{0}.max()")).format(y.name)
        text, kind, n = f"{call} % 7", "int64" if "sum" in call else y.dtype, 6
    else:
        bounded = f"np.minimum({g.of(('np.max({0})', '{0}.max()', 'np.max(np.abs({0}))')).format(y.name)}, 2.0)"
        text, kind, n = f"np.maximum({bounded}, -2.0)", y.dtype, 0
    name = g.name()
    g.add(f"{name} = {text}")
    use(g, g.scalar(kind, 0, n, name=name))
    return True


@feature(1.5)
def flag(g: Maker) -> bool:
    """Whether something is so, kept for later."""
    wholes = g.scalars(lambda x: x.whole)
    if not wholes:
        return False
    text = f"{g.of(wholes).name} > {g.pick(4)}"
    y = some_field(g)
    if y is not None and g.chance(0.5) and (choice := mask(g, y.family, full(y))):
        text = f"np.{g.of(('any', 'all'))}({choice})"
    name = g.name()
    g.add(f"{name} = {text}")
    g.scalar("bool", name=name)
    if g.scope.depth < 2:
        with g.block(f"if {g.of(('', 'not '))}{name}:"):
            g.one()
    return True
