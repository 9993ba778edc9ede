"""Runs the measurements of communication, and those of other libraries that were built, into one result file.

    python bench/communication/run.py [--short] [--bin build/cuda/bin] [--out bench/communication/results]

Each program prints one JSON object a line. A rival whose program is not there is left out, and named.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import comm_page  # noqa: E402
import facts  # noqa: E402
import programs  # noqa: E402

ROOT = HERE.parent.parent

# Where there is no network, and never with NVLink multicast.
programs.ENVIRONMENT.update(
    {
        "NVSHMEM_DISABLE_NVLS": "1",
        "NVSHMEM_REMOTE_TRANSPORT": "none",
        "NVSHMEM_BOOTSTRAP_UID_SOCK_IFNAME": "lo",
        "NVSHMEM_SYMMETRIC_SIZE": "512M",
        # Open MPI refuses root, which containers mostly are.
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
)
OURS = "bench_communication_ways"
RIVALS = tuple(f"bench_communication_rivals_{name}" for name in ("unified", "nccl", "nvshmem", "mpi"))


def command_of(program: Path, devices: int, seconds: float) -> list[object]:
    """How a program is started."""
    given: list[object] = ["--repetitions", 5, "--seconds", seconds]
    if program.name.endswith(("mpi", "nvshmem")):
        given += ["--limit", 60]
    if program.name.endswith("mpi"):
        return [shutil.which("mpiexec") or "mpiexec", "-n", devices, program, *given]
    return [program, "--devices", devices, *given]


def measured(folder: Path, devices: int, seconds: float, limit: float) -> list[dict]:
    """The lines of all programs; for one that is not there or fails, a line that says so."""
    lines: list[dict] = []
    for program in (OURS, *RIVALS):
        if program != OURS and devices < 2:
            continue
        if not (folder / program).is_file():
            print(f"{program} is not in {folder}: left out", file=sys.stderr)
            lines.append({"what": program, "devices": devices, "error": "was not built"})
            continue
        start, *arguments = command_of(folder / program, devices, seconds)
        outcome = programs.run(Path(str(start)), arguments, limit)
        lines += outcome.lines
        if outcome.problem:
            lines.append({"what": program, "devices": devices, "error": outcome.problem})
    return lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="shorter repetitions")
    parser.add_argument("--bin", type=Path, default=ROOT / "build/cuda/bin", help="where the programs are")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="where the results go")
    parser.add_argument("--devices", type=int, nargs="+", default=[2, 4], help="numbers of devices")
    options = parser.parse_args()
    if not (options.bin / OURS).is_file():
        parser.error(f"--bin {options.bin}: {OURS} is not there; build the benchmarks first (make gpu)")
    here = facts.machine()
    devices = programs.devices_here(here, options.devices)
    if not devices:
        parser.error(f"--devices {options.devices}: this machine has {len(here['gpus'])} GPUs; name fewer")
    seconds, limit = (0.002, 120) if options.short else (0.01, 600)
    results = [line for n in devices for line in measured(options.bin, n, seconds, limit)]
    target = programs.keep_results(options.out, here, devices, results)
    print("\n".join(comm_page.section(target.stem, here, results)))
    return 0 if any("us" in line for line in results) else 1


if __name__ == "__main__":
    sys.exit(main())
