"""Machines: the ordered sets of devices that programs run on.

A device is a GPU of this host, or a virtual device: threads of this process, or of several that share a machine, with
memory of their own. Programs cannot tell them apart.

>>> from starling import machine
>>> m = machine.host(4)
>>> m.kind, m.size, m.devices[0].name
('host', 4, 'virtual device 0')

``with machine.host(4) as m:`` closes it at the end, as ``m.close()`` does: after that it is refused everywhere with an
``ArgumentError``. What was made on it goes on working; its memory is freed when the last of these is closed or gone.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from starling import _html
from starling._arguments import one_of, whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.faults import Fault, checked

__all__ = ["Machine", "Traffic", "best", "cuda", "distributed", "host", "named"]

Machine = native.Machine
log = logging.getLogger("starling")


@dataclass(frozen=True)
class Traffic:
    """Data that calls of this process have moved from one PE to another: what was put, got and copied, signals and
    words of atomic operations. Loads and stores of kernels do not count, and GPUs count what goes to other hosts."""

    source: int
    """The PE; -1: memory of this process, to or from a PE of another one."""
    destination: int
    """As `source`."""
    engine: str
    """``"direct"``, straight into memory, or by what: ``"mpi"``, ``"nvshmem"``, ``"card"``."""
    bytes: int


MOST_VIRTUAL_DEVICES = 256
MOST_QUEUE_DEPTH = 2**15
CARDS = ("model", "proxy")
SHARING = ("auto", "partitions", "plain")


def host(
    devices: int = 4,
    *,
    memory: int | str | None = None,
    max_blocks: int | None = None,
    faults: Sequence[Fault] = (),
    hosts: Sequence[int] | None = None,
    card: str | None = None,
    queue_depth: int = 64,
) -> Machine:
    """A machine of virtual devices.

    Args:
        devices: How many, 1 to 256.
        memory: Of each device, in bytes or as text such as ``"512M"`` (powers of 1024). Only what is used is taken from
            the system. None: ``STARLING_HOST_MEMORY``.
        max_blocks: How many blocks a device holds at once; each is a thread. None: ``STARLING_HOST_BLOCKS``.
        faults: What is to go wrong on purpose; see :mod:`starling.faults`. ``Machine.inject`` replaces them.
        hosts: On which host each device is, by number from 0: ``[0, 0, 1, 1]`` are two on each of two. Kernels reach
            devices of other hosts by way of network cards; see ``docs/queue_pairs.md``. None: ``STARLING_HOSTS`` hosts
            with as many devices each.
        card: What a network card is: ``"model"``, a thread of this process for each host. None: ``STARLING_CARD``.
        queue_depth: Entries in the ring on which a block asks a card for work, a power of two from 2 to 32768.

    Raises:
        ArgumentError: A value is not allowed.
        ElementTypeError: ``faults`` or ``hosts`` holds something else.
        OutOfMemory: The system does not have so many addresses.

    >>> host(2, memory="64M").memory.capacity
    67108864
    >>> host(4, hosts=[0, 0, 1, 1]).link(0, 2)
    'card'
    """
    planned = checked(faults)
    n = whole_number("devices", devices, most=MOST_VIRTUAL_DEVICES)
    m = native.Machine.host(
        n,
        memory=_bytes(memory),
        max_blocks=0 if max_blocks is None else whole_number("max_blocks", max_blocks),
        hosts=_hosts(hosts, n),
        card="" if card is None else one_of("card", card, ("model",)),
        queue_depth=_depth(queue_depth),
    )
    m.inject(planned)
    return m


def distributed(
    pes: int | None = None,
    *,
    memory: int | str | None = None,
    max_blocks: int | None = None,
    kind: str | None = None,
) -> Machine:
    """A machine of several processes, which ``starling launch``, mpirun, srun or torchrun started.

    Every process calls it, with the same arguments, and owns the devices ``local_pes``. What makes arrays and runs
    programs is collective: every process makes the same calls in the same order. See ``docs/processes.md``.

    Args:
        pes: Devices of each process. None: ``STARLING_DEVICES`` divided among the processes, or 1.
        memory: As for :func:`host`; of virtual devices.
        max_blocks: As for :func:`host`; of virtual devices.
        kind: ``"cuda"``, GPUs, or ``"host"``, virtual devices. None: ``STARLING_DISTRIBUTED``, or GPUs where this host
            has enough for all processes.

    Raises:
        ArgumentError: A value is not allowed, or the processes disagree: other arguments, or another build.
        ProcessError: A process does not come or has died; the message names it.
        Unsupported: Nobody has started several processes, check mode is on, or the GPUs are missing or unlike each
            other.
    """
    return native.Machine.distributed(
        0 if pes is None else whole_number("pes", pes, most=MOST_VIRTUAL_DEVICES),
        memory=_bytes(memory),
        max_blocks=0 if max_blocks is None else whole_number("max_blocks", max_blocks),
        kind="" if kind is None else one_of("kind", kind, ("host", "cuda")),
    )


def cuda(
    ids: Sequence[int] | None = None,
    *,
    pes_per_gpu: int | None = None,
    sharing: str = "auto",
    answer: bool = True,
    hosts: Sequence[int] | None = None,
    card: str | None = None,
    queue_depth: int = 64,
) -> Machine:
    """A machine of GPUs.

    Args:
        ids: Their CUDA ordinals, in the order of the PEs. None: all GPUs. A GPU that is named several times has so many
            PEs: ``[0, 0, 0, 0]`` are four on GPU 0.
        pes_per_gpu: How many PEs each GPU has, instead of naming it several times. None: ``STARLING_PES_PER_GPU`` where
            `ids` does not say either.
        sharing: How PEs of one GPU divide its multiprocessors. ``"partitions"``: each has its own, equally many, and
            some may be left over. ``"plain"``: any takes work of any PE, which is counted against an equal share.
            ``"auto"``: partitions where the driver makes them, or what ``STARLING_GPU_SHARING`` says.
        answer: Whether PEs that share a GPU answer each other before the machine is handed out.
        hosts: On which host each PE is, as for :func:`host`. Kernels must be built for it, which those of the solvers
            are with ``-DSTARLING_NETWORK=ON``; see ``docs/queue_pairs.md``.
        card: What a network card is: ``"model"``, a kernel beside the program, or ``"proxy"``, a thread of this
            process. None: ``STARLING_CARD``.
        queue_depth: As for :func:`host`.

    Raises:
        ArgumentError: A value is not allowed, or there is no such GPU.
        LaunchError: Kernels of PEs that share a GPU do not run at the same time; the message says what may be why.
        OutOfMemory: The GPU has too little free memory to be shared.
        Unsupported: The build, the driver, a GPU or a link between GPUs is missing; the message says which, and the
            remedy.
    """
    if not isinstance(answer, bool):
        raise ElementTypeError(f"answer = {answer!r} is a {type(answer).__name__}; pass True or False")
    how: dict[str, Any] = {
        "pes_per_gpu": None if pes_per_gpu is None else whole_number("pes_per_gpu", pes_per_gpu),
        "sharing": one_of("sharing", sharing, SHARING),
        "answer": answer,
        "hosts": _hosts(hosts, None),
        "card": "" if card is None else one_of("card", card, CARDS),
        "queue_depth": _depth(queue_depth),
    }
    if ids is None:
        return native.Machine.cuda(**how)
    if isinstance(ids, (str, bytes)) or not hasattr(ids, "__len__"):
        raise ElementTypeError(f"ids = {ids!r}; pass a list of CUDA ordinals such as [0, 1], or None for all GPUs")
    if len(ids) == 0:
        raise ArgumentError("ids is empty; name at least one GPU, or pass None for all")
    ordinals = [whole_number("ids", i, least=0) for i in ids]
    return native.Machine.cuda(ordinals, **how)


def best(devices: int | None = None) -> Machine:
    """GPUs where they can be used, else virtual devices; ``choice`` of the machine says what was taken and why.

    ``STARLING_MACHINE`` and ``STARLING_DEVICES`` decide otherwise. ``STARLING_PES_PER_GPU=4``: four PEs share a GPU.

    Args:
        devices: How many. None: all GPUs, or 4 virtual devices.

    >>> best(2).size
    2
    """
    m = native.Machine.best(0 if devices is None else whole_number("devices", devices, most=MOST_VIRTUAL_DEVICES))
    log.info("machine: %s", m.choice)
    return m


def named(kind: str, devices: int | None = None) -> Machine:
    """A machine by the name of its kind.

    Args:
        kind: ``"host"``, ``"cuda"``, ``"distributed"`` or ``"auto"`` (what :func:`best` takes).
        devices: How many, in all processes together. None: all GPUs, or 4 virtual devices, or one in each process.

    >>> named("host", 3)
    <starling.Machine: 3 virtual devices>
    """
    if kind == "auto":
        return best(devices)
    if kind == "host":
        return host() if devices is None else host(devices)
    if kind == "cuda":
        return cuda() if devices is None else cuda(range(whole_number("devices", devices)))
    if kind == "distributed":
        return _sized(distributed(), devices)
    raise ArgumentError(f"machine = {kind!r}; must be 'host', 'cuda', 'auto', 'distributed' or a Machine")


def _sized(m: Machine, devices: int | None) -> Machine:
    if devices is None or whole_number("devices", devices) == m.size:
        return m
    raise ArgumentError(
        f"devices = {devices}, but the {m.processes} processes have {m.size}; leave it out, or set STARLING_DEVICES"
    )


def html_of(m: Machine) -> str:
    """What notebooks show of a machine."""
    devices = [
        (pe, d.name, native.format_bytes(d.memory_bytes), d.multiprocessors or "", d.id, _shared(d.pes_on_gpu))
        for pe, d in enumerate(m.devices)
    ]
    memory = m.memory
    used = f"{native.format_bytes(memory.in_use)} of {native.format_bytes(memory.capacity)} in use on each"
    heads = ("PE", "device", "memory", "multiprocessors", "id", "shared by")
    return _html.table(f"{m.choice}; symmetric memory: {used}", devices, heads)


def traffic_since(m: Machine, before: Sequence[tuple[int, int, str, int]]) -> tuple[Traffic, ...]:
    """What has moved since `m.traffic` was `before`; empty on a machine of one process.

    >>> traffic_since(host(2), [])
    ()
    """
    if m.processes == 1:
        return ()
    known = {t[:3]: t[3] for t in before}
    new = [Traffic(*t[:3], t[3] - known.get(t[:3], 0)) for t in m.traffic]
    return tuple(t for t in new if t.bytes > 0)


def sharing(m: Machine) -> str:
    """How PEs share GPUs, such as ``"4 PEs on 1 GPU"``; empty where none do.

    >>> sharing(host(2))
    ''
    """
    return m.summary if any(d.pes_on_gpu > 1 for d in m.devices) else ""


def _shared(pes: int) -> str:
    return f"{pes} PEs" if pes > 1 else ""


def _bytes(memory: int | str | None) -> int:
    """Of each device; 0: as the environment says."""
    if isinstance(memory, str):
        return native.parse_bytes(memory, "memory")
    return 0 if memory is None else whole_number("memory", memory, most=2**50)


def _hosts(hosts: Sequence[int] | None, devices: int | None) -> list[int]:
    """The host of each device; empty: as the environment says. None: how many there are is not known yet."""
    if hosts is None:
        return []
    if isinstance(hosts, (str, bytes)) or not hasattr(hosts, "__len__"):
        raise ElementTypeError(
            f"hosts = {hosts!r} is a {type(hosts).__name__}; pass a list of the host of each device such as "
            "[0, 0, 1, 1], or None for STARLING_HOSTS"
        )
    if devices is not None and len(hosts) != devices:
        raise ArgumentError(f"hosts has {len(hosts)} entries for {devices} devices; name the host of each device")
    return [whole_number(f"hosts[{i}]", host, 0, len(hosts) - 1) for i, host in enumerate(hosts)]


def _depth(queue_depth: int) -> int:
    depth = whole_number("queue_depth", queue_depth, 2, MOST_QUEUE_DEPTH)
    if depth & (depth - 1) != 0:
        nearest = 1 << depth.bit_length() - 1
        raise ArgumentError(
            f"queue_depth = {depth}; must be a power of two from 2 to {MOST_QUEUE_DEPTH}, such as {nearest}"
        )
    return depth


def of(machine: object, devices: int | None) -> Machine:
    """The machine that a call with these two arguments means, open until what is made on it is gone."""
    if isinstance(machine, Machine):
        if devices is not None and whole_number("devices", devices) != machine.size:
            raise ArgumentError(
                f"devices = {devices}, but the machine has {machine.size}; leave devices out, or pass another machine"
            )
        return machine.shared()
    if machine is None or isinstance(machine, str):
        return named("auto" if machine is None else machine, devices)
    raise ElementTypeError(
        f"machine is a {type(machine).__name__}; pass 'host', 'cuda', 'auto', 'distributed' or a Machine"
    )
