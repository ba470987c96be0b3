"""Columns that would leak are refused by ``read_table``; tables of counts never are."""

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
    "accession": lambda rng: 31_000 + np.cumsum(rng.integers(1, 9, N)),
    "entry": lambda rng: 31_000 + np.cumsum(rng.integers(1, 9, N)),
    "specimen": lambda rng: rng.permutation(90_000)[:N] + 10_000,
    "id": lambda rng: rng.integers(1, 20, N),
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
@pytest.mark.parametrize("name", WARNS)
def test_what_may_leak_is_warned_of(name, seed, table):
    with pytest.warns(UserWarning, match=rf"column '{name}' is used as a bin, but"):
        read_table(table(seed, **{name: WARNS[name]}))


def test_an_id_hides_nothing_else(table):
    path = table(accession=LEAKS["accession"], age=WARNS["age"])
    with pytest.warns(UserWarning, match="column 'age'"):
        read_table(path, ignore="accession")


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
