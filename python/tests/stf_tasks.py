"""Functions of the host and tasks that several tests of task flow use."""

from __future__ import annotations

BACKENDS = ("stream", "graph", "automatic")


def double(v):
    v *= 2


def double_on(ctx, data, places):
    """By copies at these places in turn, and functions of the host."""
    for place in places:
        ctx.prefetch(data, place)
        ctx.host_launch(double, data.rw())
        ctx.fence()
