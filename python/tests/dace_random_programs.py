"""Random programs over the grammar of the subset, as text: loops, branches, slices with offsets, where, reductions."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

MOST_OFFSET = 2
HEADER = """\
import numpy as np

from starling import dace as sd

M, N = sd.symbols("M N")


@sd.program
def made({arguments}, s: sd.float64[2], k: sd.int64):
"""


@dataclass
class RandomProgram:
    """A program and what it is called with."""

    text: str
    rank: int
    arrays: int
    axis: int
    summed: bool  # its sums are added in another order than NumPy's


@dataclass
class _Generator:
    rng: np.random.Generator
    rank: int
    arrays: int
    lines: list[str] = field(default_factory=list)
    summed: bool = False
    reduced: bool = False

    def pick(self, n: int) -> int:
        return int(self.rng.integers(n))

    def chance(self, p: float) -> bool:
        return bool(self.rng.random() < p)

    def body(self, depth: int, indent: int) -> None:
        for _ in range(1 + self.pick(3)):
            what = self.rng.random()
            if depth < 2 and what < 0.15:
                self.add(indent, f"for u{depth} in range({1 + self.pick(3)}):")
                self.body(depth + 1, indent + 1)
            elif depth < 2 and what < 0.3:
                self.add(indent, f"if {self.condition()}:")
                self.body(depth + 1, indent + 1)
                if self.chance(0.5):
                    self.add(indent, "else:")
                    self.body(depth + 1, indent + 1)
            elif what < 0.4:
                self.reduction(indent)
            else:
                self.assignment(indent)

    def add(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def condition(self) -> str:
        return str(self.rng.choice(["(t + k) % 2 == 0", "t > 1", "k > 3", "k + t < 4"]))

    def reduction(self, indent: int) -> None:
        x = f"A{self.pick(self.arrays)}"
        how = self.pick(3)
        self.summed = self.summed or how == 0
        self.reduced = True
        made = (f"0.001 * np.sum({x})", f"np.max(np.abs({x}))", f"np.min({x})")[how]
        self.add(indent, f"s[{self.pick(2)}] = {made}")

    def assignment(self, indent: int) -> None:
        x = f"A{self.pick(self.arrays)}"
        window = [(self.pick(2) + MOST_OFFSET, self.pick(2) + MOST_OFFSET) for _ in range(self.rank)]
        if self.chance(0.2):
            window = [(0, 0)] * self.rank
        op = "+=" if self.chance(0.25) else "="
        self.add(indent, f"{x}[{self.slices(window, [0] * self.rank)}] {op} {self.expression(window)}")

    def slices(self, window: list[tuple[int, int]], offsets: list[int]) -> str:
        found = []
        for (low, high), d in zip(window, offsets, strict=True):
            begin = "" if low + d == 0 else str(low + d)
            end = "" if high - d == 0 else str(-(high - d))
            found.append(f"{begin}:{end}")
        return ", ".join(found)

    def expression(self, window: list[tuple[int, int]]) -> str:
        terms = [self.term(window) for _ in range(1 + self.pick(3))]
        text = terms[0]
        for term in terms[1:]:
            text += f" {self.rng.choice(['+', '-'])} {term}"
        if self.chance(0.15):
            return f"np.where({self.read(window)} > {self.read(window)}, {text}, {self.read(window)})"
        return text

    def term(self, window: list[tuple[int, int]]) -> str:
        read = self.read(window)
        kind = self.pick(5)
        if kind == 0 and self.reduced:
            return f"0.1 * s[{self.pick(2)}] * {read}"
        if kind == 1:
            return f"0.5 * np.abs({read})"
        return f"{round(0.1 + 0.3 * self.rng.random(), 3)} * {read}"

    def read(self, window: list[tuple[int, int]]) -> str:
        free = all(low >= MOST_OFFSET for low, _ in window)
        offsets = [self.pick(2 * MOST_OFFSET + 1) - MOST_OFFSET if free else 0 for _ in window]
        return f"A{self.pick(self.arrays)}[{self.slices(window, offsets)}]"


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    rng = np.random.default_rng(seed)
    g = _Generator(rng, 1 + int(rng.integers(2)), 1 + int(rng.integers(4)))
    g.add(1, "for t in range(3):")
    g.body(0, 2)
    axis = int(rng.integers(g.rank))
    shape = "N" if g.rank == 1 else "M, N"
    arguments = ", ".join(f"A{j}: sd.split(sd.float64[{shape}], {axis})" for j in range(g.arrays))
    text = HEADER.format(arguments=arguments) + "\n".join(g.lines) + "\n"
    return RandomProgram(text, g.rank, g.arrays, axis, g.summed)
