"""Functions that programs call: compiled ones with types, and Python's own, with names like those of who calls."""

from __future__ import annotations

from dataclasses import replace

from dace_random.arrays import of_whole, write
from dace_random.maker import Callee, Maker, feature
from dace_random.names import FUNCTIONS
from dace_random.numbers import condition, literal, real, whole_within
from dace_random.program import Argument
from dace_random.scalars import change, use
from dace_random.scope import Field, Scalar, Scope, Span
from dace_random.windows import full, index_of, target

__all__ = ["enter"]

PARAMETERS = (("X", "Y", "Z", "A0", "A1", "T"), ("A", "B", "U"))
MOST = 6  # of whole numbers that functions are given


def enter(g: Maker, scope: Scope) -> None:
    """Begins a function: some numbers from outside are known in it, others may be names of its own."""
    g.scope = scope
    for x in g.outside:
        if x.name not in scope.used and g.chance(0.6):
            scope.used.add(x.name)
            scope.scalars.append(x)


def _argument(g: Maker, p: Field | Scalar, pure: bool) -> str | None:
    """What may be passed for a parameter."""
    if isinstance(p, Field):
        found = [f.name for f in (g.scope.fields if pure else g.writable()) if f.like(p)]
        found += [f"{f.name}[{index_of(g, f, full(p))}]" for f in _cut(g, p, pure)]
        return g.of(found) if found else None
    if p.real:
        reals = [x.name for x in g.scalars(lambda x: x.real and g.alike(x.kind, p.kind))]
        return g.of(reals) if reals and g.chance(0.6) else literal(g)
    return whole_within(g, 0, MOST, kind="int" if g.narrow else "").text


def _cut(g: Maker, p: Field, pure: bool) -> list[Field]:
    """Arrays of which a part may be passed for a parameter."""
    found = g.fields(p.family) if pure else g.writable()
    return [f for f in found if p.trimmed and not f.trimmed and f.family == p.family and f.dtype == p.dtype]


def _call(g: Maker, callee: Callee) -> str | None:
    """A call with arguments of the names that there are."""
    found = [_argument(g, p, callee.pure) for p in callee.parameters]
    texts = [t for t in found if t is not None]
    if len(texts) < len(found):
        return None
    arrays = [t for t, p in zip(texts, callee.parameters, strict=True) if isinstance(p, Field)]
    if len(set(arrays)) < len(arrays) and not g.chance(0.15):  # one array under two names
        return None
    if callee.default and g.chance(0.4):
        texts.pop()
    named = len(texts) if not g.chance(0.2) else g.pick(len(texts))
    given = [t if k < named else f"{callee.parameters[k].name}={t}" for k, t in enumerate(texts)]
    return f"{callee.name}({', '.join(given)})"


def _make(g: Maker) -> None:
    """Writes a function of which the scope's arrays may be arguments."""
    typed = g.chance(0.45)
    there = [f for f in g.scope.fields if not (f.trimmed and typed) and f.dtype != "bool"]
    if not there:
        return
    free = [n for n in FUNCTIONS if n not in {c.name for c in g.callees}]
    outer, inner = g.scope, Scope(main=False)
    enter(g, inner)
    first = g.of(there)
    like = [f for f in there if f.family == first.family]
    fields = [first, *(g.of(like) for _ in range(g.pick(3)))]
    parameters: list[Field | Scalar] = []
    for f in fields:
        parameters.append(Field(g.name(PARAMETERS), f.family, f.dtype, f.trims, argument=True))
    inner.fields = [p for p in parameters if isinstance(p, Field)]
    inner.own[0] |= {p.name for p in parameters}
    default = ""
    for _ in range(g.pick(3)):
        real_kind = g.chance(0.4)
        parameters.append(g.scalar("float", 0, 0) if real_kind else g.scalar("int", 0, MOST))
    if not typed and isinstance(parameters[-1], Scalar) and g.chance(0.3):
        default = literal(g) if parameters[-1].real else str(g.pick(MOST))
    callee = _body(g, g.of(free), tuple(parameters), typed, default)
    g.scope = outer
    g.callees.append(callee)


def _hint(p: Field | Scalar, g: Maker) -> str:
    if isinstance(p, Scalar):
        return "sd.float64" if p.real else "sd.int64"
    return Argument(p.name, p.dtype, p.family.sizes, p.family.split).hint


def _pure(g: Maker, own: list[Scalar]) -> None:
    """Lines that change names alone."""
    for _ in range(g.pick(3)):
        x = g.of(g.scope.fields)
        text = of_whole(g, x)
        if g.chance(0.5):
            g.add(f"{x.name} = {text}")
            g.bound(x)
        else:
            g.add(f"{g.temporary(x).name} = {text}")
    if own and g.chance(0.6):
        c = g.of(own)
        with g.block(f"if {condition(g)}:"):
            g.add(f"{c.name} = {change(g, c)}")


def _body(g: Maker, name: str, parameters: tuple[Field | Scalar, ...], typed: bool, default: str) -> Callee:
    own = [p for p in parameters if isinstance(p, Scalar)]
    pure = g.chance(0.4)
    if own and g.chance(0.6):
        x = g.of(own)
        g.add(f"{x.name} = {change(g, x)}")
    pairs = [(x, y) for x in g.scope.fields for y in g.scope.fields if x is not y and x.like(y)]
    if pairs and g.chance(0.3):
        x0, y0 = g.of(pairs)
        g.add(f"{x0.name}, {y0.name} = {y0.name}, {x0.name}")
    if pure:
        _pure(g, own)
    else:
        if g.chance(0.3):
            x0 = g.of(g.scope.fields)
            text = of_whole(g, x0)
            g.add(f"{x0.name} = {text}")
            g.bound(x0)
        g.body()
        if own and g.chance(0.5):
            use(g, g.of(own))
    result: Field | Scalar | None = None
    alias = False
    how = g.pick(4 if pure else 6)
    if how == 0 and (reals := [x for x in own if x.real]):
        result = g.of(reals)
        g.add(f"return {real(g, result.kind, result)}")
    elif how == 1:
        wholes = [x for x in own if x.whole]
        found = whole_within(g, 0, MOST, kind="int" if g.narrow else "", least=wholes if not g.narrow else None)
        result = Scalar("", found.kind, 0, MOST)
        g.add(f"return {found.text}")
    elif how <= 3:
        field = g.of([p for p in parameters if isinstance(p, Field)])
        result = field
        alias = g.chance(0.2)
        g.add(f"return {field.name if alias else of_whole(g, field)}")
    elif arrays := g.writable():
        write(g, g.of(arrays))
    heads = [f"{p.name}: {_hint(p, g)}" if typed else p.name for p in parameters]
    if default:
        heads[-1] += f"={default}"
    text = f"{'@sd.program' + chr(10) if typed else ''}def {name}({', '.join(heads)}):\n"
    g.functions.append(text + "\n".join(g.scope.lines) + "\n")
    return Callee(name, parameters, bool(default), pure, alias, result)


@feature(6)
def call(g: Maker) -> bool:
    """A function is called, for what it does to its arguments and what it returns."""
    another = not g.callees or (len(g.callees) < 3 and g.chance(0.3))
    if another and g.scope.main:
        _make(g)
    if not g.callees:
        return False
    callee = g.of(g.callees)
    text = _call(g, callee)
    if text is None:
        return False
    result = callee.result
    if result is None or (not callee.pure and g.chance(0.1)):
        g.add(text)
    elif isinstance(result, Scalar):
        name = g.name()
        g.add(f"{name} = {text}")
        use(g, g.scalar(result.kind, result.low, result.high, name=name))
    else:
        _keep(g, callee, result, text)
    return True


def _keep(g: Maker, callee: Callee, result: Field, text: str) -> None:
    """A line that does something with an array that a call returns."""
    there = [f for f in g.writable() if f.like(result)]
    bound = [f for f in there if g.may_bind(f)]
    how = g.pick(3)
    if how == 0 and bound:
        x = g.of(bound)
        g.add(f"{x.name} = {text}")
        if not callee.alias:
            g.bound(x)
        else:
            g.loosen(x)
    elif how == 1 or not there or not callee.pure:
        made = g.temporary(result)
        g.add(f"{made.name} = {text}")
        if callee.alias:
            g.scope.private.clear()
    else:
        x = g.of(there)
        more = f"({text} + {x.name}) % 97" if x.whole else f"0.5 * {text} - 0.25 * {x.name}"
        g.add(f"{target(g, x, full(x))} = {more}")


@feature(2)
def shifted(g: Maker) -> bool:
    """A compiled function that copies one array to another, a layer further."""
    fields = [f for f in g.scope.fields if not f.trimmed and f.dtype != "bool"]
    pairs = [(x, y) for x in fields for y in fields if x is not y and x.like(y) and not (x.family.short or y.loose)]
    if not pairs or not g.scope.main:
        return False
    x, y = g.of(pairs)
    name = f"inner_{len(g.functions)}"
    window = (Span(1, 1),) * x.family.rank
    hint = _hint(x, g)
    a, b = replace(x, name="X"), replace(x, name="Y")
    lines = f"    Y[{index_of(g, b, window)}] = X[{index_of(g, a, window, (1,) * x.family.rank)}]\n"
    g.functions.append(f"@sd.program\ndef {name}(X: {hint}, Y: {hint}):\n{lines}")
    g.add(f"{name}({x.name}, {y.name})")
    return True
