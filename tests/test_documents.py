"""Folders of texts, whose words become bins at their vectors."""

import gzip

import numpy as np
import pytest

from groundmetric import SinkhornMetricLearning
from groundmetric.datasets import read_table
from groundmetric.datasets._vectors import load_vectors

TEXTS = {
    "art/1.txt": "The painting, the canvas; PAINTING!",
    "art/2.txt": "canvas and brush",
    "art/empty.txt": "the and of",
    "sport/1.txt": "goal goal ball naïve",
    "sport/2.txt": "ball zzyx",
    "sport/notes.md": "is not read",
}
GLOVE = (
    "painting 1 0.5\ncanvas 2 0\n. . . 9 9\nbrush 1e-1 3\ngoal -1 0\nball -2 .5\n"
    "unused 7 7\n"
)


@pytest.fixture
def folder(tmp_path):
    for name, text in TEXTS.items():
        (tmp_path / "texts" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "texts" / name).write_text(text, encoding="utf-8")
    (tmp_path / "glove.txt").write_text(GLOVE)
    return tmp_path


def read(folder, vectors="glove.txt"):
    with pytest.warns(UserWarning, match="1 text without any of these words"):
        return read_table(folder / "texts", vectors=folder / vectors)


def test_words_are_bins_and_vectors_their_points(folder):
    data = read(folder)
    assert data.names == ("ball", "brush", "canvas", "goal", "painting")
    assert data.points.tolist() == [[-2, 0.5], [0.1, 3], [2, 0], [-1, 0], [1, 0.5]]
    assert data.X.format == "csr"
    wanted = [[0, 0, 1 / 3, 0, 2 / 3], [0, 0.5, 0.5, 0, 0], [1 / 3, 0, 0, 2 / 3, 0]]
    assert np.allclose(data.X.toarray(), [*wanted, [1, 0, 0, 0, 0]])
    assert data.y.tolist() == ["art", "art", "sport", "sport"]
    assert data.ids.tolist() == ["art/1.txt", "art/2.txt", "sport/1.txt", "sport/2.txt"]
    assert data.where(3) == "sport/2.txt"
    assert data.notes[0].startswith("bins: 5 words with vectors of ")
    assert data.notes[1] == (
        "left out: 2 words without a vector (18.2 % of all words), such as 'naïve', "
        "'zzyx'"
    )


def test_vectors_of_word2vec_and_packed_ones_are_the_same(folder):
    wanted = read(folder)
    (folder / "w2v.txt").write_text(f"7 2 \n{GLOVE}".replace("\n", " \r\n"))
    (folder / "glove.txt.gz").write_bytes(gzip.compress(GLOVE.encode()))
    for name in ("w2v.txt", "glove.txt.gz"):
        found = read(folder, name)
        assert np.array_equal(found.points, wanted.points)
        assert found.names == wanted.names


BROKEN = {
    "line 2: 1 numbers, but others have 2": "ball 1 2\ngoal 1\n",
    "line 1: a word and its vector are needed": "ball\n",
    "line 3: could not convert string to float: 'x'": "6 2\n\n goal x 2\n",
    "line 1: numbers must be finite": "goal nan 2\n",
    "is empty": "\n",
}


@pytest.mark.parametrize("message", BROKEN)
def test_broken_vectors_are_refused(message, tmp_path):
    (tmp_path / "v.txt").write_text(BROKEN[message])
    with pytest.raises(ValueError, match=rf"v\.txt.*{message}"):
        load_vectors(tmp_path / "v.txt", {"ball", "goal", ""})


def test_binary_vectors_are_refused(tmp_path):
    with pytest.raises(ValueError, match="is binary; save vectors as text"):
        load_vectors(tmp_path / "v.bin", set())


def test_wrong_folders_are_refused(folder):
    with pytest.raises(ValueError, match=r"needs vectors of words: vectors='FILE'"):
        read_table(folder / "texts")
    with pytest.raises(
        ValueError, match=r"vectors is for a folder of texts, not .*glo"
    ):
        read_table(folder / "glove.txt", vectors=folder / "glove.txt")
    (folder / "other.txt").write_text("verb 1 2\n")
    with pytest.raises(ValueError, match="no vector of any word in"):
        read_table(folder / "texts", vectors=folder / "other.txt")
    with pytest.raises(ValueError, match="has texts, but no subfolders"):
        read_table(folder / "texts" / "art", vectors=folder / "glove.txt")
    with pytest.raises(ValueError, match="missing is for tables and arrays, not"):
        read_table(folder / "texts", missing="zero")


def test_new_texts_have_the_words_of_others(folder):
    data = read(folder)
    (folder / "new").mkdir()
    (folder / "new" / "a.txt").write_bytes("brush, goal, déjà".encode("latin-1"))
    found = read_table(folder / "new", like=data, labeled=False)
    assert found.X.toarray().tolist() == [[0, 0.5, 0, 0.5, 0]]
    assert found.ids.tolist() == ["a.txt"]
    assert found.notes[0].endswith("a.txt is not UTF-8: read as Latin-1 (Windows-1252)")
    (folder / "new" / "a.txt").write_text("nothing known")
    with pytest.raises(ValueError, match=r"no text in .*new has a word of the bins"):
        read_table(folder / "new", like=data, labeled=False)


def test_a_learner_takes_words_and_points_as_they_are(folder):
    data = read(folder)
    learner = SinkhornMetricLearning(
        points=data.points, criterion="softmax", smoothing=np.inf, max_steps=2
    ).fit(data.X, data.y)
    found = learner.pairwise(data.X)
    assert found[0, 1] < found[0, 2]
