"""Columns that are not bins are refused or pointed to, and bins never are."""

import json

import numpy as np
import pytest
from samples import csv_of
from sklearn.datasets import load_digits

RNG = np.random.default_rng(0)
N = 24
COUNTS = RNG.integers(0, 40, (N, 5)) + 1
SHARES = COUNTS / COUNTS.sum(axis=1, keepdims=True)
KINDS = np.repeat(["left", "right"], N // 2)
BINS = "a,b,c,d,e"
ORDERED = 4000 + np.cumsum(RNG.integers(1, 9, N))
FIVE_DIGITS = RNG.permutation(90_000)[:N] + 10_000
AGES = RNG.integers(20, 80, N)
BMI = RNG.uniform(18, 35, N).round(1)


@pytest.fixture
def written(folder):
    """Write a table with columns in front of the bins, and name the file."""

    def write(rows, names="", *columns, kinds=KINDS):
        table = np.column_stack([*columns, rows]).astype(object)
        header = ",".join([*([names] if names else []), BINS, "kind"])
        (folder / "table.csv").write_text(csv_of(table, kinds, header))
        return "table.csv"

    return write


@pytest.fixture
def learn(run):
    """Learn from a table, in one step."""
    return lambda *line: run("fit", *line, "--max-steps", "1")


CERTAIN = {
    "accession numbers in order": (COUNTS, "acc", ORDERED),
    "in falling order": (COUNTS, "acc", ORDERED[::-1]),
    "five digits in any order": (COUNTS, "specimen", FIVE_DIGITS),
    "numbers of a few digits": (COUNTS, "specimen", RNG.permutation(N) + 7),
    "a name": (COUNTS, "id", RNG.integers(1, 5, N)),
    "the end of a name": (COUNTS, "patient_id", RNG.integers(1, 5, N)),
    "two names in one": (COUNTS, "sampleID", RNG.integers(1, 5, N)),
    "beside shares": (SHARES, "anything", AGES),
    "a measurement beside shares": (SHARES, "bmi", BMI),
    "the labels in numbers": (COUNTS, "class", np.repeat([1, 2], N // 2)),
}


@pytest.mark.parametrize("case", CERTAIN)
def test_a_column_that_would_leak_is_refused(case, written, learn):
    rows, name, column = CERTAIN[case]
    path = written(rows, name, column)
    found = learn(path)
    assert found.exit_code == 2
    assert found.stderr.startswith(f"error: table.csv: column {name!r} is not a bin: ")
    assert f"--ignore {name}, " in found.stderr
    assert f"--keep {name}." in found.stderr
    assert found.stderr.count("\n") == 1
    left_out = learn(path, "--ignore", name, "--json")
    assert json.loads(left_out.stdout)["n_bins"] == 5
    kept = learn(path, "--keep", name, "--json")
    assert json.loads(kept.stdout)["n_bins"] == 6
    assert "warning: column" not in left_out.stderr + kept.stderr


@pytest.mark.parametrize("name", ["id", "sampleID", "patient_id", "sample"])
def test_a_column_of_ids_is_kept_apart(name, written, learn):
    path = written(COUNTS, name, RNG.permutation(90)[:N])
    found = learn(path, "--json")
    assert json.loads(found.stdout)["n_bins"] == 5
    assert found.stderr.startswith(f"ids: column {name!r}\n")
    assert json.loads(learn(path, "--keep", name, "--json").stdout)["n_bins"] == 6


@pytest.mark.parametrize(
    "line", ["evaluate", "report", "distances --metric line.npy", "fit"]
)
def test_all_commands_refuse_it(line, written, run):
    command, *options = line.split()
    found = run(command, written(COUNTS, "acc", ORDERED), *options)
    assert found.exit_code == 2
    assert "column 'acc' is not a bin" in found.stderr


def test_all_such_columns_are_named_at_once(written, learn):
    path = written(SHARES, "acc,age,bmi", ORDERED, AGES, BMI)
    found = learn(path)
    assert "--ignore acc --ignore age --ignore bmi, or" in found.stderr
    ignored = [f"--ignore={name}" for name in ("acc", "age", "bmi")]
    assert learn(path, *ignored).exit_code == 0


PROBABLE = {
    "a measurement beside counts": (COUNTS, "age", AGES, "its name is not that of"),
    "fractions beside counts": (COUNTS, "x", BMI, "it is the only one with fractions"),
    "out of scale": (COUNTS, "x", 5000 + (AGES % 9), "it is more than 10 times"),
    "most of the mass": (COUNTS, "x", 380 + (AGES % 9), "it has 7"),
    "the labels, perhaps": (COUNTS, "x", np.repeat([1, 2], N // 2), "it repeats the"),
}


@pytest.mark.parametrize("case", PROBABLE)
def test_a_column_that_may_not_be_a_bin_is_pointed_to(case, written, learn):
    rows, name, column, why = PROBABLE[case]
    path = written(rows, name, column)
    found = learn(path)
    assert found.exit_code == 0
    assert f"warning: column {name!r} is used as a bin, but {why}" in found.stderr
    assert f"--ignore {name}, or confirm it with --keep {name}\n" in found.stderr
    assert "warning: column" not in learn(path, "--keep", name).stderr


def test_columns_with_the_same_trouble_share_a_warning(written, learn):
    path = written(COUNTS, "age,year", AGES, AGES[::-1])
    message = learn(path).stderr
    assert "warning: column 'age' (and 1 other) is used as a bin" in message
    assert message.count("warning") == 1


def abundances():
    """Shares of taxa, one of which has nearly everything."""
    rows = RNG.dirichlet([60.0, 0.5, 0.5, 0.5, 0.5], N)
    assert np.median(rows[:, 0]) > 0.95
    return rows


def words():
    """Few words of each text; age and id are words, too."""
    return RNG.poisson([0.5, 0.2, 1.0, 2.0, 0.1], (N, 5)) + np.eye(5, dtype=int)[3]


WORDS = words()


GOOD = {
    "counts": (COUNTS, BINS),
    "shares": (SHARES, BINS),
    "a taxon that dominates": (abundances(), BINS),
    "rounded": (np.round(100 * abundances(), 1), BINS),
    "words": (WORDS, "age,id,year,no,key"),
    "shares of words": (WORDS / WORDS.sum(axis=1, keepdims=True), "id,x,y,age,no"),
    "many different counts": (RNG.integers(10_000, 90_000, (N, 5)), BINS),
    "reads of depths that differ": (
        np.round(abundances() * RNG.integers(1000, 90_000, (N, 1)) ** 0.5),
        "a,b,c,d,e",
    ),
}


@pytest.mark.parametrize("case", [case for case in GOOD if "depths" not in case])
def test_bins_are_not_suspected(case, folder, learn):
    rows, names = GOOD[case]
    (folder / "good.csv").write_text(csv_of(rows, KINDS, f"{names},kind"))
    found = learn("good.csv")
    assert found.exit_code == 0
    assert "warning: column" not in found.stderr


def test_reads_that_one_taxon_dominates_are_not_refused(folder, learn):
    rows, names = GOOD["reads of depths that differ"]
    (folder / "good.csv").write_text(csv_of(rows, KINDS, f"{names},kind"))
    found = learn("good.csv")
    assert found.exit_code == 0
    assert "of the mass" in found.stderr


@pytest.mark.parametrize("n", [5, 12, 40, 300])
def test_images_are_not_suspected(n, folder, learn):
    images, digits = load_digits(return_X_y=True)
    names = ",".join([*(f"pixel{j}" for j in range(64)), "kind"])
    kinds = [f"digit {k % 2}" for k in digits[:n]]
    (folder / "digits.csv").write_text(csv_of(images[:n], kinds, names))
    found = learn("digits.csv")
    assert found.exit_code == 0
    assert "column 'pixel" not in found.stderr


def test_columns_to_keep_are_bins(written, learn):
    path = written(COUNTS, "acc", ORDERED)
    for line, message in (
        (["--keep", "none"], "--keep is 'none', but table.csv has no such column"),
        (["--keep", "acc", "--ignore", "acc"], "--keep is 'acc', which holds labels"),
        (["--keep", "kind"], "--keep is 'kind', which holds labels or is left out"),
    ):
        found = learn(path, *line)
        assert found.exit_code == 2
        assert message in found.stderr


def test_names_with_blanks_are_quoted(written, learn):
    found = learn(written(COUNTS, "lab acc", ORDERED))
    assert "--ignore 'lab acc', or use it all the same with --keep 'lab acc'." in (
        found.stderr
    )
