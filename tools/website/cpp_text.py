"""The text of a C++ header, taken apart as far as the reference needs it: comments apart from code, brackets in pairs.

Nothing here knows what a declaration means. Code is looked at in a masked copy of the same length, in which comments,
strings and lines of the preprocessor are blanks, so that offsets are those of the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

APART = re.compile(
    r"//[^\n]*|/\*.*?\*/"
    r'|R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![\w])'(?:\\.|[^'\\\n])+'"
    r"|^[ \t]*\#(?:\\\n|[^\n])*",
    re.S | re.M,
)
PAIRS = {"(": ")", "[": "]", "{": "}"}


class Unreadable(Exception):
    """A header that is not as these few rules expect; the message says where."""


@dataclass(frozen=True)
class Comment:
    """A comment `//` from line to line; `column` is where it begins."""

    line: int
    column: int
    text: str
    alone: bool  # nothing else is in its line


class Header:
    """A header's text, its masked copy, and its comments by line."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.comments: dict[int, Comment] = {}
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self.masked = APART.sub(self._apart, text)
        self._closes = self._pairs()

    def _apart(self, found: re.Match[str]) -> str:
        whole = found.group()
        if whole.startswith("//"):
            line = self.line_of(found.start())
            column = found.start() - self._starts[line]
            alone = not self.text[self._starts[line] : found.start()].strip()
            self.comments[line] = Comment(line, column, whole[2:].removeprefix(" ").rstrip(), alone)
        # A quoted text stays a value: what follows a bracket or a sign has to be there.
        fill = "0" if whole[0] in "\"'R" else " "
        return re.sub(r"[^\n]", fill, whole)

    def line_of(self, offset: int) -> int:
        """The line of an offset, counted from 0."""
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low

    def column_of(self, offset: int) -> int:
        return offset - self._starts[self.line_of(offset)]

    def is_blank(self, line: int) -> bool:
        end = self.text.find("\n", self._starts[line])
        return not self.text[self._starts[line] : end if end >= 0 else len(self.text)].strip()

    def close(self, at: int) -> int:
        """The offset of the bracket that closes the one at `at`."""
        if at not in self._closes:
            raise Unreadable(f"{self.path}:{self.line_of(at) + 1}: nothing closes {self.masked[at]}")
        return self._closes[at]

    def _pairs(self) -> dict[int, int]:
        result: dict[int, int] = {}
        waiting: list[int] = []
        for found in re.finditer(r"[(\[{}\])]", self.masked):
            at, sign = found.start(), found.group()
            if sign in PAIRS:
                waiting.append(at)
                continue
            if not waiting or PAIRS[self.masked[waiting[-1]]] != sign:
                raise Unreadable(f"{self.path}:{self.line_of(at) + 1}: {sign} closes nothing")
            result[waiting.pop()] = at
        return result


def close_angle(code: str, at: int) -> int:
    """The offset after the `>` that closes the `<` at `at` of masked code; -1 if there is none."""
    depth = 0
    i = at
    while i < len(code):
        c = code[i]
        if c in "([{":
            i = closing(code, i)
            if i < 0:
                return -1
        elif c == "<":
            depth += 1
        elif c == ">" and code[i - 1] != "-":
            depth -= 1
            if depth == 0:
                return i + 1
        i += 1
    return -1


def closing(code: str, at: int) -> int:
    """The offset of the bracket that closes the one at `at` of masked code; -1 if there is none."""
    depth = 0
    for i in range(at, len(code)):
        depth += (code[i] in "([{") - (code[i] in ")]}")
        if depth == 0:
            return i
    return -1
