#!/usr/bin/env python3
"""Diffuses a photograph over all devices of a machine, and checks the result bit by bit.

The heat equation blurs the picture as time goes by. It is solved by two variants whose steps the host controls (overlap
and graph), and by the one that Starling chooses for the machine (auto). All must give the same bits, which are those of
the plain NumPy loop below. GPUs get an enlarged photograph and as many more steps. Pictures go to build/demo.

Around the photograph lies a margin, its mirror image, so wide that what is held at the edges of the domain does not
reach the picture.

    python examples/diffuse_photograph.py [--steps 500] [--enlarge 1] [--devices 4] [--out FOLDER] [--summary FILE]
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import starling
from starling import machine, stencil

Picture = NDArray[np.float32]

RATIO = 0.2  # of the heat equation; up to 0.25 is stable in two dimensions
HOST_CONTROLLED: tuple[stencil.Variant, ...] = ("overlap", "graph")
CHOSEN: stencil.Variant = "auto"
MARGIN_MULTIPLE = 64  # rows of cells then start at multiples of 16 bytes


@dataclass(frozen=True)
class Sizes:
    """What a machine gets to do."""

    enlarged: int
    """Pixels for each of the photograph's, along each axis."""
    steps: int
    checked_steps: int
    """The first steps, which NumPy does too."""
    checked_columns: int
    """The first columns, which NumPy computes too."""


def sizes(kind: str, steps: int | None = None, enlarged: int | None = None) -> Sizes:
    """GPUs get some thousand rows, of which NumPy checks a strip; virtual devices the photograph itself, all of it
    checked. The time that diffusion takes grows with the square of the enlargement."""
    if enlarged is None:
        enlarged = 4 if kind == "cuda" else 1
    if steps is None:
        steps = 500 * enlarged**2
    if enlarged == 1:
        return Sizes(enlarged, steps, steps, sys.maxsize)
    return Sizes(enlarged, steps, min(steps, 64), 64)


def photograph(enlarged: int) -> Picture:
    """A portrait of Eileen Collins, which is part of scikit-image: rows, columns, three colours from 0 to 1."""
    from skimage import data

    picture = np.asarray(data.astronaut(), dtype=np.float32) / np.float32(255)
    return picture.repeat(enlarged, axis=0).repeat(enlarged, axis=1)


def margin_of(steps: int) -> int:
    """Cells that heat does not cross in so many steps: 4.5 standard deviations of what a single cell spreads to."""
    cells = 4.5 * math.sqrt(2 * RATIO * steps)
    return MARGIN_MULTIPLE * math.ceil(cells / MARGIN_MULTIPLE)


def in_planes(picture: Picture, margin: int) -> list[Picture]:
    """The three colours apart, each continued by its mirror image."""
    return [np.pad(picture[..., i], margin, mode="symmetric") for i in range(3)]


def as_picture(planes: list[Picture], margin: int) -> Picture:
    return np.stack([u[margin:-margin, margin:-margin] for u in planes], axis=-1)


def diffuse_with_numpy(u: Picture, steps: int, coefficients: list[float]) -> Picture:
    """The same additions in the same order, on the whole array; the border keeps its values."""
    centre, up, down, left, right = np.asarray(coefficients, dtype=np.float32)
    for _ in range(steps):
        inside = centre * u[1:-1, 1:-1]
        inside = inside + up * u[:-2, 1:-1]
        inside = inside + down * u[2:, 1:-1]
        inside = inside + left * u[1:-1, :-2]
        inside = inside + right * u[1:-1, 2:]
        u = u.copy()
        u[1:-1, 1:-1] = inside
    return u


@dataclass(frozen=True)
class Expected:
    """What NumPy has of each colour."""

    planes: list[Picture]
    microseconds_per_step: float
    """Of the whole domain, by what the strip took."""


def expected_of(planes: list[Picture], todo: Sizes, coefficients: list[float]) -> Expected:
    """A cell depends on no other that is further away than there are steps: a strip that is wider by so many columns
    gives the first columns exactly."""
    strips = [np.ascontiguousarray(u[:, : todo.checked_columns + todo.checked_steps]) for u in planes]
    start = time.perf_counter()
    made = [diffuse_with_numpy(strip, todo.checked_steps, coefficients) for strip in strips]
    per_step = (time.perf_counter() - start) / (3 * todo.checked_steps)
    scale = planes[0].size / strips[0].size
    return Expected([strip[:, : todo.checked_columns] for strip in made], 1e6 * per_step * scale)


@dataclass(frozen=True)
class Result:
    """What a variant made."""

    planes: list[Picture]
    ran: str
    microseconds_per_step: float
    as_numpy: bool
    """Whether the cells were those of NumPy after the steps that it does too, bit by bit."""


def diffuse(
    planes: list[Picture],
    variant: stencil.Variant,
    todo: Sizes,
    expected: Expected,
    coefficients: list[float],
    m: machine.Machine,
) -> Result:
    """All steps of all colours; the first ones are compared with NumPy's."""
    solver = stencil.Stencil(planes[0].shape, "float32", coefficients, machine=m)
    done: list[Picture] = []
    seconds, steps, as_numpy = 0.0, 0, True
    for u, wanted in zip(planes, expected.planes, strict=True):
        solver.load(u)
        report = solver.advance(todo.checked_steps, variant=variant)
        cells = solver.store()
        as_numpy = as_numpy and cells[:, : wanted.shape[1]].tobytes() == wanted.tobytes()
        if todo.steps > todo.checked_steps:
            report = solver.advance(todo.steps - todo.checked_steps, variant=variant)
            cells = solver.store()
        done.append(cells)
        seconds += report.seconds
        steps += report.steps
    return Result(done, report.variant, 1e6 * seconds / steps, as_numpy)


def same_bits(one: Result, other: Result) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one.planes, other.planes, strict=True))


def verdict(result: Result, first: Result) -> str:
    if not result.as_numpy:
        return "[red]NO[/]"
    return "[green]yes, every bit[/]" if same_bits(result, first) else f"[red]NO, as {first.ran} has it[/]"


def summary(results: dict[stencil.Variant, Result], where: str) -> str:
    """What the chosen variant gained over the best that the host controls."""
    ours = results[CHOSEN]
    name, host = min(((v, results[v]) for v in HOST_CONTROLLED), key=lambda pair: pair[1].microseconds_per_step)
    ratio = host.microseconds_per_step / ours.microseconds_per_step
    return f"on {where} a step of `{ours.ran}` was {ratio:.2f} times as fast as of `{name}`, which the host controls"


def save_pictures(folder: Path, before: Picture, after: Picture, todo: Sizes, where: str) -> list[Path]:
    """Writes both pictures in the photograph's own size, and one that shows them side by side."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    before, after = (np.clip(picture[:: todo.enlarged, :: todo.enlarged], 0, 1) for picture in (before, after))
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "before.png", folder / "after.png", folder / "side_by_side.png"]
    plt.imsave(paths[0], before)
    plt.imsave(paths[1], after)
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
    titles = ("before", f"after {todo.steps} steps on {where}")
    for ax, picture, title in zip(axes, (before, after), titles, strict=True):
        ax.imshow(picture)
        ax.set_title(title)
        ax.axis("off")
    figure.savefig(paths[2], dpi=120, bbox_inches="tight")
    plt.close(figure)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description="Diffuses a photograph over all devices and checks every bit.")
    parser.add_argument("--steps", type=int, help="how many (500, times the square of the enlargement)")
    parser.add_argument("--enlarge", type=int, help="pixels for each of the photograph's, along each axis (GPUs: 4)")
    parser.add_argument("--devices", type=int, help="how many; all GPUs, or 4 virtual devices, if not given")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="folder for the pictures (build/demo)")
    parser.add_argument("--summary", type=Path, help="file for the line that says what was gained")
    arguments = parser.parse_args()
    for name in ("steps", "enlarge"):
        given = getattr(arguments, name)
        if given is not None and given < 1:
            parser.error(f"--{name} {given}: must be at least 1")

    console = Console(highlight=False)
    m = machine.best(arguments.devices)
    todo = sizes(m.kind, arguments.steps, arguments.enlarge)
    before = photograph(todo.enlarged)
    margin = margin_of(todo.steps)
    planes = in_planes(before, margin)
    coefficients = stencil.heat_coefficients(2, RATIO)
    console.print(
        f"photograph of {before.shape[0]} x {before.shape[1]} cells in a margin of {margin}, 3 colours, "
        f"{todo.steps} steps each"
    )
    console.print(f"machine: {m.choice}", markup=False)

    expected = expected_of(planes, todo, coefficients)
    results = {v: diffuse(planes, v, todo, expected, coefficients, m) for v in (*HOST_CONTROLLED, CHOSEN)}
    first = results[HOST_CONTROLLED[0]]
    whole = todo.checked_steps == todo.steps
    table = Table("who runs the steps", "us per step", "equal to " + ("NumPy" if whole else "NumPy and each other"))
    table.add_row("NumPy, one thread", f"{expected.microseconds_per_step:.1f}", "")
    for variant, result in results.items():
        name = variant if variant == result.ran else f"{variant}: {result.ran}"
        table.add_row(name, f"{result.microseconds_per_step:.1f}", verdict(result, first))
    console.print(table)
    if not whole:
        console.print(f"NumPy: {todo.checked_steps} steps of {todo.checked_columns} columns.")

    where = m.summary
    after = as_picture(results[CHOSEN].planes, margin)
    for path in save_pictures(arguments.out, before, after, todo, where):
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    gained = summary(results, f"{where}, which are for testing and not for speed," if m.kind == "host" else where)
    console.print(gained, markup=False, soft_wrap=True)
    if arguments.summary:
        arguments.summary.write_text(gained + "\n")
    return 0 if all(r.as_numpy and same_bits(r, first) for r in results.values()) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (starling.Error, OSError, ImportError) as problem:
        sys.exit(f"diffuse_photograph: {problem}")
