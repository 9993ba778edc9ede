"""Sequential task flow: tasks in program order, run in any order that gives the same values.

A program describes its work as tasks by what each reads and writes. The context finds out who has to wait for whom,
runs tasks on the devices of a machine and moves the data. This is algorithm 1 of the CUDASTF paper:

>>> import numpy as np
>>> from starling import stf
>>> X, Y, Z = np.arange(4.0), np.ones(4), np.zeros(4)
>>> with stf.context(devices=2) as ctx:
...     x, y, z = ctx.logical_data(X), ctx.logical_data(Y), ctx.logical_data(Z)
...     with ctx.task(x.rw()) as t:
...         (dx,) = t.views()
...         dx *= 2
...     with ctx.task(x.read(), y.rw()) as t:
...         dx, dy = t.views()
...         dy += dx
...     with ctx.task(x.read(), z.rw(), where=stf.exec_place.device(1)) as t:
...         dx, dz = t.views()
...         dz += dx
...     with ctx.task(y.read(), z.rw(stf.data_place.device(1))) as t:
...         dy, dz = t.views()
...         dz += dy
>>> X, Y, Z
(array([0., 2., 4., 6.]), array([1., 3., 5., 7.]), array([ 1.,  5.,  9., 13.]))

On virtual devices the body of a ``with`` block computes with NumPy on the calling thread, once its data is there. On
GPUs it puts work into the stream of the task, with CuPy or any library that knows ``__cuda_array_interface__``.
"""

from starling._native import native
from starling.errors import TaskError
from starling.stf._access import Access
from starling.stf._context import Context, context
from starling.stf._data import LogicalData
from starling.stf._frozen import Frozen
from starling.stf._parts import Parts
from starling.stf._recording import Recording
from starling.stf._resources import IdleResources, Resources, resources
from starling.stf._statistics import ClassOnDevice, EpochClass, EpochTimes, PlaceUsage, Statistics, TaskClass
from starling.stf._task import Task

data_place = native.data_place
exec_place = native.exec_place

__all__ = [
    "Access",
    "ClassOnDevice",
    "Context",
    "EpochClass",
    "EpochTimes",
    "Frozen",
    "IdleResources",
    "LogicalData",
    "Parts",
    "PlaceUsage",
    "Recording",
    "Resources",
    "Statistics",
    "Task",
    "TaskClass",
    "TaskError",
    "context",
    "data_place",
    "exec_place",
    "resources",
]
