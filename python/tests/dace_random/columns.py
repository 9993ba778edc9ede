"""Layers that loops and numbers choose, along axes that PEs do not share; buffers that are used by turns."""

from __future__ import annotations

from dace_random.expressions import added, store, value
from dace_random.maker import Maker, feature
from dace_random.numbers import literal
from dace_random.scope import Family, Field, Span, Window, Word
from dace_random.windows import MOST_OFFSET, fits, full, read, target

__all__ = ["across", "open_axis", "vector_of"]


def open_axis(g: Maker) -> tuple[Field, int] | None:
    """An array and an axis of it that is not shared and has all its layers."""
    found = [(f, k) for f in g.writable() for k in f.family.open if f.trim[k] == (0, 0) and k not in f.family.short]
    return g.of(found) if found else None


def across(g: Maker, x: Field, axis: int, word: Word) -> Window:
    """A window with something of its own along one axis."""
    around = g.chance(0.4)
    window = []
    for k, (before, behind) in enumerate(x.trim):
        room = (max(before, MOST_OFFSET + g.pick(2)), max(behind, MOST_OFFSET + g.pick(2)))
        inside = around and k not in x.family.short
        window.append(word if k == axis else Span(*room) if inside else Span(before, behind))
    return tuple(window)


def _write(g: Maker, x: Field, window: Window, *, op: str = "") -> None:
    text = value(g, x.family, window, x.dtype)
    if not x.whole and (op == "+=" or (not op and g.chance(0.25))):
        g.add(f"{target(g, x, window)} += {added(g, text)}")
    else:
        store(g, x, window, text)


PLACES: tuple[tuple[str, tuple[str, ...]], ...] = (  # a range, and what is written and may be read there
    ("1, {name}.shape[{axis}]", ("{i}", "{i} - 1", "0", "{i} // 2", "-1", "{i}")),
    ("{name}.shape[{axis}] - 1", ("{i} + 1", "{i}", "0", "-1", "{i} // 2")),
    ("1, {name}.shape[{axis}]", ("{name}.shape[{axis}] - {i}", "{i} - 1", "{name}.shape[{axis}] - 1 - {i}", "{i}")),
    ("4", ("2 * {i}", "{i}", "2 * {i} + 1", "{i} // 2", "2 * {i}")),
    ("2, 6", ("{i} // 2", "{i}", "{i} % 3", "{i} // 2 - 1", "({i} - 7) % 5")),
    ("5, 0, -1", ("{i}", "{i} - 1", "0", "{i} + 2")),
)


@feature(4, nests=True)
def columns_of_loop(g: Maker) -> bool:
    """A loop writes one layer after the other, from others."""
    found = open_axis(g)
    if found is None:
        return False
    x, axis = found
    i = g.loop_name()
    places: tuple[str, ...]
    if g.chance(0.25):
        bounds, j = g.of(("1, 5", "2, 5", "1, 4")), g.name()
        text = f"{j} = 2 * {i} - 1"
        places = (j, f"{j} - 1", f"{i} - 1", i)
    else:
        text = ""
        bounds, places = g.of(PLACES)
    texts = tuple(p.replace("{i}", i) for p in places)
    header = f"for {i} in range({bounds.format(name=x.name, axis=axis)}):"
    with g.block(header, loop=True):
        g.scalar("int", 0, 12, fixed=True, name=i)
        if text:
            g.add(text)
        _write(g, x, across(g, x, axis, Word(texts)))
        if g.chance(0.3):
            g.one()
    return True


def vector_of(g: Maker, x: Field, axis: int, *, exact: bool) -> Field:
    """An array of what is left of two axes when one is gone. One that is not exact is read by nobody."""
    left = 1 - axis
    sizes, lengths = (x.family.sizes[left],), (x.family.lengths[left],)
    family = Family(sizes, lengths, (0,) if left in x.family.split else ())
    if not exact:
        g.summed = True
        return g.argument("", x.dtype, family, sums="all", shown=False)
    found = [f for f in g.writable() if f.family == family and f.whole == x.whole and f.trim == ((0, 0),)]
    return g.of(found) if found and g.chance(0.7) else g.argument("", x.dtype, family)


@feature(4, nests=True)
def growing_slices(g: Maker) -> bool:
    """Sums and maxima of more layers in each pass, or a slice that grows or shrinks."""
    found = open_axis(g)
    if found is None:
        return False
    x, axis = found
    i = g.loop_name()
    with g.block(f"for {i} in range({g.of(('1, ', '2, '))}{x.name}.shape[{axis}]{g.of(('', ' - 1'))}):", loop=True):
        g.scalar("int", 1, 12, fixed=True, name=i)
        if g.chance(0.4):
            slices = (f":{i}", f"0:{i}", f"1:{i} + 1") if g.chance(0.5) else (f"{i}:", f"{i}:")
            _write(g, x, across(g, x, axis, Word(slices, keeps=True)), op="" if x.whole else "=")
            return True
        there = [f for f in g.fields(x.family) if f.whole == x.whole and f.trim == x.trim]
        word = Word((f":{i}", f":{i}", f":{i} + 1", f"{i} - 1:{i} + 1", f"{i}:"), keeps=True)
        window = tuple(word if k == axis else Span(*t) for k, t in enumerate(x.trim))
        part = read(g, there, window)
        one = target(g, x, tuple(Word((i,)) if k == axis else p for k, p in enumerate(window)))
        if x.whole:
            g.add(f"{one} = np.{g.of(('sum', 'max', 'min'))}({part}, axis={axis}) % 97")
        elif g.sums_used and g.chance(0.7):
            g.add(f"{one} = 0.1 * np.sum({part}, axis={axis})")
        elif g.chance(0.6) and g.scope.main and x.family.rank == 2 and x.trim == ((0, 0), (0, 0)):
            v = vector_of(g, x, axis, exact=False)
            g.add(f"{v.name}[:] = np.sum({part}, axis={axis}){g.of(('', f' - 0.5 * {v.name}'))}")
        else:
            g.add(f"{one} = 0.5 * np.{g.of(('max', 'min'))}({part}, axis={axis})")
    return True


@feature(3)
def computed_slices(g: Maker) -> bool:
    """Slices whose ends are computed."""
    found = open_axis(g)
    if found is None:
        return False
    x, axis = found
    numbers = g.scalars(lambda n: n.whole and n.low >= 0 and n.high <= 6)
    texts: tuple[str, ...]
    if numbers and g.chance(0.6):
        n = g.of(numbers).name
        texts = (f"{n}:{n} + 3", f"{n}:{n} + 3", "0:3", "1:4", "-3:", f"2 + {n} - 2:{n} + 3")
    else:
        n = g.name()
        g.add(f"{n} = {x.name}.shape[{axis}]")
        g.scalar("int", 9, 12, name=n, fixed=True)
        texts = (f"1:{n} - 2", f"2:{n} - 1", f"0:{n} - 3", "1:-2", f"3:{n}", "3:", f"1:{n} - 2")
    if g.chance(0.3):
        texts = (g.of(texts[1:]), *texts)
    _write(g, x, across(g, x, axis, Word(texts, keeps=True)))
    return True


@feature(1.5)
def beyond_the_end(g: Maker) -> bool:
    """Slices that end beyond the array, where NumPy cuts off."""
    found = open_axis(g)
    texts: tuple[str, ...] = g.of(((":100", ":", ":99", "0:1000"), ("2:100", "2:", ":-2", "1:-1")))
    if found is None or g.chance(0.2):
        shared = [(f, k) for f in g.writable() for k in f.family.split if f.trim[k] == (0, 0)]
        if not shared:
            return False
        found, texts = g.of(shared), g.of(((":100", ":", ":1000"), ("2:100", "2:77", "2:")))
    x, axis = found
    _write(g, x, across(g, x, axis, Word(texts, keeps=True)))
    return True


@feature(1.5)
def backwards(g: Maker) -> bool:
    """An axis that is not shared, from its end to its begin."""
    found = open_axis(g)
    if found is None:
        return False
    x, axis = found
    _write(g, x, across(g, x, axis, Word((":", "::-1", "::-1", ":") if g.chance(0.7) else ("::-1", ":"), keeps=True)))
    return True


@feature(2.5, nests=True)
def moving_window(g: Maker) -> bool:
    """Windows of an image that a loop moves, at times along an axis that is shared."""
    found = open_axis(g)
    if found is None or g.chance(0.25):
        shared = [(f, k) for f in g.writable() for k in f.family.split if f.trim[k] == (0, 0)]
        found = g.of(shared) if shared else found
    if found is None:
        return False
    x, axis = found
    i = g.loop_name()
    with g.block(f"for {i} in range(3):", loop=True, kept=True):
        g.scalar("int", 0, 2, fixed=True, name=i)
        window = across(g, x, axis, _moved(i))
        op = "" if x.whole or g.chance(0.4) else "+="
        others = [k for k in x.family.open if k not in (axis, *x.family.short) and x.trim[k] == (0, 0)]
        if others and axis in x.family.open and g.chance(0.5) and g.scope.depth < 3:
            second, j = g.of(others), g.loop_name()
            with g.block(f"for {j} in range(3):", loop=True):
                g.scalar("int", 0, 2, fixed=True, name=j)
                _write(g, x, tuple(_moved(j) if k == second else p for k, p in enumerate(window)), op=op)
        else:
            _write(g, x, window, op=op)
    return True


def _moved(i: str) -> Word:
    text = f"{i}:{{name}}.shape[{{axis}}] - 2 + {i}"
    return Word(("1:-1", text, text), keeps=True)


@feature(1.5)
def rolled(g: Maker) -> bool:
    """An array is moved along an axis, round its end."""
    found = open_axis(g)
    if found is None:
        return False
    x, axis = found
    y = g.of([f for f in g.fields(x.family) if f.whole == x.whole and f.trim == x.trim])
    moved = f"np.roll({y.name}, {g.of((1, -1, 2, -3))}, axis={axis if g.chance(0.8) else axis - x.family.rank})"
    rest = value(g, x.family, full(x), x.dtype)
    store(g, x, full(x), f"{moved} + {rest}" if x.whole else f"0.5 * {moved} - {rest}")
    return True


# ---- buffers ----


@feature(3, nests=True, main=True)
def generations(g: Maker) -> bool:
    """Two or three generations of an array, along an axis of its own, that are written by turns."""
    found = [f for f in g.writable() if f.family.rank < 3 and not f.family.short]
    if not found or g.scope.loops:
        return False
    x = g.of(found)
    count = 2 + g.pick(2)
    t = g.loop_name()
    if x.family.open and x.family.open[0] == 0 and x.trim[0] == (0, 0) and g.chance(0.3):
        d = x  # some layers of an array that is there already
    else:
        family = Family((str(count), *x.family.sizes), (count, *x.family.lengths), tuple(k + 1 for k in x.family.split))
        d = g.argument("", x.dtype, family)
    turns = [f"{t} % {count}", f"({t} + {count - 1}) % {count}", f"({t} + 1) % {count}", f"({t} - 1) % {count}"]
    with g.block(f"for {t} in range({3 + g.pick(3)}):", loop=True):
        g.scalar("int", 0, 5, fixed=True, name=t)
        window = across(g, d, 0, Word((turns[1], turns[0], *turns[: 1 + g.pick(4)])))
        text = value(g, d.family, window, d.dtype)
        if d is not x and fits(x, window[1:]):
            text = f"{text} + {'' if x.whole else '0.1 * '}{read(g, [x], window[1:])}"
        store(g, d, window, text)
        if g.chance(0.3):
            g.one()
    if d is not x:
        places = [f"{t} % {count}", "0", f"({t} + 1) % {count}"]
        inner = [f"{a or ''}:{-b if b else ''}" for a, b in x.trim]
        part = f"{d.name}[{', '.join([g.of(places), *inner])}]"
        text = f"{part} + {x.name}" if x.whole else f"0.5 * {part} - {literal(g)}"
        store(g, x, full(x), text)
    return True
