"""Recording from Python: a context that collects what machines do inside, and writes the timeline at its end."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starling._arguments import whole_number
from starling._files import check_writable
from starling.machine import Machine
from starling.trace import _timeline
from starling.trace._trace import Trace, read

log = logging.getLogger("starling")

LEAST_RECORDS, MOST_RECORDS = 32, 2**24
RAW_NAME = "trace"


@dataclass
class Recording:
    """What :func:`record` recorded; filled when its context ends."""

    trace: Trace = field(default_factory=Trace)
    summary: dict[str, Any] = field(default_factory=dict)


def collected(folder: Path, *, partial: bool) -> Trace:
    """The traces that machines wrote into a folder under the name RAW_NAME, RAW_NAME.1, ..."""

    def number(path: Path) -> int:
        return int(path.suffix[1:] or 0)

    paths = sorted(folder.glob(f"{RAW_NAME}*"), key=number)
    return read(paths, partial=partial) if paths else Trace()


@contextmanager
def record(
    path: str | os.PathLike[str],
    *,
    machines: Machine | Sequence[Machine] = (),
    records: int | None = None,
    most_events: int = _timeline.MOST_EVENTS,
) -> Iterator[Recording]:
    """Records what machines do inside, and writes a timeline that Perfetto opens and ``starling plot`` draws.

    Machines that are made inside are recorded until they die; those made before are recorded inside if they are named.
    The timeline is written also when an exception leaves the context: then it is needed most.

    Args:
        path: The timeline, a ``.json`` file.
        machines: Machines made before.
        records: How many of a block's records are kept, the newest. None: ``STARLING_TRACE_RECORDS``.
        most_events: The timeline shows the newest calls, about so many. All count in the numbers.

    Raises:
        ArgumentError: The file cannot be written, or a machine is being traced already.

    >>> import starling, numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with starling.trace.record(folder + "/out.json") as recording:
    ...         _ = starling.stencil.jacobi(np.ones((64, 64), "f4"), steps=10, machine="host", devices=2)
    >>> recording.trace.machines[0].matrix.messages[0, 1] > 0
    np.True_
    """
    target = Path(path)
    check_writable(target, [".json"])
    whole_number("most_events", most_events)
    if records is not None:
        whole_number("records", records, LEAST_RECORDS, MOST_RECORDS)
    before = [machines] if isinstance(machines, Machine) else list(machines)
    recording = Recording()
    with tempfile.TemporaryDirectory(prefix="starling_trace_") as folder, _environment(Path(folder), records):
        started: list[Machine] = []
        try:
            for i, m in enumerate(before):
                m.trace_to(str(Path(folder, f"{RAW_NAME}.{10_001 + i}")), records=records or 0)
                started.append(m)
            yield recording
        finally:
            for m in started:
                m.end_trace()
            # A machine made inside may still be recording: its file is whole up to its last run.
            recording.trace = collected(Path(folder), partial=True)
            recording.summary = _timeline.write(recording.trace, target, most_events)
            log.info("trace: %s", target)


@contextmanager
def _environment(folder: Path, records: int | None) -> Iterator[None]:
    """The variables that make new machines record into a folder."""
    wanted = environment_for(folder, records)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def environment_for(folder: Path, records: int | None) -> dict[str, str]:
    wanted = {"STARLING_TRACE": str(folder / RAW_NAME)}
    if records is not None:
        wanted["STARLING_TRACE_RECORDS"] = str(records)
    return wanted
