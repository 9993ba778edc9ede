"""How many schedules a second check mode explores on one core: 4 PEs, 10 steps of a 64 x 64 stencil (float32).

    python bench/check/rate.py [--seeds 500] [--threads 1] [--repetitions 5] [--out FILE.json]

Loads and stores of all kernels are seen. Counts the schedules of the steps alone, not those that load and store the
array.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts

os.environ["STARLING_CHECK"] = "1"  # before the package chooses its native module

import numpy as np
from facts import machine as facts_of_machine

from starling import check, stencil
from starling.machine import Machine

SIDE, STEPS, DEVICES = 64, 10, 4


def rate(variant: str, seeds: int, threads: int) -> float:
    """Schedules of the steps a second."""
    seconds = []
    u = np.random.default_rng(1).random((SIDE, SIDE), dtype="f4")

    def run(m: Machine) -> None:
        s = stencil.Stencil((SIDE, SIDE), machine=m)
        s.load(u)
        before = m.checked()["seconds"]
        s.advance(STEPS, variant=variant, packet_bytes=2**18)
        seconds.append(m.checked()["seconds"] - before)

    found = check(run, devices=DEVICES, seeds=seeds, threads=threads)
    if not found.accesses_seen:
        raise SystemExit("this build has no module whose accesses are seen; use g++ and no sanitizer")
    return seeds / seconds[0]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--threads", type=int, default=1, help="of a block; 0: as the seeds say")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    results = []
    for variant in ("cpu_free", "copy", "overlap", "p2p"):
        per_second = [round(rate(variant, o.seeds, o.threads), 1) for _ in range(o.repetitions)]
        results.append(
            {
                "what": "check rate",
                "variant": variant,
                "devices": DEVICES,
                "threads": o.threads,
                "schedules_per_second": per_second,
            }
        )
        print(json.dumps(results[-1]), flush=True)
    if o.out:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        o.out.write_text(json.dumps({"machine": facts_of_machine(), "results": results}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
