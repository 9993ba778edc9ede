#!/usr/bin/env python3
"""Diffuses a photograph over all devices of a machine, and checks every bit of the result.

The heat equation blurs the picture as time goes by. It is solved twice: with a variant whose every step is started by
the host (overlap), and with one persistent program that runs on the devices alone (cpu_free). Both must give the same
bits as the plain NumPy loop below. Pictures go to build/demo.

    python examples/diffuse_photograph.py [--steps 500] [--devices 4] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import starling
from starling import machine, stencil

Picture = NDArray[np.float32]

RATIO = 0.2  # of the heat equation; up to 0.25 is stable in two dimensions
VARIANTS: tuple[stencil.Variant, ...] = ("overlap", "cpu_free")


def photograph() -> Picture:
    """A portrait of Eileen Collins, which is part of scikit-image: rows, columns, three colours from 0 to 1."""
    from skimage import data

    return np.asarray(data.astronaut(), dtype=np.float32) / np.float32(255)


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


def in_colours(picture: Picture, solve: Callable[[Picture], Picture]) -> Picture:
    """Applies `solve` to each of the three colours."""
    return np.stack([solve(np.ascontiguousarray(picture[..., i])) for i in range(3)], axis=-1)


def save_pictures(folder: Path, before: Picture, after: Picture, steps: int, where: str) -> list[Path]:
    """Writes both pictures, and one that shows them side by side with the parts of the devices."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / "before.png", folder / "after.png", folder / "side_by_side.png"]
    plt.imsave(paths[0], np.clip(before, 0, 1))
    plt.imsave(paths[1], np.clip(after, 0, 1))
    figure, axes = plt.subplots(1, 2, figsize=(10, 5.4), layout="constrained")
    for ax, picture, title in zip(axes, (before, after), ("before", f"after {steps} steps on {where}"), strict=True):
        ax.imshow(np.clip(picture, 0, 1))
        ax.set_title(title)
        ax.axis("off")
    figure.savefig(paths[2], dpi=120)
    plt.close(figure)
    return paths


def main() -> int:
    parser = argparse.ArgumentParser(description="Diffuses a photograph over all devices and checks every bit.")
    parser.add_argument("--steps", type=int, default=500, help="how many (500)")
    parser.add_argument("--devices", type=int, help="how many; all GPUs, or 4 virtual devices, if not given")
    parser.add_argument("--out", type=Path, default=Path("build/demo"), help="folder for the pictures (build/demo)")
    arguments = parser.parse_args()

    console = Console(highlight=False)
    steps = arguments.steps
    before = photograph()
    coefficients = stencil.heat_coefficients(2, RATIO)
    m = machine.best(arguments.devices)
    console.print(f"photograph of {before.shape[0]} x {before.shape[1]} cells and 3 colours, {steps} steps each")
    console.print(f"machine: {m.choice}", markup=False)

    start = time.perf_counter()
    expected = in_colours(before, lambda u: diffuse_with_numpy(u, steps, coefficients))
    numpy_seconds = time.perf_counter() - start

    table = Table("who runs the steps", "us per step", "equal to NumPy", "largest difference")
    table.add_row("NumPy, one thread", f"{1e6 * numpy_seconds / (3 * steps):.1f}", "", "")
    equal = True
    for variant in VARIANTS:
        seconds = 0.0

        def solve(u: Picture, variant: stencil.Variant = variant) -> Picture:
            nonlocal seconds
            result, report = stencil.run(u, steps, coefficients, machine=m, variant=variant, report=True)
            seconds += report.seconds
            return result

        after = in_colours(before, solve)
        same = after.tobytes() == expected.tobytes()
        equal = equal and same
        verdict = "[green]yes, every bit[/]" if same else "[red]NO[/]"
        table.add_row(variant, f"{1e6 * seconds / (3 * steps):.1f}", verdict, f"{np.abs(after - expected).max():g}")
    console.print(table)

    where = f"{m.size} {'virtual devices' if m.kind == 'host' else 'GPUs'}"
    for path in save_pictures(arguments.out, before, after, steps, where):
        console.print(f"wrote {path}", markup=False, soft_wrap=True)
    return 0 if equal else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (starling.Error, OSError, ImportError) as problem:
        sys.exit(f"diffuse_photograph: {problem}")
