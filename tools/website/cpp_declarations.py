"""What a header declares for its users, with the comments that the house style puts above or beside it.

A comment above a declaration speaks of it and of those that follow in the next lines without an empty one: these are
one entry. A comment `---- words ----` alone is a heading. Declarations that are private, and namespaces that the
reference leaves out, are not read. Forward declarations, specialisations of templates, friends, destructors, and what
every class has for copies and moves are left out.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field

from website.cpp_text import Header, Unreadable, close_angle, closing

MARKS = re.compile(r"\bSTARLING_HD\b ?|\[\[(?:gnu::\w+|nodiscard)\]\] ?")
ACCESS = re.compile(r"(public|protected|private)\s*:(?!:)")
SECTION = re.compile(r"-{3,} (.*?) -{3,}$")


@dataclass
class Declaration:
    """`kind`: class, enum, concept, alias, function, value or using. `code` is what the header has, without a body."""

    kind: str
    name: str
    code: str
    line: int  # counted from 1
    comment: list[str] = field(default_factory=list)
    space: str = ""  # the namespace, without starling
    bases: list[str] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)  # of a class


@dataclass
class Entry:
    """Declarations that one comment speaks of. `section`: the heading above, if this is the first below it."""

    comment: list[str]
    declarations: list[Declaration]
    section: str = ""


@dataclass
class Contents:
    """`introduction`: the comment that opens the header, line by line."""

    introduction: list[str]
    entries: list[Entry]


def read_header(path: str, text: str, hidden: tuple[str, ...] = ("detail",)) -> Contents:
    """Reads a header. `hidden` names the namespaces that are left out. Raises Unreadable."""
    header = Header(path, text)
    introduction: list[str] = []
    while len(introduction) in header.comments and header.comments[len(introduction)].alone:
        introduction.append(header.comments[len(introduction)].text)
    if not introduction:
        raise Unreadable(f"{path}: the header does not open with a comment that says what it is for")
    return Contents(introduction, Reader(header, hidden).entries(0, len(text), "", "public"))


class Reader:
    """Reads the declarations of one header, scope by scope."""

    def __init__(self, header: Header, hidden: tuple[str, ...]) -> None:
        self.header = header
        self.hidden = hidden
        self.space: list[str] = []  # the namespaces around what is being read

    def entries(self, begin: int, end: int, owner: str, access: str) -> list[Entry]:
        """What the scope between two offsets has; `owner` is the class that it is of, if any."""
        result: list[Entry] = []
        last = -2  # the line in which the declaration before ended
        section = ""
        for start, stop, allowed in self.statements(begin, end, access):
            line = self.header.line_of(start)
            heading = self.section_above(line)
            section = heading if heading is not None else section
            comment, joined = self.comment_above(line), last == line - 1
            last = self.header.line_of(stop - 1)
            code = self.header.masked[start:stop]
            inner = re.match(r"(?:inline\s+)?namespace\s*([\w:]*)\s*\{", code)
            if inner:
                name = inner.group(1)
                if name and not set(name.split("::")) & set(self.hidden):
                    self.space.append(name)
                    result += self.entries(start + inner.end(), stop - 1, "", "public")
                    self.space.pop()
                continue
            found = self.declaration(start, stop, owner) if allowed == "public" else None
            if found is None:
                last = last if allowed == "public" and joined else -2
                continue
            found.comment = self.comment_beside(start, stop)
            found.space = re.sub(r"^starling(::)?", "", "::".join(self.space))
            if joined and not comment and not section and result and found.kind not in ("class", "enum"):
                result[-1].declarations.append(found)
            else:
                result.append(Entry(comment, [found], section))
                section = ""
        return result

    # ---- statements ----

    def statements(self, begin: int, end: int, access: str) -> Iterator[tuple[int, int, str]]:
        """Offsets of the statements of a scope, with the access that its class gives them."""
        code = self.header.masked
        at = begin
        while True:
            while at < end and (code[at].isspace() or code[at] == ";"):
                at += 1
            if at >= end:
                return
            changed = ACCESS.match(code, at, end)
            if changed:
                access, at = changed.group(1), changed.end()
                continue
            stop = self.end_of_statement(at, end)
            yield at, stop, access
            at = stop

    def end_of_statement(self, start: int, end: int) -> int:
        """The offset after a statement: after its semicolon, or after the body of a function or namespace."""
        code = self.header.masked
        at = start
        while at < end:
            c = code[at]
            if c == ";":
                return at + 1
            if c in "([{":
                closed = self.header.close(at)
                if c == "{" and self.is_body(code[start:at], code[closed + 1 : closed + 200].lstrip()[:1]):
                    return closed + 1
                at = closed
            at += 1
        where = f"{self.header.path}:{self.header.line_of(start) + 1}"
        raise Unreadable(f"{where}: a declaration without an end: {self.header.text[start : start + 60]!r}")

    @staticmethod
    def is_body(head: str, following: str) -> bool:
        """Whether the braces after `head`, with this sign behind them, end the statement."""
        if following in (";", ","):  # of a class, a value, an entry of a constructor's list
            return False
        if re.search(r"\brequires\s*$", without_last_brackets(head)):
            return False
        plain = re.sub(r"operator\s*[^\w\s(]+|[=!<>]=", " ", re.sub(r"\(.*\)", "()", head, flags=re.S))
        if "=" in re.sub(r"<[^<>]*>", "", re.sub(r"\brequires\b.*", "", plain)) and "(" not in plain:
            return False
        in_list = re.search(r"\)[^()]*:[^:].*[\w>]\s*$", re.sub(r"\([^()]*\)", "()", head), re.S)
        return not (in_list and following == "{")

    # ---- comments ----

    def comment_above(self, line: int) -> list[str]:
        lines: list[str] = []
        while (above := self.header.comments.get(line - 1)) is not None and above.alone:
            line -= 1
            lines.insert(0, above.text)
        if lines and line == 0:
            return []  # the introduction
        return lines if not (lines and SECTION.match(lines[-1])) else []

    def section_above(self, line: int) -> str | None:
        """The heading that stands before a declaration, with its comment or empty lines between."""
        at = line - 1
        while at >= 0 and (self.header.is_blank(at) or (at in self.header.comments and self.header.comments[at].alone)):
            found = SECTION.match(self.header.comments[at].text) if at in self.header.comments else None
            if found:
                return found.group(1)
            at -= 1
        return None

    def comment_beside(self, start: int, stop: int) -> list[str]:
        """The comment in a declaration's last line, and its further lines at the same column."""
        line = self.header.line_of(stop - 1)
        first = self.header.comments.get(line)
        if first is None or first.alone or first.column < self.header.column_of(stop - 1):
            return []
        lines = [first.text]
        while (more := self.header.comments.get(line + 1)) is not None and more.alone and more.column == first.column:
            lines.append(more.text)
            line += 1
        return lines

    # ---- declarations ----

    def declaration(self, start: int, stop: int, owner: str) -> Declaration | None:
        """What the statement declares; None if it is nothing for the reference."""
        code = self.header.masked[start:stop]
        head = after_templates(code)
        rest = MARKS.sub("", code[head:]).strip()
        line = self.header.line_of(start) + 1
        if re.match(r"(friend|static_assert|using\s+namespace|extern)\b", rest) or not rest:
            return None
        if named := re.match(r"using\s+(?:typename\s+)?([\w:]+(?:<.*>)?::)?(~?\w+|operator\W+)\s*;", rest, re.S):
            return Declaration("using", named.group(2), self.shown(start, stop), line)
        if named := re.match(r"using\s+(\w+)\s*=", rest):
            return Declaration("alias", named.group(1), self.shown(start, stop), line)
        if named := re.match(r"concept\s+(\w+)", rest):
            return Declaration("concept", named.group(1), self.shown(start, stop), line)
        if named := re.match(r"enum\s+(?:class\s+|struct\s+)?(\w+)[^;{]*\{", rest):
            return Declaration("enum", named.group(1), self.shown(start, stop), line)
        if named := re.match(r"(class|struct|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)\s*([^;{(]*)([;{])", rest):
            return self.of_class(start, stop, named, line)
        opened = parameters_at(code, head)
        if opened is None:
            return self.of_value(start, stop, rest, line)
        return self.of_function(start, code, head, opened, owner)

    def of_class(self, start: int, stop: int, named: re.Match[str], line: int) -> Declaration | None:
        kind, name, behind, sign = named.groups()
        if sign == ";" or behind.startswith("<"):
            return None
        begin = self.header.masked.index("{", start + after_templates(self.header.masked[start:stop]))
        bases = re.sub(r"^(final)?\s*:?\s*", "", behind.strip())
        public = [base.strip() for base in split_commas(bases) if not re.match(r"(private|protected)\b", base.strip())]
        if kind == "class":
            public = [base for base in public if base.startswith("public ")]
        result = Declaration("class", name, self.shown(start, begin), line)
        result.bases = [re.sub(r"^(virtual |public )+", "", base) for base in public if base]
        inside = "private" if kind == "class" else "public"
        result.entries = self.entries(begin + 1, self.header.close(begin), name, inside)
        return result

    def of_function(self, start: int, code: str, head: int, opened: int, owner: str) -> Declaration | None:
        before, at = code[head:opened], closing(code, opened)
        named = re.search(r"(operator\s*\(\s*\)|operator\s*\S+|~?\w+)\s*$", before)
        tail = code[at + 1 :]
        if named is None or re.search(r"=\s*delete\s*;$", tail) or before[: named.start()].endswith("::"):
            return None
        name = re.sub(r"^operator\s*(?=\W)", "operator", named.group(1))
        arguments = code[opened + 1 : at].strip()
        own = rf"(const\s+)?{re.escape(owner)}(<[^<>]*>)?\s*&{{1,2}}\s*\w*"
        if name.startswith("~") or (owner and name in (owner, "operator=") and re.fullmatch(own, arguments)):
            return None
        end = at + 1 + re.match(r"[^{;:]*(?:::[^{;:]*)*", tail).end()  # type: ignore[union-attr]
        ended = self.shown(start, start + end)
        code = re.sub(r"\s*=\s*(default|0)$", "", ended)
        return Declaration("function", name, code, self.header.line_of(start) + 1)

    def of_value(self, start: int, stop: int, rest: str, line: int) -> Declaration | None:
        flat = re.sub(r"<[^<>;]*>", "", re.sub(r"<[^<>;]*>", "", rest))
        named = re.search(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:[={;,]|:(?!:)|$)", flat)
        if named is None:
            where = f"{self.header.path}:{line}"
            raise Unreadable(f"{where}: a declaration of what? {self.header.text[start : start + 60]!r}")
        if re.match(r"[^=]*>\s*=", rest):
            return None  # a specialisation
        return Declaration("value", named.group(1), self.shown(start, stop), line)

    def shown(self, start: int, stop: int) -> str:
        """The text between two offsets, as the header has it, but for marks that say nothing to a reader."""
        column = self.header.column_of(start)
        text = textwrap.dedent(" " * column + self.header.text[start:stop]).rstrip(" \n;")
        lines = text.split("\n")
        # Parameters in further lines move with what is taken away before them.
        removed = 0
        for i, text_line in enumerate(lines):
            clean = MARKS.sub("", text_line)
            if i and removed and clean.startswith(" " * removed) and removed > 4:
                clean = clean[removed:]
            removed = max(removed, len(text_line) - len(MARKS.sub("", text_line)))
            lines[i] = clean
        return "\n".join(lines)


def without_last_brackets(code: str) -> str:
    """Masked code without the round brackets that it ends with, if it does."""
    code = code.rstrip()
    if not code.endswith(")"):
        return code
    depth = 0
    for at in range(len(code) - 1, -1, -1):
        depth += (code[at] == ")") - (code[at] == "(")
        if depth == 0:
            return code[:at]
    return code


def parameters_at(code: str, head: int) -> int | None:
    """The offset of the bracket that opens a function's parameters; None if the statement declares no function."""
    at = head
    while at < len(code):
        c = code[at]
        if code.startswith("[[", at):
            at = closing(code, at)
        elif c == "<" and (closed := close_angle(code, at)) > 0 and not code[:at].rstrip().endswith("operator"):
            at = closed - 1
        elif c == "(":
            word = re.search(r"(\w+)\s*$", code[head:at])
            if re.match(r"\(\s*\)\s*\(", code[at:]) and word and word.group(1) == "operator":
                return code.index("(", at + 1)
            if not word or word.group(1) not in ("explicit", "decltype", "alignas", "noexcept"):
                return at
            at = closing(code, at)
        elif c in "={;" and not re.search(r"operator\s*\W*$", code[head:at]):
            return None
        at += 1
    return None


def after_templates(code: str) -> int:
    """The offset after `template <...>` and the `requires` clauses that belong to it."""
    at = 0
    while found := re.compile(r"\s*(template\s*(?=<)|requires\b)").match(code, at):
        at = close_angle(code, found.end()) if "template" in found.group(1) else after_constraint(code, found.end())
        if at < 0:
            raise Unreadable(f"a template without an end: {code[:60]!r}")
    return at


def after_constraint(code: str, at: int) -> int:
    """The offset after a constraint: primary expressions with && and || between them."""
    while True:
        at += len(code[at:]) - len(code[at:].lstrip())
        if found := re.compile(r"requires\s*").match(code, at):
            at = found.end()
            if code[at] == "(":
                at = closing(code, at) + 1
            at = closing(code, code.index("{", at)) + 1
        elif code[at] == "(":
            at = closing(code, at) + 1
        else:
            while found := re.compile(r"(?:::)?\w+\s*(<)?").match(code, at):
                at = close_angle(code, found.start(1)) if found.group(1) else found.end()
                if not code.startswith("::", at):
                    break
        more = re.compile(r"\s*(&&|\|\|)").match(code, at)
        if not more:
            return at
        at = more.end()


def split_commas(text: str) -> list[str]:
    """The parts between commas that are in no brackets."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "<([{") - (c in ">)]}")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return parts
