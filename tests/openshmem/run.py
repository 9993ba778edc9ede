#!/usr/bin/env python3
"""Runs a program in several processes, as `starling launch` does, and says whether they ended as expected.

Usage: run.py [-n 1,2,4] [--mpi] [--seconds N] [--code N] [--says TEXT]... [--variable NAME=VALUE]... PROGRAM
[ARGUMENT]...

Each process must end with exit code 0, or, with --code, one of them at least with that one; and each --says must be in
what one of them printed. With --mpi, mpirun starts them, each as a host of its own; its exit code is that of all.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path


def commands(command: Sequence[str], n: int, mpi: bool) -> list[tuple[list[str], dict[str, str]]]:
    """What is to be started, with variables of its own."""
    if mpi:
        options = ["--oversubscribe", "--allow-run-as-root", "--bind-to", "none"]
        return [(["mpirun", "-n", str(n), *options, *command], {"STARLING_TRANSPORT": "mpi"})]
    job = {"STARLING_RANKS": str(n), "STARLING_RENDEZVOUS": secrets.token_hex(16)}
    return [([*command], {"STARLING_RANK": str(rank), **job}) for rank in range(n)]


def run(
    command: Sequence[str], n: int, seconds: float, variables: dict[str, str], mpi: bool = False
) -> tuple[list[int | None], str]:
    """Exit codes by rank, or that of mpirun, None for who was not ended in time, and all that they printed."""
    with tempfile.TemporaryFile() as output:
        children = [
            subprocess.Popen(
                words,
                env={**os.environ, "STARLING_HOST_MEMORY": "64M", **variables, **own},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
            for words, own in commands(command, n, mpi)
        ]
        limit = time.monotonic() + seconds
        codes: list[int | None] = []
        for child in children:
            try:
                codes.append(child.wait(max(0.0, limit - time.monotonic())))
            except subprocess.TimeoutExpired:
                codes.append(None)
        for child in children:
            if child.poll() is None:
                child.terminate() if mpi else child.kill()  # mpirun ends the processes that it has started
                child.wait()
        output.seek(0)
        return codes, output.read().decode(errors="replace")


def complaints(codes: list[int | None], output: str, code: int, says: list[str]) -> list[str]:
    found = [f"process {rank} did not end" for rank, got in enumerate(codes) if got is None]
    if code == 0:
        found += [f"process {rank} ended with {got}" for rank, got in enumerate(codes) if got]
    elif code not in codes:
        found.append(f"no process ended with {code}: {codes}")
    return found + [f"nobody said: {text}" for text in says if text not in output]


def left_over() -> set[str]:
    """But for what an MPI that runs beside it has there."""
    names = os.listdir("/dev/shm") if Path("/dev/shm").is_dir() else []
    return {name for name in names if not name.startswith("vader_segment")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs a program in several processes.")
    parser.add_argument("-n", "--processes", default="1,2,3,4,5")
    parser.add_argument("--mpi", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--code", type=int, default=0)
    parser.add_argument("--says", action="append", default=[])
    parser.add_argument("--variable", action="append", default=[])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    variables = dict(text.split("=", 1) for text in given.variable)
    failed = False
    for n in map(int, given.processes.split(",")):
        before = left_over()
        codes, output = run(given.command, n, given.seconds, variables, given.mpi)
        wrong = complaints(codes, output, given.code, given.says)
        # mpirun takes long enough for others to begin something there.
        wrong += [f"left in /dev/shm: {name}" for name in left_over() - before if not given.mpi]
        if wrong:
            failed = True
            print(f"{n} processes: {'; '.join(wrong)}\n{output}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
