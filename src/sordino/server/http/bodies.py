"""What requests carry: the arguments of a Session's methods, by their names. Unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Number = int | Annotated[float, Field(allow_inf_nan=False)]  # as it was written: 1 stays 1
Sql = Annotated[str, Field(min_length=1, max_length=200_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]


class RequestBody(BaseModel):
    """Only the fields that are named."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def arguments(self) -> dict[str, Any]:
        """What was given, by name."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Budgeted(RequestBody):
    """What an SQL question may be asked with, whether it is asked, previewed or explained."""

    sql: Sql
    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    mechanism: str | None = None
    noise: str | None = None
    error_share: Number = 0.0
    analyses: list[str] | None = None
    filters: str | None = None


class QueryBody(Budgeted):
    """`Session.query`."""

    reuse: bool = False
    non_negative: bool = False


class PreviewBody(Budgeted):
    """`Session.preview`."""


class ExplainBody(Budgeted):
    """`Curator.explain`."""


class QuantileBody(RequestBody):
    """`Session.quantile`."""

    column: Name
    q: Number
    epsilon: Number
    step: Number | None = None
    where: str | None = None
    reuse: bool = False


class SelectBody(RequestBody):
    """`Session.select`."""

    sql: Sql
    epsilon: Number
    reuse: bool = False


class GraphBody(RequestBody):
    """What both questions about graphs have."""

    edges: Name
    nodes: int | str
    epsilon: Number
    columns: tuple[str, str] | None = Field(default=None, strict=False)
    delta: Number = 0.0
    max_degree: int | None = None
    mechanism: str | None = None
    reuse: bool = False


class CountBody(GraphBody):
    """`Session.count`."""

    what: str
    k: int | None = None
    step: int = 1
    non_negative: bool = False


class TopKBody(GraphBody):
    """`Session.top_k`."""

    k: int
    metric: str = "ego_betweenness"


class TreeBody(RequestBody):
    """`Session.tree`."""

    table: Name
    target: Name
    epsilon: Number
    features: list[str] | None = None
    max_depth: int = 5
    criterion: str = "auto"
    selection: str = "permute_and_flip"
    leaves: str = "counts"
    bins: int = 10
    max_rows: int | None = None
    where: str | None = None
    reuse: bool = False


class ForestBody(RequestBody):
    """`Session.forest`."""

    table: Name
    target: Name
    epsilon: Number
    features: list[str] | None = None
    n_estimators: int = 32
    max_depth: int | None = None
    leaves: str = "counts"
    voting: str = "auto"
    max_rows: int | None = None
    where: str | None = None
    reuse: bool = False


class SeriesBody(RequestBody):
    """`Session.series`."""

    sql: Sql
    time: Name
    every: str
    start: str
    horizon: int
    epsilon: Number | None = None
    rho: Number | None = None
    base: int | Literal["auto"] = "auto"
    name: str | None = None


class LimitBody(RequestBody):
    """`Ledger.grant`: a total, not something to add."""

    epsilon: Number | None = None
    delta: Number = 0.0
    rho: Number | None = None
    at_delta: Number | None = None


class LoginBody(RequestBody):
    """A token, shown to the console."""

    token: Annotated[str, Field(min_length=1, max_length=200)]
