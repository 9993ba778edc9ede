"""Expressions that are arrays: terms of a type that stay small, masks, and what chooses elements."""

from __future__ import annotations

from dace_random.maker import Maker
from dace_random.numbers import literal
from dace_random.scope import At, Family, Field, Scalar, Span, Window, Word
from dace_random.windows import fits, full, index_of, read, readable, target

__all__ = ["MODULUS", "added", "lasting", "mask", "of_type", "small", "store", "term", "value", "written"]

MODULUS = 97  # of whole numbers, so that none leaves its type


def of_type(g: Maker, family: Family, window: Window, dtype: str, *, strict: bool) -> list[Field]:
    """Arrays that an expression of a type may read. `strict`: only those that leave the type as it is."""
    found = [f for f in readable(g, family, window) if f.dtype != "bool"]
    if strict:
        return [f for f in found if f.dtype == dtype]
    return [f for f in found if f.whole == dtype.startswith("int")]


def mask(g: Maker, family: Family, window: Window, step: int = 1) -> str | None:
    """Which elements of a window have a property; None: none is known, or it depends on the order of sums."""
    found = readable(g, family, window)
    masks = [f for f in found if f.dtype == "bool"]
    fields = [f for f in found if f.dtype != "bool" and (f.whole or not g.sums_used)]
    if masks and g.chance(0.5):
        text = read(g, masks, window, step)
        return f"~{text}" if g.chance(0.1) else text
    if not fields:
        return None
    field = g.of(fields)
    one = read(g, [field], window, step)
    others = [f for f in fields if f.whole == field.whole]
    how = g.pick(8)
    if how == 0 and field.whole:
        return f"{one} % 3 == {g.pick(3)}"
    if how == 1:
        other = read(g, others, window, step)
        return f"({one} > {_edge(g, field)}) {g.of(('&', '|'))} ({other} <= {_edge(g, field)})"
    if how == 2:
        return f"{one} {g.of(('>', '<='))} {_edge(g, field)}"
    if how == 3 and not field.whole:
        return f"np.isnan({one})"
    return f"{one} {g.of(('>', '<=', '!='))} {read(g, others, window, step)}"


def _edge(g: Maker, field: Field) -> str:
    return str(g.pick(40) - 10) if field.whole else g.of(("0.5", "0.0", "0.25", "-0.1"))


def value(g: Maker, family: Family, window: Window, dtype: str, step: int = 1, *, strict: bool = False) -> str:
    """Some terms, at times with a choice around them. `strict`: of exactly the type, else one that can be stored."""
    terms = [term(g, family, window, dtype, step, strict=strict) for _ in range(1 + g.pick(3))]
    text = terms[0]
    for other in terms[1:]:
        text += f" {g.of('+-')} {other}"
    fields = of_type(g, family, window, dtype, strict=strict)
    if not fields:
        return text
    if g.chance(0.1) and (choice := mask(g, family, window, step)):
        other = read(g, fields, window, step)
        return f"np.where({choice}, {text}, {other})"
    if g.chance(0.07):
        return f"np.{g.of(('minimum', 'maximum'))}({text}, {read(g, fields, window, step)})"
    return text


def written(text: str, dtype: str) -> str:
    """A value as it is written into an array of a type: whole numbers stay below a number."""
    return f"({text}) % {MODULUS}" if dtype.startswith("int") else text


def store(g: Maker, x: Field, window: Window, text: str, step: int = 1) -> None:
    """The line that writes a value into a part of an array."""
    g.add(f"{target(g, x, window, step)} = {written(lasting(g, x, window, text, step), x.dtype)}")


def lasting(g: Maker, x: Field, window: Window, text: str, step: int = 1) -> str:
    """A value for a part of an array, mostly with some of what is there, so that what was before still shows."""
    if g.chance(0.35 if window != full(x) else 0.1):
        return text
    before = read(g, [x], window, step)
    return f"{text} + {before}" if x.whole else f"{text} + {g.of(('0.3', '0.25', '0.4'))} * {before}"


def added(g: Maker, text: str) -> str:
    """A value with a point as it is added in place: less of it in loops, so that the sum stays small."""
    return f"0.2 * ({text})" if g.scope.loops else text


def term(g: Maker, family: Family, window: Window, dtype: str, step: int = 1, *, strict: bool = False) -> str:
    """What is read at a window, by some arithmetic that keeps it small."""
    fields = of_type(g, family, window, dtype, strict=strict)
    if dtype.startswith("int"):
        return _whole_term(g, family, window, fields, dtype, step, strict)
    return _real_term(g, family, window, fields, dtype, step, strict)


def _operand(g: Maker, dtype: str, strict: bool) -> Scalar | None:
    """A number that an expression of a type may be multiplied by."""

    def fits(x: Scalar) -> bool:
        if x.kind == "bool" or (x.real and dtype.startswith("int")):
            return False
        return x.weak or not strict or g.alike(x.kind, dtype) or (x.whole and not g.narrow)

    found = g.scalars(fits)
    return g.of(found) if found else None


def _whole_term(
    g: Maker, family: Family, window: Window, fields: list[Field], dtype: str, step: int, strict: bool
) -> str:
    x = _operand(g, dtype, strict)
    if not fields:
        return x.name if x else str(g.pick(9))
    r = read(g, fields, window, step)
    n = 2 + g.pick(3)
    how = g.pick(12)
    if how == 0:
        return f"{r} // {g.of((n, -n))}"
    if how == 1:
        return f"np.abs({r})"
    if how == 2 and x:
        return f"{x.name} * {r}"
    if how == 3 and (choice := mask(g, family, window, step)):
        return f"({choice}) * {r}"
    if how == 4:
        return g.of((f"{r} % {n + 2}", f"{r} % -{n}", f"(-{r}) % 10"))
    if how == 5:
        return f"{r} ** 2"
    if how == 6:
        return f"np.{g.of(('minimum', 'maximum'))}({r}, {g.pick(30)})"
    if how == 7 and (beside := companion(g, family, window, dtype, step, strict)):
        return f"{r} + {beside}"
    if how == 8 and not strict and (choice := mask(g, family, window, step)):
        return f"np.where({choice}, {g.pick(9)}, {x.name if x and x.whole else g.pick(9)})"
    return f"{1 + g.pick(4)} * {r}"


def _real_term(
    g: Maker, family: Family, window: Window, fields: list[Field], dtype: str, step: int, strict: bool
) -> str:
    x = _operand(g, dtype, strict)
    if not fields:
        return f"0.1 * {x.name}" if x and small(x) else literal(g)
    r = read(g, fields, window, step)

    def again() -> str:
        return read(g, fields, window, step)

    wholes = [f for f in readable(g, family, window) if f.whole]
    how = g.pick(24)
    if how <= 1 and x and small(x):
        return f"{'0.1' if x.real else '0.05'} * {x.name} * {r}"
    if how == 2 and g.scope.main and (not strict or not g.narrow):
        return f"0.3 * s[0] / (1.0 + np.abs(s[0])) * {r}" if g.sums_used and g.chance(0.6) else f"0.1 * s[1] * {r}"
    if how == 3:
        return f"0.5 * np.abs({r})"
    if how == 4:
        return f"{r} / (2.0 + np.abs({again()}))"
    if how == 5:
        other = again()
        return g.of((f"0.5 * {r} * {other} / (2.0 + np.abs({other}))", f"0.4 * {r} * np.minimum(np.abs({other}), 1.0)"))
    if how == 6:
        return f"(-0.3 * np.sqrt(np.abs({r})))"
    if how == 7 and not strict and wholes:
        return f"0.005 * {read(g, wholes, window, step)}"
    if how == 8 and (choice := mask(g, family, window, step)):
        return g.of((f"({choice}) * {again()}", f"0.4 * (({choice}) * {again()})"))
    if how == 9 and not g.sums_used:
        return g.of((f"0.1 * ({r} // 0.3)", f"{r} % 0.7", f"0.5 * ({r} % -0.4)"))
    if how == 10:
        return f"0.3 * {r} ** 2 / (1.0 + {r} ** 2)"
    if how == 11:
        return g.of((f"-{r}", f"0.4 * -{r}", f"0.4 * -{r}"))
    if how == 12 and (beside := companion(g, family, window, dtype, step, strict)):
        return g.of((f"0.5 * {r} * {beside} / (2.0 + np.abs({beside}))", f"0.3 * {r} - 0.2 * {beside}"))
    if how == 13 and x and small(x):
        return f"(0.1 * {x.name} - 0.4 * {r})"
    if how == 14 and not g.sums_used:
        return f"np.where(np.isnan({r}), 0.0, 0.5 * {r})"
    if how == 15:
        return g.of((f"0.5 * np.{g.of(('minimum', 'maximum'))}({r}, {literal(g)})", f"0.4 * np.clip({r}, -1.5, 2.0)"))
    if how == 16 and not g.sums_used:
        return f"0.3 * np.{g.of(('floor', 'ceil'))}({r})"
    return f"{round(0.1 + 0.3 * g.pick(100) / 100, 3)} * {r}"


def small(x: Scalar) -> bool:
    """Whether products with a number stay small."""
    return x.real or max(-x.low, x.high) <= 12


def companion(g: Maker, family: Family, window: Window, dtype: str, step: int, strict: bool) -> str | None:
    """A vector along one axis of a window, with axes of length 1 behind it, that NumPy spreads over the others."""
    found = []
    for axis in range(family.rank):
        part = window[axis]
        if family.rank == 1 or isinstance(part, At) or (isinstance(part, Word) and not part.keeps):
            continue
        behind = [p for p in window[axis + 1 :] if isinstance(p, Span) or (isinstance(p, Word) and p.keeps)]
        for f in g.scope.fields:
            alike = f.family.sizes == (family.sizes[axis],) and (not f.family.split or axis in family.split)
            typed = f.dtype == dtype or (not strict and f.dtype != "bool" and f.whole == dtype.startswith("int"))
            if alike and typed and isinstance(part, Span) and fits(f, (part,)):
                found.append((f, part, len(behind)))
    if not found:
        return None
    f, part, more = g.of(found)
    return f"{f.name}[{index_of(g, f, (part,), None, step)}{', None' * more}]"
