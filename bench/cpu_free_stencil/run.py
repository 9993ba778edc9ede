"""Times the steps of all stencil variants, with and without computation, as domains and machines grow, and keeps every
repetition with the machine it came from.

    python bench/cpu_free_stencil/run.py [--short] [--bin build/cuda/bin] [--out bench/cpu_free_stencil/results]
        [--devices 1 2 4] [--seconds 120]

Figures 2.2, 6.1 and 6.2 of the publication: weak and strong scaling, what is left without computation, and how much of
that is hidden. On virtual devices the domains are tiny. `stencil_page.py` writes the page.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs
import stencil_domains as domains
import stencil_page
import stencil_plot
from stencil_results import COMPUTING_ALONE, VARIANTS, StencilResults

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAM = "bench_cpu_free_stencil_steps"


def measured(
    program: Path, sizes: domains.Sizes, devices: list[int], lengths: list[object], seconds: float
) -> list[dict]:
    """All lines that come in this time, of the most devices first; for what does not, a line that says so."""
    end = time.monotonic() + seconds
    todo = [(n, domains.measured_on(sizes, n), VARIANTS) for n in sorted(devices, reverse=True)]
    if 1 in devices:  # what computing costs without communication
        todo.append((1, domains.parts_of(sizes, devices), COMPUTING_ALONE))
    lines: list[dict] = []
    for n, wanted, variants in todo:
        arguments = ["--devices", n, "--variants", ",".join(variants), *lengths]
        found = programs.over("domain", "--domains", wanted, program, arguments, end - time.monotonic())
        lines += [{"devices": n, **line} for line in found]
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="shorter repetitions")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    parser.add_argument("--seconds", type=float, default=0, help="for all of it at most (short: 120, otherwise 600)")
    o = parser.parse_args()
    if not (o.bin / PROGRAM).is_file():
        parser.error(f"--bin {o.bin}: {PROGRAM} is not there; build the benchmarks first (make gpu)")
    here = facts.machine()
    devices = programs.devices_here(here, o.devices)
    if not devices:
        parser.error(f"--devices {o.devices}: this machine has {len(here['gpus'])} GPUs; name fewer")

    sizes = domains.OF_GPUS if here["gpus"] else domains.OF_VIRTUAL_DEVICES
    lengths: list[object] = ["--repetitions", 5, "--seconds", 0.01 if o.short else 0.05]
    started = time.monotonic()
    results = measured(o.bin / PROGRAM, sizes, devices, lengths, o.seconds or (120 if o.short else 600))
    print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)

    target = programs.keep_results(o.out, here, devices, results, sizes=sizes)
    kept = StencilResults(target)
    print("\n".join(stencil_page.section(kept)))
    stencil_plot.figures(kept)
    return 0 if kept.lines else 1


if __name__ == "__main__":
    sys.exit(main())
