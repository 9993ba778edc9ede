"""What is to be said of a trace in numbers, as plain data: in the timeline file, on the page and on the terminal."""

from __future__ import annotations

from typing import Any, TypedDict

import numpy as np

from starling.trace._spans import KINDS
from starling.trace._trace import MachineTrace, Trace


class CardSummary(TypedDict):
    """Entries that blocks posted to network cards."""

    posts: int
    completed: int
    failed: int
    median_us: float | None  # from post to completion; None: there was none


class MachineSummary(TypedDict):
    kind: str
    process: int
    devices: list[str]
    machine: str
    runs: int
    blocks: int
    records: int
    dropped: int
    unfinished: int
    alignment_error_ns: int
    host_error_ns: int
    bytes: list[list[int]]
    messages: list[list[int]]
    host_bytes: list[list[int]]
    host_messages: list[list[int]]
    overlap: list[float | None]
    overlap_all: float | None
    roles: dict[str, dict[str, float]]
    cards: CardSummary


def of_machine(m: MachineTrace) -> MachineSummary:
    flight = sum(o.flight for o in m.overlap)
    return {
        "kind": m.kind,
        "process": m.process,
        "devices": m.devices,
        "machine": m.summary,
        "runs": len(m.programs),
        "blocks": m.blocks,
        "records": m.records,
        "dropped": m.dropped,
        "unfinished": sum(int((~p.spans.returned).sum()) for p in m.programs),
        "alignment_error_ns": m.alignment_error,
        "host_error_ns": m.host_error,
        "bytes": m.matrix.bytes.tolist(),
        "messages": m.matrix.messages.tolist(),
        "host_bytes": m.matrix.host_bytes.tolist(),
        "host_messages": m.matrix.host_messages.tolist(),
        "overlap": [o.ratio for o in m.overlap],
        "overlap_all": sum(o.hidden for o in m.overlap) / flight if flight else None,
        "roles": {
            role: {f"{kind}_us": round(times[kind] / 1e3, 3) for kind in KINDS} for role, times in m.roles.items()
        },
        "cards": of_cards(m),
    }


def of_cards(m: MachineTrace) -> CardSummary:
    all_posts = [p.posts for p in m.programs]
    times = [(p.end - p.posted)[p.status == 0] for p in all_posts]
    done = np.concatenate(times) if times else np.empty(0, np.int64)
    return {
        "posts": sum(len(p) for p in all_posts),
        "completed": len(done),
        "failed": sum(int(p.failed.sum()) for p in all_posts),
        "median_us": round(float(np.median(done)) / 1e3, 3) if len(done) else None,
    }


def summary_of(trace: Trace) -> dict[str, Any]:
    return {"machines": [of_machine(m) for m in trace.machines], "problems": trace.problems}
