"""Comments of the headers as Markdown: paragraphs, examples, and names as code with links.

A comment is plain text in which indented lines are an example and `* ` begins an item. A word is taken for a name of
the program if it is qualified, has an underscore or arguments; everything else that Markdown would read is escaped.
"""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass

HEADER = r"(?:[\w/]+/)?\w+\.hpp"
NAME = (
    r"~?(?:[A-Za-z]\w*(?:<\w+>)?::)*(?:[a-z]\w*\.)*[A-Za-z_]\w*(?:<[\w ,]+>)?"  # st::region<T>, x.read, put_signal
    r"(?:\((?!s\))[^()\n]*\))?"  # with arguments, but not as in word(s)
)
WORDS = re.compile(rf"`[^`]+`|{HEADER}|(?<![\w/.\"])(?:{NAME})|[\\*_<>\[\]#|]|&(?=\w+;)")


@dataclass(frozen=True)
class Lookup:
    """Where names lead from one page. `page`: the header's name; `owner`: the class whose members need no qualifier."""

    places: dict[str, str]
    headers: set[str]
    page: str
    owner: str

    def relative(self, place: str) -> str:
        path, _, fragment = place.partition("#")
        if path == f"{self.page}.md":
            return f"#{fragment}"
        start = posixpath.dirname(self.page) or "."
        return posixpath.relpath(path, start) + (f"#{fragment}" if fragment else "")

    def place(self, name: str) -> str | None:
        plain = re.sub(r"<[^<>]*>|\([^()]*\)", "", name).removeprefix("starling::").removeprefix("st::")
        owners = [self.owner, self.owner.split("::")[0]] if self.owner else []
        for full in (*(f"{owner}::{plain}" for owner in owners), plain):
            if full in self.places:
                return self.relative(self.places[full])
        return None

    def header(self, path: str) -> str | None:
        name = path.removeprefix("starling/")
        room = posixpath.dirname(self.page)
        for known in (name, f"{room}/{name}"):
            if known in self.headers:
                return self.relative(f"{known}.md")
        return None


def prose(comment: list[str], lookup: Lookup) -> str:
    """A comment, line by line, as Markdown."""
    result: list[str] = []
    example = False
    for i, line in enumerate(comment):
        following = next((later for later in comment[i:] if later.strip()), "")
        indented = following.startswith("  ") if not line.strip() else line.startswith("  ")
        starts = indented and line.strip() and (i == 0 or not comment[i - 1].strip() or not is_item(comment, i))
        if example and not indented:
            result += ["```", ""]
            example = False
        elif not example and starts and not is_item(comment, i):
            result += ["", "```cpp"]
            example = True
        result.append(line[2:] if example else marked(line, lookup))
    return "\n".join([*result, "```"] if example else result).strip("\n")


def is_item(comment: list[str], at: int) -> bool:
    """Whether the line goes on with an item of a list."""
    while at >= 0 and comment[at].strip():
        if comment[at].startswith("* "):
            return True
        at -= 1
    return False


def marked(line: str, lookup: Lookup) -> str:
    item = "* " if line.startswith("* ") else ""

    def one(found: re.Match[str]) -> str:
        word = found.group()
        if word.startswith("`"):
            return linked(word[1:-1], lookup)
        if re.fullmatch(HEADER, word):
            to = lookup.header(word)
            return f"[`{word}`]({to})" if to else f"`{word}`"
        if re.fullmatch(r"[\\*_\[\]#|]", word):
            return f"\\{word}"
        if word in ("<", ">", "&"):
            return {"<": "&lt;", ">": "&gt;", "&": "&amp;"}[word]
        if "_" in word or "::" in word or word.endswith(")") or ("<" in word and word.endswith(">")):
            return linked(word, lookup)
        return word

    return item + WORDS.sub(one, line[len(item) :])


def linked(code: str, lookup: Lookup) -> str:
    to = lookup.place(code) if re.fullmatch(NAME, code) else None
    return f"[`{code}`]({to})" if to else f"`{code}`"
