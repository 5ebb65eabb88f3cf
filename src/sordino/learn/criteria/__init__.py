"""What a split is judged by: a new criterion is a file and a line here."""

from __future__ import annotations

from sordino.learn.criteria.criterion import MOST_ROWS, Criterion, Table
from sordino.learn.criteria.gini import Gini
from sordino.learn.criteria.information_gain import InformationGain
from sordino.learn.criteria.max_operator import MaxOperator

CRITERIA: dict[str, Criterion] = {
    criterion.name: criterion for criterion in (InformationGain(), MaxOperator(), Gini())
}

__all__ = ["CRITERIA", "MOST_ROWS", "Criterion", "Gini", "InformationGain", "MaxOperator", "Table"]
