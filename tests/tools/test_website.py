"""The site of the documents: what its generators make of headers, pages and docstrings, right ones and wrong ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import build_site
from website import navigation, python_reference
from website.cpp_declarations import Declaration, Entry, read_header
from website.cpp_prose import Lookup, prose
from website.cpp_reference import Reference, public
from website.cpp_text import Unreadable
from website.links import problems
from website.sources import BrokenLink, Sources, opening, source_page

ROOT = Path(__file__).resolve().parents[2]

HEADER = """// thing: what this is.
#pragma once
#include <string>

namespace starling {

class other;  // declared elsewhere

// A thing.
template <class T>
  requires std::is_integral_v<T> || (sizeof(T) == 4)
class thing : public base<T>, private hidden {
 public:
  thing() = default;
  thing(const thing&) = delete;
  explicit thing(int n = 3, const std::string& s = {}) : n_{n}, s_(s) {}
  ~thing();

  // ---- work ----

  // Does it: "{" is no brace here.
  template <class F>
    requires requires(F f) { f(); }
  [[nodiscard]] STARLING_HD int run(const F& f, std::vector<T> v = {},
                                    where at = where::current()) const {
    return text("}{(") + f();  // }
  }
  STARLING_HD int again() const { return 1'000; }

  bool operator==(const thing& o) const = default;
  T& operator()(int i) { return data[i]; }

  int size = 0;  // how many
                 // there are
  std::vector<T> data{}, more;

  struct inner {
    int x = 1;
  };

 private:
  // Secret.
  void secret();
  int n_;
};

enum class colour { red, green };
using numbers = thing<int>;
template <class T>
concept small = sizeof(T) < 8;
template <>
struct thing<char> {};
namespace detail {
void inside();
}
namespace stf {
// Free.
inline void free_function(int (*callback)(int), int n = 2);
}  // namespace stf
}  // namespace starling
"""


def flat(entries: list[Entry]) -> dict[str, tuple[Entry, Declaration]]:
    return {found.name: (entry, found) for entry in entries for found in entry.declarations}


def test_a_header() -> None:
    contents = read_header("thing.hpp", HEADER)
    assert contents.introduction == ["thing: what this is."]
    names = flat(contents.entries)
    assert list(names) == ["thing", "colour", "numbers", "small", "free_function"]
    entry, thing = names["thing"]
    assert entry.comment == ["A thing."]
    assert thing.bases == ["base<T>"]
    assert names["free_function"][1].space == "stf"
    assert names["free_function"][1].code == "inline void free_function(int (*callback)(int), int n = 2)"
    assert names["colour"][1].kind == "enum"
    assert names["small"][1].kind == "concept"

    members = flat(thing.entries)
    assert list(members) == ["thing", "run", "again", "operator==", "operator()", "size", "data", "inner"]
    both, run = members["run"]
    assert both.section == "work"
    assert both.comment == ['Does it: "{" is no brace here.']
    assert [found.name for found in both.declarations] == ["run", "again"]  # one comment for both
    assert run.code.splitlines() == [
        "template <class F>",
        "  requires requires(F f) { f(); }",
        "int run(const F& f, std::vector<T> v = {},",
        "        where at = where::current()) const",
    ]
    assert members["size"][1].comment == ["how many", "there are"]
    assert [inside.declarations[0].name for inside in members["inner"][1].entries] == ["x"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("#pragma once\nint x;\n", "does not open with a comment"),
        ("// x\nvoid f() {\n", "x.hpp:2: nothing closes {"),
        ("// x\nvoid f() }\n", "x.hpp:2: } closes nothing"),
        ("// x\nvoid f(}\n", "x.hpp:2: } closes nothing"),
        ("// x\nnamespace a {\nint x\n}\n", "x.hpp:3: a declaration without an end: 'int x"),
        ("// x\ntemplate <class T\nvoid f();\n", "a template without an end"),
        ("// x\n+;\n", "x.hpp:2: a declaration of what? '+;"),
    ],
)
def test_a_header_that_cannot_be_read_names_the_place(text: str, says: str) -> None:
    with pytest.raises(Unreadable) as caught:
        read_header("x.hpp", text)
    assert says in str(caught.value)


def test_what_only_the_library_uses_is_left_out() -> None:
    text = """// x
class a {
 public:
  explicit a(const program_state& s);
  int kept() const;

  // For the parts of a group; kernels have no use for these.
  int hidden() const;

  // Also hidden.
  int hidden_too() const;

  // ---- more ----

  int kept_again() const;
};
"""
    members = public(read_header("x.hpp", text).entries)[0].declarations[0].entries
    assert [found.name for entry in members for found in entry.declarations] == ["kept", "kept_again"]


@pytest.fixture(scope="module")
def reference() -> dict[str, str]:
    return Reference(ROOT / "include/starling").pages()


@pytest.mark.parametrize(
    ("page", "heading", "says"),
    [
        ("device/communication.hpp.md", "communication::put_signal", "`block::put_signal`"),
        ("device/communication.hpp.md", "communication::put_signal", "sees this call's data"),
        ("machine/machine.hpp.md", "machine::run", "Runs one persistent program on every PE"),
        ("region/region.hpp.md", "region::handle", "The handle for kernels."),
        ("stf/context.hpp.md", "stf::context::parallel_for", "for every coordinate of a shape"),
    ],
)
def test_readers_find(reference: dict[str, str], page: str, heading: str, says: str) -> None:
    sections = reference[page].split("\n### ")
    assert any(part.startswith(f"`{heading}`") and says in part for part in sections)


def test_names_of_bases_are_names_of_the_class(reference: dict[str, str]) -> None:
    assert "* [`block::put_signal`](device/communication.hpp.md#communication.put_signal)\n" in reference["names.md"]
    text = "".join(reference.values())
    for secret in ("state_->", "host_port", "put_elements", "namespace detail", "\nSTARLING_HD "):
        assert secret not in text


def test_comments_become_markdown() -> None:
    lookup = Lookup({"a::run": "room/a.hpp.md#a.run"}, {"room/a.hpp"}, "room/b.hpp", "a")
    text = prose(["As a::run(1), a.hpp, x<y and *star*.", "", "  int i = a[0];", "", "* item_one"], lookup)
    assert text.splitlines() == [
        "As [`a::run(1)`](a.hpp.md#a.run), [`a.hpp`](a.hpp.md), x&lt;y and \\*star\\*.",
        "",
        "",
        "```cpp",
        "int i = a[0];",
        "```",
        "",
        "",
        "* `item_one`",
    ]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for path, text in {
        "docs/a.md": "",
        "examples/one.cpp": "// One: shows <a>.\n\nint main() {}\n",
        "include/starling/base/x.hpp": "// x\n",
        "docs/p.png": "",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("[x](../examples/one.cpp)", "[x](../examples/one.cpp.md)"),
        ("[x](../examples)", "[x](../examples/README.md)"),
        ("![x](p.png)", "![x](p.png)"),
        ("[x](a.md#b)", "[x](a.md#b)"),
        ("[x](#b)", "[x](#b)"),
        ("[x](https://example.org/y)", "[x](https://example.org/y)"),
        ("[h](../include/starling/base/x.hpp)", "[h](../cpp/base/x.hpp.md)"),
        ("`[&](st::index_t)`", "`[&](st::index_t)`"),
        ("```cpp\nf([&](int))\n```", "```cpp\nf([&](int))\n```"),
    ],
)
def test_links_of_pages(tree: Path, link: str, leads_to: str) -> None:
    (tree / "docs/a.md").write_text(f"<!-- not checked: x -->\n{link}\n")
    assert Sources(tree, {"cpp/base/x.hpp.md"}).page("docs/a.md") == f"{leads_to}\n"


@pytest.mark.parametrize("link", ["[x](none.cpp)", "[x](../../outside)", "![x](none.png)"])
def test_a_link_to_nothing(tree: Path, link: str) -> None:
    (tree / "docs/a.md").write_text(link)
    with pytest.raises(BrokenLink, match=r"docs/a\.md: .* is not in the repository"):
        Sources(tree, set()).page("docs/a.md")


def test_a_file_that_the_site_cannot_show(tree: Path) -> None:
    (tree / "docs/a.md").write_text("[x](../build.ninja)\n")
    (tree / "build.ninja").write_text("")
    with pytest.raises(BrokenLink, match=r"cannot show \.\./build\.ninja: add \.ninja"):
        Sources(tree, set()).page("docs/a.md")


def test_pages_of_sources(tree: Path) -> None:
    assert opening(tree / "examples/one.cpp") == "One: shows \\<a>."
    page = source_page("a/b.cpp", "// ```\nint x;\n")
    assert "````{ .cpp linenums=" in page
    assert page.endswith("// ```\nint x;\n````\n")


def test_all_of_the_repository_is_collected(tmp_path: Path) -> None:
    nav = build_site.collect(ROOT, tmp_path)
    assert [next(iter(group)) for group in nav][-1] == "Reference"
    for path in ("README.md", "docs/guide.md", "examples/01_ring.cpp.md", "cpp/names.md", "python/linalg.md"):
        assert (tmp_path / path).is_file()


def test_a_page_without_a_place_and_a_place_without_a_page() -> None:
    pages = navigation.pages_of(navigation.PAGES) | {"docs/reference.md"}
    navigation.check(pages)
    with pytest.raises(navigation.Forgotten, match=r"docs/new\.md"):
        navigation.check(pages | {"docs/new.md"})
    with pytest.raises(navigation.Forgotten, match=r"docs/guide\.md"):
        navigation.check(pages - {"docs/guide.md"})


def test_links_of_a_site(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.html").write_text('<h1 id="here">x</h1><a href="../index.html#top">x</a><a href="#here">x</a>')
    (tmp_path / "index.html").write_text('<p id="top"><a href="a/b.html#here">x</a><a href="https://x.org">x</a>')
    assert problems(tmp_path) == []
    (tmp_path / "index.html").write_text(
        '<a href="a/b.html#gone">x</a><a href="c.html">x</a><a href="/a/b.html">x</a><img src="a.png">'
        '<script src="https://x.org/y.js"></script><link rel="stylesheet" href="//x.org/y.css">'
    )
    assert problems(tmp_path) == [
        "a/b.html: ../index.html#top: no such anchor",
        "index.html: loads https://x.org/y.js from elsewhere",
        "index.html: loads //x.org/y.css from elsewhere",
        "index.html: a/b.html#gone: no such anchor",
        "index.html: c.html: no such page or file",
        "index.html: /a/b.html: begins at the root of a server",
        "index.html: a.png: no such page or file",
    ]


def test_pages_of_python_with_and_without_the_stub(tmp_path: Path) -> None:
    package = tmp_path / "starling"
    (package / "stf").mkdir(parents=True)
    for path in ("__init__.py", "_hidden.py", "stf/__init__.py", "stf/_data.py"):
        (package / path).write_text("")
    (package / "machine.py").write_text("Machine = native.Machine\n")
    without = python_reference.pages(package)
    assert sorted(without) == ["README.md", "machine.md", "stf.md"]
    assert "a class of the native module" in without["machine.md"]
    (package / "_starling.pyi").write_text("class Machine:\n    size: int\n")
    assert "::: starling._starling.Machine" in python_reference.pages(package)["machine.md"]


def test_classes_keep_their_signatures_and_tell_attributes_once(tmp_path: Path) -> None:
    griffe = pytest.importorskip("griffe", reason="tools/setup docs installs it")
    (tmp_path / "made").mkdir()
    (tmp_path / "made/__init__.py").write_text(
        "from dataclasses import dataclass\n\n@dataclass\nclass A:\n"
        '    """X.\n\n    Attributes:\n        told: One.\n    """\n    told: int\n    other: int = 2\n\n'
        "class B:\n    def __init__(self, n):\n        pass\n    def __repr__(self):\n        pass\n"
    )
    extensions = griffe.load_extensions(str(ROOT / "tools/website/docstrings.py"))
    made = griffe.load("made", search_paths=[tmp_path], allow_inspection=False, extensions=extensions)
    assert "told" not in made["A"].members
    assert "other" in made["A"].members
    assert [parameter.name for parameter in made["A"].parameters][-2:] == ["told", "other"]
    assert [parameter.name for parameter in made["B"].parameters] == ["self", "n"]
    assert "__repr__" not in made["B"].members


def test_docstrings_become_markdown() -> None:
    pytest.importorskip("griffe", reason="tools/setup docs installs it")
    from website.docstrings import as_markdown, told_above

    text = "See :func:`~a.b`::\n\n    x = 1\n\nThen:\n>>> 1\n1\n\nEnd [PE][block] `a[1][2]`."
    shown = "See `a.b`:\n\n    x = 1\n\nThen:\n\n```pycon\n>>> 1\n1\n```\n\nEnd [PE]\\[block] `a[1][2]`."
    assert as_markdown(text) == shown
    assert told_above("X.\n\nAttributes:\n    a: One.\n        More: of it.\n    b (int): Two.\n\nc: no") == {"a", "b"}
