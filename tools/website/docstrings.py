"""Makes Markdown of what docstrings have of reStructuredText, while the reference of Python is made.

Examples with `>>>` become blocks, since Markdown would read quotations; ``:func:`cg` `` and its like become code; text
before an indented block loses one of its two colons. Loaded by griffe, see python_reference.py.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

CODE = re.compile(r"(`+[^`]+`+)")
ROLE = re.compile(r":(?:py:)?(?:func|class|mod|meth|attr|data|exc|obj):`~?([^`]+)`")


def as_markdown(text: str) -> str:
    """A docstring as Markdown."""
    result: list[str] = []
    fence: str | None = None  # the indentation of the example that is open
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())]
        if fence is None and line.lstrip().startswith(">>> "):
            fence = indent
            if result and result[-1].strip():
                result.append("")
            result.append(f"{indent}```pycon")
        elif fence is not None and not line.strip():
            result.append(f"{fence}```")
            fence = None
        if fence is None:
            line = re.sub(r"(?<=\S)::(\s|$)", r":\1", ROLE.sub(r"`\1`", line))
            # Indices, as in [PE][block], are no links.
            line = "".join(part if part.startswith("`") else part.replace("][", "]\\[") for part in CODE.split(line))
        result.append(line)
    if fence is not None:
        result.append(f"{fence}```")
    return "\n".join(result)


def told_above(docstring: str) -> set[str]:
    """The names in the section `Attributes` of a docstring."""
    found = re.search(r"^( *)Attributes:\n((?:\1 +.*\n?|\n)*)", docstring, re.M)
    return set(re.findall(rf"^{found.group(1)} {{4}}(\w+)(?: \(.*?\))?:", found.group(2), re.M)) if found else set()


class Docstrings(griffe.Extension):
    """Rewrites the docstrings of a package when it has been read, and hides what they make superfluous: attributes that
    the docstring of the class has, and special methods without a docstring; that of `__init__` is the signature of its
    class."""

    def on_package(self, *, pkg: griffe.Module, loader: griffe.GriffeLoader, **_: Any) -> None:
        # Signatures of data classes are made of their attributes, so before some of these go.
        griffe.DataclassesExtension().on_package(pkg=pkg, loader=loader)
        self.rewrite(pkg)

    def rewrite(self, obj: griffe.Object) -> None:
        told: set[str] = set()
        if obj.docstring is not None:
            told = told_above(obj.docstring.value) if obj.is_class else told
            obj.docstring.value = as_markdown(obj.docstring.value)
        for member in list(obj.members.values()):
            if member.is_alias or not isinstance(member, griffe.Object):
                continue
            special = obj.is_class and member.name.startswith("__") and member.name != "__init__"
            if member.docstring is None and (special or member.name in told):
                obj.del_member(member.name)
            else:
                self.rewrite(member)
