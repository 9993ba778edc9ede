"""What a job of several processes is made of, and how long a message takes between them, for starling.doctor()."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from starling import communication, shmem
from starling.machine import Machine

MOST_PES = 8  # of which every two are measured; of more, those that PE 0 sends to
MESSAGE_BYTES = 8


def job(m: Machine) -> dict[str, Any]:
    """Of a machine that several processes have together. Collective; the same in all of them.

    Returns:
        ``process``, the number of this one; ``processes``: of each, its number, pid, how many cores it may use, its
        PEs and the host they are on; ``engine``, by which PEs reach those of other hosts, ``"direct"`` on one;
        ``messages``: between two PEs, how many bytes, and the least and the median microseconds one way, with the
        notification.
    """
    return {
        "process": m.process,
        "processes": _processes(m),
        "engine": m.transport,
        "messages": _messages(m),
    }


def _processes(m: Machine) -> list[dict[str, Any]]:
    with shmem.World(m) as world:
        own = world.zeros((m.size, 3), np.int64)  # by PE: process, pid, cores
        for pe in m.local_pes:
            facts = (m.process, os.getpid(), len(os.sched_getaffinity(0)))
            for reader in range(m.size):
                world.put(own[pe], facts, pe=reader)
        world.barrier_all()
        told = world.get(own, pe=m.local_pes[0]).tolist()
        world.barrier_all()
    found: dict[int, dict[str, Any]] = {}
    for pe, (process, pid, cores) in enumerate(told):
        about = {"process": process, "pid": pid, "cores": cores, "host": m.host_of(pe), "pes": []}
        entry = found.setdefault(process, about)
        entry["pes"].append(pe)
    return [found[process] for process in sorted(found)]


def _messages(m: Machine) -> list[dict[str, Any]]:
    senders = range(m.size if m.size <= MOST_PES else 1)
    pairs = [(a, b) for a in senders for b in range(m.size) if a != b]
    times = communication.measure(
        machine=m, sizes=[MESSAGE_BYTES], ways=["channel"], pairs=pairs, seconds=0.002, meetings=False
    )
    return [
        {
            "source": t.source,
            "destination": t.destination,
            "bytes": t.bytes,
            "least_us": t.least,
            "median_us": t.median,
        }
        for t in times
        if t.measure == "latency"
    ]
