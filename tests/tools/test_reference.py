"""The reference names what there is, and all of it: variants, fields of options, defaults, errors, commands and their
options, variables of the environment and of CMake, limits."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

import starling
from starling.cli import app
from starling.linalg import _matrix

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = (ROOT / "docs/reference.md").read_text(encoding="utf-8")
STRUCTS = {
    "run_options": "apps/stencil/problem.hpp",
    "run_result": "apps/stencil/problem.hpp",
    "problem<T>": "apps/stencil/problem.hpp",
    "matrix_options": "apps/cg/options.hpp",
    "solve_options": "apps/cg/options.hpp",
    "solve_result": "apps/cg/options.hpp",
}
COMMANDS: Any = typer.main.get_command(app)


def row(name: str, page: str = REFERENCE, column: int = 1) -> str:
    """What a table has beside the cell that begins with this name."""
    found = re.findall(rf"^\| `{re.escape(name)}`[^|]*\|.*$", page, re.M)
    assert len(found) == 1, f"{len(found)} rows begin with `{name}`"
    return found[0].split("|")[1 + column]


def code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def body(path: str, opening: str) -> str:
    """A struct or enumeration of a header, without comments."""
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(rf"\b{re.escape(opening)}[^{{;]*{{(.*?)^}};", text, re.S | re.M)
    assert found, f"{path} has no {opening}"
    return re.sub(r"//.*", "", found.group(1))


def fields(path: str, struct: str) -> set[str]:
    lines = re.sub(r"=[^;]*;", ";", body(path, f"struct {struct}"))
    return set(re.findall(r"(\w+)\s*;", lines))


def enumerators(path: str, name: str) -> set[str]:
    return set(re.findall(r"(\w+),", body(path, f"enum class {name}")))


def options_of(command: Any) -> set[str]:
    names = {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]}
    return {name for name in names if name.startswith("--")} - {"--help"}


@pytest.mark.parametrize("struct", STRUCTS)
def test_fields(struct: str) -> None:
    named = {name.split()[0] for name in code(re.sub(r"\(a `\w+`\)", "", row(struct)))}
    assert named == fields(STRUCTS[struct], struct.removesuffix("<T>"))


def test_variants() -> None:
    library = REFERENCE.split("\n## Stencil library\n")[1].split("\n## ")[0]
    assert set(code(row("variant", library))) == enumerators("apps/stencil/problem.hpp", "variant")


def test_stencil_options_and_their_defaults() -> None:
    table = REFERENCE.split("Options of `jacobi`, `heat` and `run`:\n\n")[1].split("\n\n")[0]
    parameters = dict(inspect.signature(starling.stencil.jacobi).parameters)
    del parameters["u"], parameters["steps"]
    rows = re.findall(r"^\| `(\w+)` \|", table, re.M)
    assert sorted(rows) == sorted(parameters)
    for name in rows:
        default = code(row(name, table, 2))
        if len(default) == 1 and name != "machine":  # others are told in words
            assert default[0].strip('"') == str(parameters[name].default)
    assert [name.strip('"') for name in code(row("variant", table))] == list(starling.stencil.VARIANTS)


def test_errors() -> None:
    table = REFERENCE.split("\n## Errors\n")[1].split("\n## ")[0]
    named = {line.split("|")[2].strip().strip("`") for line in table.splitlines() if line.startswith("|")}
    assert set(starling.errors.__all__) - named <= {"TaskError"}, "errors that the table lacks"
    assert named - {"Python", "---", ""} <= set(starling.errors.__all__)


def test_python_names() -> None:
    """What the tables of Python call exists, with the parameters that they show."""
    section = REFERENCE.split("\n## Python\n")[1].split("\n## ")[0]
    calls = re.findall(r"^\| `(starling(?:\.\w+)+)\((.*?)\)`", section, re.M)
    assert len(calls) > 10
    for path, shown in calls:
        value: object = starling
        for name in path.split(".")[1:]:
            value = getattr(value, name)
        parameters = inspect.signature(value).parameters  # type: ignore[arg-type]
        for word in shown.split(", "):
            name, _, default = word.partition("=")
            if name in ("", "**options", "..."):
                continue
            assert name in parameters, f"{path}({shown})"
            if default not in ("", "..."):
                assert repr(parameters[name].default) == default, f"{path}({shown})"


def commands() -> dict[str, Any]:
    found = dict(COMMANDS.commands)
    groups = {name: found.pop(name) for name in list(found) if hasattr(found[name], "commands")}
    return found | {
        f"{group} {name}": groups[group].commands[name] for group in groups for name in groups[group].commands
    }


@pytest.mark.parametrize("name", commands())
def test_command(name: str) -> None:
    """The row of a command, and the list of its options below the table, name its options and no others."""
    section = REFERENCE.split("\n## Command line\n")[1]
    cells = re.findall(r"^\| `(starling .*?)` \|", section, re.M)
    named = next(cell for cell in cells if f"{cell} ".startswith(f"starling {name} "))
    listed = re.findall(rf"`starling {name}`: (.*?)\.(?:\s|$)", section, re.S)
    options = options_of(commands()[name])
    assert set(re.findall(r"--[a-z-]+", " ".join([named, *listed]))) == options - {"--debug"}
    assert ("--debug" in options) == (name != "doctor"), "the reference says that all others have --debug"


def test_environment() -> None:
    section = REFERENCE.split("\n## Environment variables\n")[1].split("\n## ")[0]
    header = (ROOT / "include/starling/base/environment.hpp").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(STARLING_\w+)`", section, re.M))
    assert named == set(re.findall(r"// (STARLING_\w+):", header))


def test_cmake_options() -> None:
    text = (ROOT / "cmake/options.cmake").read_text(encoding="utf-8")
    there = set(re.findall(r"^(?:set|option)\((STARLING_\w+) (?:.*CACHE|\")", text, re.M))
    paragraph = re.search(r"^CMake: (.*?)\n\n", REFERENCE, re.S | re.M)
    assert paragraph
    # Where the headers of libcudacxx are is found by another file.
    assert {name for name in code(paragraph.group(1)) if name.startswith("STARLING_")} == there | {
        "STARLING_LIBCUDACXX_DIR"
    }


def test_defects() -> None:
    page = (ROOT / "docs/check.md").read_text(encoding="utf-8")
    table = page.split("\n## What it finds\n\n")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)`, ", table, re.M))
    assert named - {"defect"} == enumerators("include/starling/machine/check.hpp", "defect")


def test_faults() -> None:
    page = (ROOT / "docs/faults.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `\w+\{.*?\}` \| `(\w+)\(", page, re.M))
    assert named == set(starling.faults.__all__) - {"Fault", "FiredFault"}


def test_rows_of_a_linear_system() -> None:
    assert _matrix.MOST_ROWS == 2**30
    assert "index_t most_rows = index_t{1} << 30;" in (ROOT / "apps/sparse/csr.hpp").read_text(encoding="utf-8")
    assert "At most 2^30 rows." in (ROOT / "docs/solve.md").read_text(encoding="utf-8")
