"""Star stencils of radius 1 on all devices of a machine, in two dimensions (5 points) and three (7 points).

One step makes, from the cells ``u``, new ones::

    new = c[0] * u + c[1] * low + c[2] * high + ...     (low and high neighbour along the first axis, then the next)

added in this order, in the element type of the array: every variant, number of devices and number of blocks gives the
same bits. The domain is partitioned among the devices in boxes; after every step they exchange the faces of their
boxes. The variants differ in who controls that:

* ``resident``: one persistent program on every device whose blocks keep their cells on chip; blocks send each other the
  cells at their edges, and nothing else brings them together; where cells do not fit there, the steps of ``cpu_free``;
* ``temporal``: the same, but blocks exchange several layers of cells every few steps, and compute what lies beyond
  their edges themselves in between;
* ``cpu_free``: one persistent program on every device does all steps; the devices signal each other, and the host
  takes no part (CPU-free execution, chapter 4);
* ``graph``: the host starts many steps at a time, as one recorded graph; their kernels wait for the neighbours' signals
  themselves;
* ``p2p``: the host starts each step; faces are stored into the neighbour's memory by the kernel that computes them;
* ``overlap``: the host starts each step, and copies the faces while the interior is computed;
* ``copy``: the host starts each step, then copies the faces;
* ``auto``, the default: whichever a model of their costs says is fastest; :func:`choose` says which and why,
  :func:`tune` measures the costs.

>>> import numpy as np
>>> from starling import stencil
>>> u = np.zeros((5, 5), dtype="float32")
>>> u[2, 2] = 1
>>> stencil.jacobi(u, steps=1, devices=2)[1:4, 1:4].tolist()
[[0.0, 0.25, 0.0], [0.25, 0.0, 0.25], [0.0, 0.25, 0.0]]
"""

from starling.stencil._choice import Choice, Tuning, choose, tune
from starling.stencil._functions import heat, jacobi, run
from starling.stencil._problem import VARIANTS, Boundary, Variant, heat_coefficients, jacobi_coefficients
from starling.stencil._report import Progress, Report
from starling.stencil._solver import Stencil

__all__ = [
    "VARIANTS",
    "Boundary",
    "Choice",
    "Progress",
    "Report",
    "Stencil",
    "Tuning",
    "Variant",
    "choose",
    "heat",
    "heat_coefficients",
    "jacobi",
    "jacobi_coefficients",
    "run",
    "tune",
]
