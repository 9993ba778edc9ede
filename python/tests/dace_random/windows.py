"""Parts of arrays: which layers a statement writes, and those that it reads beside them."""

from __future__ import annotations

from dace_random.maker import Maker
from dace_random.scope import At, Axis, Family, Field, Span, Window, Word

__all__ = ["MOST_OFFSET", "fits", "full", "index_of", "read", "readable", "target", "window_for"]

MOST_OFFSET = 2
Offsets = tuple[int, ...]


def full(field: Field) -> Window:
    """All of an array."""
    return tuple(Span(*trim) for trim in field.trim)


def window_for(g: Maker, field: Field) -> Window:
    """A part of an array with room around it for offsets; at times all of it, or an edge."""
    if g.chance(0.15):
        return full(field)
    window: list[Axis] = []
    for k, (low, high) in enumerate(field.trim):
        if k in field.family.short:
            numbers = tuple(str(n) for n in range(field.family.lengths[k]))
            window.append(Span(low, high) if g.chance(0.6) else Word(tuple(g.some(numbers, 2))))
        else:
            window.append(Span(max(low, g.pick(2) + MOST_OFFSET), max(high, g.pick(2) + MOST_OFFSET)))
    axis = g.pick(field.family.rank)
    if field.family.rank > 1 and axis not in field.family.short and g.chance(0.12):
        low, high = field.trim[axis]
        window[axis] = At(low + MOST_OFFSET + g.pick(2) if g.chance(0.7) else -1 - high - g.pick(3))
    return tuple(window)


def fits(field: Field, window: Window) -> bool:
    """Whether an array has all of a window."""
    for part, (before, behind) in zip(window, field.trim, strict=True):
        if isinstance(part, Word):
            here = before == behind == 0
        elif isinstance(part, At):
            here = part.number + behind < 0 if part.number < 0 else part.number >= before
        else:
            here = part.low >= before and part.high >= behind
        if not here:
            return False
    return True


def index_of(
    g: Maker,
    field: Field,
    window: Window,
    offsets: tuple[int, ...] | None = None,
    step: int = 1,
    *,
    first: bool = False,
) -> str:
    """What stands in the brackets behind an array that has a window, at some distance. `first`: as it is written."""
    found = []
    for axis, (part, (before, behind)) in enumerate(zip(window, field.trim, strict=True)):
        d = offsets[axis] if offsets else 0
        if isinstance(part, Word):
            text = part.texts[0] if first else g.of(part.texts)
            found.append(text.format(name=field.name, axis=axis))
        elif isinstance(part, At):
            number = part.number + d + (behind if part.number < 0 else -before)
            found.append(str(number))
        else:
            found.append(_slice(g, field, axis, part.low + d - before, part.high - d - behind, step))
    while len(found) > 1 and found[-1] == ":" and g.chance(0.3):
        found.pop()
    return ", ".join(found)


def _slice(g: Maker, field: Field, axis: int, begin: int, end: int, step: int) -> str:
    first, last = str(begin or ""), f"-{end}" if end else ""
    if end and g.chance(0.04):
        last = f"{field.name}.shape[{axis}] - {end}"
    return f"{first}:{last}" + (f":{step}" if step != 1 else "")


def target(g: Maker, field: Field, window: Window, step: int = 1) -> str:
    """The part of an array as something that is assigned to."""
    if window == full(field) and step == 1 and g.chance(0.4):
        return f"{field.name}[{g.of(('...', ':'))}]"
    return f"{field.name}[{index_of(g, field, window, step=step, first=True)}]"


def readable(g: Maker, family: Family, window: Window) -> list[Field]:
    """Arrays of a family that have all of a window, masks too."""
    return [f for f in g.scope.fields if f.family == family and fits(f, window)]


def read(g: Maker, fields: list[Field], window: Window, step: int = 1) -> str:
    """The part of one of some arrays that lies at a window, or beside it where there is room."""
    field = g.of(fields)
    if window == full(field) and step == 1 and g.chance(0.5):
        return field.name
    return f"{field.name}[{index_of(g, field, window, _offsets(g, field, window), step)}]"


def _offsets(g: Maker, field: Field, window: Window) -> Offsets | None:
    """Offsets along all axes, or along one alone; none where a window has no room for them."""
    parts = [p for p in window if not isinstance(p, Word)]
    if any((p.low if isinstance(p, Span) else abs(p.number)) < MOST_OFFSET for p in parts) and g.chance(0.6):
        return None
    found = []
    for part, (before, behind) in zip(window, field.trim, strict=True):
        low, high = -MOST_OFFSET, MOST_OFFSET
        if isinstance(part, Word):
            low = high = 0
        elif isinstance(part, Span):
            low, high = max(low, before - part.low), min(high, part.high - behind)
        elif part.number < 0:
            high = min(high, -1 - part.number - behind)
        else:
            low = max(low, before - part.number)
        found.append(low + g.pick(high - low + 1))
    if g.chance(0.3):
        axis = g.pick(len(found))
        found = [d if k == axis else 0 for k, d in enumerate(found)]
    return tuple(found)
