"""The dual of a norm over terms: the same formula for arrays and for SQL."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch

from sordino.sensitivity.derivatives.algebra import Algebra, Term
from sordino.sensitivity.derivatives.lengths import length_of
from sordino.sensitivity.norms.combination import CombinedNorm, computable_dual
from sordino.sensitivity.norms.leaf import NormLeaf
from sordino.sensitivity.norms.part import NormPart
from sordino.sensitivity.norms.scaled import ScaledNorm


@singledispatch
def dual_of_terms(part: NormPart, algebra: Algebra, slopes: Mapping[str, Term]) -> Term | None:
    """sup of Σ slope·move over moves of length 1, or a little more, for slopes ≥ 0; None if no column has one."""
    raise TypeError(f"no dual of a {type(part).__name__}")


@dual_of_terms.register
def _(part: NormLeaf, algebra: Algebra, slopes: Mapping[str, Term]) -> Term | None:
    return slopes.get(part.column)


@dual_of_terms.register
def _(part: ScaledNorm, algebra: Algebra, slopes: Mapping[str, Term]) -> Term | None:
    inner = dual_of_terms(part.inner, algebra, slopes)
    return None if inner is None else inner * (1 / float(part.factor))


@dual_of_terms.register
def _(part: CombinedNorm, algebra: Algebra, slopes: Mapping[str, Term]) -> Term | None:
    found = [dual_of_terms(child, algebra, slopes) for child in part.children]
    terms = [term for term in found if term is not None]
    return length_of(algebra, terms, float(computable_dual(part.exponent))) if terms else None
