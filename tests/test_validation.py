"""Bad input is an error in a sentence; unusual good input gives the usual answer."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import groundmetric as gm
from groundmetric import validation

R, C = [0.5, 0.5, 0.0], [0.25, 0.25, 0.5]
M = np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
NAN, INF = float("nan"), float("inf")


def with_entry(array, where, value):
    out = np.array(array, dtype=float)
    out[where] = value
    return out


PAIR_CASES = [
    # r, c, metric, message
    ([0.5, -0.5, 1.0], C, M, r"r\[1\] is -0\.5: .* negative"),
    (R, [NAN, 0.5, 0.5], M, r"c\[0\] is nan: .* finite"),
    ([0.5, 0.5, INF], C, M, r"r\[2\] is inf: .* finite"),
    ([0.5, -INF, INF], C, M, r"r\[1\] is -inf: .* finite"),
    ([0.0, 0.0, 0.0], C, M, r"r has zero mass"),
    (R, [0, 0, 0], M, r"c has zero mass"),
    ([1e308, 1e308, 0], C, M, r"r has mass inf"),
    ([1e-260, 0, 0], C, M, r"r has mass 1e-260"),
    (R, [0.25, 0.25, 0.6], M, r"c has mass 1\.1, but r has mass 1\.0: .* equal"),
    (R, [0.25, 0.25, 0.50390625], M, r"c has mass 1\.00390625"),
    (
        R,
        [0.5, 0.5],
        M,
        r"metric has shape \(3, 3\).* have 3 and 2 bins: shape \(3, 2\)",
    ),
    ([[R]], C, M, r"r has shape \(1, 1, 3\), but one dimension is needed"),
    (0.5, C, M, r"r has shape \(\), but one dimension is needed"),
    (None, C, M, r"r is not an array of real numbers, but of NoneType"),
    ([], [], np.zeros((0, 0)), r"r is empty"),
    (["a", "b", "c"], C, M, r"r is not an array of real numbers, but of <U1"),
    (["1", "0", "0"], C, M, r"r is not an array of real numbers, but of <U1"),
    (np.zeros(3, "datetime64[s]"), C, M, r"r is not an array of real numbers"),
    ([0.5, "x", None], C, M, r"r is not an array"),
    ([0.5, [1.0], 0.5], C, M, r"r is not an array of numbers"),
    ([0.5, 0.5, 1j], C, M, r"r is not an array of real numbers, but of complex128"),
    (np.ma.array(R, mask=[1, 0, 0]), C, M, r"r is a masked array, and r\[0\] is"),
    (R, C, np.ma.array(M, mask=np.eye(3)), r"metric\[0, 0\] is masked; .* \(3 of 9\)"),
    (R, C, M[:2], r"metric has shape \(2, 3\), .* shape \(3, 3\) is needed"),
    (R, C, M[0], r"metric has shape \(3,\), but 2 dimensions"),
    (R, C, with_entry(M, (2, 1), NAN), r"metric\[2, 1\] is nan: .* finite"),
    (R, C, with_entry(M, (0, 2), -INF), r"metric\[0, 2\] is -inf: .* finite"),
    (R, C, "euclidean", r"metric is 'euclidean', but there are no points"),
    (R, C, None, r"metric is None, but there are no points"),
    ([1e200, 0, 0], [0, 0, 1e200], M * 1e200, r"exceed the range of double"),
]


@pytest.mark.parametrize(("r", "c", "metric", "message"), PAIR_CASES)
@pytest.mark.parametrize("function", [gm.emd, gm.transport])
def test_bad_pair(function, r, c, metric, message):
    with pytest.raises(ValueError, match=message):
        function(r, c, metric)


def numbers(x):
    return isinstance(x, list) and all(isinstance(y, (int, float)) for y in x)


@pytest.mark.parametrize(
    ("r", "c", "metric", "message"),
    [case for case in PAIR_CASES if numbers(case[0]) and numbers(case[1])],
)
@pytest.mark.parametrize("function", [gm.emd, gm.transport])
def test_bad_pair_of_arrays(function, r, c, metric, message):
    """Arrays that need no conversion take a shorter way to the same checks."""
    with pytest.raises(ValueError, match=message):
        function(np.array(r, float), np.array(c, float), metric)


def test_arrays_that_need_no_conversion_are_not_copied():
    for dtype, single in ((np.float64, False), (np.float64, True), (np.float32, True)):
        x = np.ones((2, 3), dtype)
        assert validation.as_float_array(x, "x", 2, single=single) is x
    with pytest.raises(ValueError, match="x has shape"):
        validation.as_float_array(x, "x", 1, single=True)
    assert validation.as_float_array(x, "x", 2).dtype == np.float64


ROWS_CASES = [
    # X, Y, metric, message
    ([R, [0.5, 0.75, -0.25]], None, M, r"X\[1, 2\] is -0\.25: .* negative"),
    ([R, [0.5, NAN, 0.5]], None, M, r"X\[1, 1\] is nan: .* finite"),
    ([R], [C, [0, INF, 0]], M, r"Y\[1, 1\] is inf: .* finite"),
    ([R, [0, 0, 0]], None, M, r"X\[1\] has zero mass"),
    ([R], [C, [0, 0, 0]], M, r"Y\[1\] has zero mass"),
    ([R, C, [1, 1, 1]], None, M, r"X\[2\] has mass 3\.0, but X\[0\] has mass 1\.0"),
    ([R], [C, [1, 1, 0]], M, r"Y\[1\] has mass 2\.0, but X\[0\] has mass 1\.0"),
    ([R], [[0.5, 0.5]], M, r"shape \(3, 3\).* have 3 and 2 bins: shape \(3, 2\)"),
    (R, None, M, r"X has shape \(3,\), but 2 dimensions"),
    (np.zeros((0, 3)), None, M, r"X is empty"),
    ([R], None, M[:, :2], r"metric has shape \(3, 2\)"),
    ([R], None, with_entry(M, (1, 0), -INF), r"metric\[1, 0\] is -inf"),
]


@pytest.mark.parametrize(("X", "Y", "metric", "message"), ROWS_CASES)
def test_bad_rows(X, Y, metric, message):
    with pytest.raises(ValueError, match=message):
        gm.pairwise_emd(X, Y, metric=metric)
    with pytest.raises(ValueError, match=message):
        gm.TransportBatch(X, [(0, 0)], Y=Y).solve(metric)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0, 2)], r"pairs\[1, 1\] is 2, .* less than 2"),
        ([(-1, 0)], r"pairs\[0, 0\] is -1, .* at least 0"),
        ([(0, 1, 1)], r"pairs has shape \(1, 3\), but \(n_pairs, 2\)"),
        ([0, 1], r"pairs must be whole numbers in 2 dimensions"),
        ([(0.0, 1.0)], r"pairs must be whole numbers .* float64"),
        ([(0, 1), (0,)], r"pairs is not an array of numbers"),
        (np.array([[0, 2**63]], np.uint64), r"pairs\[0, 1\] is .* less than 2"),
    ],
)
def test_bad_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        gm.TransportBatch([R, C], pairs)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([2], r"pairs\[0\] is 2, .* less than 2"),
        ([0, -1], r"pairs\[1\] is -1"),
        ([1, 1], r"same pair twice"),
        ([0.5], r"pairs must be whole numbers"),
        ([True], r"pairs is a mask of shape \(1,\) for 2 pairs"),
    ],
)
def test_bad_choice(pairs, message):
    batch = gm.TransportBatch([R, C], [(0, 1), (1, 0)])
    with pytest.raises(ValueError, match=message):
        batch.solve(M, pairs=pairs)


def test_masses_may_differ_by_a_millionth():
    assert gm.emd(R, np.array(C) * (1 + 9e-7), M) == pytest.approx(gm.emd(R, C, M))
    with pytest.raises(ValueError, match="equal masses"):
        gm.emd(R, np.array(C) * (1 + 1.1e-6), M)


def test_bad_weights():
    solution = gm.TransportBatch([R, C], [(0, 1)]).solve(M)
    with pytest.raises(ValueError, match="weights has 2 entries for 1 pairs"):
        solution.plan_sum([1, 2])
    with pytest.raises(ValueError, match=r"weights\[0\] is nan"):
        solution.plan_sum([NAN])
    with pytest.raises(ValueError, match="k is 1, but it must be less than 1"):
        solution.transport(1)
    with pytest.raises(ValueError, match="k is -1; it must be at least 0"):
        solution.transport(-1)


@pytest.mark.parametrize(
    ("n_jobs", "message"),
    [(0, "n_jobs is 0"), (1.5, "n_jobs is 1.5"), ("2", "n_jobs is '2'")],
)
def test_bad_n_jobs(n_jobs, message):
    with pytest.raises(ValueError, match=message):
        gm.pairwise_emd([R, C], metric=M, n_jobs=n_jobs)
    with pytest.raises(ValueError, match=message):
        gm.TransportBatch([R, C], [(0, 1)], n_jobs=n_jobs)


def test_too_many_bins():
    wide = np.broadcast_to(1.0, (1, 32768))
    with pytest.raises(ValueError, match="X has 32768 bins; at most 32767"):
        gm.pairwise_emd(wide, metric=np.zeros((1, 1)))


COUNTS, OTHER = np.array([[3, 1, 0], [0, 2, 2]]), np.array([[1, 1, 2]])
FORMS = {
    "list": lambda x: x.tolist(),
    "int32": lambda x: x.astype(np.int32),
    "uint8": lambda x: x.astype(np.uint8),
    "float32": lambda x: x.astype(np.float32),
    "fortran": lambda x: np.asfortranarray(x, dtype=float),
    "strided": lambda x: np.repeat(x, 2, axis=-1)[..., ::2].astype(float),
    "unaligned": lambda x: (
        np.frombuffer(b"-" + x.astype(float).tobytes(), np.uint8)[1:]
        .view(float)
        .reshape(x.shape)
    ),
    "read-only": lambda x: np.broadcast_to(x.astype(float), x.shape),
    "big-endian": lambda x: x.astype(">f8"),
    "frame": pd.DataFrame,
    "csr": sp.csr_array,
    "coo": sp.coo_matrix,
}


@pytest.mark.parametrize("form", FORMS)
def test_all_forms_of_input_agree(form):
    convert = FORMS[form]
    expected = gm.pairwise_emd(COUNTS.astype(float), OTHER.astype(float), metric=M)
    X, Y = convert(COUNTS), convert(OTHER)
    np.testing.assert_array_equal(gm.pairwise_emd(X, Y, metric=M), expected)
    cost = convert(M)
    np.testing.assert_array_equal(gm.pairwise_emd(X, Y, metric=cost), expected)
    values = gm.TransportBatch(X, [(0, 0), (1, 0)], Y=Y).solve(cost).values
    np.testing.assert_array_equal(values, expected[:, 0])


def test_single_histograms_in_other_forms():
    r, c = COUNTS[0], OTHER[0]
    expected = gm.emd(r.astype(float), c.astype(float), M)
    assert gm.emd(pd.Series(r), pd.Series(c), pd.DataFrame(M)) == expected
    assert gm.emd(sp.csr_matrix(r), sp.csr_array(c[None]), M.tolist()) == expected
    assert gm.emd(r.astype(bool) * 2.0, [2, 2, 0], M) == 0.0


def test_later_changes_of_the_input_do_not_matter():
    pairs, chosen = np.array([[0, 1], [1, 0]]), np.array([1])
    batch = gm.TransportBatch([R, C], pairs)
    pairs[:] = 10**12
    solution = batch.solve(M, pairs=chosen)
    before = solution.plan_sum([1.0])
    chosen[:] = 10**12
    np.testing.assert_array_equal(solution.plan_sum([1.0]), before)
    with pytest.raises(ValueError, match="read-only"):
        solution.pairs[0] = 0


def test_a_batch_says_that_it_cannot_be_pickled():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(gm.TransportBatch([R, C], [(0, 1)]))


def test_inputs_are_not_changed():
    r, c, metric = np.array(R), np.array(C), M.copy()
    gm.transport(r, c, metric)
    gm.TransportBatch([r, c], [(0, 1)]).solve(metric)
    np.testing.assert_array_equal(r, R)
    np.testing.assert_array_equal(c, C)
    np.testing.assert_array_equal(metric, M)


@pytest.mark.parametrize("value", ["c", None, ["a"], np.array(["a", "b"])])
def test_values_that_are_not_among_the_known_ones(value):
    validation.require_one_of("a", "kind", ["a", "b"])
    with pytest.raises(ValueError, match=r"^kind is .*; it must be one of a, b\.$"):
        validation.require_one_of(value, "kind", ["a", "b"])


def test_masses_too_small_to_represent_count_as_zero():
    """Tails of 1e-40 are as good as none, as differences in mass are; see trust.md."""
    tail, short, M = [0.75, 0.25, 1e-40], [0.75, 0.25, 0.0], 1e3 * (1 - np.eye(3))
    assert gm.emd(tail, short, M) == 0.0
    assert gm.transport(tail, short, M).value == 0.0
    assert gm.pairwise_emd([tail], [short], metric=M)[0, 0] == 0.0
    assert gm.emd(tail, [0.5, 0.5, 0.0], M) == 250.0


def test_integers_that_no_double_can_hold():
    with pytest.raises(ValueError, match=r"^metric\[0, 1\] is about 1e400: .* finite"):
        gm.emd([1, 0], [0, 1], [[0, 10**400], [1, 0]])
    with pytest.raises(ValueError, match=r"^r\[1\] is about -1e5000: .* finite"):
        gm.emd([1, -(10**5000)], [0, 1], [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match=r"^tol is about 1e400; it must be finite"):
        gm.project_metric(M, tol=10**400)
    with pytest.raises(ValueError, match=r"^max_iter is about 1e400; .* at most"):
        gm.project_metric(M, max_iter=10**400)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gm.project_metric(M, tol=np.float64(-1)), r"^tol is -1\.0; "),
        (lambda: gm.project_metric(M, n_jobs=np.float32(1.5)), r"^n_jobs is 1\.5; "),
        (lambda: gm.label_similarity([np.int64(1), "a"]), r"y\[0\] is 1 and y\[1\]"),
    ],
)
def test_messages_show_numbers_as_python_writes_them(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_advice_on_unequal_masses_works_with_sparse_rows():
    from sklearn.preprocessing import normalize

    X = sp.csr_array([[0.5, 0.5, 0], [1, 0, 1]])
    with pytest.raises(ValueError, match=r"normalize\(X, norm='l1'\)\.$"):
        gm.pairwise_emd(X, metric=M)
    assert gm.pairwise_emd(normalize(X, norm="l1"), metric=M)[0, 1] == 0.5
    with pytest.raises(ValueError, match=r"for instance by r / r\.sum\(\)\.$"):
        gm.emd([1, 1, 0], [0, 0, 1], M)
