"""The C++ reference: a page for each public header, a list of the rooms, and a list of all names.

What a comment names and the reference has becomes a link. Members that a class has from its bases are listed with it,
since a reader looks for `block::put_signal` and not for the mixin that has it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from website.cpp_declarations import Contents, Declaration, Entry, read_header
from website.cpp_prose import Lookup, prose

ROOMS = {
    "base": "Base: errors, index arithmetic, views, the environment",
    "machine": "Machine: machines, memory, programs, streams",
    "device": "Device: what a kernel may use",
    "region": "Regions: arrays that send themselves",
    "stf": "Tasks: order from what is read and written",
}
# Headers that users do not read: how the parts above work. All others are in the reference, also those to come.
INTERNAL = {
    "device": "bounds fault_report gpu_copy gpu_wait host_port own_address program_state protocol target trace_record "
    "trace_span",
    "machine": "",
    "base": "rotation",
    "region": "agent_copy_engine agent_inline agent_launched agent_own_warp agent_polling agents chunk_sender commit "
    "flush launched_kernel pieces state timing verify",
    "stf": "for_loop",
}
NAMESPACES = ("detail", "gpu", "network", "region_words", "target", "tracing")
# Declarations that speak of what users never have in their hands, or whose comments say that they are for the library.
INTERNAL_CODE = re.compile(r"\b(program_state|host_port|lane_order|region_state|(\w+_)?backend|\w+_state>)(?=[\s&*>])")
INTERNAL_COMMENT = re.compile(r"^Made by the launch")
INTERNAL_FROM = re.compile(r"kernels have no use for these|^For programs\.|^for launches")  # up to the next heading


@dataclass
class Class:
    """A class of the reference: its bases, and its members, by name, with their anchors. `mixin`: a template that
    others are made of, so that readers know its members by the names of these."""

    bases: list[str]
    mixin: bool
    members: dict[str, str] = field(default_factory=dict)


class Reference:
    """All public headers under a folder, read; pages are Markdown by their paths below cpp/."""

    def __init__(self, include: Path) -> None:
        self.headers: dict[str, Contents] = {}
        self.places: dict[str, str] = {}  # page#anchor of what has a name, with and without its namespace
        self.classes: dict[str, Class] = {}
        for room in ROOMS:
            for path in sorted((include / room).glob("*.hpp")):
                if path.stem not in INTERNAL[room].split():
                    name = f"{room}/{path.name}"
                    contents = read_header(str(path), path.read_text(encoding="utf-8"), NAMESPACES)
                    contents.entries = public(contents.entries)
                    self.headers[name] = contents
        for name, contents in self.headers.items():
            self.note(name, contents.entries, "")

    def note(self, page: str, entries: list[Entry], owner: str) -> None:
        """Gives anchors to what the entries declare."""
        for entry in entries:
            for found in entry.declarations:
                if found.kind == "using":
                    continue
                full = qualified(found, owner)
                place = f"{page}.md#{anchor(full)}"
                self.places.setdefault(full, place)
                self.places.setdefault(full.removeprefix("stf::"), place)
                if owner:
                    self.classes[owner].members.setdefault(found.name, place)
                if found.kind == "class":
                    bases = [re.sub(r"<.*", "", base, flags=re.S) for base in found.bases]
                    self.classes[full] = Class(bases, "class Self>" in found.code)
                    self.note(page, found.entries, full)

    def inherited(self, name: str, seen: set[str]) -> Iterable[tuple[str, dict[str, str]]]:
        """The bases of a class, nearest first, with the members that nothing nearer has."""
        for base in self.classes[name].bases:
            full = next((known for known in (base, f"stf::{base}") if known in self.classes), None)
            if full is None:
                continue
            fresh = {m: at for m, at in self.classes[full].members.items() if m not in seen and m != full}
            seen |= set(fresh)
            yield full, fresh
            yield from self.inherited(full, seen)

    def users(self, mixin: str, member: str) -> list[str]:
        """What readers call a member of a mixin: by the classes that have it from there."""
        if mixin not in self.classes or not self.classes[mixin].mixin:
            return []
        return [
            f"{name}::{member}"
            for name, known in self.classes.items()
            if not known.mixin
            and any(base == mixin and member in fresh for base, fresh in self.inherited(name, set(known.members)))
        ]

    # ---- pages ----

    def pages(self) -> dict[str, str]:
        result = {f"{name}.md": Page(self, name).text() for name in self.headers}
        result["README.md"] = self.overview()
        result["names.md"] = self.names()
        return result

    def overview(self) -> str:
        lines = ["# C++ reference", ""]
        lines += ["From the comments of the public headers; `namespace starling`. `starling/starling.hpp` includes", ""]
        lines[-2] += " base, device and machine. [All names](names.md) are listed with their headers."
        for room, title in ROOMS.items():
            lines += [f"## {title}", "", "| header | what it has |", "|---|---|"]
            for name, contents in self.headers.items():
                if name.startswith(f"{room}/"):
                    said = first_sentence(contents.introduction)
                    text = prose([said], Lookup(self.places, set(self.headers), "README", ""))
                    lines.append(f"| [`{name}`]({name}.md) | {text.strip()} |".replace("\n", " "))
            lines.append("")
        return "\n".join(lines)

    def names(self) -> str:
        """Every name, those of classes with what they have from their bases."""
        found = {name: place for name, place in self.places.items() if f"stf::{name}" not in self.places}
        for name in self.classes:
            for _, members in self.inherited(name, set(self.classes[name].members)):
                found |= {f"{name}::{member}": place for member, place in members.items()}
        lines = ["# All names of the C++ reference", ""]
        lines += [f"* [`{name}`]({place})" for name, place in sorted(found.items(), key=lambda item: item[0].lower())]
        return "\n".join(lines) + "\n"


class Page:
    """The page of one header."""

    def __init__(self, reference: Reference, name: str) -> None:
        self.reference = reference
        self.name = name
        self.lines: list[str] = []
        self.used: dict[str, int] = {}

    def text(self) -> str:
        contents = self.reference.headers[self.name]
        source = f"../../include/starling/{self.name}.md"
        self.lines = [f"# {self.name}", "", f'`#include "starling/{self.name}"` ([source]({source}))', ""]
        self.say(contents.introduction, "")
        for entry in contents.entries:
            self.entry(entry, "", 2)
        return "\n".join(self.lines) + "\n"

    def say(self, comment: list[str], owner: str) -> None:
        if comment:
            lookup = Lookup(self.reference.places, set(self.reference.headers), self.name, owner)
            self.lines += [prose(comment, lookup), ""]

    def entry(self, entry: Entry, owner: str, level: int) -> None:
        if entry.section:
            self.lines += [f"**{prose([entry.section], self.plain(owner)).strip()}**", ""]
        shown = [found for found in entry.declarations if found.kind != "using"]
        classes = [found for found in shown if found.kind == "class"]
        others = [found for found in shown if found.kind != "class"]
        for found in classes:
            self.of_class(found, entry.comment, owner, level)
        if classes and not others:
            return
        comment = [] if classes else entry.comment
        if others and owner and all(found.kind == "value" for found in others):
            self.fields(others, comment, owner)
        elif others:
            names = list(dict.fromkeys(qualified(found, owner) for found in others))
            self.heading(names, level)
            self.lines += ["```cpp", join_code([found.code for found in others]), "```", ""]
            users = [user for found in others for user in self.reference.users(owner, found.name)]
            if users:
                self.lines += ["Called as " + ", ".join(f"`{user}`" for user in sorted(set(users))) + ".", ""]
            self.say(comment, owner)
            for found in others:
                self.say([f"{found.name}: {found.comment[0]}", *found.comment[1:]] if found.comment else [], owner)

    def of_class(self, found: Declaration, comment: list[str], owner: str, level: int) -> None:
        full = qualified(found, owner)
        self.heading([full], level)
        self.lines += ["```cpp", found.code.rstrip(), "```", ""]
        self.say(comment, full)
        known = self.reference.classes[full]
        for base, members in self.reference.inherited(full, set(known.members)):
            place = self.reference.places[base]
            before = "" if found.code.startswith("template") else f"{full}::"  # mixins have long lists
            links = ", ".join(f"[`{before}{name}`]({self.link(at)})" for name, at in members.items())
            self.lines += [f"From [`{base}`]({self.link(place)}): {links or 'nothing more'}.", ""]
        for entry in found.entries:
            self.entry(entry, full, level + 1)

    def fields(self, found: list[Declaration], comment: list[str], owner: str) -> None:
        self.say(comment, owner)
        self.lines += ["| member | meaning |", "|---|---|"]
        for value in found:
            said = prose(value.comment, self.plain(owner)).replace("\n", " ").replace("|", "\\|").strip()
            code = html.escape(" ".join(value.code.split())).replace("|", "&#124;")
            self.lines.append(f'| <code id="{self.fresh(f"{owner}::{value.name}")}">{code}</code> | {said} |')
        self.lines.append("")

    def heading(self, names: list[str], level: int) -> None:
        further = "".join(f'<a id="{self.fresh(name)}"></a>' for name in names[1:])
        titles = ", ".join([f"`{names[0]}`", *(f"`{name.split('::')[-1]}`" for name in names[1:])])
        self.lines += [f"{'#' * min(level, 5)} {titles} {{ #{self.fresh(names[0])} }}", ""]
        self.lines += [further, ""] if further else []

    def fresh(self, name: str) -> str:
        """The anchor of a name; further ones for overloads that have comments of their own."""
        key = anchor(name)
        self.used[key] = self.used.get(key, 0) + 1
        return key if self.used[key] == 1 else f"{key}-{self.used[key]}"

    def plain(self, owner: str) -> Lookup:
        return Lookup(self.reference.places, set(self.reference.headers), self.name, owner)

    def link(self, place: str) -> str:
        return self.plain("").relative(place)


def public(entries: list[Entry]) -> list[Entry]:
    """The entries without what only the library uses."""
    result = []
    hidden = False
    for entry in entries:
        said = " ".join(entry.comment)
        begins = bool(INTERNAL_FROM.search(entry.section) or INTERNAL_FROM.search(said))
        hidden = begins or (hidden and not entry.section)
        if hidden or INTERNAL_COMMENT.search(said):
            continue
        kept = [found for found in entry.declarations if found.kind == "class" or not INTERNAL_CODE.search(found.code)]
        for found in kept:
            found.entries = public(found.entries)
        if kept:
            result.append(Entry(entry.comment, kept, entry.section))
    return result


def qualified(found: Declaration, owner: str) -> str:
    """A name with that of its class, or of its namespace, without starling."""
    before = owner or found.space
    return f"{before}::{found.name}" if before else found.name


def anchor(name: str) -> str:
    """The anchor of a qualified name; signs of operators in words that addresses can have."""
    signs = {"()": "call", "[]": "at", "==": "eq", "->*": "arrow-star", "->": "arrow", "*": "star", "+": "plus"}
    for sign, word in signs.items():
        name = name.replace(f"operator{sign}", f"operator-{word}")
    return re.sub(r"[^\w.-]+", "-", name.replace("::", ".")).strip("-")


def join_code(codes: list[str]) -> str:
    """Declarations under one heading, apart where one has several lines."""
    apart = "\n\n" if any("\n" in code for code in codes) else "\n"
    return apart.join(f"{code};" for code in codes)


def first_sentence(comment: list[str]) -> str:
    text: list[str] = []
    for line in comment:
        if not line or line.startswith("  "):
            break
        text.append(line)
    return re.split(r"(?<=[.;]) (?=[A-Z])", " ".join(text), maxsplit=1)[0]
