"""Private questions about public data: what Sordino answers, and how far off it and the usual mechanism are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sordino as sd
from sordino.demo import data
from sordino.graphs import Graph, local_sensitivity_profile, triangles_per_node
from sordino.graphs.metrics import EgoBetweenness
from sordino.mechanisms.names import QuantileMechanismName

_TIE = 0.02  # errors within 2 % of one another are called the same


@dataclass(frozen=True, slots=True)
class Answer:
    """One question with its private answer and both errors, exact because the demo's data is public.

    ``baseline``: the mechanism that Sordino is compared with. ``sql``: the question as it was asked, if in SQL.
    """

    question: str
    data: str
    answer: int | float | str
    exact: int | float | str
    measure: str
    error: float
    baseline_error: float
    mechanism: str
    baseline: str
    guarantee: sd.Guarantee
    remark: str = ""
    percent: bool = False
    sql: str = ""

    @property
    def ratio(self) -> float:
        """Error of the baseline over ours: above 1, ours is smaller."""
        return self.baseline_error / self.error if self.error > 0 else math.inf

    @property
    def verdict(self) -> str:
        """The ratio in words."""
        if abs(self.ratio - 1) <= _TIE:
            return "the same"
        if self.ratio < 1:
            return f"{_times(1 / self.ratio)} larger"
        return f"{_times(self.ratio)} smaller"

    def shown(self, error: float) -> str:
        """An error with the digits that mean something."""
        if not self.percent:
            return rounded(error)
        return f"{100 * error:.2g} %" if error >= 1e-4 else "< 0.01 %"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "question": self.question,
            "sql": self.sql,
            "data": self.data,
            "answer": self.answer,
            "exact": self.exact,
            "measure": self.measure,
            "error": self.error,
            "baseline_error": self.baseline_error,
            "ratio": self.ratio,
            "mechanism": self.mechanism,
            "baseline": self.baseline,
            "guarantee": self.guarantee.to_dict(),
            "remark": self.remark,
        }


def text_of(value: int | float | str) -> str:
    """An answer as a person reads it: thousands apart, no digits behind the point."""
    return value if isinstance(value, str) else f"{value:,.0f}"


def rounded(value: float) -> str:
    """Three digits, thousands apart, no exponent for ordinary sizes."""
    if value == 0 or not 1e-3 <= abs(value) < 1e9:
        return f"{value:.2g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits):,.{min(digits, 3)}f}"


def _times(ratio: float) -> str:
    if ratio < 1.1:
        return f"{100 * (ratio - 1):.0f} %"
    if ratio > 1e6:
        return "> 1,000,000×"
    return f"{ratio:.2f}×" if ratio < 2 else f"{ratio:.1f}×" if ratio < 100 else f"{ratio:,.0f}×"


def answers(epsilon: float) -> Iterator[Answer]:
    """Every question in turn, each with this budget."""
    yield _join(epsilon)
    pay = data.salaries()
    yield _salary(pay, 0.5, "the median salary", epsilon)
    yield _salary(pay, 0.9, "the salary that one in ten exceeds", epsilon)
    yield _record(epsilon)
    graph, source = data.social_graph()
    yield _central_node(graph, source, epsilon)
    yield _vote(epsilon)
    yield _triangles(graph, source, epsilon)


_JOIN = (
    "SELECT COUNT(*) FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.order_id = o.id "
    "WHERE c.city = 'Rome'"
)


def _join(epsilon: float) -> Answer:
    policy = data.SHOP_POLICY | {"budgets": {"ann": {"epsilon": epsilon}}}
    tables = data.shop_tables()
    with sd.connect(tables, policy=policy) as curator:
        release = curator.session("ann").query(_JOIN, epsilon)
        ours = curator.explain(_JOIN, epsilon).reveal()
        theirs = curator.explain(_JOIN, epsilon, analyses="elastic").reveal()
    rows = ", ".join(f"{table.num_rows:,} {name}" for name, table in tables.items())
    return Answer(
        question="SQL: how many items were ordered from Rome?",
        data=f"a join of {rows}, made by a fixed recipe",
        answer=int(release.value),
        exact=ours["exact"],
        measure="95 % noise radius",
        error=ours["numbers"][0]["error"]["95%"],
        baseline_error=theirs["numbers"][0]["error"]["95%"],
        mechanism="flared Laplace noise, the default analyses",
        baseline="flared Laplace noise, elastic sensitivity",
        guarantee=release.guarantee,
        remark="Over all databases one row could change this count without bound: global sensitivity gives no answer. "
        "Elastic sensitivity is the usual way out.",
        sql=_JOIN,
    )


def _salary(pay: NDArray[np.float64], q: float, name: str, epsilon: float) -> Answer:
    asked: dict[str, Any] = {
        "bounds": data.SALARY_BOUNDS,
        "step": data.SALARY_STEP,
        "epsilon": epsilon,
        "distance": sd.replace_row(),
    }
    release = sd.quantile(pay, q, **asked)
    return Answer(
        question=f"What is {name}?",
        data=f"{len(pay):,} salaries, made by a fixed recipe",
        answer=float(release.value),
        exact=exact_quantile(pay, q),
        measure="expected error",
        error=quantile_error(pay, q, epsilon, "auto"),
        baseline_error=quantile_error(pay, q, epsilon, "exponential"),
        mechanism="quantile by inverse sensitivity",
        baseline="exponential mechanism on ranks",
        guarantee=release.guarantee,
        remark="Ranks have a small global sensitivity already, so there is little to gain.",
    )


def exact_quantile(values: NDArray[np.float64], q: float) -> float:
    """The ⌈qn⌉-th smallest value."""
    return float(np.sort(values)[math.ceil(q * len(values)) - 1])


def quantile_error(
    values: NDArray[np.float64], q: float, epsilon: float, mechanism: QuantileMechanismName
) -> float:
    """E|released − exact| from the exact law."""
    points, law = sd.quantile_law(
        values,
        q,
        bounds=data.SALARY_BOUNDS,
        step=data.SALARY_STEP,
        epsilon=epsilon,
        mechanism=mechanism,
        distance=sd.replace_row(),
    )
    return float(law @ np.abs(points - exact_quantile(values, q)))


def _record(epsilon: float) -> Answer:
    bills = data.bills()
    release = sd.select_record_at_percentile(bills, 50, bounds=data.BILL_BOUNDS, epsilon=epsilon)
    scores, profile = sd.percentile_question(bills, 50, bounds=data.BILL_BOUNDS)
    exact = int(np.argmax(scores))
    return Answer(
        question="Whose bill is the median bill?",
        data=f"{len(bills)} bills, made by a fixed recipe",
        answer=f"patient {release.value + 1}",
        exact=f"patient {exact + 1}",
        measure="expected distance from the median bill",
        error=sd.expected_error(scores, profile=profile, epsilon=epsilon),
        baseline_error=sd.expected_error(scores, profile=profile, epsilon=epsilon, mechanism="exponential"),
        mechanism=release.mechanism.replace("_", " "),
        baseline="exponential mechanism",
        guarantee=release.guarantee,
        remark="Naming a record is hard at this ε for anyone: its own value may be anything.",
    )


def _central_node(graph: Graph, source: str, epsilon: float) -> Answer:
    scores, profile = central_scores(graph)
    release = sd.select(scores, profile=profile, epsilon=epsilon)
    degree_error = by_degree_error(graph, epsilon)
    return Answer(
        question="Who is the most central?",
        data=source,
        answer=str(graph.label_of(int(release.value))),
        exact=str(graph.label_of(int(scores.argmax()))),
        measure="expected loss of ego betweenness",
        error=sd.expected_error(scores, profile=profile, epsilon=epsilon),
        baseline_error=sd.expected_error(scores, profile=profile, epsilon=epsilon, mechanism="exponential"),
        mechanism=f"{release.mechanism.replace('_', ' ')}, element profile",
        baseline="exponential mechanism",
        guarantee=release.guarantee,
        remark=f"Here the hub is also the most central, and permute-and-flip on the number of neighbours alone has "
        f"error {rounded(degree_error)}.",
    )


def central_scores(graph: Graph) -> tuple[NDArray[np.float64], sd.Profile]:
    """The ego betweenness of every node, and how far one edge can move it by what the degree alone tells.

    The codegree tells more about single nodes; a profile that rises with the degree alone ranks by it, which is better.
    """
    metric = EgoBetweenness(by_codegree=False)
    return metric.scores(graph), metric.profile(graph, graph.nodes - 1)


def triangles(graph: Graph) -> tuple[int, sd.Profile]:
    """The number of triangles, and how far one edge can move it."""
    return int(triangles_per_node(graph).sum()) // 3, local_sensitivity_profile(graph, "triangles")


def by_degree_error(graph: Graph, epsilon: float) -> float:
    """The loss of ego betweenness when a node is chosen by degree, which has sensitivity 1 and is monotone."""
    degrees, (scores, _) = graph.degrees.astype(np.float64), central_scores(graph)
    law = sd.selection_law(
        degrees,
        profile=1.0,
        epsilon=epsilon,
        mechanism="permute_and_flip",
        monotone=True,
        distance=sd.flip_edge(),
    )
    return float(law @ (scores.max() - scores))


def _vote(epsilon: float) -> Answer:
    names, votes = tuple(data.VOTES), np.array(list(data.VOTES.values()))
    winner, safe = int(votes.argmax()), _safe_changes(votes)
    profile = sd.Profile.from_table(np.append(np.zeros(safe), 1.0), bound=1.0, distance=sd.replace_row())
    utility = (np.arange(len(votes)) == winner).astype(np.float64)
    asked: dict[str, Any] = {
        "profile": profile,
        "epsilon": epsilon,
        "mechanism": "smooth_noisy_max",
        "noise": "winner",
    }
    release = sd.select(utility, **asked)
    law = sd.selection_law(utility, **asked)
    plain = sd.selection_law(
        votes, profile=1.0, epsilon=epsilon, mechanism="permute_and_flip", distance=sd.replace_row()
    )
    return Answer(
        question="Who won the vote?",
        data=f"{votes.sum():,} votes for {len(votes)} trees, made up; {safe} changed votes cannot turn the result",
        answer=names[int(release.value)],
        exact=names[winner],
        measure="chance to name another",
        error=float(np.delete(law, winner).sum()),
        baseline_error=float(np.delete(plain, winner).sum()),
        mechanism="single-winner law",
        baseline="permute-and-flip on the counts",
        guarantee=release.guarantee,
        remark="Permute-and-flip pays for every close rival, the single-winner law for every rival: where only one of "
        "many is close, permute-and-flip is the better one.",
        percent=True,
    )


def _safe_changes(votes: NDArray[np.int64]) -> int:
    """How many replaced votes can certainly not bring another winner; ties go to the first in the list."""
    winner = int(votes.argmax())
    needed: list[int] = []
    for rival, count in enumerate(votes.tolist()):
        if rival != winner:
            gap = int(votes[winner]) - int(count) + (winner < rival)  # what the rival must gain on the winner
            needed.append(-(-gap // 2))
    return min(needed) - 1


def _triangles(graph: Graph, source: str, epsilon: float) -> Answer:
    exact, profile = triangles(graph)
    release = sd.add_noise(exact, profile, epsilon=epsilon, noise="student_t", step=1)
    return Answer(
        question="How many triangles are there?",
        data=source,
        answer=int(release.value),
        exact=exact,
        measure="95 % noise radius",
        error=smooth_radius(graph, epsilon),
        baseline_error=sd.noise_radius(profile.bound, epsilon=epsilon, noise="laplace"),
        mechanism="Student-t noise, smooth sensitivity",
        baseline="Laplace noise",
        guarantee=release.guarantee,
    )


def smooth_radius(graph: Graph, epsilon: float) -> float:
    """How far 95 % of the noise on the triangle count stays."""
    exact, profile = triangles(graph)
    law: Any = sd.noise_law(exact, profile, epsilon=epsilon, noise="student_t", step=1)
    return float(law.scale) * float(law.shape.radius(0.95))
