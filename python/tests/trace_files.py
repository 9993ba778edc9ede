"""Raw trace files made by hand, for tests: the format of docs/trace.md, written here independently of the recorder."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OPERATIONS = [
    "none",
    "put",
    "put_signal",
    "put_packets",
    "get",
    "signal",
    "atomic",
    "fence",
    "quiet",
    "wait",
    "take_packet",
    "sync_pe",
    "sync_all",
    "all_reduce",
    "broadcast",
    "post",
    "completion",
]


@dataclass
class Call:
    op: str
    start: int
    end: int  # 0: did not return
    peer: int = -1
    bytes: int = 0
    signal: int = 0
    value: int = 0
    adds: bool = False

    def packed(self) -> bytes:
        return struct.pack(
            "<QQQQQiBBH",
            self.start,
            self.end,
            self.signal,
            self.value,
            self.bytes,
            self.peer,
            OPERATIONS.index(self.op),
            self.adds,
            0,
        )


@dataclass
class Block:
    begin: int
    end: int  # 0: was ended
    calls: list[Call] = field(default_factory=list)
    written: int | None = None
    # (ticks, ns): the clock of the block; None: ticks are nanoseconds
    clock: tuple[tuple[int, int], ...] | None = None

    def head(self) -> bytes:
        pairs = self.clock or ((self.begin, self.begin), (self.end, self.end))
        between = [*pairs[1:-1], *[(0, 0)] * 32][:32]
        written = len(self.calls) if self.written is None else self.written
        flat = [n for pair in (pairs[0], pairs[-1], *between) for n in pair]
        return struct.pack("<QQ68Q", written, 0, *flat).ljust(576, b"\0")


@dataclass
class Program:
    """Blocks by PE, then number."""

    blocks: list[list[Block]]
    roles: list[tuple[str, int]] = field(default_factory=lambda: [("all", 0)])
    start: int = 0
    end: int = 10_000
    capacity: int = 64
    clocks: list[dict[str, Any]] | None = None
    host_offset: int = 0

    def packed(self) -> bytes:
        facts = {
            "start": self.start,
            "end": self.end,
            "pes": len(self.blocks),
            "blocks": len(self.blocks[0]),
            "capacity": self.capacity,
            "roles": [{"name": name, "first": first} for name, first in self.roles],
            "clocks": self.clocks or [{"offset": 0, "error": 0, "rate": 1.0} for _ in self.blocks],
            "host_offset": self.host_offset,
            "host_error": 0,
            "resolution": 0,
        }
        text = padded(json.dumps(facts).encode())
        every = [b for pe in self.blocks for b in pe]
        heads = b"".join(b.head() for b in every)
        return struct.pack("<Q", len(text)) + text + heads + b"".join(c.packed() for b in every for c in b.calls)


def padded(text: bytes) -> bytes:
    return text.ljust((len(text) + 7) // 8 * 8)


def part(kind: int, content: bytes) -> bytes:
    return struct.pack("<IIQ", kind, 0, len(content)) + content


def activity(
    kind: int, start: int, end: int, size: int = 0, source: int = -1, target: int = -1, stream: int = 0
) -> bytes:
    return struct.pack("<QQQQHHhhhHI", start, end, size, 0, kind, 0, -1, source, target, 0, stream)


def written(
    path: Path,
    *programs: Program,
    activities: bytes = b"",
    pes: int | None = None,
    job: dict[str, Any] | None = None,
) -> Path:
    """A whole file. `job`: what a process of several says of itself."""
    devices = pes or (len(programs[0].blocks) if programs else 1)
    facts = {"kind": "host", "process": 1, "start": 0, "devices": [{"name": f"d{i}", "id": i} for i in range(devices)]}
    facts.update(job or {})
    content = b"starling" + struct.pack("<II", 1, 48) + part(1, padded(json.dumps(facts).encode()))
    for program in programs:
        content += part(2, program.packed())
    if activities:
        content += part(3, activities)
    path.write_bytes(content)
    return path
