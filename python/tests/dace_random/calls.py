"""Functions that programs call: compiled ones with types, and Python's own, with names like those of who calls."""

from __future__ import annotations

from dataclasses import replace

from dace_random.arrays import of_whole, write
from dace_random.maker import Callee, Maker, feature
from dace_random.names import FUNCTIONS
from dace_random.program import Argument
from dace_random.numbers import condition, literal, real, whole_within
from dace_random.scalars import change, use
from dace_random.scope import Field, Scalar, Scope, Span
from dace_random.windows import full, index_of, target

__all__ = ["enter"]

MOST = 6  # of whole numbers that functions are given


def enter(g: Maker, scope: Scope) -> None:
    """Begins a function: some numbers from outside are known in it, others may be names of its own."""
    g.scope = scope
    for x in g.outside:
        if x.name not in scope.used and g.chance(0.6):
            scope.used.add(x.name)
            scope.scalars.append(x)


def _argument(g: Maker, p: Field | Scalar, typed: bool) -> str | None:
    """What may be passed for a parameter."""
    if isinstance(p, Field):
        found = [f.name for f in g.scope.fields if f.like(p)]
        return g.of(found) if found else None
    if p.real:
        reals = [x.name for x in g.scalars(lambda x: x.real and g.alike(x.kind, p.kind))]
        return g.of(reals) if reals and g.chance(0.6) else literal(g)
    if typed and g.narrow:
        wholes = [x.name for x in g.scalars(lambda x: x.kind == p.kind and x.low >= 0 and x.high <= MOST)]
        return g.of(wholes) if wholes else None
    return whole_within(g, 0, MOST, kind="int" if g.narrow else "").text


def _call(g: Maker, callee: Callee) -> str | None:
    """A call with arguments of the names that there are."""
    found = [_argument(g, p, callee.typed) for p in callee.parameters]
    texts = [t for t in found if t is not None]
    if len(texts) < len(found):
        return None
    arrays = [t for t, p in zip(texts, callee.parameters, strict=True) if isinstance(p, Field)]
    if len(set(arrays)) < len(arrays) and not g.chance(0.15):  # one array under two names
        return None
    if callee.default and g.chance(0.4):
        texts.pop()
    named = len(texts) if not g.chance(0.2) else g.pick(len(texts))
    names = [p.name for p in callee.parameters]
    return f"{callee.name}({', '.join([*texts[:named], *(f'{n}={t}' for n, t in list(zip(names, texts))[named:])])})"


def _make(g: Maker) -> Callee | None:
    """Writes a function of which the scope's arrays may be arguments."""
    there = [f for f in g.scope.fields if not any(sum(t) for t in f.trim) and f.dtype != "bool"]
    if not there:
        return None
    free = [n for n in FUNCTIONS if n not in {c.name for c in g.callees}]
    outer, inner = g.scope, Scope(main=False)
    enter(g, inner)
    typed = g.chance(0.45)
    first = g.of(there)
    like = [f for f in there if f.family == first.family]
    fields = [first, *(g.of(like) for _ in range(g.pick(3)))]
    parameters: list[Field | Scalar] = []
    for f in fields:
        parameters.append(Field(g.name((("X", "Y", "Z", "A0", "A1", "T"), ("A", "B", "U"))), f.family, f.dtype, argument=True))
    inner.fields = [p for p in parameters if isinstance(p, Field)]
    inner.own[0] |= {p.name for p in parameters}
    default = ""
    for _ in range(g.pick(3)):
        kind = "int64" if typed else "int"
        if g.chance(0.4) and not (typed and g.narrow):
            kind = "float64" if typed else "float"
        x = g.scalar(kind, 0, MOST if not kind.startswith("float") else 0)
        parameters.append(x)
    if not typed and isinstance(parameters[-1], Scalar) and g.chance(0.3):
        default = literal(g) if parameters[-1].real else str(g.pick(MOST))
    callee = _body(g, g.of(free), tuple(parameters), typed, default)
    g.scope = outer
    g.callees.append(callee)
    return callee


def _hint(p: Field | Scalar, g: Maker) -> str:
    if isinstance(p, Scalar):
        return f"sd.{p.kind}"
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
        x = g.of(own)
        with g.block(f"if {condition(g)}:"):
            g.add(f"{x.name} = {change(g, x)}")


def _body(g: Maker, name: str, parameters: tuple[Field | Scalar, ...], typed: bool, default: str) -> Callee:
    own = [p for p in parameters if isinstance(p, Scalar)]
    pure = g.chance(0.4)
    if own and g.chance(0.6):
        x = g.of(own)
        g.add(f"{x.name} = {change(g, x)}")
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
    return Callee(name, parameters, typed, bool(default), pure, alias, result)


@feature(6)
def call(g: Maker) -> bool:
    """A function is called, for what it does to its arguments and what it returns."""
    if not g.callees or (len(g.callees) < 3 and g.scope.main and g.chance(0.3)):
        if len(g.callees) > 3 or not g.scope.main or _make(g) is None:
            return False
    callee = g.of(g.callees)
    text = _call(g, callee)
    if text is None:
        return False
    result = callee.result
    if result is None or g.chance(0.1):
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
    fields = [f for f in g.scope.fields if not any(sum(t) for t in f.trim) and f.dtype != "bool"]
    pairs = [(x, y) for x in fields for y in fields if x is not y and x.like(y) and not x.family.short]
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
