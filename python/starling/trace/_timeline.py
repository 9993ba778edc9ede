"""The timeline as a file that Perfetto and chrome://tracing open: Chrome's trace event format."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling._files import written_whole
from starling.trace._format import ACTIVITIES, OPERATIONS
from starling.trace._measures import Flows
from starling.trace._posts import OPCODES, STATUSES, UNSEEN
from starling.trace._spans import KIND_OF_OP, KINDS, Program
from starling.trace._summary import summary_of
from starling.trace._trace import MachineTrace, Trace

MOST_EVENTS = 400_000

# Colours that chrome://tracing knows, one per role. Perfetto chooses by name, and names begin with the role.
COLOURS = (
    "thread_state_running",
    "rail_response",
    "rail_animation",
    "cq_build_passed",
    "thread_state_iowait",
    "rail_load",
    "cq_build_running",
    "thread_state_runnable",
    "generic_work",
    "rail_idle",
    "good",
    "bad",
    "terrible",
    "olive",
    "grey",
    "black",
)
HOST_TRACK = 900  # among the processes of a machine, behind its PEs
PER_MACHINE = 1000


def first_time(trace: Trace, most: int) -> tuple[int, int]:
    """From when on calls and gaps are shown, so that there are at most about `most`; and how many are left out."""
    ends = [t for m in trace.machines for p in m.programs for t in (p.spans.end, p.gaps.end, p.posts.end)]
    everything = np.concatenate(ends) if ends else np.empty(0, np.int64)
    if len(everything) <= most:
        return trace.begin, 0
    cut = int(np.partition(everything, len(everything) - most)[len(everything) - most])
    return cut, int((everything < cut).sum())


def track_offsets(machine: MachineTrace) -> list[int]:
    """By program: the track of its block 0. Programs that ran together have tracks of their own."""
    offsets = []
    for i, program in enumerate(machine.programs):
        together = [p for p in machine.programs[:i] if p.start < program.end and program.start < p.end]
        offsets.append(sum(p.blocks for p in together))
    return offsets


def _text(**parts: Any) -> str:
    return json.dumps(parts, separators=(",", ":"))


class _Writer:
    """The events of one machine, as lines of JSON."""

    def __init__(self, number: int, machine: MachineTrace, begin: int, cut: int) -> None:
        self.machine = machine
        self.begin = begin
        self.cut = cut
        self.first_pid = number * PER_MACHINE + 1
        self.host_pid = self.first_pid + HOST_TRACK
        self.label = f"machine {number}, " if number else ""
        self.offsets = track_offsets(machine)
        self.colour: dict[str, str] = {}
        for program in machine.programs:
            for role in program.roles:
                self.colour.setdefault(role, COLOURS[len(self.colour) % len(COLOURS)])

    def us(self, times: NDArray[np.int64]) -> list[str]:
        """Microseconds from the begin of the trace, to the nanosecond."""
        return [f"{t // 1000}.{t % 1000:03d}" for t in (times - self.begin).tolist()]

    def lines(self) -> Iterator[str]:
        yield from self._names()
        flow = self.first_pid * 10_000_000
        post = self.first_pid * 10_000_000
        for program, offset, flows in zip(self.machine.programs, self.offsets, self.machine.flows, strict=True):
            yield from self._gaps(program, offset)
            yield from self._spans(program, offset)
            yield from self._posts(program, offset, post)
            post += len(program.posts)
            yield from self._drops(program, offset)
            yield from self._flows(program, offset, flows, flow)
            flow += len(flows[0])
        yield from self._activities()

    def _names(self) -> Iterator[str]:
        def name(what: str, pid: int, text: str, tid: int = 0) -> str:
            return _text(ph="M", name=what, pid=pid, tid=tid, args={"name": text})

        def order(what: str, pid: int, at: int, tid: int = 0) -> str:
            return _text(ph="M", name=what, pid=pid, tid=tid, args={"sort_index": at})

        for pe, device in enumerate(self.machine.devices):
            pid = self.first_pid + pe
            yield name("process_name", pid, f"{self.label}PE {pe} ({device})")
            yield order("process_sort_index", pid, pid)
            tracks: dict[int, set[str]] = {}
            for program, offset in zip(self.machine.programs, self.offsets, strict=True):
                for block in range(program.blocks):
                    tracks.setdefault(offset + block, set()).add(program.roles[program.role_of[block]])
            for track, roles in sorted(tracks.items()):
                yield name("thread_name", pid, f"block {track} ({' / '.join(sorted(roles))})", track + 1)
                yield order("thread_sort_index", pid, track + 1, track + 1)
        yield name("process_name", self.host_pid, f"{self.label}host (process {self.machine.process})")
        yield order("process_sort_index", self.host_pid, self.host_pid)
        yield name("thread_name", self.host_pid, "calls", 1)
        for stream in sorted(set(self.machine.activities["stream"].tolist()) - {0}):
            pe = int(self.machine.activities["pe"][self.machine.activities["stream"] == stream][0])
            yield name("thread_name", self.host_pid, f"stream {stream} of PE {pe}", stream + 1)

    def _head(self, ts: str, dur: str, pid: int, tid: int, what: str, kind: str, role: str) -> str:
        return (
            f'{{"ph":"X","ts":{ts},"dur":{dur},"pid":{pid},"tid":{tid},"name":{what},"cat":"{kind}"'
            f',"cname":"{self.colour[role]}"'
        )

    def _gaps(self, program: Program, offset: int) -> Iterator[str]:
        gaps = program.gaps
        chosen = np.flatnonzero(gaps.end >= self.cut)
        names = {role: json.dumps(f"{role}: compute") for role in program.roles}
        columns = (
            self.us(gaps.start[chosen]),
            durations(gaps.end[chosen] - gaps.start[chosen]),
            (gaps.pe[chosen] + self.first_pid).tolist(),
            gaps.block[chosen].tolist(),
        )
        for ts, dur, pid, block in zip(*columns, strict=True):
            role = program.roles[program.role_of[block]]
            yield self._head(ts, dur, pid, offset + block + 1, names[role], "compute", role) + "}"

    def _spans(self, program: Program, offset: int) -> Iterator[str]:
        spans = program.spans
        chosen = np.flatnonzero(spans.end >= self.cut)
        names = {(r, op): json.dumps(f"{r}: {op}") for r in program.roles for op in OPERATIONS}
        columns = (
            self.us(spans.start[chosen]),
            durations(spans.end[chosen] - spans.start[chosen]),
            (spans.pe[chosen] + self.first_pid).tolist(),
            spans.block[chosen].tolist(),
            spans.op[chosen].tolist(),
            spans.peer[chosen].tolist(),
            spans.bytes[chosen].tolist(),
            spans.signal[chosen].tolist(),
            spans.value[chosen].tolist(),
            spans.returned[chosen].tolist(),
        )
        for ts, dur, pid, block, number, peer, size, signal, value, returned in zip(*columns, strict=True):
            role = program.roles[program.role_of[block]]
            op = OPERATIONS[number]
            kind = KINDS[KIND_OF_OP[number]]
            parts = [] if peer < 0 else [f'"peer":{peer}']
            if kind == "put" and op not in ("fence", "quiet"):
                parts.append(f'"bytes":{size}')
            if op in ("put_signal", "put_packets", "signal", "wait", "take_packet"):
                parts.append(f'"signal":"+{signal:#x}","value":{value}')
            if not returned:
                parts.append('"returned":false')
            args = f',"args":{{{",".join(parts)}}}' if parts else ""
            yield self._head(ts, dur, pid, offset + block + 1, names[role, op], kind, role) + args + "}"

    def _posts(self, program: Program, offset: int, number: int) -> Iterator[str]:
        """Of a network card: a span of its own from the post of an entry to its completion, since they overlap."""
        posts = program.posts
        chosen = np.flatnonzero(posts.end >= self.cut)
        columns = (
            chosen.tolist(),
            self.us(posts.posted[chosen]),
            self.us(posts.end[chosen]),
            (posts.pe[chosen] + self.first_pid).tolist(),
            posts.block[chosen].tolist(),
            posts.queue[chosen].tolist(),
            posts.number[chosen].tolist(),
            posts.opcode[chosen].tolist(),
            posts.peer[chosen].tolist(),
            posts.bytes[chosen].tolist(),
            posts.status[chosen].tolist(),
        )
        for i, ts, end_ts, pid, block, queue, entry, opcode, peer, size, status in zip(*columns, strict=True):
            role = program.roles[program.role_of[block]]
            common = f'"cat":"card","id":{number + i},"pid":{pid},"tid":{offset + block + 1}'
            common += f',"name":{json.dumps(f"{role}: card, queue {queue} to PE {peer}")}'
            what = json.dumps(OPCODES.get(opcode, f"opcode {opcode:#x}"))
            answer = json.dumps("none" if status == UNSEEN else STATUSES.get(status, f"status {status:#x}"))
            yield (
                f'{{"ph":"b","ts":{ts},{common},"args":{{"what":{what},"entry":{entry},"queue":{queue},"peer":{peer},'
                f'"bytes":{size},"completion":{answer}}}}}'
            )
            yield f'{{"ph":"e","ts":{end_ts},{common}}}'

    def _drops(self, program: Program, offset: int) -> Iterator[str]:
        for pe, block in np.argwhere(program.dropped > 0):
            yield _text(
                ph="i",
                s="t",
                name=f"{int(program.dropped[pe, block])} older records dropped",
                ts=max(int(program.first[pe, block]), self.cut) / 1e3 - self.begin / 1e3,
                pid=int(pe) + self.first_pid,
                tid=offset + int(block) + 1,
            )

    def _flows(self, program: Program, offset: int, flows: Flows, number: int) -> Iterator[str]:
        spans = program.spans
        source, target = flows
        shown = (spans.end[source] >= self.cut) & (spans.end[target] >= self.cut)
        source, target = source[shown], target[shown]
        # An arrow begins where the put does and ends in the last nanosecond of the wait.
        ends = np.maximum(spans.start[target], spans.end[target] - 1)
        for phase, at, who in (("s", spans.start[source], source), ("f", ends, target)):
            bound = ',"bp":"e"' if phase == "f" else ""
            pids, tids = (spans.pe[who] + self.first_pid).tolist(), (spans.block[who] + offset + 1).tolist()
            for i, (ts, pid, tid) in enumerate(zip(self.us(at), pids, tids, strict=True)):
                yield (
                    f'{{"ph":"{phase}","id":{number + i},"ts":{ts},"pid":{pid},"tid":{tid},"name":"released",'
                    f'"cat":"flow"{bound}}}'
                )

    def _activities(self) -> Iterator[str]:
        for a in self.machine.activities:
            kind = ACTIVITIES[int(a["kind"])] if a["kind"] < len(ACTIVITIES) else "other"
            args: dict[str, Any] = {}
            if a["bytes"]:
                args["bytes"] = int(a["bytes"])
            if a["blocks"]:
                args["blocks"] = int(a["blocks"])
            if kind == "copy":
                args["from"], args["to"] = (f"PE {a[end]}" if a[end] >= 0 else "host" for end in ("from", "to"))
            if a["failed"]:
                args["failed"] = True
            yield _text(
                ph="X",
                ts=(int(a["start"]) - self.begin) / 1e3,
                dur=max(int(a["end"]) - int(a["start"]), 0) / 1e3,
                pid=self.host_pid,
                tid=int(a["stream"]) + 1,
                name=kind,
                cat="host",
                args=args,
            )


def durations(times: NDArray[np.int64]) -> list[str]:
    return [f"{t // 1000}.{t % 1000:03d}" for t in times.tolist()]


def events_of(trace: Trace, cut: int) -> Iterator[str]:
    for number, machine in enumerate(trace.machines):
        yield from _Writer(number, machine, trace.begin, cut).lines()


def write(trace: Trace, path: Path, most_events: int = MOST_EVENTS) -> dict[str, Any]:
    """Writes the timeline and the numbers; returns the numbers."""
    cut, left_out = first_time(trace, most_events)
    summary = {**summary_of(trace), "left_out_of_timeline": left_out}
    with written_whole(path) as file:
        file.write(b'{"displayTimeUnit":"ns","starling":')
        file.write(json.dumps(summary).encode())
        file.write(b',\n"traceEvents":[\n')
        between = b""
        for line in events_of(trace, cut):
            file.write(between + line.encode())
            between = b",\n"
        file.write(b"\n]}\n")
    return summary
