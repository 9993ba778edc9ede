"""``starling new``: makes a C++ project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from starling import _project
from starling._cmake import cmake_dir
from starling.cli._messages import told


def command(
    folder: Annotated[Path, typer.Argument(metavar="NAME", help="The project, and the new folder that it gets.")],
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Make a C++ project: CMakeLists.txt, a kernel, a program that runs it, and a test in check mode.

    Prints the commands that configure, build and test it.
    """
    with told(debug):
        found = cmake_dir()
        files = _project.create(folder)
        typer.echo(f"made {folder}: {', '.join(map(str, files))}")
        typer.echo("configure, build and test it:")
        for line in _project.commands(folder, found):
            typer.echo(f"  {line}")
        typer.echo(f"run it:\n  {folder / 'build' / folder.name}")
