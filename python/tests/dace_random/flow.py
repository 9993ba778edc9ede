"""Loops that are left early, that change what they count by, and programs that end early."""

from __future__ import annotations

from dace_random.maker import Maker, feature
from dace_random.numbers import condition
from dace_random.scalars import change, free, new_number, use

__all__: list[str] = []

EXCEPTIONS = ("ValueError", "ValueError", "ValueError", "RuntimeError", "IndexError", "ZeroDivisionError")
WORDS = ("too large", "must be positive: pass another one", "it's 100 % wrong", 'no such \\"value\\"', "größer als 3")


@feature(3, nests=True)
def counted_while(g: Maker) -> bool:
    """A loop that counts itself, and may be left or go on early."""
    n, most = g.name(), 2 + g.pick(4)
    g.add(f"{n} = 0")
    count = g.scalar("int", 0, most, name=n, fixed=True)
    header = f"while {n} < {most}:" if g.chance(0.75) else "while True:"
    with g.block(header, loop=True, turning=True):
        g.add(g.of((f"{n} += 1", f"{n} = {n} + 1")))
        if header == "while True:":
            with g.block(f"if {n} >= {most}:"):
                g.add("break")
        if g.chance(0.5):
            with g.block(f"if {n} == {1 + g.pick(3)}:"):
                g.add("continue")
        g.body()
        if g.chance(0.4):
            with g.block(f"if {condition(g)}:"):
                g.add(g.of(("break", "continue")))
            use(g, count)
    if g.chance(0.6):
        use(g, count)
    return True


@feature(2.5, nests=True)
def left_early(g: Maker) -> bool:
    """A loop that is left, or whose pass ends, under a condition; what it carried is used afterwards."""
    x = g.of(free(g)) if free(g) and g.chance(0.5) else new_number(g)
    with g.block(f"for {(name := g.loop_name())} in range({2 + g.pick(4)}):", loop=True, turning=True):
        g.scalar("int", 0, 5, fixed=True, name=name)
        if g.chance(0.5):
            g.add(f"{x.name} = {change(g, x)}")
        with g.block(f"if {condition(g)}:"):
            if g.chance(0.4):
                use(g, x)
            g.add(g.of(("break", "continue", "break")))
        g.one()
        g.add(f"{x.name} = {change(g, x)}")
    use(g, x)
    return True


@feature(1.5, nests=True)
def leave_here(g: Maker) -> bool:
    """The innermost loop is left, or its pass ends, under a condition."""
    if g.scope.loops == 0 or g.scope.kept:
        return False
    with g.block(f"if {condition(g)}:"):
        g.add(g.of(("break", "continue")))
    return True


@feature(2, nests=True)
def changed_loop_variable(g: Maker) -> bool:
    """A loop changes its variable, which the next pass does not see."""
    name, n = g.loop_name(), 2 + g.pick(3)
    with g.block(f"for {name} in range({n}):", loop=True):
        x = g.scalar("int", 0, n - 1, fixed=True, name=name)
        if g.chance(0.5):
            use(g, x)
        g.add(g.of((f"{name} = 2 * {name} + 1", f"{name} += 3", f"{name} = {name} * {name}", f"{name} = {n} - {name}")))
        x = g.scalar("int", 0, max(2 * n + 1, n * n), fixed=True, name=name)
        use(g, x)
        if g.chance(0.4):
            g.one()
    if g.chance(0.5 if g.scope.loops == 0 else 0.15):
        use(g, x)
    return True


@feature(1.5, nests=True)
def loop_of_values(g: Maker) -> bool:
    """A loop over numbers that stand in the program."""
    name = g.loop_name()
    if g.chance(0.5):
        header, kind, high = f"for {name} in {g.of(('(0, 2)', '[3, 1, 0]', '(1, 2, 1)'))}:", "int", 3
    else:
        header, kind, high = f"for {name} in {g.of(('(0.5, -1.0)', '[0.25, 2.0, 1.5]'))}:", "float", 0
    with g.block(header, loop=True, kept=True):
        x = g.scalar(kind, 0, high, fixed=True, name=name)
        use(g, x)
        if g.chance(0.4):
            g.one()
    return True


@feature(2, nests=True)
def changed_range(g: Maker) -> bool:
    """A loop whose bound changes inside, which does not change how often it runs."""
    n, name, first = g.name(), g.loop_name(), 2 + g.pick(3)
    g.add(f"{n} = {first}")
    bound = g.scalar("int", 0, 2 * first + 3, name=n, fixed=True)
    with g.block(f"for {name} in range({g.of((n, n, f'0, {n}', f'1, {n} + 1'))}):", loop=True):
        g.scalar("int", 0, first, name=name, fixed=True)
        g.add(g.of((f"{n} = {n} - 1", f"{n} = {n} + 1", f"{n} = {first - 1}", f"{n} = {name}")))
        g.body()
    use(g, bound)
    return True


# ---- programs that end early ----


def _varies(g: Maker) -> bool:
    """Whether there are numbers by which calls differ."""
    return bool(g.scalars(lambda x: x.whole and x.low < x.high))


def _message(g: Maker) -> str:
    text = g.of(WORDS)
    g.messages.append(text.replace("\\", ""))
    return text


@feature(2, nests=True, main=True)
def early_return(g: Maker) -> bool:
    """The program ends, under a condition; or all that follows is never reached."""
    if not _varies(g) or ("early_return" in g.made and g.chance(0.7)):
        return False
    with g.block(f"if {condition(g)}:"):
        if g.chance(0.4):
            g.one()
        g.add("return")
        if g.chance(0.15):
            g.one()
    return True


@feature(2, nests=True)
def raised(g: Maker) -> bool:
    """An exception under a condition."""
    if not _varies(g):
        return False
    with g.block(f"if {condition(g)}:"):
        if g.chance(0.3):
            g.one()
        g.add(f'raise {g.of(EXCEPTIONS)}("{_message(g)}")')
    return True


@feature(2)
def asserted(g: Maker) -> bool:
    """Something that must be so."""
    if not _varies(g):
        return False
    text = f"assert {condition(g)}"
    if g.chance(0.8):
        text += f', "{_message(g)}"'
    else:
        g.messages.append("")
    g.add(text)
    return True
