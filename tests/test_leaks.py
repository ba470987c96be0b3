"""Columns that would leak are no bins for ``read_table``; columns of counts are."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer

from groundmetric.datasets import read_table
from groundmetric.datasets._suspects import suspects

N = 60
KINDS = np.repeat(["left", "right"], N // 2)


def sequence(n, rng):
    """Draw counts of eight taxa, at depths that hardly differ."""
    return rng.poisson(rng.gamma(2.0, 10.0, 8), (n, 8))


LEAKS = {
    "entry": lambda rng: 31_000 + np.cumsum(rng.integers(1, 9, N)),
    "specimen": lambda rng: rng.permutation(90_000)[:N] + 10_000,
    "id": lambda rng: rng.integers(1, 20, N),
}
IDS = {
    "accession": lambda rng: 31_000 + np.cumsum(rng.integers(1, 9, N)),
    "key": lambda rng: rng.permutation(N),
}
WARNS = {
    "age": lambda rng: rng.integers(20, 80, N),
    "bmi": lambda rng: rng.uniform(18, 35, N).round(1),
    "year": lambda rng: rng.integers(1990, 2020, N),
    "depth": lambda rng: rng.integers(9000, 9010, N),  # most of the mass, out of scale
}


@pytest.fixture
def table(tmp_path):
    """Write a table of counts with labels, after other columns; return its path."""

    def write(seed=0, **columns):
        rng = np.random.default_rng(seed)
        bins = pd.DataFrame(sequence(N, rng)).add_prefix("taxon")
        others = pd.DataFrame({name: make(rng) for name, make in columns.items()})
        frame = pd.concat([others, bins], axis=1).assign(kind=KINDS)
        frame.to_csv(tmp_path / "table.csv", index=False)
        return tmp_path / "table.csv"

    return write


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", LEAKS)
def test_what_leaks_is_refused(name, seed, table):
    path = table(seed, **{name: LEAKS[name]})
    with pytest.raises(ValueError, match=rf"'{name}' is not a bin.*ignore=\['{name}'"):
        read_table(path)
    assert read_table(path, ignore=name).X.shape == (N, 8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", IDS)
def test_ids_are_kept_apart(name, seed, table):
    path = table(seed, **{name: IDS[name]})
    found = read_table(path)
    assert found.X.shape == (N, 8)
    assert found.ids.tolist() == pd.read_csv(path, dtype=str)[name].tolist()
    assert found.notes[0] == f"ids: column '{name}'"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", WARNS)
def test_what_may_leak_is_warned_of(name, seed, table):
    with pytest.warns(UserWarning, match=rf"column '{name}' is used as a bin, but"):
        read_table(table(seed, **{name: WARNS[name]}))


def test_an_id_hides_nothing_else(table):
    path = table(accession=IDS["accession"], age=WARNS["age"])
    with pytest.warns(UserWarning, match="column 'age'"):
        read_table(path)


def names(d):
    return [f"bin{j}" for j in range(d)]


@pytest.mark.parametrize("n", [20, 200, 1797])
def test_digits_are_bins(n):
    images, digits = load_digits(return_X_y=True)
    assert suspects(names(64), images[:n], digits[:n]) == []
    order = np.argsort(digits[:n], kind="stable")
    assert suspects(names(64), images[order], digits[order]) == []


def test_words_are_bins():
    rng = np.random.default_rng(0)
    words = np.array(["the", "age", "year", "id", "key", "of", "number", "code", "sex"])
    common = 1 / np.arange(1, 10)
    texts = [
        " ".join(rng.choice(words, rng.integers(9, 300), p=common / common.sum()))
        for _ in range(200)
    ]
    counter = CountVectorizer()
    rows = counter.fit_transform(texts).toarray().astype(float)
    labels = np.arange(200) % 2
    assert suspects(list(counter.get_feature_names_out()), rows, labels) == []


@pytest.mark.parametrize("seed", range(20))
def test_reads_that_one_taxon_dominates_are_not_refused(seed):
    # All counts of it differ, since depths do; it rises with those of the others.
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet([16.0, *5 * [0.5]], 80)
    rows = np.array([rng.multinomial(int(rng.lognormal(8, 1)), p) for p in shares])
    found = suspects(names(6), rows.astype(float), np.arange(80) % 2)
    assert not any(one.certain for one in found)


def classed(tmp_path, names, columns, kinds, given=None):
    """Write counts behind other columns, and the labels beside them or into a file."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.poisson(20, (len(kinds), 8))).add_prefix("taxon")
    for name, column in zip(names, columns, strict=True):
        frame.insert(0, name, np.asarray(column))
    if given is None:
        frame = frame.assign(kind=kinds)
    else:
        (tmp_path / given).write_text("\n".join(map(str, kinds)))
    frame.to_csv(tmp_path / "x.csv", index=False)
    return tmp_path / "x.csv"


RARE = np.repeat(["p", "q", "r"], [28, 28, 4])
CODES = np.unique(RARE, return_inverse=True)[1] + 1


@pytest.mark.parametrize("kinds", [KINDS, RARE])
def test_a_copy_of_labels_in_their_own_file_is_refused(kinds, tmp_path):
    codes = np.unique(kinds, return_inverse=True)[1]
    path = classed(tmp_path, ["label"], [codes], kinds, "y.txt")
    with pytest.raises(ValueError, match="'label' is not a bin: it repeats the labels"):
        read_table(path, labels=tmp_path / "y.txt")
    found = read_table(path, labels=tmp_path / "y.txt", ignore="label")
    assert "label" not in found.names
    assert found.y.tolist() == kinds.tolist()


def test_bad_labels_in_their_own_file_are_what_is_reported(tmp_path):
    path = classed(tmp_path, ["label"], [CODES], RARE, "y.txt")
    (tmp_path / "y.txt").write_text("p\nq\n")
    with pytest.raises(ValueError, match=r"y\.txt has 2 labels for 60 histograms"):
        read_table(path, labels=tmp_path / "y.txt")


def test_a_rare_class_hides_no_copy(tmp_path):
    path = classed(tmp_path, ["x"], [CODES], RARE)
    with pytest.warns(UserWarning, match="column 'x' is used as a bin, but it repeats"):
        read_table(path)
    path = classed(tmp_path, ["target"], [CODES], RARE)
    with pytest.raises(ValueError, match="'target' is not a bin: it repeats the label"):
        read_table(path)


@pytest.mark.parametrize("sizes", [[57, 3], [2] * 30, [3, 3]])
def test_a_copy_with_the_name_of_labels_is_refused_for_any_sizes(sizes, tmp_path):
    kinds = np.repeat([f"kind{k:02}" for k in range(len(sizes))], sizes)
    codes = np.repeat(np.arange(len(sizes)), sizes)
    path = classed(tmp_path, ["group"], [codes], kinds)
    with pytest.raises(ValueError, match="'group' is not a bin: it repeats the labels"):
        read_table(path)


@pytest.mark.parametrize("kinds", [KINDS, RARE])
def test_a_copy_with_a_mistake_is_refused_by_its_name(kinds, tmp_path):
    codes = np.unique(kinds, return_inverse=True)[1]
    codes[7] = 1
    path = classed(tmp_path, ["target"], [codes], kinds)
    with pytest.raises(ValueError, match="repeats the labels in 59 of 60 rows"):
        read_table(path)


def test_words_that_are_called_like_labels_are_bins():
    rng = np.random.default_rng(0)
    rows = rng.poisson(0.3, (60, 3)).astype(float)
    for labels in (KINDS, RARE, np.repeat([0, 1], [57, 3]), np.arange(60)):
        assert suspects(["class", "group", "other"], rows, labels) == []
    rows[:, 0] = 0
    assert suspects(["class", "group", "other"], rows, RARE) == []


THREE = np.repeat(["p", "q", "r"], 20)


@pytest.mark.parametrize("kinds", [THREE, RARE])
@pytest.mark.parametrize("used", ["pqr", "pq"])
def test_columns_that_encode_the_labels_are_refused(used, kinds, tmp_path):
    columns = [(kinds == one).astype(int) for one in used]
    path = classed(tmp_path, [f"is_{one}" for one in used], columns, kinds)
    with pytest.raises(ValueError, match="columns that encode the labels") as error:
        read_table(path)
    assert all(f"'is_{one}'" in str(error.value) for one in used)
    found = read_table(path, ignore=[f"is_{one}" for one in used])
    assert found.X.shape == (60, 8)


def test_a_column_that_indicates_a_class_is_warned_of_or_refused(tmp_path):
    is_q = (THREE == "q").astype(int)
    with pytest.warns(UserWarning, match="'x' is used as a bin, but it has one value"):
        read_table(classed(tmp_path, ["x"], [is_q], THREE))
    with pytest.raises(ValueError, match="'outcome' is not a bin: it has one value in"):
        read_table(classed(tmp_path, ["outcome"], [is_q], THREE))


def test_words_of_few_texts_do_not_indicate_classes():
    labels = np.repeat([0, 1, 2], 4)
    rows = np.random.default_rng(0).poisson(2.0, (12, 8)).astype(float)
    rows[:, :3] = np.eye(3)[labels]
    assert suspects(names(8), rows, labels) == []


def test_histograms_that_are_the_classes_are_bins():
    labels = np.repeat([0, 1, 2], 20)
    assert suspects(names(3), np.eye(3)[labels], labels) == []
