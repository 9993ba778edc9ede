"""A timeline file as columns, for drawing: tracks, calls and gaps, arrows."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling._files import check_readable
from starling.errors import ArgumentError

# For each role its own colour; a kind is a shade of it. The first are those of matplotlib's tab10, which most eyes can
# tell apart.
ROLE_COLOURS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#b07aa1",
    "#9c755f",
    "#e15759",
    "#76b7b2",
    "#edc948",
    "#ff9da7",
    "#86bcb6",
    "#8cd17d",
    "#d37295",
    "#a0cbe8",
    "#ffbe7d",
    "#79706e",
    "#499894",
)
HOST_COLOUR = "#79706e"
KINDS = ("compute", "put", "wait", "sync", "host")
# How much of white is mixed into the colour of the role.
PALE = {"compute": 0.0, "put": -0.45, "wait": 0.62, "sync": 0.82, "host": 0.3}


@dataclass
class View:
    """Times in nanoseconds from the begin of the trace."""

    summary: dict[str, Any]
    processes: dict[int, str]
    tracks: list[tuple[int, int, str]]  # process, thread, name; in the order of the picture
    roles: list[str]
    names: list[str]
    track: NDArray[np.int64]
    name: NDArray[np.int64]
    kind: NDArray[np.int64]
    role: NDArray[np.int64]  # -1: the host
    start: NDArray[np.int64]
    duration: NDArray[np.int64]
    args: list[dict[str, Any]]
    arrows: NDArray[np.int64]  # [n][4]: from track, time, to track, time


def _ns(us: float) -> int:
    return round(us * 1000)


def load(path: Path) -> View:
    """Reads a timeline that ``starling trace`` or ``starling.trace.record`` wrote.

    Raises:
        ArgumentError: The file is something else.
    """
    check_readable(path)
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as problem:
        raise ArgumentError(f"{path} is not JSON ({problem}); pass the file that `starling trace` wrote") from None
    if not isinstance(content, dict) or "starling" not in content or "traceEvents" not in content:
        raise ArgumentError(f"{path} is not a timeline of Starling; pass the file that `starling trace` wrote")
    try:
        return _view(content)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ArgumentError(
            f"{path} is damaged ({type(problem).__name__}: {problem}); write it again with `starling trace`"
        ) from None


def _view(content: dict[str, Any]) -> View:
    events = content["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    tracks = [(pid, tid, threads[pid, tid]) for pid, tid in sorted(threads)]
    number = {(pid, tid): i for i, (pid, tid, _) in enumerate(tracks)}
    spans = [e for e in events if e["ph"] == "X"]
    names = sorted({e["name"] for e in spans})
    roles = list(dict.fromkeys(r for m in content["starling"]["machines"] for r in m["roles"]))
    role_of = {role: i for i, role in enumerate(roles)}

    def role(e: dict[str, Any]) -> int:
        return -1 if e["cat"] == "host" else role_of[e["name"].rpartition(": ")[0]]

    name_of = {name: i for i, name in enumerate(names)}

    def column(values: list[int]) -> NDArray[np.int64]:
        return np.array(values, dtype=np.int64)

    begins = {e["id"]: e for e in events if e["ph"] == "s"}
    arrows = [
        (number[b["pid"], b["tid"]], _ns(b["ts"]), number[e["pid"], e["tid"]], _ns(e["ts"]))
        for e in events
        if e["ph"] == "f" and (b := begins.get(e["id"]))
    ]
    return View(
        summary=content["starling"],
        processes=processes,
        tracks=tracks,
        roles=roles,
        names=names,
        track=column([number[e["pid"], e["tid"]] for e in spans]),
        name=column([name_of[e["name"]] for e in spans]),
        kind=column([KINDS.index(e["cat"]) for e in spans]),
        role=column([role(e) for e in spans]),
        start=column([_ns(e["ts"]) for e in spans]),
        duration=column([_ns(e["dur"]) for e in spans]),
        args=[e.get("args", {}) for e in spans],
        arrows=np.array(arrows, dtype=np.int64).reshape(-1, 4),
    )


def colour(role: int, kind: str) -> str:
    """The colour of a role in a shade for what it does, as #rrggbb."""
    base = HOST_COLOUR if role < 0 else ROLE_COLOURS[role % len(ROLE_COLOURS)]
    pale = PALE[kind]
    other = 255 if pale > 0 else 0
    parts = (round(int(base[i : i + 2], 16) * (1 - abs(pale)) + other * abs(pale)) for i in (1, 3, 5))
    return "#" + "".join(f"{part:02x}" for part in parts)
