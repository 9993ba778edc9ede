"""What a job of several processes is made of, and how long a message takes between them, for starling.doctor()."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from starling import communication, shmem
from starling import machine as machines
from starling.machine import Machine

MOST_PES = 8  # of which every two are measured; of more, those that PE 0 sends to
MESSAGE_BYTES = 8

Pair: TypeAlias = "tuple[int, int]"


def job(m: Machine) -> dict[str, Any]:
    """Of a machine that several processes have together. Collective; the same in all of them.

    Returns:
        ``process``, the number of this one; ``processes``: of each, its number, pid, how many cores it may use, its
        PEs and the host they are on; ``engine``, by which PEs reach those of other hosts, ``"direct"`` on one;
        ``messages``: between two PEs, how many bytes, the least and the median microseconds one way, with the
        notification, and ``moved``, by engine how many bytes went from one to the other while this was measured (empty
        between GPUs of one host, which do not count them).
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
    before = m.traffic
    times = communication.measure(
        machine=m, sizes=[MESSAGE_BYTES], ways=["channel"], pairs=pairs, seconds=0.002, meetings=False
    )
    moved = _moved(m, pairs, machines.traffic_since(m, before))
    return [
        {
            "source": t.source,
            "destination": t.destination,
            "bytes": t.bytes,
            "least_us": t.least,
            "median_us": t.median,
            "moved": moved[t.source, t.destination],
        }
        for t in times
        if t.measure == "latency"
    ]


def _moved(m: Machine, pairs: list[Pair], traffic: Sequence[machines.Traffic]) -> dict[Pair, dict[str, int]]:
    """The bytes of each engine between two PEs, as all processes together have counted them."""
    engines = sorted({"direct", m.transport})
    counted = np.zeros((len(pairs), len(engines)), np.int64)
    for t in traffic:
        if (t.source, t.destination) in pairs:
            counted[pairs.index((t.source, t.destination)), engines.index(t.engine)] += t.bytes
    with shmem.World(m) as world:
        of_all = world.zeros((m.processes, *counted.shape), np.int64)
        for reader in range(m.size):
            world.put(of_all[m.process], counted, pe=reader)
        world.barrier_all()
        sums = world.get(of_all, pe=m.local_pes[0]).sum(axis=0).tolist()
        world.barrier_all()
    return {
        pair: {engine: bytes for engine, bytes in zip(engines, row, strict=True) if bytes > 0}
        for pair, row in zip(pairs, sums, strict=True)
    }
