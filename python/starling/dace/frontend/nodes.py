"""The library node that stands for a call of communication in DaCe's graph.

Arrays are its connectors, so that inlining renames them; PE numbers and values that are no data are properties.
"""

from __future__ import annotations

from typing import Any

from dace.properties import Property, SymbolicProperty

from dace import library, nodes

__all__ = ["Communication"]


@library.node
class Communication(nodes.LibraryNode):  # type: ignore[misc]
    """One call of :mod:`starling.dace.nvshmem`."""

    implementations: dict[str, Any] = {}  # noqa: RUF012 -- as DaCe wants it
    default_implementation = None

    verb = Property(dtype=str, default="", desc="which call it is")
    peer = SymbolicProperty(default=-1, allow_none=True, desc="the PE that is named")
    value = SymbolicProperty(default=0, allow_none=True, desc="the value of the signal")
    detail = Property(dtype=str, default="", desc="the operation of SignalOp, or the comparison of a wait")

    def has_side_effects(self, sdfg: Any) -> bool:
        """Calls stay where they are, even if nothing reads what they write."""
        return True

    @property
    def free_symbols(self) -> set[str]:
        """Symbols of its properties."""
        found: set[str] = set(super().free_symbols)
        for e in (self.peer, self.value):
            if hasattr(e, "free_symbols"):
                found |= {str(s) for s in e.free_symbols}
        return found
