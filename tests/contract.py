"""scikit-learn's checks of estimators, and what those with empty rows must raise."""

import pytest

# Their data has rows of zero mass, which are not histograms.
ZERO_MASS = {
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_sample_weights_not_an_array",
    "check_sample_weights_pandas_series",
}
# A repeated row is its own neighbor, and a column of transform; a weight adds neither.
REPEATED = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}
# Their data has negative entries, whatever the tags say.
NEGATIVE = {"check_class_weight_classifiers"}


def check_contract(estimator, check, zero_mass=ZERO_MASS):
    """Run a check; one with rows of zero mass has to fail by the sentence on them."""
    name = check.func.__name__
    if name in REPEATED:
        # Splits for a cross-validation have the rows of weight 0, which are left out.
        words = "is not equivalent to fitting|must be at least 0 and less than"
        with pytest.raises((AssertionError, ValueError), match=words):
            check(estimator)
        return
    if name in NEGATIVE:
        with pytest.raises(ValueError, match="must not have negative entries"):
            check(estimator)
        return
    if name not in zero_mass:
        check(estimator)
        return
    with pytest.raises((AssertionError, ValueError)) as caught:
        check(estimator)
    first = caught.value  # which the check may have explained
    while first.__context__ is not None:
        first = first.__context__
    assert isinstance(first, ValueError)
    assert "has zero mass: histograms need positive" in str(first)
