"""What a step of a grid takes that is cut in two dimensions over hosts, by who moves its edges.

    python bench/gio/grid.py [--bin build/cuda/bin] [--out bench/gio/results/grid]
    python bench/gio/grid.py --machine host --bin build/host/bin --out /tmp/grid --short
    python bench/gio/grid.py --from FILE.json

Weak scaling with 2048 x 2048 cells of 8 bytes a host on 1 to 4 hosts (figures 6 and 7 of the publication on GIO), 1024
to 4096 on four (figure 8), and strong scaling with 4096 x 4096 in all. Hosts are played by PEs and cards are models:
wire time is the model's. Runs on virtual devices show that it works; nothing is to be concluded from their times.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs
sys.path.insert(0, str(Path(__file__).resolve().parent))

import facts
import figures
import programs

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
GRID = "bench_gio_grid"


def runs(short: bool, devices: list[int]) -> list[list[object]]:
    """The arguments of each run of the program."""
    sides, whole, steps, repetitions = ((8, 16, 32), 32, 5, 2) if short else ((1024, 2048, 4096), 4096, 100, 5)
    rest = ["--steps", steps, "--repetitions", repetitions]
    found: list[list[object]] = [["--pes", n, "--side", sides[1], *rest] for n in devices]
    found += [["--pes", devices[-1], "--side", side, *rest] for side in (sides[0], sides[2])]
    return found + [["--pes", n, "--whole", whole, *rest] for n in devices]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the program is")
    parser.add_argument("--machine", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--devices", default="1,2,3,4", help="numbers of hosts")
    parser.add_argument("--gpus", type=int, help="that the hosts' PEs share; one each by default")
    parser.add_argument("--short", action="store_true", help="small grids, to see that it works")
    parser.add_argument("--out", type=Path, default=HERE / "results/grid", help="where results go")
    parser.add_argument("--from", dest="made", type=Path, metavar="FILE.json", help="tables and pictures of results")
    o = parser.parse_args()
    if o.made is None:
        if not (o.bin / GRID).is_file():
            parser.error(f"--bin {o.bin}: {GRID} is not there; build the benchmarks first (make gpu)")
        devices = sorted({int(n) for n in o.devices.split(",")})
        lines = []
        for arguments in runs(o.short, devices):
            shared = [] if o.gpus is None else ["--gpus", min(o.gpus, arguments[1])]
            lines += programs.run(o.bin / GRID, ["--machine", o.machine, *arguments, *shared], 240).lines
        here = facts.machine() if o.machine == "cuda" else {**facts.machine(), "gpus": []}
        results = programs.keep_results(o.out, here, devices, lines, note=figures.NOTE)
    else:
        results = o.made
        lines = json.loads(results.read_text())["results"]
    if not lines:
        return 1
    for path in figures.draw(lines, results):
        print(f"wrote {path}", file=sys.stderr)
    print(figures.sections(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
