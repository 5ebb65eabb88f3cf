"""Trees from Spark: the tree of the rows in memory."""

from __future__ import annotations

from .grove_suite import FORESTS, check_groves
from .tree_suite import check_trees


def test_a_table_gives_the_same_tree_as_its_rows(spark_backend):
    check_trees(spark_backend.load, [{"max_depth": 2}], values=False)


def test_a_session_gives_the_trees_and_forests_of_the_library(spark_backend):
    check_groves(spark_backend.load, [{}], FORESTS[:1])
