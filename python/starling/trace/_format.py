"""The raw file that a machine writes (src/machine/recorder.cpp), as arrays. docs/trace.md describes the format."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from starling._files import check_readable
from starling.errors import TraceFileError
from starling.trace import _checks

MAGIC = b"starling"
VERSION = 1
MACHINE, PROGRAM, HOST = 1, 2, 3

RECORD = np.dtype(
    [
        ("start", "<u8"),
        ("end", "<u8"),
        ("signal", "<u8"),
        ("value", "<u8"),
        ("bytes", "<u8"),
        ("peer", "<i4"),
        ("op", "u1"),
        ("adds", "u1"),
        ("unused", "<u2"),
    ]
)
PAIR = np.dtype([("ticks", "<u8"), ("ns", "<u8")])
# The head of a ring is aligned to 64 bytes.
RING = np.dtype(
    {
        "names": ["written", "begin", "end", "between"],
        "formats": ["<u8", PAIR, PAIR, (PAIR, 32)],
        "offsets": [0, 16, 32, 48],
        "itemsize": 576,
    }
)
ACTIVITY = np.dtype(
    [
        ("start", "<u8"),
        ("end", "<u8"),
        ("bytes", "<u8"),
        ("blocks", "<u8"),
        ("kind", "<u2"),
        ("failed", "<u2"),
        ("pe", "<i2"),
        ("from", "<i2"),
        ("to", "<i2"),
        ("unused", "<u2"),
        ("stream", "<u4"),
    ]
)
OPERATIONS = (
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
)
ACTIVITIES = ("none", "run", "launch", "copy", "fill", "allocate", "free", "graph", "call")


@dataclass
class RawProgram:
    """One program of one run: ring heads by PE and block, and the records of all rings, oldest first."""

    facts: dict[str, Any]
    heads: NDArray[Any]
    records: NDArray[Any]


@dataclass
class RawTrace:
    """One file. `problem` says why a file that was read in part ends where it does."""

    path: Path
    facts: dict[str, Any]
    programs: list[RawProgram] = field(default_factory=list)
    activities: NDArray[Any] = field(default_factory=lambda: np.empty(0, ACTIVITY))
    problem: str = ""


class _Reader:
    def __init__(self, path: Path) -> None:
        check_readable(path)
        self.path = path
        self.data = np.memmap(path, dtype=np.uint8, mode="r")
        self.at = 0

    def fail(self, what: str) -> TraceFileError:
        return TraceFileError(f"{self.path}, byte {self.at}: {what}; trace again", self.at)

    def take(self, count: int, what: str) -> NDArray[np.uint8]:
        left = len(self.data) - self.at
        if count > left:
            raise self.fail(f"{what} of {count} bytes, but the file ends after {left}")
        part = self.data[self.at : self.at + count]
        self.at += count
        return part

    def header(self) -> None:
        if bytes(self.data[:8]) != MAGIC:
            raise self.fail("this is not a trace file of Starling")
        self.take(8, "the name of the format")
        version, record = struct.unpack("<II", bytes(self.take(8, "the version")))
        if (version, record) != (VERSION, RECORD.itemsize):
            raise self.fail(
                f"version {version} with records of {record} bytes; this Starling reads version {VERSION} with "
                f"{RECORD.itemsize}"
            )

    def text(self, part: NDArray[np.uint8], at: int) -> dict[str, Any]:
        try:
            facts = json.loads(bytes(part).decode())
        except ValueError as problem:
            self.at = at
            raise self.fail(f"a description cannot be read ({problem})") from None
        if not isinstance(facts, dict):
            self.at = at
            raise self.fail("a description is not an object")
        return facts

    def chunk(self) -> tuple[int, int, NDArray[np.uint8]]:
        """Kind, where it starts, content."""
        start = self.at
        kind, unused, size = struct.unpack("<IIQ", bytes(self.take(16, "the head of a part")))
        if kind not in (MACHINE, PROGRAM, HOST) or unused != 0 or size % 8 != 0:
            self.at = start
            raise self.fail(f"a part of an unknown kind ({kind}, {size} bytes)")
        return kind, start, self.take(size, "a part")

    def program(self, part: NDArray[np.uint8], start: int, devices: int) -> RawProgram:
        if len(part) < 8:
            raise self.fail("a program without a description")
        length = int(part[:8].view("<u8")[0])
        if length > len(part) - 8:
            self.at = start
            raise self.fail(f"the description of a program has {length} bytes, its part {len(part)}")
        facts = self.text(part[8 : 8 + length], start + 24)
        complete = _checks.program_is_whole(facts, devices)
        if complete:
            rings = facts["pes"] * facts["blocks"]
            split = 8 + length + rings * RING.itemsize
            complete = split <= len(part) and (len(part) - split) % RECORD.itemsize == 0
        if complete:
            heads = part[8 + length : split].view(RING)
            records = part[split:].view(RECORD)
            kept = sum(min(int(n), facts["capacity"]) for n in heads["written"])
            complete = len(records) == kept and _checks.records_are_whole(heads, records, facts["pes"], OPERATIONS)
        if not complete:
            self.at = start
            raise self.fail("a program whose records do not fit its description")
        return RawProgram(facts, heads.reshape(facts["pes"], facts["blocks"]), records)


def read_raw(path: Path, partial: bool = False) -> RawTrace:
    """Reads a file; with `partial`, as far as it is whole, and `problem` says what is wrong with the rest.

    Raises:
        TraceFileError: It is no trace file, or not a whole one; ``offset`` is where.
    """
    reader = _Reader(path)
    reader.header()
    kind, start, part = reader.chunk()
    if kind != MACHINE:
        reader.at = start
        raise reader.fail("the first part does not describe a machine")
    trace = RawTrace(path, reader.text(part, start + 16))
    if not _checks.machine_is_whole(trace.facts):
        reader.at = start
        raise reader.fail("the description of the machine is not whole")
    devices = len(trace.facts["devices"])
    activities: list[NDArray[Any]] = []
    try:
        while reader.at < len(reader.data):
            kind, start, part = reader.chunk()
            if kind == PROGRAM:
                trace.programs.append(reader.program(part, start, devices))
            elif kind == HOST and len(part) % ACTIVITY.itemsize == 0:
                activities.append(part.view(ACTIVITY))
                if any(np.any(activities[-1][end] >= devices) for end in ("pe", "from", "to")):
                    reader.at = start
                    raise reader.fail("a copy between devices that there are not")
            else:
                reader.at = start
                raise reader.fail(f"a part of kind {kind} with {len(part)} bytes does not belong here")
    except TraceFileError as problem:
        if not partial:
            raise
        trace.problem = str(problem)
    if activities:
        trace.activities = np.concatenate(activities)
    return trace
