"""Programs of seeds."""

from __future__ import annotations

import re

from dace_random import arrays, basic, calls, columns, flow, kinds, scalars, single
from dace_random.basic import assign
from dace_random.calls import enter
from dace_random.maker import Feature, Maker, features
from dace_random.names import PLAIN, SCALARS
from dace_random.program import HEADER, RandomProgram
from dace_random.scope import Family, Scalar, Scope

__all__ = ["MODULES", "random_program"]

MODULES = (basic, scalars, flow, arrays, columns, kinds, single, calls)  # that add features
FEWEST_LINES = 8
HANDFUL = 8  # features at most that a program draws, beside assignments
TYPES = (("float64", 0.55), ("float32", 0.2), ("int64", 0.13), ("int32", 0.12))


def _lengths(g: Maker, sizes: str, split: tuple[int, ...]) -> tuple[int, ...]:
    """Those of axes that are not shared are the same in all calls."""
    for k, name in enumerate(sizes):
        g.sizes.setdefault(name, 0 if k in split else 9 + g.pick(4))
    return tuple(g.sizes[name] for name in sizes)


def _shared(g: Maker) -> Family:
    """Arrays that PEs share along one axis or two."""
    rank = g.weighted([(1, 0.25), (2, 0.55), (3, 0.2)])
    count = 2 if rank > 1 and g.chance(0.4) else 1
    split = tuple(g.some(range(rank), count))
    sizes = "KMN"[:rank]
    return Family(tuple(sizes), _lengths(g, sizes, split), split)


def _unshared(g: Maker) -> Family:
    """Arrays that every PE has whole."""
    sizes = g.weighted([("P", 0.25), ("PQ", 0.3), ("PP", 0.45)])
    return Family(tuple(sizes), _lengths(g, sizes, ()))


def _arguments(g: Maker) -> int:
    """Makes the arrays of the call; how many axes PEs share."""
    main = g.weighted(TYPES)
    mixed = g.chance(0.35)
    setting = g.weighted([("shared", 0.5), ("whole", 0.2), ("both", 0.3)])
    families = [_shared(g)] if setting != "whole" else []
    families += [_unshared(g)] if setting != "shared" else []
    odd = g.chance(0.2)
    for j, family in enumerate(families):
        for n in range(1 + g.pick(4 if j == 0 else 2)):
            dtype = g.weighted(TYPES) if mixed and g.chance(0.5) else main
            g.argument(g.array_name() if odd else f"{'AW'[j]}{n}", dtype, family)
    shared = families[0]
    if len(shared.split) == 1 and shared.rank > 1 and g.chance(0.3):
        k = shared.split[0]
        g.argument("v", main, Family((shared.sizes[k],), (0,), (0,)))
    if shared.open and shared.rank > 1 and g.chance(0.25):
        k = g.of(shared.open)
        g.argument("h", main, Family((shared.sizes[k],), (shared.lengths[k],)))
    g.narrow = any(a.dtype.endswith("32") for a in g.arguments)
    g.real_type = main if main.startswith("float") else "float64"
    g.sums_used = g.chance(0.15) and main.startswith("float")
    return len(shared.split)


def _draw(g: Maker) -> list[Feature]:
    """A handful of features, of which each is drawn by its weight."""
    found = [f for f in features() if f.make is not assign]
    drawn = [f for f in features() if f.make is assign]
    for _ in range(3 + g.pick(HANDFUL - 2)):
        drawn.append(taken := g.weighted([(f, f.weight) for f in found]))
        found.remove(taken)
    return drawn


def _outside(g: Maker) -> None:
    """Numbers outside of functions, of which some have the names of numbers inside."""
    for _ in range(g.pick(3) if g.chance(0.35) else 0):
        name = g.of([n for n in (*PLAIN, "b", "i0", "st", "t0", "double") if n not in {x.name for x in g.outside}])
        whole = g.chance(0.5)
        n = g.pick(7)
        g.outside.append(Scalar(name, "int" if whole else "float", n, n, fixed=True))
        g.functions.append(f"{name} = {n if whole else g.of((0.5, 2.5, -1.5))}\n")


def _end(g: Maker) -> None:
    """What the program computed and nobody saw is written into arguments."""
    text = "\n".join(g.scope.lines)
    for x in g.some([x for x in g.scope.scalars if not (x.fixed and x.name == g.number)], 3):
        if x not in g.outside and len(re.findall(rf"\b{x.name}\b", text)) < 4:
            g.add(f"{'w' if x.real else 'q'}[{g.pick(7) + 1}] = {x.name}")
    for f in g.some([f for f in g.scope.fields if not f.argument], 1):
        if f.dtype == "bool":
            g.add(f"q[{1 + g.pick(7)}] = np.sum({f.name})")
        else:
            arrays.observe(g, f)


def _steps(g: Maker) -> None:
    """The loop over time steps that most programs have, with most of the program in it."""
    how = g.pick(10)
    if how == 0:
        for _ in range(3):
            g.body()
        return
    t = "t" if g.chance(0.7) else g.loop_name()
    g.scope.used.add(t)
    bounds = "3" if how < 7 else f"{g.number}" if how < 9 else f"1, {g.number} + 2"
    with g.block(f"for {t} in range({bounds}):", loop=True):
        g.scalar("int", 0, 6, fixed=True, name=t)
        for _ in range(2 + g.pick(2)):
            g.one()
    if how < 7 and g.chance(0.3):
        g.scalar("int", 2, 2, name=t, fixed=True)


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    g = Maker(seed)
    scope = Scope(used={"s", "w", "q", "t", "np", "sd"})
    g.scope = scope
    g.number = "k" if g.chance(0.85) else g.name(SCALARS[:5])
    scope.used.add(g.number)
    axes = _arguments(g)
    _outside(g)
    enter(g, scope)
    scope.scalars.append(Scalar(g.number, "int", 0, 5, fixed=g.chance(0.8)))
    g.chosen = _draw(g)
    shown = len(g.arguments)
    for _ in range(1 + g.pick(2)):
        g.one()
    _steps(g)
    for _ in range(g.pick(3)):
        g.one()
    while len(g.scope.lines) < FEWEST_LINES:
        g.one()
    _end(g)
    return _program(g, axes, shown)


def _program(g: Maker, axes: int, shown: int) -> RandomProgram:
    """The text, and what it is called with."""
    body = "\n".join(g.scope.lines)
    g.argument("s", g.real_type, Family(("4",), (4,)), sums="first", zeros=True)
    g.argument("w", "float64", Family(("8",), (8,)), zeros=True)
    g.argument("q", "int64", Family(("8",), (8,)), zeros=True)
    used = [a for k, a in enumerate(g.arguments) if k < 1 or re.search(rf"\b{a.name}\b", body)]
    heads = ", ".join([*(f"{a.name}: {a.hint}" for a in used), f"{g.number}: sd.int64"])
    functions = "".join(f"\n\n{text}" for text in g.functions)
    text = f"{HEADER}{functions}\n\n@sd.program\ndef made({heads}):\n{body}\n"
    sizes = {n: length for n, length in g.sizes.items() if any(n in a.sizes for a in used)}
    return RandomProgram(
        text, tuple(used), g.number, sizes, axes, g.summed, g.sums_used, tuple(g.messages), tuple(g.made)
    )
