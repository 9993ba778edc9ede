"""Expressions that are one number: whole ones with the range of their values, those with a point, and conditions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dace_random.maker import Maker
from dace_random.scope import Field, Scalar

__all__ = ["Whole", "condition", "element_of", "joined", "literal", "real", "whole", "whole_within"]

MOST = 10**4  # that whole numbers may be, so that none leaves its type


@dataclass(frozen=True)
class Whole:
    """A whole number as text, its type, and its range."""

    text: str
    kind: str
    low: int
    high: int


def joined(a: str, b: str) -> str:
    """The type of what whole numbers of two types make together: Python's give way."""
    if "int" in (a, b):
        return b if a == "int" else a
    return str(np.result_type(a, b))


def literal(g: Maker) -> str:
    """A number with a point, at most 1."""
    return str(g.of((0.5, 0.25, 1.0, -0.5, 0.125, -1.0, 0.75, round(g.pick(100) / 100, 2))))


def whole(g: Maker, *, kind: str = "", depth: int = 2, least: list[Scalar] | None = None) -> Whole:
    """A whole number. `kind`: the type that all it is made of has, but for Python's; "": any.

    `least`: numbers of which one is in it for sure.
    """
    if least:
        x = g.of(least)
        first = Whole(x.name, x.kind, x.low, x.high)
    elif depth == 0 or g.chance(0.25):
        fits = [x for x in g.scalars(lambda x: x.whole) if not kind or x.kind in ("int", kind)]
        if fits and g.chance(0.75):
            x = g.of(fits)
            return Whole(x.name, x.kind, x.low, x.high)
        n = g.pick(6)
        return Whole(str(n), "int", n, n)
    else:
        first = whole(g, kind=kind, depth=depth - 1)
    return _combined(g, first, kind, depth)


def _combined(g: Maker, a: Whole, kind: str, depth: int) -> Whole:
    how = g.pick(10)
    text = a.text if a.text.replace("_", "").isalnum() else f"({a.text})"
    n = 2 + g.pick(4)
    if how <= 2:
        b = whole(g, kind=kind, depth=min(depth, 1) - 1 if depth else 0)
        other = b.text if b.text.replace("_", "").isalnum() else f"({b.text})"
        both = joined(a.kind, b.kind)
        if how == 0:
            found = Whole(f"{text} - {other}", both, a.low - b.high, a.high - b.low)
        elif how == 1:
            found = Whole(f"{other} + {text}", both, a.low + b.low, a.high + b.high)
        else:
            ends = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
            found = Whole(f"{text} * {other}", both, min(ends), max(ends))
    elif how == 3:
        found = Whole(f"-{text}", a.kind, -a.high, -a.low)
    elif how == 4:
        found = Whole(f"{text} // {n}", a.kind, a.low // n, a.high // n)
    elif how == 5:
        found = Whole(f"{text} % {n}", a.kind, 0, n - 1)
    elif how == 6:
        found = Whole(f"{text} // -{n}", a.kind, a.high // -n, a.low // -n)
    elif how == 7:
        found = Whole(f"{text} % -{n}", a.kind, 1 - n, 0)
    elif how == 8:
        found = Whole(f"abs({a.text})", a.kind, 0, max(-a.low, a.high))
    else:
        found = Whole(f"{n} * {text} - {n + 1}", a.kind, n * a.low - n - 1, n * a.high - n - 1)
    return a if max(-found.low, found.high) > MOST else found


def whole_within(g: Maker, low: int, high: int, *, kind: str = "", least: list[Scalar] | None = None) -> Whole:
    """A whole number from low to high."""
    found = whole(g, kind=kind, least=least)
    if low <= found.low and found.high <= high:
        return found
    shifted = f"({found.text}) % {high - low + 1}"
    text = shifted if low == 0 else f"{low} + {shifted}" if low > 0 else f"{shifted} - {-low}"
    return Whole(text, found.kind, low, high)


def real(g: Maker, kind: str = "float", least: Scalar | None = None) -> str:
    """A number with a point of a type, from -4 to 4; where `least` is given, made of it."""
    fits = [x for x in g.scalars(lambda x: x.real) if x.kind == "float" or g.alike(kind, x.kind)]
    own = [x for x in fits if g.alike(kind, x.kind)]
    x = least or (g.of(own) if own else None)
    if x is None:
        return literal(g)
    how = g.pick(7)
    small = [y for y in g.scalars(lambda y: y.kind == "int") if max(-y.low, y.high) <= 10]
    if how == 0 and fits:
        return f"0.5 * ({x.name} + {g.of(fits).name})"
    if how == 1 and small:
        return f"0.5 * {x.name} + 0.1 * {g.of(small).name}"
    if how == 2:
        return f"-{x.name}"
    if how == 3 and fits:
        return f"0.25 * {x.name} * {g.of(fits).name}"
    if how == 4:
        return f"{x.name} / {g.of(('2.0', '4.0', '3.0'))} + {literal(g)}"
    return f"0.5 * {x.name} + {literal(g)}"


def element_of(g: Maker) -> tuple[Field, str] | None:
    """An element of an array that PEs do not share, at literal or computed places; None: there is no such array."""
    found = [f for f in g.writable() if not f.family.split and not f.trimmed and not f.family.short]
    if not found:
        return None
    x = g.of(found)
    numbers = [n.name for n in g.scalars(lambda n: n.whole and n.low >= 0 and n.high <= 8)]
    places = [g.of((*numbers, str(g.pick(9)), "-1")) for _ in range(x.family.rank)]
    return x, f"{x.name}[{', '.join(places)}]"


def condition(g: Maker) -> str:
    """Something that is true or false, the same on all PEs: of whole numbers, of flags, and where no number with a
    point depends on the order of a sum, of those."""
    wholes = g.scalars(lambda x: x.whole)
    flags = g.scalars(lambda x: x.kind == "bool")
    how = g.pick(12)
    if how == 0 and flags:
        x = g.of(flags).name
        other = f"{g.of(wholes).name} > 3" if wholes else "False"
        return g.of((x, f"not {x}", f"{x} or {other}"))
    if how == 1 and not g.sums_used and (reals := g.scalars(lambda x: x.real)):
        return f"{g.of(reals).name} {g.of(('>', '<=', '>='))} {literal(g)}"
    if how == 2 and not g.sums_used and g.scope.main:
        return "s[1] > 0.1"
    if how == 9 and (found := element_of(g)) and (found[0].whole or not g.sums_used):
        return f"{found[1]} > {3 if found[0].whole else literal(g)}"
    if not wholes:
        return g.of(("True", "1 < 2"))
    a, b = g.of(wholes), g.of(wholes)
    middle = (a.low + a.high) // 2
    if how == 3:
        return f"{middle - 2} < {a.name} <= {middle + 1}"
    if how == 4 and a is not b:
        return f"({a.name} + {b.name}) % 2 == {g.pick(2)}"
    if how == 5:
        return f"not {a.name} > {middle}"
    if how == 6 and a is not b:
        return f"{a.name} > {middle} {g.of(('and', 'or'))} {b.name} {g.of(('!=', '<'))} {(b.low + b.high + 1) // 2}"
    if how == 7:
        return g.of((f"{a.name} % 2", f"{a.name} == {middle}", f"{a.name} != {a.high}"))
    if how == 8 and a is not b:
        return f"{a.name} < {b.name}"
    return f"{a.name} {g.of(('>', '<', '>='))} {middle}"
