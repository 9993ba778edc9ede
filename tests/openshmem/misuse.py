#!/usr/bin/env python3
"""Wrong uses of OpenSHMEM in C: what the job says, how it ends, and that it ends soon. Usage:
misuse.py [--mpi] PROGRAM ANOTHER. With --mpi, mpirun starts the processes, each as a host of its own."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field, replace

from run import left_over, run


@dataclass(frozen=True)
class Case:
    name: str
    says: list[str]
    code: int = 1
    """0: of all processes; else of one at least."""
    n: int = 3
    variables: dict[str, str] = field(default_factory=dict)


SHORT = {"STARLING_MEETING_DEADLINE": "0.7"}
CASES = [
    Case(
        "handler",
        [
            "PE 1 in shmem_malloc of 16 bytes",
            "1099511627776 bytes asked for",
            "SHMEM_TEAM_INVALID",
            "PE_root = 3",
            "xrange = 0",
            "options = 64",
        ],
        0,
    ),
    Case("before_init", ["shmem_int_p: called outside shmem_init and shmem_finalize; call shmem_init before"]),
    Case("barrier_before_init", ["shmem_barrier_all: called outside shmem_init"]),
    Case("finalize_before_init", ["shmem_finalize: called outside shmem_init"], 0),
    Case("late", ["number 1 did not come within 0.7 s"], variables=SHORT),
    Case("pe", ["shmem_int_put: pe = 3; must be from 0 to 2"]),
    Case("pe_negative", ["shmem_int_g: pe = -1; must be from 0 to 2"]),
    Case("stack", ["shmem_int_p: dest = 0x", "4 bytes, is not symmetric"]),
    Case("malloc", ["shmem_int_put: dest = 0x", "16 bytes, is not symmetric"]),
    Case("library", ["is not symmetric", "shared libraries"]),
    Case("beyond", ["shmem_int_put: dest = 0x", "68 bytes, is not symmetric"]),
    Case("freed", ["shmem_free: ptr = 0x", "has been freed already"]),
    Case("count", ["shmem_int_put: 9223372036854775807 elements of 4 bytes"]),
    Case("stride", ["shmem_int_iput: dst = 0; must be at least 1"]),
    Case("ctx", ["shmem_ctx_int_p: 0x4d is no context"]),
    Case("ctx_destroyed", ["is no context of this PE; it may have been destroyed"]),
    Case("ctx_pe", ["shmem_ctx_int_p: pe = 1; must be from 0 to 0 in the context's team"]),
    Case("team_destroyed", ["shmem_team_destroy: 0x3 is no team of this PE"]),
    Case("world_destroyed", ["SHMEM_TEAM_WORLD and SHMEM_TEAM_SHARED are not destroyed"]),
    Case("comparison", ["shmem_int_wait_until: cmp = 6; must be one of"]),
    Case("sig_op", ["shmem_int_put_signal: sig_op = 2; must be SHMEM_SIGNAL_SET or"]),
    Case("misaligned", ["is not a multiple of 4"]),
    Case("different_calls", ["PE 0 is in shmem_barrier_all, PE 1 in shmem_sync_all"]),
    Case("different_root", ["PE 0 is in shmem_broadcast of 1 elements of 4 bytes from root 0, PE 1 in", "from root 1"]),
    Case("active_set", ["shmem_barrier: PE_size = 4; must be from 1 to 3"]),
    Case("not_in_set", [" is not in the active set (2, 0, 1)"]),
    Case("psync", ["shmem_barrier: pSync[0] is 7; set all its words to SHMEM_SYNC_VALUE"]),
    Case("lock_of_other", ["PE 1: shmem_clear_lock: PE 0 has the lock"]),
    Case("lock_free", ["shmem_clear_lock: nobody has the lock"]),
    Case("lock_twice", ["shmem_set_lock: this PE has the lock already"]),
    Case(
        "never_written", ["shmem_int_wait_until: the word at 0x", "is 0, did not become == 1 within"], variables=SHORT
    ),
    Case("never_comes", ["PE 1 did not come to shmem_barrier_all within 0.7 s"], variables=SHORT),
    Case("killed", ["shmem_barrier_all: process 1 of 3 (pid ", "has died"]),
    Case("killed_while_waiting", ["shmem_int_wait_until: process 2 of 3 (pid "]),
    Case("killed_while_testing", ["shmem_int_test: process 2 of 3 (pid "]),
    Case("killed_with_lock", ["shmem_set_lock: process 1 of 3 (pid "]),
    Case("exits_with_error", ["shmem_barrier_all: process 1 of 3 (pid "], 9),
    Case("global_exit", ["the last word"], 42),
    Case("global_exit_well", [], 0),
    Case("no_finalize", [], 0),
    Case("finalize_too_often", ["shmem_finalize: called outside shmem_init"], 0),
    Case("init_twice", [], 0),
]


# What is not alike on one host and on several; MPI_Init, though, waits for all without a deadline ("late").
OF_HOSTS = {
    *("handler", "before_init", "pe", "ctx_pe", "misaligned", "different_calls", "different_root", "psync"),
    *("lock_of_other", "lock_twice", "never_written", "never_comes", "killed", "killed_while_waiting"),
    *("exits_with_error", "global_exit", "global_exit_well", "no_finalize", "init_twice"),
}


def by_mpi(case: Case) -> Case | None:
    """mpirun notices by itself who has died, and ends the others."""
    if case.name not in OF_HOSTS:
        return None
    if case.name.startswith("killed"):
        return replace(case, says=["exited on signal 9"], code=128 + 9)
    return replace(case, says=[]) if case.name == "exits_with_error" else case


def complaints(program: str, case: Case, mpi: bool) -> list[str]:
    before = left_over()
    begun = time.monotonic()
    codes, output = run([program, case.name], case.n, 20, case.variables, mpi)
    found = [f"said nothing of: {text}" for text in case.says if text not in output]
    if (case.code == 0 and any(codes)) or case.code not in codes or None in codes:
        found.append(f"ended with {codes}")
    if time.monotonic() - begun > 8:
        found.append("took too long")
    if left_over() - before and not mpi:
        found.append("left something in /dev/shm")
    return [f"{case.name}: {text}\n{output}" for text in found]


def other_build(program: str, other: str, mpi: bool) -> list[str]:
    """One process of a job runs another executable."""
    rank = "OMPI_COMM_WORLD_RANK" if mpi else "STARLING_RANK"
    script = f'if [ "${rank}" = 1 ]; then exec "{other}"; else exec "{program}" pe; fi'
    codes, output = run(["sh", "-c", script], 3, 20, {}, mpi)
    if set(codes) == {1} and "process 1 runs another build of the program than process 0" in output:
        return []
    return [f"other_build: ended with {codes}\n{output}"]


def main() -> int:
    mpi = sys.argv[1] == "--mpi"
    program, other = (os.path.abspath(path) for path in sys.argv[-2:])
    cases = [case for each in CASES if (case := by_mpi(each) if mpi else each) is not None]
    found = [text for case in cases for text in complaints(program, case, mpi)]
    found += other_build(program, other, mpi)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
