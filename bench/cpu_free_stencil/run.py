"""Times the steps of all stencil variants, with and without computation, as domains and machines grow, and keeps every
repetition with the machine it came from.

    python bench/cpu_free_stencil/run.py [--short] [--auto] [--bin build/cuda/bin]
        [--out bench/cpu_free_stencil/results] [--devices 1 2 4] [--seconds 120]

Figures 2.2, 6.1 and 6.2 of the publication: weak and strong scaling, what is left without computation, and how much of
that is hidden. With --auto instead, the variant `auto` beside all others on one device, in both types, by costs that
are measured first, as after `starling tune`, whose file is left alone. On virtual devices the domains are tiny.
`stencil_page.py` writes the page.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts and programs

import facts
import programs
import stencil_auto
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


def measured_auto(program: Path, gpus: bool, lengths: list[object], seconds: float) -> list[dict]:
    """`auto` and all others on one device. The measured costs are kept in a folder of this run."""
    wanted = domains.AUTO_OF_GPUS if gpus else domains.AUTO_OF_VIRTUAL_DEVICES
    variants = ",".join((stencil_auto.AUTO, *VARIANTS))
    which = ["--devices", 1, "--variants", variants, "--types", "float32,float64"]
    arguments = [*which, "--computing", "--tune", *lengths]
    kept = os.environ.get("XDG_CACHE_HOME")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        try:
            return programs.over("domain", "--domains", list(wanted), program, arguments, seconds)
        finally:
            os.environ.pop("XDG_CACHE_HOME")
            if kept is not None:
                os.environ["XDG_CACHE_HOME"] = kept


def main_auto(program: Path, here: dict, out: Path, lengths: list[object], seconds: float) -> int:
    results = measured_auto(program, bool(here["gpus"]), lengths, seconds)
    kept = stencil_auto.AutoResults(programs.keep_results(out / "auto", here, [1], results))
    print("\n".join(stencil_auto.section(kept)))
    return 0 if kept.times else 1


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="shorter repetitions")
    parser.add_argument("--auto", action="store_true", help="auto beside all others, on one device")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[1, 2, 4], help="numbers of devices")
    parser.add_argument("--seconds", type=float, default=0, help="at most (short: 120, auto: 200, otherwise 600)")
    o = parser.parse_args()
    if not (o.bin / PROGRAM).is_file():
        parser.error(f"--bin {o.bin}: {PROGRAM} is not there; build the benchmarks first (make gpu)")
    here = facts.machine()
    devices = programs.devices_here(here, o.devices)
    if not devices:
        parser.error(f"--devices {o.devices}: this machine has {len(here['gpus'])} GPUs; name fewer")

    lengths: list[object] = ["--repetitions", 5, "--seconds", 0.01 if o.short or o.auto else 0.05]
    if o.auto:
        return main_auto(o.bin / PROGRAM, here, o.out, lengths, o.seconds or 200)
    sizes = domains.OF_GPUS if here["gpus"] else domains.OF_VIRTUAL_DEVICES
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
