"""Whether the descriptions and records of a raw trace can be what the recorder wrote. What passes here does not make
the rest fail."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MOST_TIME = 2**62
MOST_PES = 2**15
MOST_BLOCKS = 2**24
MOST_WAITED = 2**20  # signals of one wait


def _whole(value: Any, least: int = -MOST_TIME, most: int = MOST_TIME) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def machine_is_whole(facts: dict[str, Any]) -> bool:
    devices = facts.get("devices")
    return (
        isinstance(facts.get("kind"), str)
        and _whole(facts.get("process"))
        and isinstance(devices, list)
        and 1 <= len(devices) <= MOST_PES
        and all(isinstance(d, dict) and isinstance(d.get("name"), str) for d in devices)
        and _own_pes_are_whole(facts, len(devices))
    )


def _own_pes_are_whole(facts: dict[str, Any], devices: int) -> bool:
    """Of a process that has a machine together with others: the name of what they have, and which PEs are its own."""
    if "job" not in facts:
        return True
    own = facts.get("own_pes")
    return (
        isinstance(facts["job"], str)
        and isinstance(own, list)
        and len(own) == 2
        and _whole(own[0], 0, devices)
        and _whole(own[1], own[0], devices)
    )


def program_is_whole(facts: dict[str, Any], devices: int) -> bool:
    """The description of a program."""
    sizes = _whole(facts.get("pes"), 1, devices) and _whole(facts.get("blocks"), 1, MOST_BLOCKS)
    sizes = sizes and _whole(facts.get("capacity"), 1)
    if not sizes or not all(_whole(facts.get(k)) for k in ("start", "end", "host_offset", "host_error", "resolution")):
        return False
    roles, clocks = facts.get("roles"), facts.get("clocks")
    if not isinstance(roles, list) or not isinstance(clocks, list) or not roles or len(clocks) != facts["pes"]:
        return False
    firsts = [
        r["first"]
        for r in roles
        if isinstance(r, dict) and isinstance(r.get("name"), str) and _whole(r.get("first"), 0)
    ]
    if len(firsts) != len(roles):
        return False
    return bool(
        firsts[0] == 0
        and firsts == sorted(firsts)
        and all(isinstance(c, dict) and _whole(c.get("offset")) and _whole(c.get("error")) for c in clocks)
        and all(isinstance(c.get("rate"), (int, float)) and 0 < c["rate"] < math.inf for c in clocks)
    )


def records_are_whole(heads: NDArray[Any], records: NDArray[Any], pes: int, operations: Sequence[str]) -> bool:
    """Nothing points outside the program. (The peer of a wait is what the kernel said; any number goes.)"""
    wait, post = operations.index("wait"), operations.index("post")
    sent = records["peer"][(records["op"] < wait) | (records["op"] >= post)]
    return bool(
        np.all(records["op"] < len(operations))
        and np.all((sent >= -1) & (sent < pes))
        and np.all(records["bytes"] < 2**62)
        and np.all(records["signal"] < 2**48)
        and np.all(records["bytes"][records["op"] == wait] <= MOST_WAITED)
        and all(np.all(heads[pair][field] < 2**63) for pair in ("begin", "end") for field in ("ticks", "ns"))
        and all(np.all(heads["between"][field] < 2**63) for field in ("ticks", "ns"))
        and all(np.all(records[field] < 2**63) for field in ("start", "end"))
    )
