"""The pages are true: what they show was run and printed just that, their links lead somewhere, and the gallery's table
says what its programs say."""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from documents.matching import line_pattern
from documents.running import BUILD

ROOT = Path(__file__).resolve().parents[2]
PAGES = [page.relative_to(ROOT).as_posix() for page in
         (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), ROOT / "examples/bugs/README.md")]  # fmt: skip
GALLERY = (ROOT / "examples/bugs/README.md").read_text(encoding="utf-8")
BUGS = sorted(source.stem for source in (ROOT / "examples/bugs").glob("*.cpp"))
# Set where all programs have been built: then what is not there is a failure.
COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"


def test_the_first_page_stays_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


@pytest.mark.parametrize("page", PAGES)
def test_page(page: str) -> None:
    words = [sys.executable, str(ROOT / "tools/check_documents.py"), *(["--complete"] if COMPLETE else []), page]
    ran = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=170)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    if ran.stdout:
        pytest.skip(ran.stdout.strip())


def anchors(page: Path) -> set[str]:
    """As GitHub makes them of headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES)
def test_links(page: str) -> None:
    text = re.sub(r"^```.*?^```$|^    .*$|`[^`\n]+`", "", (ROOT / page).read_text(encoding="utf-8"), flags=re.S | re.M)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT / page).parent / path if path else ROOT / page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_the_gallery_has_a_row_for_each_program() -> None:
    assert sorted(re.findall(r"^\| \[(\w+)\]\(\1\.cpp\)", GALLERY, re.M)) == BUGS
    for page in ("README.md", "docs/check.md"):
        for number in re.findall(r"(\d+) wrong programs", (ROOT / page).read_text(encoding="utf-8")):
            assert int(number) == len(BUGS), page


@functools.cache
def said_by(bug: str) -> str:
    program = BUILD / "bin" / f"bug_{bug}"
    if not program.exists() and not COMPLETE:
        pytest.skip(f"{program.relative_to(ROOT)} is not there: build it first")
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=120).stdout


@pytest.mark.parametrize("bug", BUGS)
def test_the_gallery_says_what_the_program_says(bug: str) -> None:
    """The third column is the kind of finding, and after a colon words of the message."""
    said = said_by(bug)
    row = re.search(rf"^\| \[{bug}\]\(.*$", GALLERY, re.M)
    assert row
    kind, _, words = row.group(0).split("|")[3].strip().partition(": ")
    assert said.startswith(f"check: {kind} (seed "), said
    assert re.search(line_pattern(words), said), f"{words!r} is not in\n{said}"


def test_check_mode_says_what_its_page_says() -> None:
    """Of each kind of finding, what the page quotes first; the numbers may be others."""
    table = (ROOT / "docs/check.md").read_text(encoding="utf-8").split("## What it finds\n\n")[1].split("\n\n")[0]
    names = dict(re.findall(r'case defect::(\w+):\s*return "(.*?)";', (ROOT / "src/machine/check.cpp").read_text()))
    said = [said_by(bug) for bug in BUGS]
    quoted = 0
    for defect, kind, words in re.findall(r"^\| `(\w+)`, ([^|]*) \| ([^|;]*)[^|]* \|", table, re.M)[1:]:
        assert names[defect] == kind
        messages = [text for text in said if text.startswith(f"check: {kind} (seed ")]
        if words != "the same" and messages:
            pattern = re.sub(r"0x[0-9a-f]+|\d+", r"(?:0x[0-9a-f]+|\\d+)", line_pattern(words.strip()))
            assert any(re.search(pattern, text) for text in messages), f"{kind}: {words}"
            quoted += 1
    assert quoted >= 8


def test_the_rooms_of_the_house_are_those_of_the_tree() -> None:
    page = (ROOT / "docs/how_it_works.md").read_text(encoding="utf-8")
    rooms = page.split("## Source tree\n")[1].split("```")[1].splitlines()[1:]
    listed = [line.split()[0] for line in rooms]
    assert [name for name in listed if not (ROOT / name).is_dir()] == []
    public = {f"include/starling/{folder.name}/" for folder in (ROOT / "include/starling").iterdir() if folder.is_dir()}
    assert public <= set(listed)
