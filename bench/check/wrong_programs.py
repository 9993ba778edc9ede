"""The programs of tests/wrong that are wrong within a block: which there are, and what processes say that run them."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

SOURCES = "threads_*_kernels.cpp"
SKIPPED = "skipped"
# How lines of compute-sanitizer begin, and which of them are not about a kernel.
MARK = "========= "
NO_REPORT = re.compile(r"COMPUTE-SANITIZER|(\w+ )?SUMMARY|Error: (process|Target application)")


@dataclass(frozen=True)
class Program:
    name: str
    pattern: str
    """Of which kind its kernel is, as its source is named."""
    check_mode: bool
    """Whether check mode finds the mistake."""
    pes: int


def programs_in(folder: Path) -> list[Program]:
    """All of the sources in a folder, those of the fewest PEs first."""
    found = []
    for source in sorted(folder.glob(SOURCES)):
        pattern = source.name.removeprefix("threads_").removesuffix("_kernels.cpp").replace("_", " ")
        for name, suite, wanted in re.findall(r"WRONG_PROGRAM\((\w+), (\w+),(.*?)\) \{", source.read_text(), re.S):
            pes = re.search(r"\.pes = (\d+)", wanted)
            found.append(Program(name, pattern, suite == "found", int(pes[1]) if pes else 2))
    return sorted(found, key=lambda p: p.pes)


@dataclass
class Said:
    """What processes have printed that ran some programs."""

    outcomes: dict[str, list[str]] = field(default_factory=dict)
    """By program, one of each run: right, wrong result, skipped, or an error."""
    reports: Counter[str] = field(default_factory=Counter)
    """By program, what a tool says of it; under an empty name what it says of none."""
    judged: set[str] = field(default_factory=set)
    """The programs of processes that came to their end, so that no report is missing."""
    log: list[str] = field(default_factory=list)


def reports_in(lines: Iterable[str], names: Sequence[str]) -> Counter[str]:
    """How many of a tool's reports are about each program, whose name is in that of its kernel.

    A report is a line and the indented ones that follow it.
    """
    name = re.compile(rf"(?<![a-z_])({'|'.join(map(re.escape, names))})(?![a-z_0-9])")  # in mangled names too
    reports: list[str] = []
    for text in (line.removeprefix(MARK) for line in lines if line.startswith(MARK)):
        if text.startswith(" ") and reports:
            reports[-1] += f"\n{text}"
        elif text.strip() and not NO_REPORT.match(text):
            reports.append(text)
    found = (name.search(report) for report in reports)
    return Counter(about[1] if about else "" for about in found)


def run(
    words: Sequence[str | Path],
    programs: Sequence[Program],
    environment: dict[str, str],
    silence: float,
    deadline: float,
) -> Said:
    """Runs programs one after the other in a process, and what is left in another one when a program has ended it.

    `silence`: seconds without a line after which a program counts as one without an end. `deadline`: by the monotonic
    clock; what has not run then is left out.
    """
    said = Said()
    left = list(programs)
    while left and time.monotonic() < deadline:
        command = [*map(str, words), f"--test-case={','.join(p.name for p in left)}"]
        lines, end = _lines_of(command, {**os.environ, **environment}, silence, deadline)
        said.log += [f"$ {' '.join(command)}", *lines, f"[{end or 'ended'}]"]
        begun = [line.removeprefix("begin ") for line in lines if line.startswith("begin ")]
        for name, outcome in (m.groups() for line in lines if (m := re.match(r"outcome of (\w+): (.*)", line))):
            said.outcomes.setdefault(name, []).append(outcome)
        said.reports += reports_in(lines, [p.name for p in left])
        if not begun:
            break  # the process cannot run any
        if not end:
            said.judged.update(begun)
        elif end != "out of time" and (not said.outcomes.get(begun[-1]) or not _is_over(said, begun[-1])):
            said.outcomes.setdefault(begun[-1], []).append(end)
        left = [p for p in left if p.name not in begun]
        if not end:
            break
    return said


def _is_over(said: Said, name: str) -> bool:
    return said.outcomes[name][-1].startswith("device error")


def _lines_of(
    command: list[str], environment: dict[str, str], silence: float, deadline: float
) -> tuple[list[str], str]:
    """What it prints, and how it ended if not by itself."""
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None
    coming: queue.Queue[str | None] = queue.Queue()

    def read(stream: Iterable[str]) -> None:
        for line in stream:
            coming.put(line.rstrip("\n"))
        coming.put(None)

    threading.Thread(target=read, args=(process.stdout,), daemon=True).start()
    lines: list[str] = []
    end = ""
    while not end:
        try:
            line = coming.get(timeout=max(0.0, min(silence, deadline - time.monotonic())))
        except queue.Empty:
            end = "out of time" if time.monotonic() >= deadline else f"no end after {silence:.0f} s"
            break
        if line is None:
            break
        lines.append(line)
        if re.match(r"outcome of \w+: device error", line):
            end = "a device error"  # nothing that comes after it in that process counts
    if end:
        os.killpg(process.pid, signal.SIGKILL)
    status = process.wait()
    if not end and status < 0:
        end = f"the process ended by signal {-status}"
    return lines, end
