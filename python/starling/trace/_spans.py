"""The records of a program on one clock: when each call started and ended, which call it was made inside, and the
computation between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling.trace._format import OPERATIONS, RawProgram
from starling.trace._posts import POST, Posts, posts_of

Times = NDArray[np.int64]

NO_PARENT = -1
# What a block does in a call. Everything else is computation.
KIND_OF = {
    **dict.fromkeys(("put", "put_signal", "put_packets", "get", "signal", "atomic", "fence", "quiet"), "put"),
    **dict.fromkeys(("wait", "take_packet"), "wait"),
    **dict.fromkeys(("sync_pe", "sync_all", "all_reduce", "broadcast"), "sync"),
}
KINDS = ("compute", "put", "wait", "sync")
KIND_OF_OP = np.array([KINDS.index(KIND_OF[op]) if op in KIND_OF else 0 for op in OPERATIONS])
OP = {name: number for number, name in enumerate(OPERATIONS)}


@dataclass
class Spans:
    """One entry per record, block after block, in the order of their starts. Times: nanoseconds of the host's clock."""

    pe: NDArray[np.int64]
    block: NDArray[np.int64]
    start: Times
    end: Times
    own: Times  # without the calls made inside it
    parent: NDArray[np.int64]  # the call that it was made inside, or NO_PARENT
    returned: NDArray[np.bool_]
    op: NDArray[np.int64]
    peer: NDArray[np.int64]
    signal: NDArray[np.int64]
    value: NDArray[np.uint64]
    bytes: NDArray[np.int64]
    adds: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.start)


@dataclass
class Gaps:
    """Computation: where a block was in no call."""

    pe: NDArray[np.int64]
    block: NDArray[np.int64]
    start: Times
    end: Times


@dataclass
class Program:
    """One program of one run. Block tables are [PE][block]."""

    pes: int
    blocks: int
    capacity: int
    roles: list[str]
    role_of: NDArray[np.int64]  # by block
    start: int
    end: int
    alignment_error: int  # two PEs' times are right to each other within this, in ns
    host_error: int  # the same between PE 0 and the host
    resolution: int
    written: NDArray[np.int64]
    dropped: NDArray[np.int64]
    first: Times  # from here on the records are complete
    last: Times  # the block returned, or the program was ended
    returned: NDArray[np.bool_]
    spans: Spans
    gaps: Gaps
    posts: Posts  # to network cards


def _clock_of(head: Any, rate: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Known points (ticks, ns), relative to the begin of the block; at least two."""
    pairs = [head["begin"], *head["between"][head["between"]["ticks"] > head["begin"]["ticks"]], head["end"]]
    known = sorted({int(p["ticks"]): int(p["ns"]) for p in pairs if p["ticks"] >= head["begin"]["ticks"]}.items())
    first_ticks, first_ns = int(head["begin"]["ticks"]), int(head["begin"]["ns"])
    ticks = np.array([t - first_ticks for t, _ in known], dtype=np.float64)
    ns = np.array([n - first_ns for _, n in known], dtype=np.float64)
    ns = np.maximum.accumulate(ns)
    # Beyond the known points the clock goes on as between the outermost of them.
    span = ticks[-1] - ticks[0]
    slope = (ns[-1] - ns[0]) / span if span > 0 and ns[-1] > ns[0] else 1 / rate
    far = float(2**40)
    return np.append(ticks, ticks[-1] + far), np.append(ns, ns[-1] + far * slope)


def _times(heads: NDArray[Any], facts: dict[str, Any], ticks: NDArray[np.uint64], of: NDArray[np.int64]) -> Times:
    """Ticks of blocks as nanoseconds of the host; `of` says whose, as PE * blocks + block, in ascending order."""
    result = np.empty(len(ticks), dtype=np.int64)
    flat = heads.reshape(-1)
    edges = np.searchsorted(of, np.arange(len(flat) + 1))
    for i, head in enumerate(flat):
        part = slice(edges[i], edges[i + 1])
        clock = facts["clocks"][i // facts["blocks"]]
        shift = int(head["begin"]["ns"]) - clock["offset"] - facts["host_offset"]
        since = (ticks[part] - head["begin"]["ticks"]).astype(np.int64)
        if head["begin"]["ticks"] == head["begin"]["ns"]:  # the clock counts nanoseconds
            result[part] = since + shift
        else:
            known = _clock_of(head, clock["rate"])
            result[part] = np.rint(np.interp(since, *known)).astype(np.int64) + shift
    return result


def _nesting(start: Times, end: Times) -> NDArray[np.int64]:
    """The parent of each call of one block; `start` ascends."""
    parent = np.full(len(start), NO_PARENT, dtype=np.int64)
    level = np.arange(len(start))
    while len(level):
        reach = np.maximum.accumulate(end[level])
        top = np.ones(len(level), dtype=bool)
        top[1:] = start[level[1:]] >= reach[:-1]
        tops, level = level[top], level[~top]
        # Right for those that are outermost among the rest; the next round corrects the others.
        parent[level] = tops[np.searchsorted(tops, level) - 1]
    return parent


def program_of(raw: RawProgram) -> Program:
    """Puts a program's records on the host's clock."""
    facts, heads, records = raw.facts, raw.heads, raw.records
    pes, blocks, capacity = int(facts["pes"]), int(facts["blocks"]), int(facts["capacity"])
    written = heads["written"].astype(np.int64)
    kept = np.minimum(written, capacity)
    of = np.repeat(np.arange(pes * blocks), kept.reshape(-1))
    everyone = np.arange(pes * blocks)
    table = (pes, blocks)
    started = heads["begin"]["ticks"].reshape(-1) != 0
    begin = _times(heads, facts, heads["begin"]["ticks"].reshape(-1), everyone)
    returned = heads["end"]["ticks"].reshape(-1) != 0
    last = _times(heads, facts, heads["end"]["ticks"].reshape(-1), everyone)
    start = _times(heads, facts, records["start"], of)
    end = _times(heads, facts, records["end"], of)
    open_ = records["end"] == 0
    # A block that was ended was so at the latest when the program was, or when something was last heard of it.
    program_end = int(facts["end"])
    begin[~started] = program_end
    latest = np.full(pes * blocks, program_end, dtype=np.int64)
    np.maximum.at(latest, of, start)
    np.maximum.at(latest, of[~open_], end[~open_])
    last = np.where(returned, last, latest)
    end = np.where(open_, last[of], end)
    end = np.maximum(end, start)

    first = begin.copy()
    full = np.flatnonzero((written > capacity).reshape(-1))
    first[full] = start[(np.cumsum(kept.reshape(-1)) - kept.reshape(-1))[full]]
    posts = posts_of(records, of, start, end, last, blocks)
    calls = records["op"] < POST
    records, of, start, end, open_ = records[calls], of[calls], start[calls], end[calls], open_[calls]

    parent = np.full(len(records), NO_PARENT, dtype=np.int64)
    edges = np.searchsorted(of, np.arange(pes * blocks + 1))
    for i in np.unique(of):
        part = slice(edges[i], edges[i + 1])
        inside = _nesting(start[part], end[part])
        parent[part] = np.where(inside == NO_PARENT, NO_PARENT, inside + edges[i])
    own = end - start
    nested = parent != NO_PARENT
    np.subtract.at(own, parent[nested], (end - start)[nested])

    spans = Spans(
        pe=of // blocks,
        block=of % blocks,
        start=start,
        end=end,
        own=own,
        parent=parent,
        returned=~open_,
        op=records["op"].astype(np.int64),
        peer=records["peer"].astype(np.int64),
        signal=records["signal"].astype(np.int64),
        value=records["value"].astype(np.uint64),
        bytes=records["bytes"].astype(np.int64),
        adds=records["adds"] != 0,
    )
    offsets = [role["first"] for role in facts["roles"]]
    errors = sorted((int(c["error"]) for c in facts["clocks"]), reverse=True)
    return Program(
        pes=pes,
        blocks=blocks,
        capacity=capacity,
        roles=[role["name"] for role in facts["roles"]],
        role_of=np.searchsorted(offsets, np.arange(blocks), side="right") - 1,
        start=int(facts["start"]),
        end=program_end,
        alignment_error=sum(errors[:2]),
        host_error=int(facts["host_error"]),
        resolution=int(facts["resolution"]),
        written=written,
        dropped=written - kept,
        first=first.reshape(table),
        last=last.reshape(table),
        returned=returned.reshape(table),
        spans=spans,
        gaps=_gaps(spans, of, first, last, blocks),
        posts=posts,
    )


def _gaps(spans: Spans, of: NDArray[np.int64], first: Times, last: Times, blocks: int) -> Gaps:
    """Before, between and after the outermost calls of each block."""
    top = np.flatnonzero(spans.parent == NO_PARENT)
    # One imaginary call of no length at the begin and the end of each block.
    everyone = np.arange(len(first))
    whose = np.concatenate([everyone, of[top], everyone])
    start = np.concatenate([first, spans.start[top], last])
    end = np.concatenate([first, spans.end[top], last])
    part = np.concatenate([np.zeros(len(first)), np.ones(len(top)), np.full(len(first), 2)])
    order = np.lexsort((np.arange(len(whose)), part, whose))
    whose, start, end = whose[order], start[order], end[order]
    gap = (whose[1:] == whose[:-1]) & (start[1:] > end[:-1])
    return Gaps(whose[1:][gap] // blocks, whose[1:][gap] % blocks, end[:-1][gap], start[1:][gap])
