"""What makes our estimators scikit-learn's: the only file that imports it."""

from __future__ import annotations

from copy import deepcopy
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sordino.core import (
    Distance,
    Guarantee,
    Loss,
    MissingExtraError,
    ParameterError,
    PrivateDataError,
    add_remove_row,
    replace_row,
)
from sordino.core.loss import round_up
from sordino.core.parameters import choice
from sordino.learn.encoding import as_array
from sordino.learn.fit_tally import FitTally, warn_of_leaving
from sordino.learn.schema import Schema, as_classes
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_before
from sordino.sampling.source import is_private

try:
    from scipy.sparse import issparse
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError:
    raise MissingExtraError(
        "sordino.learn needs scikit-learn 1.6 or later: pip install 'sordino[learn]'"
    ) from None

ADJACENCIES = {"add_remove": add_remove_row(), "replace": replace_row()}


class PrivateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What our classifiers share: checked input, the account of what was spent, and predictions by probability.

    Fitting leaves only released quantities behind. ``guarantee_`` is that of the last fit; ``spent_`` that of all fits
    of this object and of its clones together, because every fit looks at the data again. ``private_`` is False if the
    last fit was drawn from a seed; its guarantee, its model and, for good, ``spent_`` then say that they are not
    private.
    """

    if TYPE_CHECKING:
        epsilon: Any
        classes: Any
        adjacency: str
        ledger: LedgerSource | None
        account: AccountName | None
        classes_: NDArray[Any]
        guarantee_: Guarantee
        private_: bool
        n_features_in_: int
        feature_names_in_: NDArray[Any]

    def __sklearn_tags__(self) -> Any:
        """Strings and categories are welcome, missing values where the schema says so; fits are random."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.non_deterministic = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Whether a fit has come to its end; one that was refused on the way has left no model."""
        return hasattr(self, "classes_")

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of every row."""
        chances = self.predict_proba(X)  # first: an estimator that was not fitted has no classes yet
        labels: NDArray[Any] = self.classes_[chances.argmax(axis=1)]
        return labels

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of every class, in the order of ``classes_``."""
        raise NotImplementedError

    # -- input -------------------------------------------------------------------------------------------------

    def _rows(self, X: Any, *, columns: int | None = None) -> Any:
        """A checked table: data frames as they are, everything else as an array with two axes.

        ``columns`` is the number of columns to fit; None predicts, for those of the fit. A table without rows is one:
        its neighbour of one row would be answered.
        """
        reset = columns is not None
        if not reset:
            self._require_fit()
        try:
            frame = nw.from_native(X, pass_through=True)
        except nw.exceptions.DuplicateError:
            raise ParameterError("the data has two columns of one name: rename or drop one") from None
        if isinstance(frame, nw.LazyFrame):
            raise ParameterError("the data is a lazy frame: collect it before, or use fit_table on its file")
        if isinstance(frame, nw.DataFrame):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        array = X if issparse(X) else as_array(X)
        if isinstance(X, list | tuple) and not len(X):
            array = np.empty((0, columns or self.n_features_in_))
        # scikit-learn's own words for these two would show the values
        if array.ndim != 2:
            raise ParameterError(
                f"the data must be a table (rows × columns), got {array.ndim} axes. Reshape your data: "
                "reshape(-1, 1) if it is one column, reshape(1, -1) if it is one row"
            )
        if array.dtype.kind == "c":
            raise ParameterError("Complex data not supported: give columns of real numbers or categories")
        return validate_data(
            self, array, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=0
        )

    def _require_fit(self) -> None:
        check_is_fitted(self)

    def _name_features(self, schema: Schema) -> None:
        """As if a data frame with these columns had been fitted."""
        self.n_features_in_ = len(schema.names)
        self.feature_names_in_ = np.array(schema.names, dtype=object)

    def _hold(self, schema: Schema, classes: NDArray[Any], guarantee: Guarantee) -> None:
        """Be what was released before; a ledger has counted it, so ``spent_`` does not."""
        self._name_features(schema)
        self.private_ = guarantee.private
        self.guarantee_ = guarantee
        self.classes_ = classes

    def _labels(self, y: Any, rows: int) -> Any:
        """A checked target column as long as the table."""
        if y is None:
            raise ParameterError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        column = nw.from_native(y, series_only=True, pass_through=True)
        if not isinstance(column, nw.Series):
            _check_target(y)
            column = column_or_1d(y, warn=True)
            _check_labels(column)
        if len(column) != rows:
            raise PrivateDataError("the table and the target have different numbers of rows: they must agree")
        return column

    # -- what was spent -------------------------------------------------------------------------------------------

    @property
    def spent_(self) -> Guarantee:
        """What all fits of this object, of its clones and of what it was cloned from have cost in this process."""
        total = self._shared_tally().total
        if total is None:
            raise AttributeError(f"this {type(self).__name__} and its clones have not been fitted yet")
        return total

    def __sklearn_clone__(self) -> Any:
        """A clone has the parameters and nothing that was learnt, and what it spends is counted together."""
        copied = super().__sklearn_clone__()
        copied._tally = self._shared_tally()
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        copied = type(self).__new__(type(self))
        memo[id(self)] = copied
        copied.__dict__.update(deepcopy(self.__dict__, memo))
        return copied

    def __getstate__(self) -> Any:
        if not self.__sklearn_is_fitted__():
            warn_of_leaving()
        return super().__getstate__()

    def _shared_tally(self) -> FitTally:
        if "_tally" not in vars(self):
            self._tally = FitTally()
        return self._tally

    def _unit(self) -> tuple[Distance, int]:
        """The adjacency, and how many added or removed rows one of its changes is worth."""
        name = choice("adjacency", self.adjacency, tuple(ADJACENCIES))
        return ADJACENCIES[name], 2 if name == "replace" else 1

    def _public_classes(self) -> NDArray[Any]:
        return as_classes(self.classes)

    def _charge(self, theorem: str, epsilon: Fraction) -> None:
        """Write down what this fit releases, and pay for it if somebody does, before it is released."""
        distance, changes = self._unit()
        if changes > 1:
            theorem += f"; one replaced row is {changes} changes"
        self.private_ = is_private()
        stated = Guarantee(Loss(epsilon=round_up(epsilon), private=self.private_), distance, theorem)
        self.guarantee_ = pay_before(stated, self.ledger, self.account, mechanism=type(self).__name__)
        first = not getattr(self, "_counted", False)
        self._counted = True
        self._shared_tally().add(self.guarantee_, first=first)


def _check_target(y: Any) -> None:
    """Refuse what no array can be made of, and complex numbers: scikit-learn's own words would show them."""
    try:
        kind = np.asarray(y).dtype.kind
    except ValueError:
        raise PrivateDataError("the target must hold one label per row, and holds lists") from None
    if kind == "c":
        raise PrivateDataError("Complex data not supported: labels are texts, whole numbers or booleans")


def _check_labels(column: NDArray[Any]) -> None:
    """Refuse what cannot be class labels, such as fractions, in scikit-learn's words, which show no values."""
    if len(column):
        try:
            check_classification_targets(column)
        except (TypeError, ValueError) as error:
            raise PrivateDataError(str(error)) from None
