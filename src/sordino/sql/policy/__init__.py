"""What the owner declares about a data set: the policy, its fields, and the text that it is written in."""

from sordino.sql.policy.policy import (
    ColumnPolicy,
    DeclaredBudget,
    Policy,
    TablePolicy,
    match_name,
    suggest_name,
)

__all__ = ["ColumnPolicy", "DeclaredBudget", "Policy", "TablePolicy", "match_name", "suggest_name"]
