"""Private decision trees and random forests in the manner of scikit-learn."""

from sordino.learn.decision_tree import DecisionTreeClassifier
from sordino.learn.export import export_text, plot_tree
from sordino.learn.fit_tally import SpendingWarning
from sordino.learn.forest import Forest
from sordino.learn.random_forest import RandomForestClassifier
from sordino.learn.schema import Continuous, Discrete, Schema, as_schema
from sordino.learn.tree import Tree

__all__ = [
    "Continuous",
    "DecisionTreeClassifier",
    "Discrete",
    "Forest",
    "RandomForestClassifier",
    "Schema",
    "SpendingWarning",
    "Tree",
    "as_schema",
    "export_text",
    "plot_tree",
]
