"""The zoo: broken mechanisms that the auditor has to refuse, each beside its repaired control."""

from sordino.audit.zoo.composition import (
    NOISY_MAXIMUM_VALUE,
    PARALLEL_UNDER_REPLACE,
    SPARSE_VECTOR_BARE_QUERIES,
)
from sordino.audit.zoo.filter_precision import PRECISION_FROM_THE_DATA
from sordino.audit.zoo.floating_point import FLOATING_POINT_ATTACK, FLOATING_POINT_SUPPORT
from sordino.audit.zoo.local_dampening import ADMISSIBILITY_AS_PRINTED, PERCENTILE_CANDIDATES, TREE_STOP
from sordino.audit.zoo.local_sensitivity import LOCAL_SENSITIVITY_MEDIAN
from sordino.audit.zoo.machine_words import WRAPPED_DAMPENING
from sordino.audit.zoo.overlooked import (
    HIDDEN_OUTSIDE_THE_WINDOW,
    LOST_DIGITS,
    SIGN_OF_ZERO,
    SORTED_CANDIDATES,
    TYPE_OF_OUTCOME,
    UNDERSTATED_TAIL,
)
from sordino.audit.zoo.projection import ORDER_FOLLOWS_EDGES
from sordino.audit.zoo.selection import (
    EXPONENTIAL_WITH_SMOOTH_SENSITIVITY,
    MONOTONE_RATE_UNDER_REPLACE,
    PERMUTE_AND_FLIP_FULL_RATE,
)
from sordino.audit.zoo.series import DERIVATIVE_SCALE_REVEALED, LOGARITHM_OF_LEVELS
from sordino.audit.zoo.shared_bound import BOUND_SHARED_BY_GROUPS
from sordino.audit.zoo.single_jump import SINGLE_JUMP_DISCOUNT
from sordino.audit.zoo.smooth_noise import (
    GRID_FOLLOWS_SCALE,
    LOST_STUDENT_FACTOR,
    SMOOTH_LAPLACE_LARGE_EPSILON,
)
from sordino.audit.zoo.smooth_noisy_max import SMOOTHING_BY_EPSILON, TIES_FORGOTTEN
from sordino.audit.zoo.sparse_vector import (
    SPARSE_VECTOR_NEVER_STOPS,
    SPARSE_VECTOR_PRINTS_ANSWERS,
    SPARSE_VECTOR_UNSCALED,
)
from sordino.audit.zoo.specimen import Specimen, Verdict
from sordino.audit.zoo.whole_units import (
    BOUND_READ_FROM_DATA,
    DELTA_PER_KEY,
    EXACT_DENOMINATOR,
    KEYS_THAT_EXIST,
    PAIRS_CAPPED,
    UNITS_ABOVE_WITH_SHARED_RESULTS,
)

__all__ = ["Specimen", "Verdict", "specimens"]


def specimens() -> tuple[Specimen, ...]:
    """Every specimen, by family."""
    return (
        LOCAL_SENSITIVITY_MEDIAN,
        SMOOTHING_BY_EPSILON,
        TIES_FORGOTTEN,
        LOST_STUDENT_FACTOR,
        SMOOTH_LAPLACE_LARGE_EPSILON,
        GRID_FOLLOWS_SCALE,
        EXPONENTIAL_WITH_SMOOTH_SENSITIVITY,
        PERMUTE_AND_FLIP_FULL_RATE,
        MONOTONE_RATE_UNDER_REPLACE,
        ADMISSIBILITY_AS_PRINTED,
        PERCENTILE_CANDIDATES,
        TREE_STOP,
        WRAPPED_DAMPENING,
        FLOATING_POINT_SUPPORT,
        FLOATING_POINT_ATTACK,
        NOISY_MAXIMUM_VALUE,
        SPARSE_VECTOR_BARE_QUERIES,
        SPARSE_VECTOR_PRINTS_ANSWERS,
        SPARSE_VECTOR_UNSCALED,
        SPARSE_VECTOR_NEVER_STOPS,
        PARALLEL_UNDER_REPLACE,
        BOUND_SHARED_BY_GROUPS,
        PRECISION_FROM_THE_DATA,
        SINGLE_JUMP_DISCOUNT,
        UNITS_ABOVE_WITH_SHARED_RESULTS,
        PAIRS_CAPPED,
        BOUND_READ_FROM_DATA,
        DELTA_PER_KEY,
        KEYS_THAT_EXIST,
        EXACT_DENOMINATOR,
        ORDER_FOLLOWS_EDGES,
        SIGN_OF_ZERO,
        TYPE_OF_OUTCOME,
        SORTED_CANDIDATES,
        HIDDEN_OUTSIDE_THE_WINDOW,
        UNDERSTATED_TAIL,
        LOST_DIGITS,
        LOGARITHM_OF_LEVELS,
        DERIVATIVE_SCALE_REVEALED,
    )
