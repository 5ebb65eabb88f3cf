"""An analysis without rows: what it refuses before its first statement is refused before anything is paid for."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from sordino.core import UnsupportedError
from sordino.sql.analysis import analyse
from sordino.sql.question import JoinQuestion


class _Reached(Exception):  # noqa: N818 - not an error: the analysis got as far as it may
    """The analysis asks for rows."""


class _NoRows:
    """A snapshot that answers nothing."""

    def aggregate(self, expression: exp.Expr) -> pa.Table:
        raise _Reached


def least_beta(question: JoinQuestion, betas: Sequence[float], analyses: Sequence[str]) -> float:
    """The smallest of the β at which the question can be analysed; depends on nothing private.

    A small β has to follow more distances than may be followed; the other β of the grid then do without it.
    """
    refusal: UnsupportedError | None = None
    for beta in sorted(betas):
        try:
            analyse(question, _NoRows(), beta=beta, analyses=tuple(analyses))
        except _Reached:
            return beta
        except UnsupportedError as error:
            refusal = error
        else:
            return beta
    raise refusal or UnsupportedError("no beta was given to analyse the question at")
