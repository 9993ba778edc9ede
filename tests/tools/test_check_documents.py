"""What tools/check_documents.py finds in pages that are wrong, and lets pass in pages that are right."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from documents.blocks import Unreadable, read_page
from documents.matching import matches, missing_excerpt, renewed

ROOT = Path(__file__).resolve().parents[2]


def check(page: Path, text: str, *options: str) -> tuple[int, str]:
    """Checks a page in which the fences are written as ~~~."""
    page.write_text(text.replace("~~~", "```"))
    words = [sys.executable, str(ROOT / "tools/check_documents.py"), *options, str(page)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def page(tmp_path: Path) -> Path:
    return tmp_path / "page.md"


RIGHT = {
    "nothing": "# A page\n",
    "names go from block to block": "~~~python\na = 2\n~~~\n\n~~~python\nprint(a)\n~~~\n\n~~~text\n2\n~~~\n",
    "an error": "~~~python\nprint(1)\n1 / 0\n~~~\n\n~~~text\n1\nZeroDivisionError: division by zero\n~~~\n",
    "a command": "~~~sh\npwd > here\necho $((1 + 1))\n~~~\n\n~~~text\n2\n~~~\n",
    "the output of a command": "<!-- output of: python -c 'print(3)' -->\n~~~text\n3\n~~~\n",
    "a file": "<!-- file: mine = LICENSE -->\n\n~~~sh\ngrep -c Apache mine\n~~~\n\n~~~text\n...\n~~~\n",
    "files that blocks write": "~~~python\nopen('a', 'w').write('x')\n~~~\n\n~~~sh\ntest -s a\n~~~\n",
    "left out": "<!-- not checked: on the moon -->\n~~~text\nwhat nobody printed\n~~~\n",
    "lines of an example": "<!-- example: examples/05_stall.cpp -->\n~~~cpp\nconst int other = 1 - b.pe();\n...\n"
    "b.signal_set(arrived, 1, other);\n~~~\n",
    "a fragment": "~~~cpp\nb.sync();\n~~~\n",
}
WRONG = {
    "another output": ("~~~python\nprint(1)\n~~~\n\n~~~text\n2\n~~~\n", ":5: another output", "-2", "+1"),
    "more output": ("~~~python\nprint(1)\nprint(2)\n~~~\n\n~~~text\n1\n~~~\n", "+2"),
    "an error that is not shown": ("~~~python\nimport nowhere\n~~~\n", ":1: ", "ModuleNotFoundError"),
    "a name of nothing": ("~~~python\nprint(u)\n~~~\n", "NameError", "line 2"),
    "no error": ("~~~python\nprint(1)\n~~~\n\n~~~text\n1\nValueError: x\n~~~\n", "-ValueError"),
    "an output of nothing": ("~~~text\n1\n~~~\n", "an output of nothing"),
    "an output of a block long before": ("~~~sh\necho 1\n~~~\n~~~cpp\nb.sync();\n~~~\n~~~text\n1\n~~~\n", "of nothing"),
    "a command that fails": ("~~~sh\necho to nobody\nfalse\n~~~\n", ":1: status 1", "to nobody"),
    "a failure in the middle": ("~~~sh\nfalse\ntrue\n~~~\n", "status 1"),
    "no such command": ("<!-- output of: starling frob -->\n~~~text\n~~~\n", ":2: status 2", "frob"),
    "other lines than the example's": (
        "<!-- example: examples/05_stall.cpp -->\n~~~cpp\nb.signal_set(arrived, 2, other);\n~~~\n",
        "not in examples/05_stall.cpp",
        "arrived, 2",
    ),
    "no such example": ("<!-- example: examples/none.cpp -->\n~~~cpp\nx;\n~~~\n", "examples/none.cpp does not exist"),
    "no end": ("~~~python\nprint(1)\n", "line 1: a block without an end"),
    "a word that is no directive": ("<!-- output off: x -->\n~~~text\n~~~\n", "line 1: a comment that is no directive"),
    "a fragment of what is not there": ("~~~cpp\nb.sync();\nb.sink();\n~~~\n", "page.md:3:", "sink"),
    "a directive of no block": ("<!-- not checked: x -->\n\n~~~text\n~~~\n", "line 1: a comment"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(page: Path, name: str) -> None:
    assert check(page, RIGHT[name], "--complete") == (0, "")


@pytest.mark.parametrize("name", WRONG)
def test_wrong(page: Path, name: str) -> None:
    text, *says = WRONG[name]
    status, said = check(page, text)
    assert status == 1
    for part in says:
        assert part in said


def test_a_program_that_is_not_built_is_named(page: Path) -> None:
    text = "<!-- output of: bug_of_nobody -->\n~~~text\n1\n~~~\n\n~~~python\nprint(1)\n~~~\n\n~~~text\n2\n~~~\n"
    status, said = check(page, text)
    assert status == 1
    assert "left out: build/host/bin/bug_of_nobody is not there" in said
    assert ":10: another output" in said  # the rest of the page is checked
    text = text.replace("2\n~~~", "1\n~~~")
    assert check(page, text)[0] == 0
    assert check(page, text, "--complete")[0] == 1


def test_numbers_are_renewed(page: Path) -> None:
    text = "~~~python\nprint('at f.cpp:12, 7 ms')\nprint('end')\n~~~\n\n~~~text\nat f.cpp:9, ... ms\n...\nfin\n~~~\n"
    status, _ = check(page, text, "--write")
    assert status == 1
    assert page.read_text().endswith("```text\nat f.cpp:12, ... ms\n...\nfin\n```\n")  # words are for a person
    text = page.read_text().replace("fin\n", "end\n")
    assert check(page, text) == (0, "")
    check(page, text, "--write")
    assert page.read_text() == text  # what is right stays


@pytest.mark.parametrize(
    ("shown", "came", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a  \n", True),
        ("a\nb\n", "a\n", False),
        ("a\n", "a\nb\n", False),
        ("a ... c\n", "a b c\n", True),
        ("a ... c\n", "a\nb c\n", False),
        ("a\n...\nz\n", "a\n1\n2\nz\n", True),
        ("a\n  ...\n", "a\n", True),
        ("...\nz\n", "1\nz\nz\n", True),
        ("(a+)\n", "(a+)\n", True),
        ("(a+)\n", "aa\n", False),
        ("", "a\n", False),
    ],
)
def test_dots_stand_for_what_varies(shown: str, came: str, same: bool) -> None:
    assert matches(shown, came) is same


SOURCE = "int main() {\n  if (x) {\n    a();\n    b();\n  }\n  c();\n}\n"


@pytest.mark.parametrize(
    ("shown", "missing"),
    [
        ("if (x) {\n  a();\n", None),
        ("a();  // line 3\nb();\n", None),
        ("a();\n...\nc();\n", None),
        ("a();  // line 4\n", "a();  // line 4"),
        ("a();\nc();\n", "a();\nc();"),
        ("c();\n...\na();\n", "a();"),
        ("if (x) {\na();\n", "if (x) {\na();"),
        ("d();\n", "d();"),
    ],
)
def test_excerpts(shown: str, missing: str | None) -> None:
    assert missing_excerpt(shown, SOURCE) == missing


def test_lines_are_renewed_in_their_order() -> None:
    came = "first 3\nsecond 4\nfirst 5\n"
    assert renewed("first 1\nfirst 2\n", came) == "first 3\nfirst 5\n"
    assert renewed("second 1\nfirst 2\n", came) == "second 4\nfirst 5\n"
    assert renewed("third 1\n", came) == "third 1\n"


def test_blocks_know_their_lines(page: Path) -> None:
    page.write_text("# A\n\n<!-- output of: x -->\n```text\n1\n```\n")
    (block,) = read_page(page).blocks
    assert (block.line, block.language, block.text, block.directive, block.value) == (
        4,
        "text",
        "1\n",
        "output of",
        "x",
    )
    page.write_text("<!-- output of: x -->")
    with pytest.raises(Unreadable, match="line 1"):
        read_page(page)
