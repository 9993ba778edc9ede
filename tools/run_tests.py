#!/usr/bin/env python3
"""Runs every check of the project, one stage after another, and says at the end what held.

A stage that fails does not stop the others, except those that need what it makes. Each stage's output goes to
build/logs/<stage>.log; of a failed stage the end is shown. The last line is `N passed, M failed`.

Usage: run_tests.py [--verify | --all] [--only STAGE]... [--list]

Without a choice the stages that a newcomer wants run; --verify runs the rest of what must hold, --all both and what
takes longer still.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stages import STAGES, Stage, chosen_stages
from stages.places import LOGS, ROOT
from stages.reports import Count, reasons_in
from stages.run import Failed, Run, Skipped


def cpu_seconds() -> float:
    """User and system seconds of all commands so far: what the budgets of tests/README.md are in, since those of the
    wall clock depend on what else the machine does."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass
class Outcome:
    """How a stage went: a row of the summary."""

    stage: str
    verdict: str  # OK, FAILED or skipped
    note: str
    count: Count
    seconds: float = 0.0
    cpu: float = 0.0

    def row(self) -> str:
        """The line of the summary."""
        times = f"{self.seconds:7.1f} s  {self.cpu:7.1f} s CPU"
        return f"  {self.stage:<16}{times}   {self.verdict:<8} {self.note[:150]}".rstrip()


def outcome_of(stage: Stage, log: Path) -> Outcome:
    """Runs a stage, whatever comes of it."""
    with open(log, "w", encoding="utf-8") as stream:
        run = Run(stream)
        try:
            stage.action(run)
            if run.count and run.count.failed:
                raise Failed(f"{run.count.failed} failed, and no command said so by its exit status")
            note = f"{run.count.passed} tests" if run.count else ""
            return Outcome(stage.name, "OK", note, run.count or Count(passed=1))
        except Skipped as reason:
            return Outcome(stage.name, "skipped", str(reason), Count())
        except Failed as reason:
            stream.write(f"{reason}\n")
            count = run.count or Count()
            count.failed = max(count.failed, 1)
            return Outcome(stage.name, "FAILED", str(reason), count)
        except OSError as reason:  # a tool that is not there
            return Outcome(stage.name, "FAILED", str(reason), Count(failed=1))


def run_stages(stages: Sequence[Stage]) -> list[Outcome]:
    """Runs stages in order, without those that need one that did not hold, and shows of each what came of it."""
    LOGS.mkdir(parents=True, exist_ok=True)
    outcomes: dict[str, Outcome] = {}
    for stage in stages:
        print(f"== {stage.name} ", end="", flush=True)
        start, used = time.monotonic(), cpu_seconds()
        log = LOGS / f"{stage.name}.log"
        missing = [need for need in stage.needs if need not in outcomes or outcomes[need].verdict != "OK"]
        if missing:
            done = Outcome(stage.name, "skipped", f"needs {', '.join(missing)}", Count())
        else:
            done = outcome_of(stage, log)
        done.seconds, done.cpu = time.monotonic() - start, cpu_seconds() - used
        outcomes[stage.name] = done
        print(f"{done.verdict} ({done.seconds:.1f} s)", flush=True)
        if done.verdict == "FAILED":
            show_failure(log)
    return list(outcomes.values())


def show_failure(log: Path) -> None:
    """Prints of a log what says why its stage failed."""
    for line in reasons_in(log.read_text(encoding="utf-8", errors="replace")):
        print(f"    {line[:300]}")
    print(f"    (all of it: {log.relative_to(ROOT)})", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Runs every check of the project and says at the end what held.")
    parser.add_argument("--verify", action="store_true", help="what the quick tests leave out")
    parser.add_argument("--all", action="store_true", help="everything, what takes long too")
    parser.add_argument("--only", action="append", default=[], choices=[stage.name for stage in STAGES])
    parser.add_argument("--list", action="store_true", help="name the stages and stop")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(stage.name for stage in STAGES))
        return 0

    sets = ("test", "verify", "all") if arguments.all else ("verify",) if arguments.verify else ("test",)
    outcomes = run_stages(chosen_stages(arguments.only, sets))
    failed = sum(done.count.failed for done in outcomes)
    print("\nSummary")
    print("\n".join(done.row() for done in outcomes))
    print(f"{sum(done.count.passed for done in outcomes)} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
