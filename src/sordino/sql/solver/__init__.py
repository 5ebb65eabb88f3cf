"""Exact sensitivity of queries from their text and their keys, by a solver."""

from sordino.sql.solver.found import Sensitivity
from sordino.sql.solver.parsing import read_query
from sordino.sql.solver.result_keys import find_result_keys, is_result_key
from sordino.sql.solver.schema import read_schema
from sordino.sql.solver.text_sensitivity import sensitivity
from sordino.sql.solver.witness import DatabaseWitness
from sordino.sql.solver.workflows import workflow_sensitivity

__all__ = [
    "DatabaseWitness",
    "Sensitivity",
    "find_result_keys",
    "is_result_key",
    "read_query",
    "read_schema",
    "sensitivity",
    "workflow_sensitivity",
]
