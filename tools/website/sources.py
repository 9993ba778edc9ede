"""Pages of the repository for the site: links between them kept, sources that they name shown as pages.

Pages lie in the site as they lie in the repository, so that links between them need no change; a link to a source
becomes one to its page, a link to a folder one to its list.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

LANGUAGES = {
    ".c": "c",
    ".h": "c",
    ".cpp": "cpp",
    ".hpp": "cpp",
    ".py": "python",
    ".sh": "sh",
    ".txt": "text",
    "": "text",
}
PICTURES = {".png", ".jpg", ".svg", ".json"}  # shown by browsers as they are
FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
DIRECTIVE = re.compile(r"^<!-- (?:output of|example|not checked|file|figures)\b.*-->\n", re.M)
LINK = re.compile(r"(?P<before>!?\[(?:[^\[\]]|!?\[[^\]]*\]\([^)]*\))*\]\()(?P<to>[^)\s]+)(?=\))")


class BrokenLink(Exception):
    """A page names a file that the repository does not have."""


class Sources:
    """The pages of a repository, and the files that they turn out to need. `made`: pages that are written otherwise."""

    def __init__(self, root: Path, made: set[str]) -> None:
        self.root = root
        self.made = made
        self.needed: set[str] = set()  # files and folders, relative to the root

    def page(self, path: str) -> str:
        """The Markdown of a page, with links as the site needs them."""
        text = DIRECTIVE.sub("", (self.root / path).read_text(encoding="utf-8"))
        parts: list[str] = []
        at = 0
        for fence in FENCE.finditer(text):
            parts += [self.linked(path, text[at : fence.start()]), fence.group()]
            at = fence.end()
        return "".join([*parts, self.linked(path, text[at:])])

    def linked(self, page: str, text: str) -> str:
        code = [(found.start(), found.end()) for found in re.finditer(r"(`+)(?!`).*?(?<!`)\1(?!`)", text)]

        def one(found: re.Match[str]) -> str:
            if any(start < found.start("to") < end for start, end in code):
                return found.group()
            return found["before"] + self.target(page, found["to"])

        return LINK.sub(one, text)

    def target(self, page: str, to: str) -> str:
        """Where a link of a page leads in the site."""
        path, sign, fragment = to.partition("#")
        if re.match(r"[a-z]+:", to) or not path:
            return to
        full = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
        if not (self.root / full).exists() or full.startswith(".."):
            raise BrokenLink(f"{page}: {to} is not in the repository")
        if full.endswith(".md"):
            self.needed.add(full)
            return to
        self.needed.add(full)
        if (self.root / full).is_dir():
            return f"{path.rstrip('/')}/README.md{sign}{fragment}"
        header = full.removeprefix("include/starling/")
        if f"cpp/{header}.md" in self.made:
            return posixpath.relpath(f"cpp/{header}.md", posixpath.dirname(page) or ".")
        suffix = Path(full).suffix
        if suffix not in PICTURES and suffix not in LANGUAGES:
            raise BrokenLink(f"{page}: the site cannot show {to}: add {suffix} to LANGUAGES or PICTURES of sources.py")
        return to if suffix in PICTURES else f"{path}.md{sign}{fragment}"


def source_page(path: str, text: str) -> str:
    """A page that shows a source. Not searched: its names are in the references and the guide."""
    language = LANGUAGES[Path(path).suffix]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 3)
    numbers = ' linenums="1"' if language != "text" else ""
    return (
        f"---\nsearch:\n  exclude: true\n---\n\n# {Path(path).name}\n\n`{path}`\n\n"
        f"{fence}{{ .{language}{numbers} }}\n{text.rstrip()}\n{fence}\n"
    )


def list_page(root: Path, folder: str) -> str:
    """A page that lists the sources of a folder with their first comments."""
    lines = [f"# {folder}", "", "| source | what it shows |", "|---|---|"]
    for path in sources_of(root, folder):
        lines.append(f"| [`{Path(path).name}`]({Path(path).name}.md) | {opening(root / path)} |")
    return "\n".join(lines) + "\n"


def sources_of(root: Path, folder: str) -> list[str]:
    return sorted(f"{folder}/{path.name}" for path in (root / folder).iterdir() if path.suffix in (".cpp", ".py"))


def opening(path: Path) -> str:
    """The first paragraph of the comment or docstring that opens a source, in one line."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"^#!.*\n", "", text)
    found = re.match(r'"""(.*?)(?:"""|\n\n)', text, re.S) or re.match(r"((?://[^\n]*\n)+)", text)
    words = re.sub(r"^// ?", "", found.group(1), flags=re.M).split("\n\n")[0] if found else ""
    return re.sub(r"([|<*_])", r"\\\1", " ".join(words.split()))
