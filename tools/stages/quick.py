"""What a newcomer runs, `make test`: a build for virtual devices, its tests, the Python package, style and types."""

from __future__ import annotations

from stages.building import build, configure, ctest, pytest
from stages.places import BUILD, PYTHON, ROOT
from stages.run import Run

__all__ = ["host_build", "host_tests", "python_tests", "reformat", "style", "types"]

CPP_FOLDERS = ("include", "src", "apps", "tests", "examples", "bench", "python")
PY_PATHS = ("python", "tools", "tests", "examples", "bench")


def host_build(run: Run) -> None:
    """What the quick tests use."""
    examples = [f"example_{source.stem}" for source in sorted((ROOT / "examples").glob("*.cpp"))]
    suites = ["unit", "protocol", "misuse", "processes", "openshmem", "quick_apps", "quick_check"]
    build(run, configure(run, "host"), *suites, "starling_python", *examples)


def host_tests(run: Run) -> None:
    ctest(run, BUILD / "host", "unit|protocol|misuse|processes|openshmem|example|quick")


def python_tests(run: Run) -> None:
    """The package, one page of its documents, and of the tools the shortest."""
    page = "tests/tools/test_documents.py::test_page[docs/tasks.md]"
    tools = ["tests/tools/test_reference.py", "tests/tools/test_check_includes.py"]
    pytest(run, "python/tests", "python/starling", *tools, page)


def style(run: Run) -> None:
    run.all_of(
        ["clang-format", "--dry-run", "--Werror", *cpp_sources()],
        ["ruff", "check", *python_paths()],
        ["ruff", "format", "--check", *python_paths()],
        [PYTHON, "tools/check_includes.py"],
    )


def types(run: Run) -> None:
    run.command(PYTHON, "-m", "mypy")


def reformat(run: Run) -> None:
    run.command("clang-format", "-i", *cpp_sources())
    run.command("ruff", "format", *python_paths())


def cpp_sources() -> list[str]:
    return sorted(
        str(path.relative_to(ROOT))
        for folder in CPP_FOLDERS
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".hpp", ".cpp")
    )


def python_paths() -> list[str]:
    return [path for path in PY_PATHS if (ROOT / path).is_dir()]
