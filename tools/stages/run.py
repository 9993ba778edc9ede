"""What a stage works with: it runs commands, keeps what they print and counts the tests that they report."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from stages.places import PYTHON, ROOT
from stages.reports import Count, tests_in

__all__ = ["Failed", "Run", "Skipped"]


class Failed(Exception):
    """A stage did not hold."""


class Skipped(Exception):
    """A stage does not apply to this machine."""


class Run:
    """What a stage works with: its log, and the tests it has counted so far."""

    def __init__(self, log: TextIO) -> None:
        self.log = log
        self.count: Count | None = None

    def command(self, *words: str | Path, timeout: float = 900, **environment: str) -> str:
        """Runs a command to its end and returns its output; what it prints goes to the log."""
        shown = " ".join(str(word).removeprefix(f"{ROOT}/") for word in words)
        self.log.write(f"$ {shown}\n")
        self.log.flush()
        start = self.log.tell()
        process = subprocess.Popen(
            [str(word) for word in words],
            cwd=ROOT,
            env={**os.environ, "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}", **environment},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(timeout)
        except (subprocess.TimeoutExpired, KeyboardInterrupt) as stop:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            if isinstance(stop, KeyboardInterrupt):
                raise
            status = None
        self.log.seek(0, os.SEEK_END)
        with open(self.log.name, encoding="utf-8", errors="replace") as written:
            written.seek(start)
            output = written.read()
        self.tally(output)
        if status is None:
            raise Failed(f"no end after {timeout:.0f} s: {shown[:80]}")
        if status != 0:
            raise Failed(f"exit status {status}: {shown[:80]}")
        return output

    def all_of(self, *commands: Sequence[str | Path]) -> None:
        """Runs commands that do not depend on each other: all, whatever fails."""
        failures = []
        for words in commands:
            try:
                self.command(*words)
            except Failed as failure:
                failures.append(str(failure))
        if failures:
            raise Failed("; ".join(failures))

    def tally(self, output: str) -> None:
        found = tests_in(output)
        if found is not None:
            self.count = self.count or Count()
            self.count.passed += found.passed
            self.count.failed += found.failed
