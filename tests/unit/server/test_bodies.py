"""What requests carry is what the methods of a session take: nothing that Python can ask is missing over HTTP."""

from __future__ import annotations

import inspect

import pytest

from sordino.curator.curator import Curator
from sordino.curator.session import Session
from sordino.server.http import bodies

METHODS = {
    bodies.QueryBody: Session.query,
    bodies.PreviewBody: Session.preview,
    bodies.ExplainBody: Curator.explain,
    bodies.QuantileBody: Session.quantile,
    bodies.SelectBody: Session.select,
    bodies.CountBody: Session.count,
    bodies.TopKBody: Session.top_k,
    bodies.TreeBody: Session.tree,
    bodies.ForestBody: Session.forest,
    bodies.SeriesBody: Session.series,
}


@pytest.mark.parametrize("body", METHODS, ids=lambda body: body.__name__)
def test_a_request_has_the_arguments_of_its_method(body):
    taken = inspect.signature(METHODS[body]).parameters.values()
    required = {name for name, field in body.model_fields.items() if field.is_required()}
    assert set(body.model_fields) == {argument.name for argument in taken} - {"self"}
    assert required == {argument.name for argument in taken if argument.default is argument.empty} - {"self"}
