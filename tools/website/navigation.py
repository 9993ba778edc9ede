"""Where the site's pages are found: each page of docs/ has one place, and none is forgotten."""

from __future__ import annotations

from typing import Any

PAGES: dict[str, dict[str, str]] = {
    "Start": {
        "Starling": "README.md",
        "Examples": "examples/README.md",
        "From CUDA, NVSHMEM, NCCL, MPI, CUDASTF": "docs/coming_from.md",
        "Glossary": "docs/glossary.md",
        "Changes": "CHANGELOG.md",
    },
    "Guide": {
        "Kernels and machines": "docs/guide.md",
        "Tasks": "docs/tasks.md",
        "Programs from Python": "docs/dace.md",
        "Regions": "docs/regions.md",
        "OpenSHMEM": "docs/openshmem.md",
        "Processes and clusters": "docs/processes.md",
    },
    "Applications": {
        "Stencils": "docs/stencil.md",
        "Linear systems": "docs/solve.md",
        "Graphs": "docs/graphs.md",
    },
    "When something is wrong": {
        "Debugging": "docs/debugging.md",
        "Check mode": "docs/check.md",
        "Faults on purpose": "docs/faults.md",
        "Traces": "docs/trace.md",
        "Wrong programs": "examples/bugs/README.md",
    },
    "Results": {
        "All machines": "docs/results.md",
        "Stencils": "docs/stencil_results.md",
        "Linear systems": "docs/cg_results.md",
        "Tasks": "docs/tasks_results.md",
        "Messages": "docs/communication_results.md",
        "Regions": "docs/regions_results.md",
    },
    "How it works": {
        "How it works": "docs/how_it_works.md",
        "The stencil solver": "apps/stencil/README.md",
        "Sparse products": "apps/sparse/README.md",
        "Queue pairs": "docs/queue_pairs.md",
        "Past one host": "docs/scale.md",
    },
}


class Forgotten(Exception):
    """A page that the navigation does not have, or one that it has and nobody wrote."""


def pages_of(tree: dict[str, dict[str, str]]) -> set[str]:
    return {page for group in tree.values() for page in group.values()}


def check(pages: set[str], tree: dict[str, dict[str, str]] = PAGES) -> None:
    """Raises Forgotten unless the tree has each page of docs/ and no page that is not there."""
    there = pages_of(tree) | {"docs/reference.md"}
    missing = sorted(page for page in pages - there if page.startswith("docs/"))
    absent = sorted(there - pages)
    if missing or absent:
        raise Forgotten(f"tools/website/navigation.py: not in it: {missing}; in it, but not there: {absent}")


def navigation(cpp: list[str], python: list[str], rooms: dict[str, str]) -> list[dict[str, Any]]:
    """MkDocs' `nav`: the groups above and the references, whose pages are named relative to cpp/ and python/."""
    result: list[dict[str, Any]] = []
    for group, pages in PAGES.items():
        named: list[Any] = [{title: page} for title, page in pages.items()]
        result.append({group: named if len(named) > 1 else next(iter(pages.values()))})
    headers: list[Any] = ["cpp/README.md", {"All names": "cpp/names.md"}]
    for room, title in rooms.items():
        in_room = [
            {path.removesuffix(".md").partition("/")[2]: f"cpp/{path}"} for path in cpp if path.startswith(f"{room}/")
        ]
        headers.append({title.partition(":")[0]: in_room})
    python = sorted(python, key=lambda path: path.removesuffix(".md"))
    modules = [{f"starling.{path.removesuffix('.md')}": f"python/{path}"} for path in python if path != "README.md"]
    reference = [
        {"Overview": "docs/reference.md"},
        {"C++": headers},
        {"Python": [{"starling": "python/README.md"}, *modules]},
    ]
    return [*result, {"Reference": reference}]
