"""The only place where inputs are judged.

Every function takes what a user gave and the name of the argument, and returns a
float64 (or int64) C-contiguous array, or raises a ``ValueError`` that names the
argument, what is wrong and where. Inside the package nothing is checked again.
"""

from .arrays import (
    as_cost,
    as_count,
    as_float_array,
    as_number,
    as_position,
    as_positive,
    as_positive_number,
    as_precision,
    as_smoothing,
    as_square,
    require_dissimilarity,
    require_finite,
    require_in_range,
    require_metric,
    require_no_text,
)
from .features import as_grid, as_names, as_order
from .histograms import (
    LARGEST_DIMENSION,
    as_distributions,
    as_histograms,
    as_nonnegative,
    common_mass,
    require_same_bins,
)
from .images import as_color_image, as_image, each_image
from .pairs import (
    as_choice,
    as_labels,
    as_pairs,
    as_similarity,
    as_weights,
    require_length,
    require_same_kind,
)
from .places import Table
from .threads import n_threads

__all__ = [
    "LARGEST_DIMENSION",
    "Table",
    "as_choice",
    "as_color_image",
    "as_cost",
    "as_count",
    "as_distributions",
    "as_float_array",
    "as_grid",
    "as_histograms",
    "as_image",
    "as_labels",
    "as_names",
    "as_nonnegative",
    "as_number",
    "as_order",
    "as_pairs",
    "as_position",
    "as_positive",
    "as_positive_number",
    "as_precision",
    "as_similarity",
    "as_smoothing",
    "as_square",
    "as_weights",
    "common_mass",
    "each_image",
    "n_threads",
    "require_dissimilarity",
    "require_finite",
    "require_in_range",
    "require_length",
    "require_metric",
    "require_no_text",
    "require_same_bins",
    "require_same_kind",
]
