#!/usr/bin/env python3
"""The typed functions of OpenSHMEM in C, made from src/openshmem/functions.json when Starling is built.

A row of the file is a function, or as many as its set of types has: `@` in a name stands for the name of a type or a
size, `[ctx_]` for two functions, the second of which takes a context first; `T` in `takes`, `returns` and `does` is the
type, `BYTES` the bytes of a size. `does` is C++ within starling::openshmem. `generic` is the name by which C11 and C++
choose among them, `test` the program of tests/openshmem that calls it, where it is not the section's. What is `by_hand`
is declared in shmem.h.in. What fails is reported, and the caller gets a status, a null pointer, or what the handler
leaves.

Usage: openshmem_calls.py OUTPUT. Writes shmem.h, pshmem.h, calls_0.cpp ... and, for tests, sets.h into that folder.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "src/openshmem"
SOURCES = 4
QUALIFIED = ("", "const ", "volatile ")
# The type that C and C++ have in common, and the one that C++ has too, of the same layout.
STANDARD_COMPLEX = {
    "complexf": ("shmem_complexf_t", "std::complex<float>"),
    "complexd": ("shmem_complexd_t", "std::complex<double>"),
}


@dataclass(frozen=True)
class Function:
    """One function of the C interface."""

    name: str
    returns: str
    takes: str
    does: str
    fails: str
    section: str
    row: str
    """The name in the table."""
    type_name: str
    """Of the type or size that it is for; empty: none."""
    with_context: bool
    generic: str

    @property
    def prototype(self) -> str:
        star = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{star}{self.name}({self.takes or 'void'})"

    @property
    def arguments(self) -> str:
        return ", ".join(re.findall(r"(\w+)(?:,|$)", self.takes))


@dataclass(frozen=True)
class Table:
    types: dict[str, str]
    same_as: dict[str, str]
    sets: dict[str, list[str]]
    sections: list[dict[str, Any]]

    def functions(self) -> Iterator[Function]:
        for section in self.sections:
            for row in section["functions"]:
                if "by_hand" in row:
                    continue
                for kind in self.sets[row["types"]] if "types" in row else [""]:
                    for with_context in (False, True) if "[ctx_]" in row["name"] else (False,):
                        yield self.function(section["title"], row, kind, with_context)

    def function(self, section: str, row: dict[str, str], kind: str, with_context: bool) -> Function:
        def filled(text: str) -> str:
            text = re.sub(r"\bBYTES\b", str(int(kind) // 8) if kind.isdigit() else "1", text)
            return re.sub(r"\bT\b", self.types.get(kind, "void"), text)

        does = filled(row["does"])
        takes = filled(row["takes"])
        if with_context:
            takes = f"shmem_ctx_t ctx, {takes}"
        elif "[ctx_]" in row["name"]:
            does = re.sub(r"\bctx\b", "SHMEM_CTX_DEFAULT", does)
        name = row["name"].replace("[ctx_]", "ctx_" if with_context else "").replace("@", kind)
        return Function(
            name=name,
            returns=filled(row["returns"]),
            takes=takes,
            does=does,
            fails=row.get("fails", ""),
            section=section,
            row=row["name"],
            type_name=kind,
            with_context=with_context,
            generic=row.get("generic", ""),
        )


def read_table(path: Path = FOLDER / "functions.json") -> Table:
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return Table(table["types"], table["same_as"], table["sets"], table["sections"])


def prototypes(functions: list[Function], prefix: str) -> str:
    lines = []
    section = ""
    for f in functions:
        if f.section != section:
            section = f.section
            lines += ["", f"/* {section} */"]
        lines.append(f.prototype.replace(f.name + "(", prefix + f.name + "(", 1) + ";")
    return "\n".join(lines[1:])


def by_generic(functions: list[Function]) -> dict[str, list[Function]]:
    found: dict[str, list[Function]] = {}
    for f in functions:
        if f.generic:
            found.setdefault(f.generic, []).append(f)
    return found


class Generics:
    """The names that choose by the type of an argument: `_Generic` in C, overloads in C++."""

    def __init__(self, table: Table, functions: list[Function]) -> None:
        self.types = table.types
        self.families = {name: list(self.once(family, table)) for name, family in by_generic(functions).items()}

    @staticmethod
    def once(family: list[Function], table: Table) -> Iterator[Function]:
        """A type that has several names counts once."""
        seen = set()
        for f in family:
            key = table.same_as.get(f.type_name, f.type_name), f.with_context
            if key not in seen:
                seen.add(key)
                yield f

    def chosen(self, family: list[Function], argument: str, other: str = "") -> str:
        pairs = [
            f"{qualifier}{self.types.get(f.type_name, 'uint64_t')} *: {f.name}"
            for f in family
            for qualifier in QUALIFIED
        ]
        return f"_Generic({argument}, " + ", ".join([*pairs, *([other] if other else [])]) + ")"

    def c11(self) -> str:
        lines = []
        for name, family in self.families.items():
            plain = [f for f in family if not f.with_context]
            contexts = [f for f in family if f.with_context]
            if contexts:
                inner = self.chosen(contexts, "SHMEM_SECOND_(__VA_ARGS__, 0, 0)", "default: shmem_no_such_type_")
                chosen = self.chosen(plain, "SHMEM_FIRST_(__VA_ARGS__, 0)", f"shmem_ctx_t: {inner}")
            elif plain[0].takes.startswith("shmem_team_t"):
                chosen = self.chosen(plain, "SHMEM_SECOND_(__VA_ARGS__, 0, 0)")
            else:
                chosen = self.chosen(plain, "SHMEM_FIRST_(__VA_ARGS__, 0)")
            lines.append(f"#define {name}(...) {chosen}(__VA_ARGS__)")
        return "\n".join(lines)

    def cxx(self) -> str:
        lines = []
        for name, family in self.families.items():
            for f in family:
                if f.name != name:
                    give = "" if f.returns == "void" else "return "
                    prototype = f.prototype.replace(f.name + "(", name + "(", 1)
                    lines.append(f"inline {prototype} {{ {give}{f.name}({f.arguments}); }}")
                    if f.type_name in STANDARD_COMPLEX:
                        ours, theirs = STANDARD_COMPLEX[f.type_name]
                        passed = f.arguments.replace("dest, source", f"({ours} *)dest, (const {ours} *)source")
                        lines.append(f"inline {prototype.replace(ours, theirs)} {{ {give}{f.name}({passed}); }}")
        return "\n".join(lines)


def header(table: Table, functions: list[Function]) -> str:
    generics = Generics(table, functions)
    text = (FOLDER / "shmem.h.in").read_text(encoding="utf-8")
    for mark, made in (
        ("@prototypes@", prototypes(functions, "")),
        ("@c11@", generics.c11()),
        ("@cxx@", generics.cxx()),
    ):
        text = text.replace(mark, made)
    return text


def profiling_header(functions: list[Function]) -> str:
    text = (FOLDER / "pshmem.h.in").read_text(encoding="utf-8")
    return text.replace("@prototypes@", prototypes(functions, "p"))


def definition(f: Function) -> str:
    """The function under its name for profilers, and its own name as a weak one, so that a profiler can take it."""
    how = {"status": "guarded_status", "null": "guarded_null", "finalize": "guarded_finalize"}.get(f.fails, "guarded")
    give = "" if f.returns == "void" else "return "
    profiled = f.prototype.replace(f.name + "(", "p" + f.name + "(", 1)
    returned = f"{give}{f.does}" if give else f.does
    return (
        f'{profiled} {{ {give}{how}("{f.name}", [&] {{ {returned}; }}); }}\n'
        f'__attribute__((weak, alias("p{f.name}"))) {f.prototype};'
    )


def source(functions: list[Function]) -> str:
    body = "\n".join(definition(f) for f in functions)
    return f'#include "openshmem/calls.hpp"\n\nusing namespace starling::openshmem;\n\nextern "C" {{\n{body}\n}}\n'


def type_sets(table: Table) -> str:
    """For each set of types a macro that gives its argument all of them, name and type."""
    lines = []
    for name, members in table.sets.items():
        pairs = " ".join(f"X({kind}, {table.types.get(kind, kind)})" for kind in members)
        lines.append(f"#define FOR_{name.upper()}(X) {pairs}")
    return "\n".join(lines) + "\n"


def write(path: Path, text: str) -> None:
    """Leaves a file alone that is the same already, so that nothing is compiled again."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    output = Path(sys.argv[1])
    include = output / "include"
    include.mkdir(parents=True, exist_ok=True)
    table = read_table()
    functions = list(table.functions())
    write(include / "shmem.h", header(table, functions))
    write(include / "pshmem.h", profiling_header(functions))
    write(include / "shmemx.h", (FOLDER / "shmemx.h").read_text(encoding="utf-8"))
    write(output / "sets.h", type_sets(table))
    for i in range(SOURCES):
        write(
            output / f"calls_{i}.cpp",
            source(functions[i * len(functions) // SOURCES : (i + 1) * len(functions) // SOURCES]),
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
