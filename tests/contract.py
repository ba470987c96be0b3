"""scikit-learn's checks of estimators, and what those with empty rows must raise."""

import pytest

# Their data has rows of zero mass, which are not histograms.
ZERO_MASS = {
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
}


def check_contract(estimator, check, zero_mass=ZERO_MASS):
    """Run a check; one with rows of zero mass has to fail by the sentence on them."""
    if check.func.__name__ not in zero_mass:
        check(estimator)
        return
    with pytest.raises((AssertionError, ValueError)) as caught:
        check(estimator)
    first = caught.value  # which the check may have explained
    while first.__context__ is not None:
        first = first.__context__
    assert isinstance(first, ValueError)
    assert "has zero mass: histograms need positive" in str(first)
