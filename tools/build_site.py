#!/usr/bin/env python3
"""Makes the site of the documents in build/site: pages, sources, references of C++ and Python, a search in the browser.

Usage: build_site.py [--pages-only]

Pages and sources are collected in build/docs, where MkDocs finds them. Fails for a broken link or anchor, a page of
docs/ that the navigation does not have, a header that cannot be read, and whatever a browser would load from elsewhere.
--pages-only collects the pages and stops. Needs the packages of requirements/docs.txt: `tools/setup docs`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from website import cpp_reference, navigation, python_reference
from website.cpp_text import Unreadable
from website.links import problems
from website.sources import LANGUAGES, PICTURES, BrokenLink, Sources, list_page, source_page, sources_of

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
CONFIG = ROOT / "tools/website/mkdocs.yml"
SINGLE_PAGES = ("README.md", "CHANGELOG.md")


def collect(root: Path, folder: Path) -> list[dict[str, object]]:
    """Writes all pages of the site into an empty folder; returns the navigation."""
    shutil.rmtree(folder, ignore_errors=True)
    cpp = cpp_reference.Reference(root / "include/starling").pages()
    python = python_reference.pages(root / "python/starling")
    written = {f"cpp/{path}": text for path, text in cpp.items()} | {f"python/{p}": t for p, t in python.items()}

    sources = Sources(root, set(written))
    sources.needed = {*SINGLE_PAGES, *(str(path.relative_to(root)) for path in (root / "docs").glob("*.md"))}
    shown = {f"include/starling/{path.removesuffix('.md')}" for path in cpp if path.endswith(".hpp.md")}
    done: set[str] = set()
    while left := (sources.needed | shown) - done:
        for path in sorted(left):
            done.add(path)
            if (root / path).is_dir():
                written.setdefault(f"{path}/README.md", list_page(root, path))
                sources.needed |= set(sources_of(root, path))
            elif path.endswith(".md"):
                written[path] = sources.page(path)
            elif Path(path).suffix in PICTURES:
                copy(root / path, folder / path)
            else:
                written[f"{path}.md"] = source_page(path, (root / path).read_text(encoding="utf-8"))
    navigation.check(set(written))
    for path, text in written.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    for name in ("site.css", "iframe-worker.js"):
        copy(CONFIG.with_name(name), folder / name)
    return navigation.navigation(sorted(cpp), list(python), cpp_reference.ROOMS)


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)


def configure(nav: list[dict[str, object]], root: Path) -> Path:
    """Writes the configuration of MkDocs: that of tools/website with folders and navigation. JSON is YAML too."""
    path = root / "build/mkdocs.yml"
    python = {
        "paths": [str(root / "python")],
        "options": {"extensions": [str(root / "tools/website/docstrings.py")]},
    }
    settings = {
        "INHERIT": str(CONFIG),
        "docs_dir": str(root / "build/docs"),
        "site_dir": str(root / "build/site"),
        "nav": nav,
        "not_in_nav": "\n".join(["LICENSE.md", *(f"*{suffix}.md" for suffix in LANGUAGES if suffix)]),
        "plugins": {"mkdocstrings": {"handlers": {"python": python}}},
    }
    path.write_text(json.dumps(settings, indent=1), encoding="utf-8")
    return path


def make(config: Path) -> bool:
    """Runs MkDocs; shows its warnings, each of which is a failure."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--clean", "--config-file", str(config)]
    # The variable silences an announcement of what comes after the pinned versions.
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    ran = subprocess.run(command, cwd=ROOT, check=False, env=quiet, stderr=subprocess.PIPE, text=True)
    for line in ran.stderr.splitlines():
        if not line.startswith("INFO"):
            print(line, file=sys.stderr)
    return ran.returncode == 0


def main() -> int:
    parser = argparse.ArgumentParser(description="Makes the site of the documents in build/site.")
    parser.add_argument("--pages-only", action="store_true", help="collect the pages in build/docs and stop")
    arguments = parser.parse_args()
    try:
        nav = collect(ROOT, BUILD / "docs")
    except (BrokenLink, Unreadable, navigation.Forgotten) as problem:
        print(f"build_site: {problem}", file=sys.stderr)
        return 1
    if arguments.pages_only:
        return 0
    config = configure(nav, ROOT)
    if not make(config):
        return 1
    found = problems(BUILD / "site")
    for line in found:
        print(f"build_site: {line}", file=sys.stderr)
    if not found:
        print(f"{len(list((BUILD / 'site').rglob('*.html')))} pages: {(BUILD / 'site/index.html').relative_to(ROOT)}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
