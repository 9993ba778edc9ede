"""The command ``starling``. One module per command; each only reads arguments and shows results."""

from __future__ import annotations

from typing import Annotated

import typer

from starling import __version__, cmake_dir
from starling.cli import (
    bench,
    check,
    doctor,
    explain,
    jacobi,
    launch,
    new,
    pagerank,
    plot,
    solve,
    sssp,
    stencil,
    trace,
    tune,
)
from starling.cli._messages import told

app = typer.Typer(
    name="starling",
    help="One program on many GPUs that runs itself, and on virtual devices on any machine.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("stencil")(stencil.command)
app.command("solve")(solve.command)
app.command("jacobi")(jacobi.command)
app.command("pagerank")(pagerank.command)
app.command("sssp")(sssp.command)
app.command("doctor")(doctor.command)
app.command("new")(new.command)
app.command("check")(check.command)
app.command("explain")(explain.command)
app.command("launch")(launch.command)
app.command("trace")(trace.command)
app.command("plot")(plot.command)
app.command("tune")(tune.command)
app.add_typer(bench.app, name="bench")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"starling {__version__}")
        raise typer.Exit


def _show_cmake_dir(wanted: bool) -> None:
    if wanted:
        with told(debug=False):
            typer.echo(cmake_dir())
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
    cmakedir: Annotated[
        bool,
        typer.Option(
            "--cmakedir",
            callback=_show_cmake_dir,
            is_eager=True,
            help="Show where CMake finds Starling (-Dstarling_DIR=...) and exit.",
        ),
    ] = False,
) -> None:
    pass
