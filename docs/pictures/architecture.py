"""Draws docs/pictures/architecture.png: devices, blocks with roles, and the signals between them.

python docs/pictures/architecture.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.patches import FancyBboxPatch

INK = "#20303c"
DEVICE = "#f3f6f8"
FACE = "#f2b36b"
INSIDE = "#9fc6e0"
MEMORY = "#dfe7dc"
HOST = "#e4dfea"


def box(axes, x, y, width, height, colour, text="", size=9, **style):
    axes.add_patch(
        FancyBboxPatch((x, y), width, height, boxstyle="round,pad=0,rounding_size=0.08", fc=colour, ec=INK, lw=0.9)
    )
    axes.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=size, color=INK, **style)


def arrow(axes, start, end, style="-|>", curve=0.0, **line):
    shape = f"arc3,rad={curve}"
    options = {"arrowstyle": style, "connectionstyle": shape, "color": INK, "lw": 1.4, **line}
    axes.annotate("", xy=end, xytext=start, arrowprops=options)


def main() -> None:
    figure, axes = pyplot.subplots(figsize=(9.6, 4.7))
    axes.set(xlim=(0, 12), ylim=(0, 5.9))
    axes.axis("off")
    width, gap, left = 3.3, 0.9, 0.15
    for pe in range(3):
        x = left + pe * (width + gap)
        box(axes, x, 0.2, width, 3.75, DEVICE)
        axes.text(x + width / 2, 3.7, f"PE {pe}: a GPU, or a virtual device", ha="center", fontsize=9.5, color=INK)
        box(axes, x + 0.15, 2.05, 0.85, 1.35, FACE, "face\nblock")
        box(axes, x + width - 1.0, 2.05, 0.85, 1.35, FACE, "face\nblock")
        box(axes, x + 1.12, 2.8, width - 2.24, 0.6, INSIDE, "inner block", 8)
        box(axes, x + 1.12, 2.05, width - 2.24, 0.6, INSIDE, "inner block", 8)
        axes.text(x + width / 2, 1.78, "sync_pe: the blocks of one PE meet", ha="center", fontsize=8, color=INK)
        box(axes, x + 0.15, 0.35, width - 0.3, 1.2, MEMORY)
        axes.text(x + width / 2, 1.3, "symmetric memory", ha="center", fontsize=9, color=INK)
        box(axes, x + 0.3, 0.5, 0.9, 0.55, "white", "inbox\n+ signal", 7.5)
        box(axes, x + 1.28, 0.5, width - 2.56, 0.55, "white", "cells", 8)
        box(axes, x + width - 1.2, 0.5, 0.9, 0.55, "white", "inbox\n+ signal", 7.5)
    for pe in range(2):
        right = left + pe * (width + gap) + width
        other = right + gap
        arrow(axes, (right - 0.15, 2.45), (other + 0.42, 1.07), curve=-0.12)
        arrow(axes, (other + 0.15, 2.45), (right - 0.42, 1.07), curve=0.12)
        axes.text(right + gap / 2, 2.72, "put_signal", ha="center", fontsize=7.5, color=INK, family="monospace")
    box(axes, 3.4, 4.95, 5.2, 0.75, HOST, "host: machine.run(...), then one look at the outcome", 9.5)
    for pe in range(3):
        x = left + pe * (width + gap) + width / 2
        arrow(axes, (6 + (x - 6) * 0.35, 4.95), (x, 3.97), color="#8a7fa0", lw=1.1, ls=(0, (4, 3)))
    axes.text(9.0, 4.62, "once per run", fontsize=8.5, color="#6a5f80")
    figure.tight_layout(pad=0.3)
    figure.savefig(Path(__file__).with_name("architecture.png"), dpi=130)


if __name__ == "__main__":
    main()
