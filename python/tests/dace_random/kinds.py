"""Masks and other types, sums along axes, and what NumPy spreads, turns over or combines."""

from __future__ import annotations

from dace_random.arrays import observe
from dace_random.basic import some_field
from dace_random.columns import across, open_axis, vector_of
from dace_random.expressions import added, mask, of_type, store, term, value, written
from dace_random.maker import Maker, feature
from dace_random.numbers import literal
from dace_random.scope import Field, Span, Window, Word
from dace_random.windows import fits, full, read, target, window_for

__all__: list[str] = []


@feature(2.5)
def mask_by_name(g: Maker) -> bool:
    """A mask that has a name, and what is chosen by it."""
    x = some_field(g)
    if x is None:
        return False
    choice = mask(g, x.family, full(x))
    if choice is None:
        return False
    made = g.temporary(x, "bool")
    g.add(f"{made.name} = {choice}")
    y = g.of([f for f in g.writable() if f.family == x.family and f.trim == x.trim])
    window = full(y)
    more = mask(g, x.family, window)
    both = f"{made.name} & ({more})" if more and g.chance(0.4) else made.name
    how = g.pick(4)
    if how == 0:
        g.add(f"{y.name}[{both}] = {_number(g, y)}")
    elif how == 1 and of_type(g, y.family, window, y.dtype, strict=False):
        one = read(g, of_type(g, y.family, window, y.dtype, strict=False), window)
        text = f"({both}) * {one}" if g.chance(0.5) else f"np.where({both}, {one}, {_number(g, y)})"
        store(g, y, window, text)
    elif how == 2 and g.scope.main:
        g.add(f"q[{1 + g.pick(7)}] = np.sum({both})")
    else:
        store(g, y, window, f"({both}) * {value(g, y.family, window, y.dtype)}")
    return True


def _number(g: Maker, x: Field) -> str:
    return str(g.pick(20)) if x.whole else literal(g)


@feature(2.5)
def chosen_elements(g: Maker) -> bool:
    """Elements that a mask chooses get a number."""
    x = some_field(g)
    if x is None:
        return False
    choice = mask(g, x.family, full(x))
    if choice is None:
        return False
    g.add(f"{x.name}[{choice}] = {_number(g, x)}")
    return True


@feature(2.5)
def chosen_values(g: Maker) -> bool:
    """One value or another for each element."""
    x = some_field(g)
    if x is None:
        return False
    window = window_for(g, x)
    choice = mask(g, x.family, window)
    if choice is None:
        return False
    first = _number(g, x) if g.chance(0.4) else term(g, x.family, window, x.dtype)
    second = term(g, x.family, window, x.dtype)
    store(g, x, window, f"np.where({choice}, {first}, {second})")
    return True


@feature(6)
def other_type(g: Maker) -> bool:
    """An array is stored in one of another type, or computed in the type that both make."""
    pairs = [(x, y) for x in g.writable() for y in g.scope.fields
             if x.family == y.family and x.dtype != y.dtype and "bool" not in (x.dtype, y.dtype)]  # fmt: skip
    pairs = [(x, y) for x, y in pairs if not g.sums_used or not x.whole or y.whole]
    if not pairs:
        return False
    x, y = g.of(pairs)
    window = window_for(g, x)
    if not fits(y, window):
        return False
    a, b = read(g, [x], window), read(g, [y], window)
    if x.whole and not y.whole:
        text = f"(9.5 * np.clip({b}, -4.0, 4.0)).astype(np.{x.dtype}) - {a}"
    elif x.whole:
        text = g.of((f"{b}", f"{a} + {b}", f"{b} // 3 - {a}", f"{a} * {b}"))
    else:
        less = "0.01 * " if y.whole else ""
        text = g.of((f"{less}{b}", f"0.5 * {a} + {less}{b}", f"{less}{b} - 0.5 * {a}", f"{a} / (2.0 + np.abs({b}))"))
        if y.whole and g.chance(0.3):
            text = g.of((f"{b} / 100", f"{a} / (1 + np.abs({b}))", f"0.1 * ({b} % 7)"))
    store(g, x, window, text)
    return True


STRIDES = (
    ("1:-1:2", "1:-1:2", ":-2:2", "2::2"),
    ("::3", "::3"),
    ("1::2", "1::2"),
    ("1:-2:3", "1:-2:3", "2:-1:3"),
)


@feature(2.5)
def strided(g: Maker) -> bool:
    """Every second or third layer is changed in place."""
    found = open_axis(g)
    if found is not None and g.chance(0.7):
        x, axis = found
        window: Window = across(g, x, axis, Word(g.of(STRIDES), keeps=True))
        step = 1
    else:
        one = some_field(g)
        if one is None or one.family.short:
            return False
        x, step = one, 2
        window = tuple(Span(a + 1, b + 1) for a, b in x.trim)
    if x.whole:
        g.add(f"{target(g, x, window, step)} {g.of(('+=', '-='))} {1 + g.pick(9)}")
        g.add(f"{x.name} %= 97")
    else:
        text = added(g, term(g, x.family, window, x.dtype, step)) if g.chance(0.7) else literal(g)
        g.add(f"{target(g, x, window, step)} {g.of(('+=', '-=', '='))} {text}")
    return True


# ---- along axes ----


@feature(4, main=True)
def along_axis(g: Maker) -> bool:
    """Sums and maxima along one of two axes."""
    fields = [f for f in g.writable() if f.family.rank == 2 and f.trim == ((0, 0), (0, 0))]
    found = [(f, k) for f in fields for k in f.family.open if len(f.family.split) < 2]
    if not found:
        return False
    x, axis = g.of(found)
    part = x.name if g.chance(0.7) else f"np.abs({x.name})"
    add = g.chance(0.4)
    call = "sum" if add else g.of(("max", "min"))
    v = vector_of(g, x, axis, exact=x.whole or not add or g.sums_used)
    g.summed |= add and not x.whole
    text = f"{part}.{call}(axis={axis})" if g.chance(0.5) else f"np.{call}({part}, axis={axis})"
    scale = "0.1 * " if add and not x.whole else ""
    g.add(f"{v.name}[{g.of((':', '...'))}] = {written(scale + text, v.dtype)}")
    if call != "sum" and g.chance(0.4):
        kept = f"np.{call}({x.name}, axis={axis}, keepdims=True)"
        more = f"{kept} - {x.name}" if x.whole else f"0.4 * {x.name} - 0.3 * {kept}"
        store(g, x, full(x), more)
    elif v in g.scope.fields and g.chance(0.7):
        spread = f"{v.name}[:, None]" if axis == 1 else v.name
        more = f"{spread} - {x.name}" if x.whole else f"0.2 * {spread} + 0.5 * {x.name}"
        store(g, x, full(x), more)
    return True


def _unshared(g: Maker, *, square: bool) -> list[Field]:
    """Arrays of two axes that every PE has whole."""
    fields = [f for f in g.writable() if f.family.rank == 2 and not f.family.split and not f.family.short]
    fields = [f for f in fields if f.trim == ((0, 0), (0, 0))]
    return [f for f in fields if not square or len(set(f.family.sizes)) == 1]


@feature(4)
def turned_over(g: Maker) -> bool:
    """The transpose of an array that is not shared, at times under a name and written through it."""
    found = _unshared(g, square=True)
    if not found:
        return False
    x, y = g.of(found), g.of(found)
    if x.whole != y.whole:
        return False
    if g.chance(0.35):
        made = g.temporary(y, private=False)
        g.add(f"{made.name} = {y.name}.T")
        window = window_for(g, made)
        store(g, made, window, value(g, made.family, window, made.dtype))
        observe(g, x)
        return True
    rest = term(g, x.family, full(x), x.dtype)
    store(g, x, full(x), f"{y.name}.T - {x.name}" if x.whole else f"0.5 * {y.name}.T {g.of('+-')} {rest}")
    return True


@feature(3)
def outer_product(g: Maker) -> bool:
    """The products of all elements of two vectors that are not shared."""
    found = _unshared(g, square=False)
    if not found:
        return False
    x = g.of(found)
    y, z = (g.of([f for f in found if f.family == x.family and f.whole == x.whole]) for _ in range(2))
    a, b = f"{y.name}[:, {g.pick(4)}]", f"{z.name}[{g.pick(4)}, :]"
    text = f"np.outer({a}, {b if x.whole else f'np.minimum({b}, 1.0)'})"
    rest = term(g, x.family, full(x), x.dtype)
    store(g, x, full(x), f"{text} + {rest}" if x.whole else f"0.25 * {text} - {rest}")
    return True


@feature(2, nests=True)
def elements(g: Maker) -> bool:
    """A loop over the elements of an array that is not shared, each made of those before."""
    found = [f for f in g.writable() if not f.family.split and f.trim == ((0, 0),) * f.family.rank]
    if not found:
        return False
    x = g.of(found)
    axis, i = g.pick(x.family.rank), g.loop_name()
    words = tuple(
        Word((i, f"{i} - 1", i, f"{i} - 1")) if k == axis else Word(tuple(g.some(("0", "1"), 2)))
        for k in range(x.family.rank)
    )
    text = written(value(g, x.family, words, x.dtype), x.dtype)
    with g.block(f"for {i} in range(1, {x.name}.shape[{axis}]):", loop=True):
        g.add(f"{target(g, x, words)} = {text}")
    return True


@feature(2, nests=True)
def mapped(g: Maker) -> bool:
    """A parallel loop over elements, each made of those of other arrays that lie beside it."""
    x = some_field(g)
    if x is None or x.trimmed or x.family.short:
        return False
    others = [f for f in g.fields(x.family) if f.name != x.name and f.whole == x.whole and not f.trimmed]
    names = [g.loop_name() for _ in x.family.sizes]
    ranges = [f"1:{x.name}.shape[{k}] - 1" for k in range(x.family.rank)]
    places = [[i, f"{i} - 1", f"{i} + 1"] for i in names]
    terms = [f"{x.name}[{', '.join(names)}]"]
    for _ in range(1 + g.pick(2)):
        if others:
            terms.append(f"{g.of(others).name}[{', '.join(g.of(p) for p in places)}]")
    text = f" {g.of('+-')} ".join(terms if x.whole else [f"{g.of(('0.4', '0.3', '0.25'))} * {t}" for t in terms])
    with g.block(f"for {', '.join(names)} in dace.map[{', '.join(ranges)}]:", loop=True, kept=True):
        g.add(f"{x.name}[{', '.join(names)}] = {written(text, x.dtype)}")
    return True


@feature(4)
def products(g: Maker) -> bool:
    """A product of two square arrays of whole numbers that are not shared."""
    found = [f for f in _unshared(g, square=True) if f.whole]
    if not found:
        return False
    x, y, z = (g.of(found) for _ in range(3))
    if len({f.family for f in (x, y, z)}) > 1:
        return False
    store(g, x, full(x), f"{y.name} @ {z.name}")
    return True
