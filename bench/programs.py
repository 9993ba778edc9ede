"""Runs benchmark programs, which print one JSON object a line, and names the files of their results."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

# Machines are shared: NVLink multicast can disturb others, so libraries that would use it by themselves must not.
ENVIRONMENT = {"NCCL_NVLS_ENABLE": "0"}


BEGIN = "begin"  # a program says so before each matrix or domain


@dataclass
class Outcome:
    """What a program printed, and how it failed if it did."""

    lines: list[dict] = field(default_factory=list)
    problem: str = ""


def parsed(text: str) -> dict | None:
    """The object of a line; None for what a program that died left unfinished."""
    with contextlib.suppress(ValueError):
        line = json.loads(text)
        if isinstance(line, dict):
            return line
    return None


def run(program: Path, arguments: list[object], seconds: float, quiet: float | None = None) -> Outcome:
    """Runs a program to its end, at most so many seconds, and at most `quiet` seconds without a line."""
    command = [str(program), *map(str, arguments)]
    print("running", *command, file=sys.stderr, flush=True)
    outcome = Outcome()
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT}
        )
    except OSError as reason:
        outcome.problem = str(reason)
    else:
        said: list[str] = []
        reader = threading.Thread(target=lambda: said.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
        reader.start()
        try:
            for text in lines_until(process, seconds, quiet or seconds):
                line = parsed(text)
                if line is not None:
                    outcome.lines.append(line)
            reader.join(10)
            if process.wait(10) != 0:
                outcome.problem = f"exit status {process.returncode}: {''.join(said).strip()[-300:]}"
        except TimeoutError as late:
            outcome.problem = str(late)
        finally:
            process.kill()
    if outcome.problem:
        print(f"  {outcome.problem}", file=sys.stderr)
    return outcome


def lines_until(process: subprocess.Popen[str], seconds: float, quiet: float) -> Iterator[str]:
    """The lines of a process as they come; TimeoutError when it has printed all it had time for."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in process.stdout or ():
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        try:
            line = lines.get(timeout=max(0.0, min(left, quiet)))
        except queue.Empty:
            why = f"no end after {seconds:.0f} s" if left <= quiet else f"no result for {quiet:.0f} s"
            raise TimeoutError(why) from None
        if line is None:
            return
        yield line


def lines_of(program: Path, arguments: list[object], seconds: float) -> list[dict]:
    """Runs one benchmark program; its failure is reported and leaves its other lines."""
    return run(program, arguments, seconds).lines


def over(
    key: str, option: str, todo: list[str], program: Path, arguments: list[object], seconds: float, quiet: float = 60
) -> list[dict]:
    """The results of a program for all the matrices, or whatever its lines name by `key` and it is given by `option`,
    that it gets through in this time. One that dies or says nothing for `quiet` seconds is started again for those
    behind the one where that happened."""
    end = time.monotonic() + seconds
    results: list[dict] = []
    while todo and end - time.monotonic() > 1:
        outcome = run(program, [*arguments, option, ",".join(todo)], end - time.monotonic(), quiet)
        results += [line for line in outcome.lines if line.get("what") != BEGIN]
        if not outcome.problem:
            return results
        seen = [todo.index(line[key]) for line in outcome.lines if line.get(key) in todo]
        stuck = max(seen, default=0)
        results.append({"what": program.name, key: todo[stuck], "error": outcome.problem})
        todo = todo[stuck + 1 :]
    results += [{"what": program.name, key: name, "error": "no time left"} for name in todo]
    return results


def devices_here(machine: dict, wanted: list[int]) -> list[int]:
    """Those numbers of devices that a machine has; virtual devices are as many as wanted."""
    most = len(machine["gpus"]) * machine.get("pes_per_gpu", 1)
    return [n for n in wanted if n <= most] if machine["gpus"] else wanted


def keep_results(folder: Path, machine: dict, devices: list[int], results: list[dict], **more: object) -> Path:
    """Writes the file of a machine's results, and says where."""
    target = write_results(folder, machine, devices, results, **more)
    print(f"{len(results)} results in {target}", file=sys.stderr)
    return target


def write_results(folder: Path, machine: dict, devices: list[int], results: list[dict], **more: object) -> Path:
    """Writes the file of a machine's results, completely or not at all. What PEs took that share GPUs lies in a folder
    of its own: times there are not those of links between GPUs, and no page or bar goes by them."""
    if machine["gpus"] and machine.get("pes_per_gpu", 1) > 1:
        folder /= "one_gpu"
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / result_file(machine, devices)
    unfinished = target.with_suffix(".part")
    unfinished.write_text(json.dumps({"machine": machine, **more, "results": results}, indent=1) + "\n")
    unfinished.replace(target)
    return target


def result_file(machine: dict, devices: list[int]) -> str:
    """The name of the file for a machine's results."""
    gpus = machine["gpus"]
    kind = re.sub(r"[^a-z0-9]+", "-", gpus[0].split(",")[0].lower()) if gpus else "virtual"
    most, each = max(devices, default=0), machine.get("pes_per_gpu", 1)
    if gpus and each > 1:
        return f"{kind}-x{-(-most // each)}-pes{each}.json"
    return f"{kind}-x{most}.json"
