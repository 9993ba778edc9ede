"""Starling as a backend of networkx: ``networkx.pagerank(G, backend="starling")``.

networkx finds it by the entry points ``networkx.backends`` and ``networkx.backend_info``. The latter is loaded whenever
networkx is, so nothing large is imported before a function is called.
"""

from __future__ import annotations

from typing import Any

from starling.errors import NotConverged


def get_info() -> dict[str, Any]:
    """What networkx wants to know of a backend before it loads it."""
    return {
        "backend_name": "starling",
        "package": "starling",
        "short_summary": "All devices of a machine: GPUs, or virtual devices.",
        "functions": {
            "pagerank": {
                "additional_docs": "Weights are real numbers, at least 0. float64.",
                "additional_parameters": {
                    "devices : int, optional": "How many; all GPUs, or 4 virtual devices.",
                    "machine : str or starling.Machine, optional": "'host', 'cuda' or 'auto'.",
                    "dtype : str, optional": "'float64' or 'float32'.",
                    "agent : str, optional": "How ranks come to the other devices.",
                    "chunk : int or str, optional": "How much is sent at a time.",
                },
            }
        },
    }


class _Backend:
    """What networkx calls: functions by its names, and what makes their graphs, which networkx keeps beside its own."""

    def convert_from_nx(self, graph: Any, *, edge_attrs: dict[str, Any] | None = None, **_: Any) -> Any:
        """A graph with the weights that a function is about to read."""
        from starling.graph import _matrix

        return _matrix.as_graph(graph, next(iter(edge_attrs), None) if edge_attrs else None)

    def convert_to_nx(self, result: Any, **_: Any) -> Any:
        """Results are dictionaries, as networkx has them."""
        return result

    def pagerank(
        self,
        G: Any,
        alpha: float = 0.85,
        personalization: Any = None,
        max_iter: int = 100,
        tol: float = 1.0e-6,
        nstart: Any = None,
        weight: str | None = "weight",
        dangling: Any = None,
        **options: Any,
    ) -> Any:
        """See :func:`starling.graph.pagerank`, whose further arguments it takes."""
        from networkx import PowerIterationFailedConvergence

        from starling import graph

        try:
            return graph.pagerank(
                G, alpha, personalization, max_iter, tol, nstart, weight, dangling, report=False, **options
            )
        except NotConverged as problem:
            raise PowerIterationFailedConvergence(max_iter) from problem


backend = _Backend()
