"""The Python reference: a page for each public module, filled from the docstrings, without importing anything.

Classes of the native module have docstrings only where a build has left its stub beside the package; without it, their
pages say where these classes are told.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

NOT_A_PART = ("cli",)  # the command line, which docs/reference.md has


def public_modules(package: Path) -> list[str]:
    """The package and its public modules, as names."""
    found = [package.name]
    for path in sorted([*package.glob("[a-z]*.py"), *package.glob("*/[a-z]*.py"), *package.glob("*/__init__.py")]):
        parts = path.relative_to(package.parent).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        if not any(part.startswith("_") for part in parts) and parts[1] not in NOT_A_PART:
            found.append(".".join(parts))
    return sorted(set(found))


def native_names(source: str) -> dict[str, str]:
    """The names that a module takes from the native one: `Machine = native.Machine`."""
    return dict(re.findall(r"^(\w+) = native\.(\w+)$", source, re.M))


def pages(package: Path) -> dict[str, str]:
    """The pages, as Markdown by their paths below python/."""
    stub = package / "_starling.pyi"
    described = classes_of(stub.read_text(encoding="utf-8")) if stub.is_file() else set()
    result = {}
    for name in public_modules(package):
        folder = package.parent.joinpath(*name.split("."))
        source = folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")
        lines = [f"::: {name}"]
        for public, native in native_names(source.read_text(encoding="utf-8")).items():
            if native in described:
                lines += ["", f"::: {package.name}._starling.{native}", "    options:"]
                lines += ["      heading_level: 2", f"      heading: {name}.{public}"]
            else:
                where = "[reference](../docs/reference.md#python)"
                lines += ["", f"`{name}.{public}` is a class of the native module; the {where} says what it has."]
        result["README.md" if name == package.name else f"{name.partition('.')[2]}.md"] = "\n".join(lines) + "\n"
    return result


def classes_of(stub: str) -> set[str]:
    return {node.name for node in ast.parse(stub).body if isinstance(node, ast.ClassDef)}
