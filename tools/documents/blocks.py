"""The fenced blocks of a page, and what the comments of the page say about them.

A comment alone on the line before a block speaks of that block; readers of the page do not see it:

    <!-- output of: COMMAND -->     a text block: what the command prints (in the folder of the page, see running.py)
    <!-- example: PATH -->          a C++ block: lines of that file, word for word; a line `...` leaves some out
    <!-- not checked: REASON -->    any block: neither run nor compared

Anywhere in the page, `<!-- file: NAME = PATH -->` names a file that the commands of the page find in their folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DIRECTIVES = ("output of", "example", "not checked")
COMMENT = re.compile(r"<!-- ([a-z ]+): (.*) -->")


class Unreadable(Exception):
    """A page whose blocks or comments are not as they must be."""


@dataclass
class Block:
    """A fenced block: `line` is that of its fence, counted from 1; `text` ends in a newline unless it is empty."""

    line: int
    language: str
    text: str
    directive: str = ""  # one of DIRECTIVES
    value: str = ""


@dataclass
class Page:
    blocks: list[Block]
    files: dict[str, str]


def read_page(path: Path) -> Page:
    page = Page([], {})
    lines = path.read_text(encoding="utf-8").splitlines()
    at = 0
    while at < len(lines):
        fence = re.fullmatch(r"```([a-z]*)", lines[at])
        comment = COMMENT.fullmatch(lines[at])
        if fence:
            try:
                end = lines.index("```", at + 1)
            except ValueError:
                raise Unreadable(f"line {at + 1}: a block without an end") from None
            text = "".join(f"{line}\n" for line in lines[at + 1 : end])
            page.blocks.append(Block(at + 1, fence.group(1), text, *directive_before(lines, at)))
            at = end
        elif comment and comment.group(1) == "file":
            name, _, source = comment.group(2).partition(" = ")
            page.files[name] = source
        elif comment and (comment.group(1) not in DIRECTIVES or not "".join(lines[at + 1 : at + 2]).startswith("```")):
            raise Unreadable(f"line {at + 1}: a comment that is no directive, or has no block below: {lines[at]}")
        at += 1
    return page


def directive_before(lines: list[str], fence: int) -> tuple[str, str]:
    comment = COMMENT.fullmatch(lines[fence - 1]) if fence > 0 else None
    return (comment.group(1), comment.group(2)) if comment and comment.group(1) in DIRECTIVES else ("", "")
