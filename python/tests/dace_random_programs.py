"""Random programs over the grammar of the subset, as text: nested loops, branches, slices with offsets and strides,
edges, np.where, reductions, temporaries and calls of another program; arrays that PEs share along one axis or two.

Only sums differ from NumPy's, by rounding. Where no sum is used again, all else has NumPy's bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

MOST_OFFSET = 2
HEADER = """\
import numpy as np

from starling import dace as sd

K, M, N = sd.symbols("K M N")


"""
Grid = tuple[int, ...]
GRIDS: dict[int, tuple[tuple[Grid, int], ...]] = {  # with blocks of each PE, for one split axis and for two
    1: (((1,), 2), ((2,), 3), ((3,), 1), ((4,), 2)),
    2: (((1, 1), 2), ((2, 1), 3), ((2, 2), 1), ((2, 2), 2), ((1, 3), 2), ((4, 1), 2), ((1, 4), 3)),
}


@dataclass
class RandomProgram:
    """A program and what it is called with."""

    text: str
    rank: int
    arrays: int
    dtype: str
    axes: tuple[int, ...]  # that are split
    summed: bool  # it has sums, which are added in another order than NumPy's
    sums_used: bool  # and computes with them

    @property
    def grids(self) -> tuple[tuple[Grid, int], ...]:
        """Grids of PEs and numbers of blocks that it is to run on."""
        return GRIDS[len(self.axes)]

    def inputs(self, rng: np.random.Generator) -> list[Any]:
        """Its arguments. Split axes have a remainder on most grids."""
        shape = [int(rng.integers(16, 28)) if k in self.axes else 9 + k for k in range(self.rank)]
        if self.dtype.startswith("int"):
            arrays = [rng.integers(-50, 50, shape, dtype=self.dtype) for _ in range(self.arrays)]
        else:
            arrays = [(2 * rng.random(shape) - 1).astype(self.dtype) for _ in range(self.arrays)]
        return [*arrays, np.zeros(2, self.dtype), np.zeros(1), int(rng.integers(6))]


Window = list[tuple[int, int]]  # margins of each axis; (n, -1): element n alone


@dataclass
class _Generator:
    rng: np.random.Generator
    rank: int
    arrays: int
    dtype: str
    axes: tuple[int, ...]
    lines: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    reduced: set[int] = field(default_factory=set)  # elements of s: 0 holds sums, 1 does not
    summed: bool = False
    sums_used: bool = False  # the program may compute with sums; it decides nothing by numbers then
    calls: bool = False
    whiles: int = 0
    locals: int = 0

    @property
    def whole(self) -> bool:
        return self.dtype.startswith("int")

    def pick(self, n: int) -> int:
        return int(self.rng.integers(n))

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def one(self) -> str:
        return self.names[self.pick(len(self.names))]

    def add(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    # ---- statements ----

    def body(self, depth: int, indent: int) -> None:
        for _ in range((2 if depth == 0 else 1) + self.pick(3)):
            what = self.rng.random()
            if depth < 2 and what < 0.15:
                loop = ("range({0})", "range(1, {0} + 1)", "range({0}, 0, -1)")[self.pick(3)].format(1 + self.pick(3))
                self.add(indent, f"for u{depth} in {loop}:")
                self.body(depth + 1, indent + 1)
            elif depth < 2 and what < 0.3:
                self.branch(depth, indent)
            elif depth == 0 and what < 0.35 and self.whiles == 0:
                self.whiles += 1
                self.add(indent, "w[0] = 4.0")
                self.add(indent, "while w[0] > 1.0:")
                self.add(indent + 1, "w[0] = w[0] * 0.5")
                self.body(depth + 1, indent + 1)
            elif what < 0.45:
                self.reduction(indent)
            elif what < 0.5 and self.calls and self.arrays > 1:
                first = self.pick(self.arrays)
                self.add(indent, f"inner(A{first}, A{(first + 1 + self.pick(self.arrays - 1)) % self.arrays})")
            else:
                self.assignment(indent)

    def branch(self, depth: int, indent: int) -> None:
        conditions = ["(t + k) % 2 == 0", "t > 1", "k > 3", "k + t < 4"]
        if 1 in self.reduced and not self.sums_used:
            conditions.append("s[1] > 0.1")
        self.add(indent, f"if {self.rng.choice(conditions)}:")
        self.body(depth + 1, indent + 1)
        if self.chance(0.25):
            self.add(indent, "elif k < 2:")
            self.body(depth + 1, indent + 1)
        if self.chance(0.5):
            self.add(indent, "else:")
            self.body(depth + 1, indent + 1)

    def reduction(self, indent: int) -> None:
        window = self.window()
        read = self.read(window) if self.chance(0.5) else self.one()
        if self.chance(0.3):
            read = f"{read} * {read}" if "[" not in read else f"({read} - {self.read(window)})"
        how = self.pick(3)
        if how == 0 and self.dtype != "int32":  # of which NumPy's sum has another type
            self.summed = not self.whole
            self.reduced.add(0)
            self.add(indent, f"s[0] = {'' if self.whole else '0.001 * '}np.sum({read})")
        else:
            self.reduced.add(1)
            self.add(indent, f"s[1] = {f'np.max(np.abs({read}))' if how == 1 else f'np.min({read})'}")

    def window(self) -> Window:
        """Margins that leave room for offsets; at times none, or an edge."""
        if self.chance(0.15):
            return [(0, 0)] * self.rank
        window = [(self.pick(2) + MOST_OFFSET, self.pick(2) + MOST_OFFSET) for _ in range(self.rank)]
        if self.rank > 1 and self.chance(0.12):
            axis = self.pick(self.rank)
            window[axis] = (MOST_OFFSET + self.pick(2), -1)
        return window

    def assignment(self, indent: int) -> None:
        window, x = self.window(), self.one()
        step = 2 if self.chance(0.08) and all(end > 0 for _, end in window) else 1
        value = self.expression(window, step)
        if self.chance(0.12) and step == 1:
            name = f"x{self.locals}"
            self.locals += 1
            self.add(indent, f"{name} = {value}")
            value = f"{name} % 7" if self.whole else f"0.5 * {name} + {self.term(window, step)}"
        op = "+=" if self.chance(0.2) and not self.whole and step == 1 else "="
        value = f"({value}) % 97" if self.whole else value
        self.add(indent, f"{x}[{self.slices(window, [0] * self.rank, step)}] {op} {value}")

    # ---- expressions ----

    def slices(self, window: Window, offsets: list[int], step: int = 1) -> str:
        found = []
        for (low, high), d in zip(window, offsets, strict=True):
            if high < 0:
                found.append(str(low + d))
                continue
            begin = "" if low + d == 0 else str(low + d)
            end = "" if high - d == 0 else str(-(high - d))
            found.append(f"{begin}:{end}" + (f":{step}" if step != 1 else ""))
        return ", ".join(found)

    def expression(self, window: Window, step: int = 1) -> str:
        terms = [self.term(window, step) for _ in range(1 + self.pick(3))]
        text = terms[0]
        for term in terms[1:]:
            text += f" {self.rng.choice(['+', '-'])} {term}"
        read = lambda: self.read(window, step)  # noqa: E731
        if self.chance(0.12) and not self.sums_used:
            return f"np.where({read()} {self.rng.choice(['>', '<='])} {read()}, {text}, {read()})"
        if self.chance(0.08):
            return f"np.{self.rng.choice(['minimum', 'maximum'])}({text}, {read()})"
        return text

    def term(self, window: Window, step: int) -> str:
        read = self.read(window, step)
        kind = self.pick(9)
        if self.whole:
            return (f"{1 + self.pick(4)} * {read}", f"{read} // {2 + self.pick(3)}", f"np.abs({read})")[kind % 3]
        known = [j for j in sorted(self.reduced) if j == 1 or self.sums_used]
        if kind < 2 and known:
            return f"0.1 * s[{known[self.pick(len(known))]}] * {read}"
        if kind == 2:
            return f"0.5 * np.abs({read})"
        if kind == 3:
            return f"{read} / (2.0 + np.abs({self.read(window, step)}))"
        if kind == 4:
            return f"0.25 * {read} * {self.read(window, step)}"
        if kind == 5:
            return f"(-0.3 * np.sqrt(np.abs({read})))"
        return f"{round(0.1 + 0.3 * self.rng.random(), 3)} * {read}"

    def read(self, window: Window, step: int = 1) -> str:
        free = all(low >= MOST_OFFSET for low, _ in window)
        offsets = [self.pick(2 * MOST_OFFSET + 1) - MOST_OFFSET if free else 0 for _ in window]
        if free and self.chance(0.3):  # along one axis alone
            axis = self.pick(self.rank)
            offsets = [d if k == axis else 0 for k, d in enumerate(offsets)]
        return f"{self.one()}[{self.slices(window, offsets, step)}]"


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    rng = np.random.default_rng(seed)
    rank = 1 + int(rng.choice(3, p=(0.3, 0.5, 0.2)))
    dtype = str(rng.choice(["float64", "float32", "int64", "int32"], p=(0.6, 0.2, 0.1, 0.1)))
    count = 2 if rank > 1 and rng.random() < 0.6 else 1
    axes = tuple(int(k) for k in rng.permutation(rank)[:count])
    g = _Generator(rng, rank, 1 + int(rng.integers(4)), dtype, axes)
    g.names = [f"A{j}" for j in range(g.arrays)]
    g.calls = g.chance(0.2)
    g.sums_used = g.chance(0.15) and not g.whole
    kind = f"sd.split(sd.{dtype}[{', '.join('KMN'[:rank])}], {axes if count > 1 else axes[0]})"
    text = HEADER
    if g.calls:
        inside, shifted = g.slices([(1, 1)] * rank, [0] * rank), g.slices([(1, 1)] * rank, [1] * rank)
        text += f"@sd.program\ndef inner(X: {kind}, Y: {kind}):\n    Y[{inside}] = X[{shifted}]\n\n\n"
    if g.chance(0.25):
        g.add(1, "T = np.zeros_like(A0)")
        g.names.append("T")
    g.add(1, "for t in range(3):")
    g.body(0, 2)
    arguments = "".join(f"A{j}: {kind}, " for j in range(g.arrays))
    text += f"@sd.program\ndef made({arguments}s: sd.{dtype}[2], w: sd.float64[1], k: sd.int64):\n"
    return RandomProgram(text + "\n".join(g.lines) + "\n", rank, g.arrays, dtype, axes, g.summed, g.sums_used)
