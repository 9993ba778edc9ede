"""Starling: one program on many GPUs that runs itself, and on virtual devices on any machine.

>>> import numpy as np
>>> import starling
>>> u = np.zeros((64, 64), dtype="float32")
>>> u[0] = 1  # a hot edge
>>> warm = starling.stencil.jacobi(u, steps=100, devices=2)
>>> bool(warm[1, 32] > 0.8)
True

``starling.machine`` makes machines, ``starling.stencil`` runs stencils, ``starling.linalg`` solves linear systems,
``starling.graph`` ranks vertices and finds shortest paths, ``starling.region`` has arrays that send themselves,
``starling.stf`` runs tasks in the order of their data, ``starling.shmem`` has arrays on every device by OpenSHMEM's
calls,
``starling.trace`` records what devices do, ``starling.communication`` measures messages between them,
``starling.faults`` makes things go wrong on purpose,
``starling.check()`` explores schedules, ``starling.errors`` has the errors, ``starling.doctor()`` says what can be used
here, and ``starling.cmake_dir()`` where CMake finds the C++ libraries. Messages go to the logger ``starling``.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from starling._native import __version__

if TYPE_CHECKING:
    from starling import communication, errors, faults, graph, linalg, machine, region, shmem, stencil, stf, trace
    from starling._check import CheckSummary, check
    from starling._cmake import cmake_dir
    from starling._diagnosis import doctor
    from starling.errors import Error
    from starling.machine import Machine

__all__ = [
    "CheckSummary",
    "Error",
    "Machine",
    "__version__",
    "check",
    "cmake_dir",
    "communication",
    "doctor",
    "errors",
    "faults",
    "graph",
    "linalg",
    "machine",
    "region",
    "shmem",
    "stencil",
    "stf",
    "trace",
]

# Where the names that are no modules come from.
_HOMES = {
    "CheckSummary": "starling._check",
    "Error": "starling.errors",
    "Machine": "starling.machine",
    "check": "starling._check",
    "cmake_dir": "starling._cmake",
    "doctor": "starling._diagnosis",
}

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Imports a part when it is first used: SciPy and others take long, and the command can be interrupted then."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(import_module(_HOMES[name]), name) if name in _HOMES else import_module(f"{__name__}.{name}")
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
