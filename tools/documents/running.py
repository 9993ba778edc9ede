"""Runs what a page shows, from its first block to its last, in an empty folder, as a reader would who copies it.

Python blocks share one namespace, in this process. Blocks `sh` are scripts that must end with status 0. C++ blocks with
`main` are compiled and run, all others only compiled, with the names of tests/documents/fragments.cpp. A `text` block
holds the output of the block before it, or of the command that its comment names; of Python code that raises, the
output ends with the error as Python prints it, and the page goes on.

The folder's commands find `starling`, `python` and `.venv/bin/python` of this tree, and the examples in build/host/bin,
all on virtual devices. What a build has not made is left out and named in `Result.missing`.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import linecache
import os
import re
import shutil
import subprocess
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path

from documents.blocks import Block, Unreadable, read_page
from documents.matching import matches, missing_excerpt

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build/host"
FRAGMENTS = ROOT / "tests/documents/fragments.cpp"
LIBRARIES = {"cg/": ("starling_cg", "starling_sparse"), "stencil/": ("starling_stencil",)}  # by their headers


@dataclass
class Result:
    problems: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # what would have to be built
    outputs: dict[int, str] = field(default_factory=dict)  # of text blocks, by line


class NotBuilt(Exception):
    """A file of the build that is not there."""


def check_page(path: Path, folder: Path) -> Result:
    """Runs and compares one page; `folder` is empty and is the current folder of the process afterwards."""
    result = Result()
    try:
        page = read_page(path)
    except Unreadable as reason:
        return Result([f"{path}: {reason}"])
    prepare(folder)
    runner = Runner(folder)
    for name, source in page.files.items():
        try:
            shutil.copy(built(ROOT / source), folder / name)
        except NotBuilt as reason:
            result.missing.append(str(reason))
            return result
    for block, following in zip(page.blocks, [*page.blocks[1:], None], strict=False):
        shown = following is not None and following.language == "text" and not following.directive
        try:
            problem = runner.check(block, shown)
        except NotBuilt as reason:
            result.missing.append(str(reason))
            runner.output = None
            continue
        if block.language == "text" and runner.output is not None:
            result.outputs[block.line] = runner.output
        if problem:
            result.problems.append(f"{path}:{block.line}: {problem}")
    fragments = [block for block in page.blocks if is_fragment(block)]
    try:
        problem = runner.fragments(path, fragments) if fragments else None
    except NotBuilt as reason:
        result.missing.append(str(reason))
    else:
        result.problems += [problem] if problem else []
    return result


def is_program(block: Block) -> bool:
    return block.language == "cpp" and re.search(r"^int main\(", block.text, re.M) is not None


def is_fragment(block: Block) -> bool:
    return block.language == "cpp" and not block.directive and not is_program(block)


def prepare(folder: Path) -> None:
    """Puts the commands of a reader into the folder, and makes it the current one."""
    for name, command in {
        "bin/python": f'"{sys.executable}" "$@"',
        "bin/starling": f'"{sys.executable}" -m starling "$@"',
        ".venv/bin/python": f'"{sys.executable}" "$@"',
        ".venv/bin/starling": f'"{sys.executable}" -m starling "$@"',
    }.items():
        script = folder / name
        script.parent.mkdir(parents=True, exist_ok=True)
        script.write_text(f"#!/bin/sh\nexec {command}\n")
        script.chmod(0o755)
    for name in [name for name in os.environ if name.startswith("STARLING_")]:
        del os.environ[name]
    os.environ["STARLING_MACHINE"] = "host"
    os.environ["PATH"] = os.pathsep.join([str(folder / "bin"), str(BUILD / "bin"), os.environ["PATH"]])
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    sys.path.insert(0, str(ROOT / "python"))
    os.environ["COLUMNS"] = "120"  # of tables
    os.chdir(folder)


class Runner:
    """The state of a page between its blocks: the names of Python, the folder, the last output."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: dict[str, object] = {"__name__": "__main__"}
        self.output: str | None = None

    def check(self, block: Block, shown: bool) -> str | None:
        """Runs a block, or compares it; returns what is wrong. `shown`: its output is in the next block."""
        if block.directive == "not checked":
            return None
        if block.language == "text":
            return self.compare(block)
        self.output = None
        if block.directive == "example":
            return self.excerpt(block)
        if block.language == "python":
            return self.python(block, shown)
        if block.language == "sh":
            return self.shell(block.text)
        return self.program(block) if is_program(block) else None

    def excerpt(self, block: Block) -> str | None:
        source = ROOT / block.value
        if not source.is_file():
            return f"{block.value} does not exist"
        missing = missing_excerpt(block.text, source.read_text(encoding="utf-8"))
        return None if missing is None else f"not in {block.value}, or not there:\n{missing}"

    def compare(self, block: Block) -> str | None:
        if block.directive == "output of":
            problem = self.shell(block.value)
            if problem:
                return problem
        if self.output is None:
            return "an output of nothing: no block was run before it, and no comment names a command"
        if matches(block.text, self.output):
            return None
        shown, came = block.text.splitlines(), self.output.splitlines()
        return "\n".join(
            ["another output than shown:", *difflib.unified_diff(shown, came, "shown", "came", lineterm="")]
        )

    def python(self, block: Block, shown: bool) -> str | None:
        said = io.StringIO()
        error = None
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                # Empty lines before it, so that errors name the lines of the page.
                text = "\n" * block.line + block.text
                # Compilers of Python functions read their source.
                linecache.cache["<page>"] = (len(text), None, text.splitlines(keepends=True), "<page>")
                code = compile(text, "<page>", "exec")
                exec(code, self.names)
            except Exception as raised:
                said.write("".join(traceback.format_exception_only(raised)))
                error = traceback.format_exc()
        self.output = of_the_tree(said.getvalue())
        return error if not shown else None

    def shell(self, script: str) -> str | None:
        for program in re.findall(r"\b(?:example|bug)_\w+", script):
            built(BUILD / "bin" / program)
        ran = subprocess.run(
            ["bash", "-e", "-c", script],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=150,
        )
        self.output = of_the_tree(ran.stdout)
        return f"status {ran.returncode}:\n{ran.stdout}" if ran.returncode != 0 else None

    def program(self, block: Block) -> str | None:
        source = self.folder / f"page_{block.line}.cpp"
        source.write_text(block.text)
        program = source.with_suffix("")
        problem = self.shell(f"{compiler_command(source)} {libraries_of(source)} -o {program}")
        return problem or self.shell(str(program))

    def fragments(self, page: Path, blocks: list[Block]) -> str | None:
        """Compiles the fragments of the page together; the compiler names lines of the page."""
        before, after = FRAGMENTS.read_text(encoding="utf-8").split("  // fragments\n")
        lines = before.count("\n") + 2
        inserted = "".join(f'{{\n#line {block.line + 1} "{page}"\n{block.text}}}\n' for block in blocks)
        source = self.folder / "fragments.cpp"
        source.write_text(f'{before}{inserted}#line {lines} "{FRAGMENTS}"\n{after}')
        return self.shell(f"{compiler_command(source)} -fsyntax-only")


def of_the_tree(output: str) -> str:
    """With paths of sources as they are in the tree; a compiler cache may have made them relative to the build."""
    return re.sub(r"(?:\.\./)+(?=(?:apps|examples|include|src)/)", "", output)


def built(path: Path) -> Path:
    if not path.exists():
        raise NotBuilt(f"{path.relative_to(ROOT)} is not there: build it first")
    return path


def compiler_command(source: Path) -> str:
    """As the guide says it, for the build; not optimised, which is quicker to compile."""
    cache = built(BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
    settings = dict(re.findall(r"^(CMAKE_CXX_COMPILER|STARLING_LIBCUDACXX_DIR):\w+=(.*)$", cache, re.M))
    return (
        f"{settings['CMAKE_CXX_COMPILER']} -std=c++20 -O0 {source} -I {ROOT}/include -I {ROOT}/apps"
        f" -isystem {settings['STARLING_LIBCUDACXX_DIR']} -pthread"
    )


def libraries_of(source: Path) -> str:
    text = source.read_text(encoding="utf-8")
    names = [name for headers, libraries in LIBRARIES.items() if f'"{headers}' in text for name in libraries]
    return " ".join(str(built(BUILD / f"lib{name}.a")) for name in [*names, "starling"])
