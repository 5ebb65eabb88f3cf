"""Count edges, triangles, stars and degrees, privately."""

from __future__ import annotations

from typing import Any, Protocol

from sordino.core import ParameterError, Release
from sordino.core.parameters import choice, positive, probability, whole
from sordino.graphs.counts.degree_histogram import DEGREE_HISTOGRAM
from sordino.graphs.counts.edges import EDGES
from sordino.graphs.counts.k_stars import K_STARS
from sordino.graphs.counts.k_triangles import K_TRIANGLES
from sordino.graphs.counts.question import CountQuestion
from sordino.graphs.counts.triangles import TRIANGLES
from sordino.graphs.graph import Graph
from sordino.ledger.library_payment import AccountName, LedgerSource, pay_for
from sordino.mechanisms.names import CountMechanismName, CountName
from sordino.sensitivity import Profile


class Count(Protocol):
    """A count: one file, and one line in ``COUNTS``."""

    @property
    def name(self) -> str:
        """The name by which `count` knows it."""

    @property
    def least_k(self) -> int | None:
        """The least k, or None where there is none."""

    @property
    def default_k(self) -> int | None:
        """The k that is meant without one, or None where it must be given."""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that it takes."""

    @property
    def options(self) -> frozenset[str]:
        """The options among k, step, beta, max_degree, non_negative that it takes."""

    def check(self, question: CountQuestion) -> None:
        """Refuse by public parameters, before the graph is read."""

    def profile(self, graph: Graph, k: int) -> Profile:
        """The local sensitivity at every distance; confidential."""

    def release(self, graph: Graph, question: CountQuestion) -> Release:
        """The private answer."""

    def law(self, graph: Graph, question: CountQuestion) -> Any:
        """Its exact law."""


COUNTS: dict[str, Count] = {
    kind.name: kind for kind in (EDGES, TRIANGLES, K_STARS, K_TRIANGLES, DEGREE_HISTOGRAM)
}

# Beyond, parts of ε and what they are multiplied with leave the range of floats.
_EPSILONS = (1e-100, 1e100)


def count(
    graph: Any,
    what: CountName,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CountMechanismName | None = None,
    k: int | None = None,
    step: int = 1,
    beta: float | None = None,
    max_degree: int | None = None,
    non_negative: bool = False,
    ledger: LedgerSource | None = None,
    account: AccountName | None = None,
) -> Release:
    """Release a count of a graph under edge privacy.

    ``graph``: a `Graph`, or anything that `Graph.of` takes, such as a networkx graph or the path of a file.
    ``what``: edges, triangles, k_stars (with ``k`` >= 2), k_triangles (``k`` = 2 unless given) or degree_histogram.
    ``mechanism``: for edges discrete_laplace; for triangles, k_stars and k_triangles ladder, zhang_ladder,
    student_t, cauchy, laplace, lln, global (and levels for k_triangles); for degree_histogram cumulative or bins.
    Without one, what measures best is taken, by public parameters only (`SubgraphCount`, `DegreeHistogram`).
    ``delta`` is needed by laplace, lln and levels, and not spent by the others. ``step`` rounds subgraph
    counts to its multiples; ``beta`` overrides the smoothing; ``max_degree`` (public, n - 1 unless given) and
    ``non_negative`` are for the histogram.

    With ``ledger`` and ``account`` (data set, analyst) the release is paid for.

    **Guarantee**: the release states it, for one edge added or removed between existing nodes; the number of nodes is
    public. **Requires**: at least two nodes; every keyword is chosen without looking at the graph.

    >>> from sordino.graphs import count
    >>> triangle = [(0, 1), (1, 2), (0, 2)]
    >>> release = count(triangle, "edges", epsilon=100.0)  # so large that one answer is all but certain
    >>> release.value, str(release.guarantee.loss)
    (3, 'ε = 100')
    """
    graph = Graph.of(graph)
    kind, question = _asked(graph, what, epsilon, delta, mechanism, k, step, beta, max_degree, non_negative)
    return pay_for(kind.release(graph, question), ledger, account)


def count_law(
    graph: Any,
    what: CountName,
    *,
    epsilon: float,
    delta: float = 0.0,
    mechanism: CountMechanismName | None = None,
    k: int | None = None,
    step: int = 1,
    beta: float | None = None,
    max_degree: int | None = None,
) -> Any:
    """The exact law of what `count` with the same arguments draws; confidential.

    One law on the multiples of the step, or for degree_histogram a list of independent ones.

    >>> import numpy as np
    >>> from sordino.graphs import count_law
    >>> law = count_law([(0, 1), (1, 2), (0, 2)], "edges", epsilon=1.0)
    >>> np.exp(law.log_masses(2, 4)).round(3)  # of 2, 3 and 4 edges; there are 3
    array([0.17 , 0.462, 0.17 ])
    """
    graph = Graph.of(graph)
    kind, question = _asked(graph, what, epsilon, delta, mechanism, k, step, beta, max_degree, False)
    return kind.law(graph, question)


def local_sensitivity_profile(graph: Any, what: CountName, *, k: int | None = None) -> Profile:
    """How much one further edge can move a count, t edges away from this graph; confidential.

    >>> from sordino.graphs import local_sensitivity_profile
    >>> profile = local_sensitivity_profile([(0, 1), (0, 2), (3, 1), (3, 2)], "triangles")
    >>> profile.at(0), profile.bound  # the edge {0, 3} would close two triangles, the most that is possible
    (2.0, 2.0)
    """
    kind = COUNTS[choice("what", what, tuple(COUNTS))]
    graph = Graph.of(graph)
    _check_nodes(graph)
    return kind.profile(graph, _checked_k(kind, k))


def _asked(
    graph: Graph,
    what: str,
    epsilon: float,
    delta: float,
    mechanism: str | None,
    k: int | None,
    step: int,
    beta: float | None,
    max_degree: int | None,
    non_negative: bool,
) -> tuple[Count, CountQuestion]:
    kind = COUNTS[choice("what", what, tuple(COUNTS))]
    epsilon, delta = positive("epsilon", epsilon), probability("delta", delta, zero=True)
    if not _EPSILONS[0] <= epsilon <= _EPSILONS[1]:
        raise ParameterError(
            f"epsilon must be between {_EPSILONS[0]:g} and {_EPSILONS[1]:g} for a count, got {epsilon!r}"
        )
    given = {
        "step": step if step != 1 else None,
        "beta": beta,
        "max_degree": max_degree,
        "non_negative": non_negative or None,
    }
    for name, value in given.items():
        if value is not None and name not in kind.options:
            raise ParameterError(f"{kind.name} takes no {name}, got {name} = {value!r}")
    step = whole("step", step, least=1)
    beta = None if beta is None else positive("beta", beta)
    _check_nodes(graph)
    largest = graph.nodes - 1
    max_degree = largest if max_degree is None else whole("max_degree", max_degree, least=1)
    question = CountQuestion(
        graph.nodes,
        epsilon,
        delta,
        mechanism,
        _checked_k(kind, k),
        step,
        beta,
        min(max_degree, largest),
        non_negative,
    )
    kind.check(question)
    return kind, question


def _check_nodes(graph: Graph) -> None:
    if graph.nodes < 2:
        raise ParameterError(f"a count needs a graph of at least 2 nodes, got {graph.nodes}")


def _checked_k(kind: Count, k: int | None) -> int:
    if kind.least_k is None:
        if k is not None:
            raise ParameterError(f"{kind.name} takes no k, got k = {k!r}; k_stars and k_triangles do")
        return 0
    if k is None and kind.default_k is None:
        raise ParameterError(f"{kind.name} needs k, the number of its rays: a whole number >= {kind.least_k}")
    return whole("k", kind.default_k if k is None else k, least=kind.least_k)
