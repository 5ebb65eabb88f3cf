"""What the owner declares about a data set: the policy, its fields, and the text that it is written in."""

from sordino.sql.policy.policy import Budget, ColumnPolicy, Policy, TablePolicy, match_name, nearest

__all__ = ["Budget", "ColumnPolicy", "Policy", "TablePolicy", "match_name", "nearest"]
