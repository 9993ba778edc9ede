"""Simulates steps of the applications on 1 to 64 PEs (bench/scale/simulate.cpp), by the model's parameters.

    python bench/scale/run.py [--program build/.../bench_scale_simulate] [--only TEXT]

Needs no GPU: the program is built with -DSTARLING_BENCH=ON. `scale_page.py` writes docs/scale.md from the result.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import facts  # noqa: E402
import programs  # noqa: E402
import scale_model as model  # noqa: E402
import scale_parameters as parameters  # noqa: E402
from scale_cases import Case, simulated_cases  # noqa: E402

RESULTS = HERE / "results/simulation.json"
SECONDS = 900


def costs(p: parameters.Parameters, handling: float) -> str:
    """What the program is given; `handling`: us that are added to every flight to another PE."""
    ns = 1000.0
    given = {
        "call": p.call.value * ns,
        "packet_call": p.packet_call.value * ns,
        "next_sender": p.next_sender.value * ns,
        "meeting": p.meeting.value * ns,
        "own.packet": p.packet_own.value * ns,
        "own.signal": p.signal_own.value * ns,
        "host.packet": (p.packet_host.value + handling) * ns,
        "host.signal": (p.signal_host.value + handling) * ns,
        "host.rate": p.rate_host.value / ns,
        "between.packet": (p.packet_between.value + handling) * ns,
        "between.signal": (p.signal_between.value + handling) * ns,
        "between.message": p.message_between.value * ns,
        "between.rate": p.rate_between.value / ns,
        "pes_per_host": p.pes_per_host,
    }
    return ",".join(f"{name}={value:.6g}" for name, value in given.items())


def simulate(program: Path, p: parameters.Parameters, case: Case) -> list[dict]:
    handling = model.stencil_handling(p) if case.application.startswith("stencil") else 0.0
    arguments: list[object] = ["--application", case.application, "--shape", case.shape, "--pes", case.pes]
    arguments += ["--steps", case.steps, "--memory", case.memory, "--costs", costs(p, handling)]
    if case.computing > 0:
        arguments += ["--computing", f"{case.computing * 1000:.6g}"]
    return programs.lines_of(program, arguments, SECONDS)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=HERE.parent.parent / "build/host/bin/bench_scale_simulate")
    parser.add_argument("--only", default="", help="cases of applications whose names contain this")
    options = parser.parse_args()
    p = parameters.measured()
    kept = json.loads(RESULTS.read_text())["results"] if RESULTS.exists() and options.only else []
    results = {(line["application"], line["shape"], line["pes"]): line for line in kept}
    machine = {key: value for key, value in facts.machine().items() if key in ("date", "commit", "compiler")}
    RESULTS.parent.mkdir(exist_ok=True)
    for case in simulated_cases(p):
        if options.only not in case.application:
            continue
        for line in simulate(options.program, p, case):
            results[line["application"], line["shape"], line["pes"]] = line
        RESULTS.write_text(json.dumps({"machine": machine, "results": list(results.values())}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
