"""Validation of inputs: the checks that several functions need.

A check that only one function needs, such as two options that cannot be combined, is in
that function.

Every function takes the user's input and the name of the argument. It returns a float64
(or int64) C-contiguous array, or raises a ``ValueError`` that names the argument, what
is wrong and where.
"""

from .arrays import (
    as_cost,
    as_count,
    as_factor,
    as_float_array,
    as_number,
    as_points,
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
    require_one_of,
)
from .cases import Case, are_sparse, case_of
from .empty import are_empty, as_empty_rule, refuse_empty, with_uniform
from .features import as_grid, as_names, as_order, as_written_grid
from .gradients import require_no_gradient
from .histograms import (
    LARGEST_DIMENSION,
    MASS_TOLERANCE,
    ROUNDING,
    Histograms,
    as_distributions,
    as_histograms,
    as_nonnegative,
    common_mass,
    paired_masses,
    require_same_bins,
)
from .images import as_color_image, as_image, each_image
from .labels import as_labels, require_classes, require_length, require_same_kind
from .learners import is_learner, require_bins, require_learned, seen_by
from .named_bins import require_known_alike, require_named_alike
from .pairs import (
    as_choice,
    as_members,
    as_pairs,
    as_similarity,
    as_weights,
)
from .places import Table, spelled, unmasked
from .supports import (
    GroundCost,
    are_clouds,
    as_block_of_costs,
    as_clouds,
    as_coordinates,
    as_ground_cost,
    as_sparse_distributions,
    as_supports,
)
from .threads import n_threads
from .triangles import (
    Violation,
    broken_triangles,
    rounding_of_metric,
    shortest_paths,
)
from .weights import as_class_weight, as_sample_weight, as_shares

__all__ = [
    "LARGEST_DIMENSION",
    "MASS_TOLERANCE",
    "ROUNDING",
    "Case",
    "GroundCost",
    "Histograms",
    "Table",
    "Violation",
    "are_clouds",
    "are_empty",
    "are_sparse",
    "as_block_of_costs",
    "as_choice",
    "as_class_weight",
    "as_clouds",
    "as_color_image",
    "as_coordinates",
    "as_cost",
    "as_count",
    "as_distributions",
    "as_empty_rule",
    "as_factor",
    "as_float_array",
    "as_grid",
    "as_ground_cost",
    "as_histograms",
    "as_image",
    "as_labels",
    "as_members",
    "as_names",
    "as_nonnegative",
    "as_number",
    "as_order",
    "as_pairs",
    "as_points",
    "as_position",
    "as_positive",
    "as_positive_number",
    "as_precision",
    "as_sample_weight",
    "as_shares",
    "as_similarity",
    "as_smoothing",
    "as_sparse_distributions",
    "as_square",
    "as_supports",
    "as_weights",
    "as_written_grid",
    "broken_triangles",
    "case_of",
    "common_mass",
    "each_image",
    "is_learner",
    "n_threads",
    "paired_masses",
    "refuse_empty",
    "require_bins",
    "require_classes",
    "require_dissimilarity",
    "require_finite",
    "require_in_range",
    "require_known_alike",
    "require_learned",
    "require_length",
    "require_metric",
    "require_named_alike",
    "require_no_gradient",
    "require_no_text",
    "require_one_of",
    "require_same_bins",
    "require_same_kind",
    "rounding_of_metric",
    "seen_by",
    "shortest_paths",
    "spelled",
    "unmasked",
    "with_uniform",
]
