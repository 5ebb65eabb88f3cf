"""The k most influential nodes, privately."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sordino.core import Guarantee, ParameterError, PrivateDataError, Release, Secret, flip_edge
from sordino.core.loss import round_up
from sordino.core.parameters import choice, exact, positive, probability, whole
from sordino.graphs.graph import Graph
from sordino.graphs.metrics import METRICS, Brokerage, Degree, EgoBetweenness, Metric
from sordino.graphs.projection import PRICE, project
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms import selection
from sordino.mechanisms.names import DirectionName, ExcessName, MetricName, SamplerName, TopKMechanismName
from sordino.mechanisms.selection.registry import mechanism_names
from sordino.sensitivity import Profile

PROXY = "degree_proxy"
MECHANISMS = ("auto", PROXY, *mechanism_names(lambda traits: traits.ranks))
# the mechanisms of the defaults, as measured in docs/how-to/graphs.md: without a profile, and with one
_PLAIN = mechanism_names(lambda traits: not traits.follows_profile)[0]
_DAMPENED = mechanism_names(lambda traits: traits.reads == "steps")[0]
# From this ε per selection on, brokerage finds more of the order of ego betweenness than degree does
# (docs/how-to/graphs.md).
_BROKERAGE_FROM = 0.3
_HORIZON = 1024
_LEAST_DELTA = 2.0**-1000


def top_k(
    graph: Any,
    k: int,
    *,
    epsilon: Any,
    metric: MetricName | Metric = "ego_betweenness",
    mechanism: TopKMechanismName = "auto",
    max_degree: int | None = None,
    excess: ExcessName = "refuse",
    delta: float = 0.0,
    sampler: SamplerName | None = None,
    direction: DirectionName = "plus",
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
) -> Release:
    """Release the labels of k nodes with large scores, best first.

    ``graph``: a `Graph`, or anything that `Graph.of` takes, such as a networkx graph or the path of a file.
    ``metric``: ego_betweenness, brokerage, degree, triangles, ego_edges, core_number, clustering, or your own `Metric`.
    ``max_degree`` is a public bound on every degree, n − 1 unless declared smaller. It is a fact about all graphs that
    could have been there; a graph that exceeds it is refused, or with ``excess="project"`` projected to it, which
    is always paid for with two thirds of ε.
    ``mechanism``: one of `sordino.select`'s, or ``degree_proxy`` (permute-and-flip on the degree, whatever the metric),
    or ``auto``: by public parameters only, what measures best (`docs/how-to/graphs.md`).

    With ``ledger`` and ``account`` (data set, analyst) the release is paid for.

    **Guarantee**: ε-DP ((ε, δ) where composition over the k selections uses δ) for one edge added or removed between
    existing nodes; the node set is public. With a declared ``max_degree`` and ``excess="refuse"``, among graphs that
    obey it.

    >>> from sordino.graphs import top_k
    >>> star = [("hub", leaf) for leaf in "abcdef"]
    >>> release = top_k(star, 1, epsilon=100.0, metric="degree")  # so large that one answer is all but certain
    >>> release.value, str(release.guarantee.loss)
    (['hub'], 'ε = 100')
    """
    graph = Graph.of(graph)
    if not isinstance(metric, str | Metric):
        raise ParameterError(f"metric must be a Metric or one of {', '.join(METRICS)}, got {metric!r}")
    measured = METRICS[choice("metric", metric, tuple(METRICS))] if isinstance(metric, str) else metric
    choice("mechanism", mechanism, MECHANISMS)
    choice("excess", excess, ("refuse", "project"))
    k = whole("k", k, least=1)
    if k > graph.nodes:
        raise ParameterError(f"k must be at most the number of nodes ({graph.nodes}), got {k}")
    limit = graph.nodes - 1 if max_degree is None else whole("max_degree", max_degree, least=1)
    positive("epsilon", epsilon)
    probability("delta", delta, zero=True)
    declared = limit if limit < graph.nodes - 1 else None
    price = PRICE if excess == "project" and declared is not None else 1
    if price > 1:
        graph = project(graph, limit)
    elif int(graph.degrees.max(initial=0)) > limit:
        raise PrivateDataError(
            f"some node has more than max_degree = {limit} neighbours: declare a larger bound, or ask for "
            "excess project, which drops edges beyond it (at three times the price)"
        )
    asked = exact("epsilon", epsilon)
    share = asked / price
    name, ranked = resolve(mechanism, measured, float(share) / k)
    release = selection.top_k(
        ranked.scores(graph),
        k,
        profile=_profile(ranked, graph, limit, name),
        epsilon=share,
        delta=delta_per_edge(delta, round_up(share), price),
        mechanism=name,  # type: ignore[arg-type]
        monotone=ranked.monotone and selection.MECHANISMS[name].traits.monotone,
        sampler=sampler,
        direction=direction,
        distance=flip_edge(),
    )
    exact_labels = list(map(graph.label_of, release.details.reveal()["exact"]))
    details: Secret[dict[str, Any]] = Secret({"ranked_by": ranked.name, "exact": exact_labels})
    named = replace(
        release,
        value=list(map(graph.label_of, release.value)),
        guarantee=_stated(release.guarantee, price, declared, asked, delta),
        mechanism=f"{name} on {ranked.name}",
        details=details,
    )
    return pay_for(named, ledger, account)


def _profile(metric: Metric, graph: Graph, limit: int, mechanism: str) -> Profile:
    """The metric's profile; for a mechanism that holds all of it in memory, up to a public horizon."""
    profile = metric.profile(graph, limit)
    return profile.until(_HORIZON) if selection.MECHANISMS[mechanism].traits.reads == "kept" else profile


def delta_per_edge(delta: float, epsilon: float, price: int) -> float:
    """What one edge of the projection may spend of δ, so that ``price`` of them spend δ: δ/(1 + e^ε + e^{2ε} + …).

    **Numerics**: rounded down, at any ε; what would be less than 2^−1000 is nothing.
    """
    if price == 1:
        return delta
    powers = [math.exp(-step * epsilon) for step in range(price)]
    share = delta * powers[-1] / math.fsum(powers) * (1 - 2.0**-40)
    return share if share > _LEAST_DELTA else 0.0


def _stated(
    guarantee: Guarantee, price: int, declared: int | None, epsilon: Fraction, delta: float
) -> Guarantee:
    """The guarantee with what a declared degree bound adds to it: the price of a projection, or a promise."""
    if declared is None:
        return guarantee
    if price == 1:
        return replace(guarantee, theorem=f"{guarantee.theorem}; among graphs of degree at most {declared}")
    # ``price`` changes of the projection at ε/price and the δ per edge are ε and δ exactly (group privacy)
    theorem = f"{guarantee.theorem}; of a projection in which one edge moves at most {price}"
    spent = delta if guarantee.delta else 0.0
    loss = replace(guarantee.loss, epsilon=round_up(epsilon), delta=spent, bounded_range=False)
    return replace(guarantee, loss=loss, theorem=theorem)


def resolve(mechanism: str, metric: Metric, epsilon: float) -> tuple[str, Metric]:
    """The mechanism and the metric that it ranks by, from public parameters only."""
    if mechanism == PROXY:
        return _PLAIN, Degree()
    if mechanism != "auto":
        if selection.MECHANISMS[mechanism].traits.reads == "sum" and metric == EgoBetweenness():
            metric = EgoBetweenness(
                by_codegree=False
            )  # a sum ranks by the profile, and degree is the better one
        return mechanism, metric
    if metric.name != EgoBetweenness().name:
        return (_PLAIN if metric.monotone else _DAMPENED), metric
    return _PLAIN, Brokerage() if epsilon >= _BROKERAGE_FROM else Degree()
