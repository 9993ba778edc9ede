"""Checks the HTML of a site: every link inside leads to a page and anchor that are there, and nothing is loaded from
elsewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href"}
ONLY_NAMED = {"canonical", "next", "prev", "alternate", "license", "author"}  # relations that load nothing


class Document(HTMLParser):
    """What one page has: anchors, links, and what a browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        attribute = LOADED.get(tag, "")
        if attribute in values and not (tag == "link" and values.get("rel") in ONLY_NAMED):
            self.loads.append(values[attribute])


def problems(site: Path) -> list[str]:
    """What is wrong with the links of a site, a line each."""
    documents = {path: Document(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found: list[str] = []
    for path, document in documents.items():
        name = path.relative_to(site)
        for load in document.loads:
            if urlsplit(load).netloc:
                found.append(f"{name}: loads {load} from elsewhere")
        if path.name == "404.html":  # its links are those of the site's root
            continue
        for link in [*document.links, *document.loads]:
            problem = broken(path, link, documents, site)
            if problem:
                found.append(f"{name}: {link}: {problem}")
    return list(dict.fromkeys(found))


def broken(page: Path, link: str, documents: dict[Path, Document], site: Path) -> str | None:
    """Why a link of a page leads nowhere; None if it does, or leads out of the site."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    if parts.path.startswith("/"):
        return "begins at the root of a server"
    target = Path(page.parent, unquote(parts.path)).resolve() if parts.path else page
    if target.is_dir():
        target /= "index.html"
    if not target.is_file() or not target.is_relative_to(site):
        return "no such page or file"
    fragment = unquote(parts.fragment)
    if fragment and target in documents and fragment not in documents[target].anchors:
        return "no such anchor"
    return None
