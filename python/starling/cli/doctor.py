"""``starling doctor``: what machine there is, what can be used, what is missing."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from starling import doctor as diagnose
from starling._native import native


def command(
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say what machine there is, what Starling can use of it, and what is missing, with the remedy.

    The exit code is 0 when something can be used. In a job of several processes, `starling launch -n 4 -- starling
    doctor`, all come together and process 0 speaks for them.
    """
    facts = diagnose()
    if facts["job"] is not None and facts["job"]["process"] != 0:
        return
    if as_json:
        typer.echo(json.dumps(facts, indent=2))
    else:
        show(facts, Console(highlight=False))
    if not facts["usable"]:
        raise typer.Exit(1)


def show(facts: dict[str, Any], console: Console) -> None:
    """Prints the facts as tables."""
    console.print(_machine(facts))
    if facts["peers"]:
        console.print(_peers(facts["peers"]))
    if facts["job"] is not None:
        console.print(_processes(facts["job"]))
        messages = facts["job"]["messages"]
        console.print(
            f"messages of {messages[0]['bytes']} bytes ({facts['job']['engine']}): us one way, from (row) to, and what "
            "carried them",
            soft_wrap=True,
        )
        console.print(_messages(messages, facts["best"]["devices"]))
    if facts["environment"]:
        console.print(_environment(facts["environment"]))
    for entry in facts["missing"]:
        console.print(
            f"[yellow]missing[/]  {_plain(entry['what'])}\n         -> {_plain(entry['remedy'])}", soft_wrap=True
        )
    if facts["usable"]:
        console.print(
            f"[green]usable[/]   {', '.join(facts['usable'])}; by default: {_plain(facts['best']['choice'])}",
            soft_wrap=True,
        )
    else:
        console.print("[red]nothing can be used[/]; see above")


def _plain(text: object) -> str:
    """Text in which nothing is read as a style."""
    return str(text).replace("[", r"\[")


def _rows(title: str | None, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", show_header=bool(columns), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _machine(facts: dict[str, Any]) -> Table:
    table = _rows(f"Starling {facts['starling']['version']}")
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    cuda = facts["cuda"]
    table.add_row("Python", f"{facts['python']['version']} ({_plain(facts['python']['executable'])})")
    table.add_row("platform", _plain(facts["platform"]))
    table.add_row("processor", f"{facts['cores']} cores, {native.format_bytes(facts['memory_bytes'])} of memory")
    for compiler in facts["compilers"]:
        table.add_row(compiler["name"], _plain(compiler["version"] or compiler["path"]))
    table.add_row("programs from Python", _plain(_programs(facts["dace"])))
    built = f"yes, with CUDA {cuda['runtime']}" if cuda["built"] else "no"
    table.add_row("built for GPUs", built)
    table.add_row("NVIDIA driver", f"CUDA {cuda['driver']}" if cuda["driver"] else "not seen")
    for gpu in facts["gpus"]:
        table.add_row(
            f"GPU {gpu['id']}",
            f"{_plain(gpu['name'])}, {native.format_bytes(gpu['memory_bytes'])}, compute capability "
            f"{gpu['compute_capability']}, {gpu['multiprocessors']} multiprocessors",
        )
    return table


def _programs(dace: dict[str, str]) -> str:
    if not dace["version"]:
        return "no DaCe; pip install 'starling[dace]'"
    host = dace["compiler"] or "no C++ compiler for virtual devices; install g++ 12 or newer, or set CXX"
    gpus = dace["nvcc"] or "no nvcc for GPUs"
    return f"DaCe {dace['version']}; {host}; {gpus}"


def _peers(peers: list[list[str]]) -> Table:
    table = _rows("How a GPU (row) reaches the memory of another", "", *[f"GPU {i}" for i in range(len(peers))])
    for i, links in enumerate(peers):
        table.add_row(f"GPU {i}", *links)
    return table


def _processes(job: dict[str, Any]) -> Table:
    table = _rows("Processes", "process", "host", "pid", "cores", "PEs")
    for p in job["processes"]:
        numbers = (p["process"], p["host"], p["pid"], p["cores"])
        table.add_row(*map(str, numbers), ", ".join(map(str, p["pes"])))
    return table


def _messages(messages: list[dict[str, Any]], pes: int) -> Table:
    times = {(t["source"], t["destination"]): t for t in messages}
    table = _rows(None, "", *[f"PE {pe}" for pe in range(pes)])
    for source in sorted({source for source, _ in times}):
        row = [times.get((source, pe)) for pe in range(pes)]
        table.add_row(f"PE {source}", *["" if t is None else f"{t['least_us']:.2f} {_engines(t)}".strip() for t in row])
    return table


def _engines(message: dict[str, Any]) -> str:
    """What carried the bytes of a measured pair, as they were counted; empty where they are not."""
    return " and ".join(message["moved"])


def _environment(variables: list[dict[str, Any]]) -> Table:
    table = _rows("Environment variables", "name", "value", "meaning")
    for v in variables:
        table.add_row(v["name"], _plain(v["value"]) + (" (set)" if v["set"] else ""), _plain(v["meaning"]))
    return table
