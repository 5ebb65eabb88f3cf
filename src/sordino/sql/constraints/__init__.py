"""Constraints: what is known of the values of columns, and what follows for the answers of a query."""

from sordino.sql.constraint_files.constraint import Constraint, ValueSet
from sordino.sql.constraint_files.file import parse_constraints, write_constraints
from sordino.sql.constraints.propagate import Ranges, ranges

__all__ = ["Constraint", "Ranges", "ValueSet", "parse_constraints", "ranges", "write_constraints"]
