"""Draws docs/pictures/trace.png: some steps of a stencil on four devices, as recorded.

python docs/pictures/trace.py [host|cuda]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np

from starling import machine, stencil, trace

STEPS = 400
SHOWN = 6


def main() -> None:
    m = machine.named(sys.argv[1] if len(sys.argv) > 1 else "auto", 4)
    solver = stencil.Stencil((1024, 1024), machine=m)
    solver.load(np.random.default_rng(1).random((1024, 1024), dtype="f4"))
    solver.advance(STEPS)
    with tempfile.TemporaryDirectory() as folder:
        with trace.record(Path(folder, "out.json"), machines=m) as recording:
            solver.advance(STEPS)
        program = recording.trace.machines[0].programs[-1]
        spans = program.spans
        ends = spans.end[(spans.pe == 0) & (spans.block == 0) & (spans.op == spans.op[spans.end == spans.end.max()][0])]
        step = float(np.median(np.diff(ends)))
        middle = float(ends[len(ends) // 2]) - recording.trace.begin
        window = (middle / 1e3, (middle + SHOWN * step) / 1e3)
        trace.plot(Path(folder, "out.json"), window=window)
        Path(__file__).with_suffix(".png").write_bytes(Path(folder, "timeline.png").read_bytes())


if __name__ == "__main__":
    main()
