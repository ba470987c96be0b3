"""Independence and typical tables."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import groundmetric as gm
from groundmetric import _core
from groundmetric.tables._tables import independence_sum, typical_sum
from polls import every_check
from reference import typical_table as slow_typical_table
from strategies import histogram_pairs

pytestmark = pytest.mark.core

TOTALS = (1e-3, 1.0, 10.0, 1e3, 1e6, math.inf)
KINDS = (
    "uniform", "gamma", "steep", "geometric", "one-hot", "nearly one-hot", "sparse",
    "tiny",
)  # fmt: skip


def histogram(rng, kind, d):
    x = {
        "uniform": lambda: np.ones(d),
        "gamma": lambda: rng.gamma(1.0, size=d),
        "steep": lambda: 10.0 ** rng.uniform(-12, 0, d),
        "geometric": lambda: 0.8 ** np.arange(d) + 1e-12,
        "one-hot": lambda: np.eye(d)[rng.integers(d)],
        "nearly one-hot": lambda: np.eye(d)[rng.integers(d)] + 1e-4 / d,
        "sparse": lambda: rng.gamma(1.0, size=d) * (rng.random(d) < 0.3),
        "tiny": lambda: np.where(rng.random(d) < 0.5, 1e-12, 1.0),
    }[kind]()
    if x.sum() == 0:
        x[0] = 1.0
    return x / x.sum()


def check_typical(T, r, c, total):
    """Assert the KKT conditions: margins, and a dual that splits into u_p + v_q."""
    used = np.ix_(r > 0, c > 0)
    assert (T[used] > 0).all()
    assert T.sum() == pytest.approx(T[used].sum())  # zero elsewhere
    np.testing.assert_allclose(T.sum(axis=1), r, rtol=1e-10, atol=0)
    np.testing.assert_allclose(T.sum(axis=0), c, rtol=1e-10, atol=0)
    X = T[used]
    dual = 1 / X if math.isinf(total) else np.log1p(1 / (total * X))
    split = dual[:, :1] + dual[:1, :] - dual[:1, :1]
    scale = np.abs(dual[:, :1]) + np.abs(dual[:1, :]) + np.abs(dual[:1, :1])
    np.testing.assert_array_less(np.abs(dual - split), 1e-9 * scale + 1e-300)


def test_by_hand():
    np.testing.assert_array_equal(
        gm.independence_table([0.5, 0.5], [0.25, 0.75]),
        [[0.125, 0.375], [0.125, 0.375]],
    )
    # Counts: the table has their mass, 4.
    np.testing.assert_array_equal(
        gm.independence_table([3, 1], [2, 2]), [[1.5, 1.5], [0.5, 0.5]]
    )
    # A uniform histogram leaves no choice: all rows are alike.
    for total in TOTALS:
        np.testing.assert_allclose(
            gm.typical_table([0.5, 0.5], [0.25, 0.75], total=total),
            [[0.125, 0.375], [0.125, 0.375]],
            rtol=1e-12,
        )
    # The analytic center for r = c = (1/4, 3/4): with x the first entry, maximize
    # x (1/4 - x)^2 (1/2 + x), so 1/x - 2/(1/4 - x) + 1/(1/2 + x) = 0,
    # 4x^2 + x - 1/8 = 0 and x = (sqrt(3) - 1) / 8.
    x = (math.sqrt(3) - 1) / 8
    np.testing.assert_allclose(
        gm.typical_table([0.25, 0.75], [0.25, 0.75], total=math.inf),
        [[x, 0.25 - x], [0.25 - x, 0.5 + x]],
        rtol=1e-10,
    )


@pytest.mark.parametrize("total", TOTALS)
@pytest.mark.parametrize("d", [1, 2, 3, 8, 9, 40, 128])
def test_margins_and_optimality(d, total):
    rng = np.random.default_rng(d)
    for kind in KINDS:
        for other in KINDS:
            r, c = histogram(rng, kind, d), histogram(rng, other, d)
            check_typical(gm.typical_table(r, c, total=total), r, c, total)


@pytest.mark.parametrize("total", TOTALS)
def test_margins_and_optimality_at_500_bins(total):
    rng = np.random.default_rng(500)
    for kind, other in zip(KINDS, KINDS[1:] + KINDS[:1], strict=True):
        r, c = histogram(rng, kind, 500), histogram(rng, other, 500)
        check_typical(gm.typical_table(r, c, total=total), r, c, total)


@pytest.mark.parametrize("total", TOTALS)
@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_agrees_with_a_general_optimizer(d, total):
    rng = np.random.default_rng([d, 1])
    for _ in range(5):
        r, c = rng.gamma(2.0, size=(2, d)) + 0.01
        r, c = r / r.sum(), c / c.sum()
        slow = slow_typical_table(r, c, total)
        np.testing.assert_allclose(slow.sum(axis=1), r, rtol=1e-6)
        np.testing.assert_allclose(
            gm.typical_table(r, c, total=total), slow, rtol=1e-5, atol=1e-9
        )


def test_first_order_expansion():
    # T = rc' [1 + N (r_p - |r|^2)(c_q - |c|^2)] + O(N^2).
    rng = np.random.default_rng(0)
    r, c = rng.gamma(1.0, size=(2, 20))
    r, c = r / r.sum(), c / c.sum()
    first = np.outer(r, c) * np.outer(r - r @ r, c - c @ c)
    rest = [
        np.abs(gm.typical_table(r, c, total=N) - np.outer(r, c) - N * first).sum()
        / N**2
        for N in (1e-2, 1e-1, 1.0)
    ]
    assert np.abs(first).sum() > 100 * max(rest) * 1e-2
    np.testing.assert_allclose(rest, rest[0], rtol=0.2)


@given(histogram_pairs(max_bins=6), st.sampled_from(TOTALS))
def test_properties(histograms, total):
    r, c = histograms
    mass = r.sum()
    T = gm.typical_table(r, c, total=total)
    np.testing.assert_allclose(T.sum(axis=1), r, rtol=1e-9)
    np.testing.assert_allclose(T.sum(axis=0), c, rtol=1e-9)
    mirrored = gm.typical_table(c, r, total=total).T
    np.testing.assert_allclose(T, mirrored, rtol=1e-9)
    if mass == c.sum():  # not scaled: the same, bit for bit
        np.testing.assert_array_equal(T, mirrored)
    # "total" multiplies masses: twice the mass at half the total is the same table.
    half = total / 2
    np.testing.assert_allclose(
        gm.typical_table(2 * r, 2 * c, total=half), 2 * T, rtol=1e-9, atol=1e-15 * mass
    )
    ind = gm.independence_table(r, c)
    np.testing.assert_allclose(ind.sum(axis=1), r, rtol=1e-12)
    np.testing.assert_allclose(ind.sum(axis=0), c, rtol=1e-12)


def test_sums_over_pairs():
    rng = np.random.default_rng(1)
    X = np.stack([histogram(rng, kind, 30) for kind in KINDS] * 3)
    n = len(X)
    omega = rng.normal(size=(n, n))
    literal = sum(
        omega[i, j] * gm.independence_table(X[i], X[j])
        for i in range(n)
        for j in range(n)
    )
    np.testing.assert_allclose(independence_sum(X, omega), literal, atol=1e-13)
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    weights = rng.normal(size=len(pairs))
    for total in (1.0, math.inf):
        literal = sum(
            w * gm.typical_table(X[i], X[j], total=total)
            for w, (i, j) in zip(weights, pairs, strict=True)
        )
        one = typical_sum(X, pairs, weights, total=total)
        np.testing.assert_allclose(one, literal, atol=1e-12)
        for n_threads in (2, 5):  # not a bit of difference
            many = typical_sum(X, pairs, weights, total=total, n_threads=n_threads)
            np.testing.assert_array_equal(one, many)
    nothing = typical_sum(X, pairs[:0], weights[:0], total=1.0)
    np.testing.assert_array_equal(nothing, np.zeros((30, 30)))


def test_error_of_the_core_is_the_error_of_the_margins():
    rng = np.random.default_rng(2)
    X = np.stack([histogram(rng, "gamma", 50) for _ in range(2)])
    T, error = _core.typical_sum(X, np.array([[0, 1]]), np.ones(1), 1e4, 1, None)
    rows = np.abs(T.sum(axis=1) / X[0] - 1).max()
    columns = np.abs(T.sum(axis=0) / X[1] - 1).max()
    assert error <= 1e-10
    assert max(rows, columns) <= error + 1e-14


@pytest.mark.parametrize("total", [1e-300, 1e-40, 1e-20])
def test_tiny_totals_give_the_independence_table(total):
    r, c = [0.3, 0.7], [0.6, 0.4]
    np.testing.assert_allclose(
        gm.typical_table(r, c, total=total), np.outer(r, c), rtol=1e-12
    )
    tiny = np.array([1e-100, 2e-100])
    np.testing.assert_allclose(
        gm.typical_table(tiny, tiny[::-1]), gm.independence_table(tiny, tiny[::-1])
    )


@pytest.mark.parametrize("small", [1e-300, 1e-145, 1e-90])
@pytest.mark.parametrize("total", [1e-20, 1.0, math.inf])
def test_bins_of_next_to_no_mass(small, total):
    r, c = np.array([small, 1, 2]) / 3, np.array([1.0, 1, 1]) / 3
    T = gm.typical_table(r, c, total=total)
    np.testing.assert_allclose(T.sum(axis=1)[1:], r[1:], rtol=1e-10)
    np.testing.assert_allclose(T.sum(axis=0), c, rtol=1e-10)
    assert T[0].sum() == (0 if small < 1e-100 else pytest.approx(small / 3))


def test_extreme_masses():
    r, c = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    expected = np.outer(r, c)
    for mass in (1e-200, 1e300):
        table = gm.independence_table(mass * r, mass * c)
        np.testing.assert_allclose(table / mass, expected, rtol=1e-14)


def test_a_table_that_does_not_converge_is_a_warning(monkeypatch):
    monkeypatch.setattr("groundmetric.tables._tables.MARGIN_TOLERANCE", -1.0)
    with pytest.warns(ConvergenceWarning, match="has a relative error of"):
        gm.typical_table([0.3, 0.7], [0.6, 0.4])


@pytest.mark.parametrize("total", [0, -1.0, float("nan"), "1", None, True])
def test_bad_total(total):
    with pytest.raises(ValueError, match=r"total is .*; a positive number or infinity"):
        gm.typical_table([1, 0], [0, 1], total=total)


@pytest.mark.parametrize("table", [gm.independence_table, gm.typical_table])
def test_bad_histograms(table):
    with pytest.raises(ValueError, match=r"r\[1\] is -1\.0: .* negative"):
        table([2, -1], [0, 1])
    with pytest.raises(ValueError, match=r"c has mass 2\.0, but r has mass 1\.0"):
        table([1, 0], [1, 1])
    with pytest.raises(ValueError, match="r has 2 bins, but c has 3"):
        table([1, 0], [1, 0, 0])


def test_a_single_long_table_polls_too():
    # One pair only: the poll can come from nowhere but inside the table.
    rng = np.random.default_rng(0)
    X = rng.gamma(0.3, size=(2, 300)) + 1e-9
    X /= X.sum(axis=1, keepdims=True)
    polls = []
    pair, weight = np.array([[0, 1]]), np.ones(1)
    with every_check():
        sums, error = _core.typical_sum(X, pair, weight, math.inf, 1, polls.append)
    assert set(polls) == {0}
    assert len(polls) > 1 + 300 // 64  # each row block, and all that it adds up
    assert error <= 1e-10
    np.testing.assert_allclose(sums.sum(axis=1), X[0], rtol=1e-9)

    def fail(_):
        raise ZeroDivisionError

    with every_check(), pytest.raises(ZeroDivisionError):
        _core.typical_sum(X, pair, weight, math.inf, 1, fail)


def test_indices_and_shapes_are_checked_before_memory_is_read():
    X = np.full((3, 4), 0.25)
    for pairs, weights, message in (
        (
            [[0, 3]],
            [1.0],
            r"pairs\[1\] is 3, but it must be .* less than 3",
        ),
        ([[-1, 0]], [1.0], r"pairs\[0\] is -1"),
        ([[0, 1]], [1.0, 2.0], "weights has 2 entries, but 1 are needed"),
        ([[0, 1, 2]], [1.0], r"pairs has shape \(1, 3\), but \(1, 2\)"),
    ):
        with pytest.raises(ValueError, match=message):
            _core.typical_sum(X, np.array(pairs), np.array(weights), 1.0, 1, None)
