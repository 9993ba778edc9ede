"""Which agent, which chunk and how many blocks of the agent a program on regions takes when it may choose: measured
once for inputs of a size on a machine, and kept in the user's cache directory (PROACT, section III-A).

The search is plain: settings and what they cost in, the best out; it knows of no program and no clock.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from starling import _files
from starling.errors import ArgumentError
from starling.machine import Machine

FORMAT = 2
AGENTS = ("inline", "polling", "own_warp", "launched", "copy_engine")
WITH_BLOCKS = ("polling", "launched", "copy_engine")
"""Agents with blocks of their own, or streams."""
CHUNKS = tuple(2**k for k in range(12, 22, 2))  # 4 KB to 1 MB


@dataclass(frozen=True)
class Setting:
    """How finished parts travel."""

    agent: str
    chunk: int
    """Bytes."""
    blocks: int = 0
    """Of the agent on each device; 0: as many as the region chooses."""


@dataclass(frozen=True)
class Trial:
    """One measurement."""

    setting: Setting
    iterations: int
    microseconds: float
    """Of an iteration."""


SETTINGS = tuple(Setting(agent, chunk) for agent in AGENTS for chunk in CHUNKS)


def lacking(m: Machine) -> dict[str, str]:
    """The agents that programs of this library do not have on a machine, and why."""
    if m.kind == "host":
        return {}
    return {"launched": "kernels of this library are not compiled to launch others on GPUs"}


def settings_on(m: Machine) -> tuple[Setting, ...]:
    """Those that can be measured on a machine."""
    return tuple(setting for setting in SETTINGS if setting.agent not in lacking(m))


def with_blocks(setting: Setting, m: Machine) -> tuple[Setting, ...]:
    """The setting with other numbers of blocks than the region chooses: fewer and more, where its agent has any."""
    if setting.agent not in WITH_BLOCKS:
        return ()
    if setting.agent == "copy_engine":
        chosen, counts = 1, {2, 4}
    else:
        chosen = max(2 if setting.agent == "launched" else 1, min(d.multiprocessors for d in m.devices) // 8)
        counts = {max(1, chosen // 4), max(1, chosen // 2), 2 * chosen}
    return tuple(replace(setting, blocks=n) for n in sorted(counts - {chosen}))


Cost = Callable[[Setting, int], float]
"""Microseconds of an iteration with a setting, measured over so many iterations."""


KEPT = 4
"""Of so many settings one is measured again."""


def halving(settings: Sequence[Setting], cost: Cost, iterations: int = 16) -> list[Trial]:
    """Successive halving: measures all, keeps the best quarter, and measures it four times as long, until one is left.

    A quarter instead of half, because what a measurement takes is mostly bringing the input to the devices. The last
    trial is the best one's.
    """
    left, trials = list(settings), []
    while True:
        found = [Trial(s, iterations, cost(s, iterations)) for s in left]
        found.sort(key=lambda trial: trial.microseconds, reverse=True)
        trials += found
        if len(left) == 1:
            return trials
        left = [trial.setting for trial in found[-max(1, len(left) // KEPT) :]]
        iterations *= KEPT


def stepwise(
    settings: Sequence[Setting], finer: Callable[[Setting], Sequence[Setting]], cost: Cost, iterations: int = 16
) -> list[Trial]:
    """Successive halving of settings, then what `finer` gives of the best one, measured as long as that was."""
    *others, best = halving(settings, cost, iterations)
    last = [Trial(s, best.iterations, cost(s, best.iterations)) for s in finer(best.setting)]
    return [*others, *sorted([best, *last], key=lambda trial: trial.microseconds, reverse=True)]


def exhaustive(settings: Iterable[Setting], cost: Cost, iterations: int = 64) -> list[Trial]:
    """Measures all settings equally long. The last trial is the best one's."""
    trials = [Trial(s, iterations, cost(s, iterations)) for s in settings]
    return sorted(trials, key=lambda trial: trial.microseconds, reverse=True)


def place(program: str, entries: int, m: Machine) -> Path | None:
    """The file for inputs of about this size on such a machine; None where there is no cache directory."""
    home = os.environ.get("HOME")
    cache = os.environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else "")
    if not cache:
        return None
    size = entries.bit_length() // 2  # of one class: within four times as many
    kind = m.kind if m.devices[0].pes_on_gpu == 1 else f"{m.kind}_{m.devices[0].pes_on_gpu}_on_one"
    return Path(cache, "starling", f"region_{program}_{size}_{kind}_{m.size}.json")


def keep(program: str, entries: int, m: Machine, trials: Sequence[Trial]) -> Path:
    """Keeps what was found, and says where."""
    path = place(program, entries, m)
    if path is None:
        raise ArgumentError("no place for what was measured; set XDG_CACHE_HOME or HOME")
    path.parent.mkdir(parents=True, exist_ok=True)
    best = trials[-1].setting
    _files.write_json(
        path,
        {
            "format": FORMAT, "device": m.devices[0].name, "agent": best.agent, "chunk": best.chunk,
            "blocks": best.blocks,
            "trials": [
                [t.setting.agent, t.setting.chunk, t.setting.blocks, t.iterations, t.microseconds] for t in trials
            ],
        },
    )  # fmt: skip
    return path


def kept(program: str, entries: int, m: Machine) -> Setting | None:
    """What was found for such an input on such a machine; None: nothing, or on another kind of device."""
    path = place(program, entries, m)
    if path is None or not path.exists():
        return None
    try:
        facts: Any = json.loads(path.read_text(encoding="utf-8"))
        setting = Setting(facts["agent"], facts["chunk"], int(facts["blocks"]))
        known = facts["format"] == FORMAT and replace(setting, blocks=0) in SETTINGS and setting.blocks >= 0
        device = facts["device"]
    except (OSError, ValueError, KeyError, TypeError):
        known, device = False, ""
    if not known:
        raise ArgumentError(
            f"{path} holds no tuning of this version; run `starling tune {program} FILE` again, or remove it"
        )
    return setting if device == m.devices[0].name else None
