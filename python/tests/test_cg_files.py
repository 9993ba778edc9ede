"""Matrices and vectors from files: what can be read is SciPy's, what is wrong is named with its line."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest
from scipy import io, sparse

from cg_systems import random_system
from starling.errors import ArgumentError, MatrixFileError
from starling.linalg import plot_history, read_matrix, read_vector

HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"


@pytest.fixture
def written(tmp_path):
    """written(name, text): the path of a new file."""

    def write(name, text):
        path = tmp_path / name
        raw = text.encode("latin1") if isinstance(text, str) else text
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") and isinstance(text, str) else raw)
        return path

    return write


@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
@pytest.mark.parametrize("suffix", ["mtx", "mtx.gz"])
def test_market(tmp_path, rng, suffix, symmetry):
    a = random_system(rng, 30)
    path = tmp_path / f"a.{suffix}"
    with gzip.open(path, "wb") if suffix.endswith("gz") else path.open("wb") as file:
        io.mmwrite(file, a, symmetry=symmetry, precision=17)
    read = read_matrix(path)
    assert isinstance(read, sparse.csr_array)
    assert read.has_canonical_format
    assert np.array_equal(read.toarray(), a.toarray())
    assert np.array_equal(read_matrix(str(path)).toarray(), a.toarray())


def test_other_kinds_of_market(written):
    half = written("half.mtx", HEAD + "% a comment\n\n2 2 3\n1 1 4\n2 1 -1\n2 2 5\n")
    assert read_matrix(half).toarray().tolist() == [[4, -1], [-1, 5]]
    whole = written("WHOLE.MTX", "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 4\n2 2 5\n")
    assert read_matrix(whole).dtype == np.float64
    dense = written("dense.mtx", "%%MatrixMarket matrix array real general\n2 2\n4\n1\n1\n3\n")
    assert read_matrix(dense).toarray().tolist() == [[4, 1], [1, 3]]


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_npz(tmp_path, rng, form):
    a = random_system(rng, 24)
    sparse.save_npz(tmp_path / "a.npz", a.asformat(form))
    assert np.array_equal(read_matrix(tmp_path / "a.npz").toarray(), a.toarray())


def test_vectors(tmp_path, rng, written):
    v = rng.standard_normal(9)
    np.save(tmp_path / "v.npy", v)
    np.save(tmp_path / "column.npy", v[:, None])
    io.mmwrite(tmp_path / "v.mtx", v[:, None], precision=17)
    for name in ("v.npy", "column.npy", "v.mtx"):
        assert np.array_equal(read_vector(tmp_path / name), v)
    listed = written("listed.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 2\n1 1 4\n3 1 5\n")
    assert read_vector(listed).tolist() == [4, 0, 5]


# Name, content, what the message holds, and the line.
DAMAGED = {
    "no banner": ("a.mtx", "3 3 1\n1 1 1\n", ["banner"], 1),
    "binary": ("a.mtx", "\x00\xff\x01" * 9, ["banner"], 1),
    "blank": ("a.mtx", "\n", ["banner"], 1),
    "unknown word": ("a.mtx", HEAD.replace("real", "weird") + "1 1 1\n1 1 1\n", ["weird"], 1),
    "no size": ("a.mtx", HEAD, ["header"], 2),
    "size is text": ("a.mtx", HEAD + "% comment\nthree 3 1\n1 1 1\n", ["integer"], 3),
    "negative size": ("a.mtx", HEAD + "-3 -3 1\n1 1 1\n", ["negative"], 2),
    "truncated": ("a.mtx", HEAD + "3 3 4\n1 1 2\n2 2 2\n", ["Truncated", "2 lines"], 4),
    "truncated, compressed": ("a.mtx.gz", HEAD + "3 3 4\n1 1 2\n2 2 2\n", ["Truncated", "2 lines"], 4),
    "too long": ("a.mtx", HEAD + "2 2 1\n1 1 2\n2 2 2\n", ["too long"], 4),
    "value is text": ("a.mtx", HEAD + "2 2 2\n1 1 2\n2 2 x\n", ["floating-point"], 4),
    "value missing": ("a.mtx", HEAD + "2 2 2\n1 1\n2 2 1\n", ["floating-point"], 3),
    "row too large": ("a.mtx", HEAD + "2 2 2\n1 1 2\n5 2 1\n", ["Row index"], 4),
    "column zero": ("a.mtx", HEAD + "2 2 2\n1 1 2\n2 0 1\n", ["Column index"], 4),
    "index beyond integers": ("a.mtx", HEAD + "2 2 1\n99999999999999999999 1 2\n", ["out of range"], 3),
    "boasting": ("a.mtx", HEAD + "3 3 99999999999\n1 1 2\n", ["99999999999 entries", "fetch"], 2),
    "symmetric but not square": ("a.mtx", HEAD + "2 3 1\n1 1 1\n", ["symmetric", "2 x 3"], 1),
    "not gzip": ("a.mtx.gz", b"hello", ["gzip", "fetch it again"], None),
    "half of gzip": ("a.mtx.gz", gzip.compress((HEAD + "99 99 99\n" + "1 1 2\n" * 99).encode())[:70], ["gzip"], None),
    "not npz": ("a.npz", b"hello", ["save_npz"], None),
    "half of npz": ("a.npz", b"PK\x03\x04" + b"\0" * 40, ["save_npz"], None),
}


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged(written, case):
    name, content, texts, line = DAMAGED[case]
    path = written(name, content)
    with pytest.raises(MatrixFileError) as caught:
        read_matrix(path)
    assert str(path) in str(caught.value)
    assert caught.value.line == line
    if line is not None and case != "symmetric but not square":
        assert f"line {line}" in str(caught.value)
    for text in texts:
        assert text in str(caught.value)
    assert pickle.loads(pickle.dumps(caught.value)).line == line


UNSUITABLE = {
    "complex": ("a.mtx", HEAD.replace("real", "complex") + "1 1 1\n1 1 1 0\n", ["complex", "float64"]),
    "hermitian": ("a.mtx", HEAD.replace("real symmetric", "complex hermitian") + "1 1 1\n1 1 1 0\n", ["complex"]),
    "pattern": ("a.mtx", HEAD.replace("real", "pattern") + "1 1 1\n1 1\n", ["pattern", "values"]),
    "not square": ("a.mtx", HEAD.replace("symmetric", "general") + "2 3 1\n1 1 1\n", ["2 x 3", "square"]),
    "empty matrix": ("a.mtx", HEAD + "0 0 0\n", ["empty", "at least one"]),
    "too many rows": ("a.mtx", HEAD + "9999999999 9999999999 1\n1 1 2\n", ["9999999999 rows", "at most"]),
    "empty file": ("a.mtx", "", ["0 bytes"]),
    "unknown suffix": ("a.rua", "hello", [".rua", ".mtx", ".npz"]),
    "no suffix": ("a", "hello", ["(none)", ".mtx"]),
}


@pytest.mark.parametrize("case", UNSUITABLE)
def test_unsuitable(written, case):
    name, content, texts = UNSUITABLE[case]
    path = written(name, content)
    with pytest.raises(ArgumentError) as caught:
        read_matrix(path)
    assert str(path) in str(caught.value)
    for text in texts:
        assert text in str(caught.value)


def test_no_such_file(tmp_path):
    for read in (read_matrix, read_vector):
        with pytest.raises(ArgumentError, match="no such file"):
            read(tmp_path / "nowhere.mtx")
        with pytest.raises(ArgumentError, match="not a file"):
            read(tmp_path)


def test_wrong_vectors(tmp_path, written):
    np.save(tmp_path / "square.npy", np.ones((3, 3)))
    with pytest.raises(ArgumentError, match=r"\(3, 3\)"):
        read_vector(tmp_path / "square.npy")
    np.save(tmp_path / "none.npy", np.ones(0))
    with pytest.raises(ArgumentError, match=r"shape \(0,\)"):
        read_vector(tmp_path / "none.npy")
    with pytest.raises(ArgumentError, match=r"not a whole \.npy"):
        read_vector(written("cut.npy", (tmp_path / "square.npy").read_bytes()[:-9]))
    with pytest.raises(MatrixFileError, match=r"line 3.*Truncated"):
        read_vector(written("cut.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n"))
    with pytest.raises(ArgumentError, match=r"\.npz.*\.npy"):
        read_vector(written("v.npz", b"hello"))


def test_plot(tmp_path):
    plot_history(tmp_path / "h.png", {"one": [1.0, 0.5, 0.0], "two": np.geomspace(1, 1e-9, 50)}, target=1e-8)
    assert (tmp_path / "h.png").read_bytes().startswith(b"\x89PNG")
    plot_history(tmp_path / "zero.png", {"zero": [0.0]})
    with pytest.raises(ArgumentError, match=r"\.gif.*\.png"):
        plot_history(tmp_path / "h.gif", {"one": [1.0]})
    assert sorted(p.name for p in tmp_path.iterdir()) == ["h.png", "zero.png"]
