"""What contexts of one machine hand on to each other, so that one that comes later need not make it anew."""

from __future__ import annotations

from dataclasses import dataclass

from starling import machine as machines
from starling._arguments import whole_number
from starling._native import native
from starling.machine import Machine


@dataclass(frozen=True)
class IdleResources:
    """What no context has at the moment.

    Attributes:
        contexts: So many can have the streams of others before any are made.
        graphs: Kept for epochs of the same form.
        bytes: Of memory, of all places.
    """

    contexts: int
    graphs: int
    bytes: int


class Resources:
    """Streams, memory of places and graphs that contexts share; made by :func:`resources`.

    Several contexts may use it at the same time, in several threads; each has its own part meanwhile. What it owns
    lives until it and the last context have gone.

    Attributes:
        machine: Whose they are.
    """

    def __init__(self, machine: Machine, graphs_kept: int) -> None:
        self.machine = machine
        self._bound = native.StfResources(machine, graphs_kept)

    def idle(self) -> IdleResources:
        """What no context has at the moment."""
        return IdleResources(*self._bound.idle())

    def release(self) -> None:
        """Gives that back to the machine."""
        self._bound.release()

    def __repr__(self) -> str:
        now = self.idle()
        return (
            f"<starling.stf.Resources: {self.machine!r}, idle: streams of {now.contexts} contexts, "
            f"{now.graphs} graphs, {native.format_bytes(now.bytes)}>"
        )


def resources(devices: int | Machine | str | None = None, *, graphs_kept: int = 16) -> Resources:
    """Streams, memory and graphs for contexts that come and go, each of which takes what those before it have left.

    Args:
        devices: As for :func:`starling.stf.context`.
        graphs_kept: How many graphs are kept while no context has them; those used last stay.

    Raises:
        ArgumentError: A value is not allowed.
        Unsupported: The machine is not there.

    >>> import numpy as np
    >>> from starling import stf
    >>> shared = stf.resources(2)
    >>> a = np.ones(3)
    >>> for _ in range(10):
    ...     with stf.context(resources=shared) as ctx:
    ...         with ctx.task(ctx.logical_data(a).rw()) as t:
    ...             (v,) = t.views()
    ...             v *= 2
    >>> a, shared.idle().contexts
    (array([1024., 1024., 1024.]), 1)
    """
    return Resources(machine_of(devices), whole_number("graphs_kept", graphs_kept, least=0, most=2**31 - 1))


def machine_of(devices: int | Machine | str | None) -> Machine:
    """The machine that the first argument of a context names."""
    if devices is None or isinstance(devices, (str, Machine)):
        return machines.of(devices, None)
    return machines.of(None, whole_number("devices", devices))
