"""Traces: what every block of a program and the host did and when.

``record`` collects one and writes a timeline that Perfetto opens; ``read`` reads the files that machines write when
``STARLING_TRACE`` is set. docs/trace.md says what the numbers mean.

>>> from starling import trace
>>> trace.Trace().machines
[]
"""

from starling.trace._measures import Matrix, Overlap
from starling.trace._plot import plot
from starling.trace._record import Recording, record
from starling.trace._spans import Gaps, Program, Spans
from starling.trace._timeline import write as write_timeline
from starling.trace._trace import MachineTrace, Trace, read

__all__ = [
    "Gaps",
    "MachineTrace",
    "Matrix",
    "Overlap",
    "Program",
    "Recording",
    "Spans",
    "Trace",
    "plot",
    "read",
    "record",
    "write_timeline",
]
