"""Quantiles asked in SQL beside `sordino.quantile` on the same column, and where whole customers are protected.

Errors are exact: expectations over the law of the plan that a session would draw from, with DuckDB's counts. The law
of rows must be that of `sordino.quantile`; times are those of whole questions, the payment included.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from report import Check, Report, interleaved, medians

import sordino as sd
from sordino.mechanisms.selection.rank_choice import RankChoice
from sordino.sql.answering.measured import measure_all
from sordino.sql.answering.plan import AnswerOptions
from sordino.sql.units.plan import MEDIAN_NUMBERS
from sordino.sql.units.rank_weights import sum_weights
from sordino.units import WEIGHT_STEPS, Truncation

Ints = NDArray[np.int64]

CUSTOMERS, ORDERS = 5_000, 40_000
LAST = 5_000
EPSILON = 0.1


def run(quick: bool = False) -> list[Report]:
    return [compare(rounds=2 if quick else 5), compare_limits()]


def make_tables() -> dict[str, pa.Table]:
    """Orders of customers, some of whom have many; amounts in whole numbers up to 5 000."""
    source = np.random.default_rng(7)
    share = source.pareto(2.0, CUSTOMERS) + 1
    customer = source.choice(CUSTOMERS, ORDERS, p=share / share.sum())
    amount = np.minimum(source.lognormal(4.5, 0.9, ORDERS), LAST).astype(np.int64)
    return {
        "customers": pa.table({"id": np.arange(CUSTOMERS)}),
        "orders": pa.table({"customer_id": customer, "amount": amount}),
    }


def make_policy(protects: str) -> dict[str, object]:
    orders: dict[str, object] = {"columns": {"amount": {"bounds": [0, LAST]}}}
    policy: dict[str, object] = {"version": 1, "dataset": "orders", "protects": protects}
    if protects == "user":
        orders["foreign_keys"] = {"customer_id": "customers.id"}
        policy["users"] = "customers.id"
    budgets = {"ann": {"epsilon": 10_000}}
    return {**policy, "tables": {"customers": {}, "orders": orders}, "budgets": budgets}


def compare(rounds: int) -> Report:
    tables, rows, gaps = make_tables(), [], []
    values = tables["orders"].column("amount").to_numpy()
    with (
        sd.connect(tables, policy=make_policy("row")) as by_rows,
        sd.connect(tables, policy=make_policy("user")) as by_users,
    ):
        for q in (0.5, 0.9, 0.99):
            sql = f"SELECT QUANTILE(amount, {q}) FROM orders"
            truth = int(np.sort(values)[math.ceil(Fraction(str(q)) * ORDERS) - 1])
            points, law = sd.quantile_law(values, q, bounds=(0, LAST), step=1, epsilon=EPSILON)
            plan = by_rows.plan(sql, AnswerOptions.checked(EPSILON, 0))
            with by_rows.data.engine.snapshot() as snapshot:
                (cell,) = measure_all(snapshot, plan)
            found = np.exp(plan.noises[0].law(cell.exact, cell.follows).log_probabilities)
            gaps.append(float(np.abs(found - law).max()))
            times = medians(
                interleaved(
                    {
                        "library": lambda q=q: seconds(
                            lambda: sd.quantile(values, q, bounds=(0, LAST), step=1, epsilon=EPSILON)
                        ),
                        "rows": lambda sql=sql: seconds(lambda: by_rows.session("ann").query(sql, EPSILON)),
                        "users": lambda sql=sql: seconds(lambda: by_users.session("ann").query(sql, EPSILON)),
                    },
                    rounds,
                )
            )
            errors = (
                law @ np.abs(points - truth),
                found @ np.abs(points - truth),
                expected_error(by_users, sql, truth),
            )
            rows.append(
                [f"{q}", f"{truth}", *(f"{error:.2f}" for error in errors)]
                + [f"{1000 * times[name]:.0f} ms" for name in ("library", "rows", "users")]
            )
    check = Check(
        "the law of rows in SQL is that of sd.quantile",
        f"probabilities differ by at most {max(gaps):.0e}",
        max(gaps) < 1e-11,
    )
    header = ["q", "exact", "error, sd.quantile", "error, SQL, rows", "error, SQL, customers",
              "time, sd.quantile", "time, rows", "time, customers"]  # fmt: skip
    return Report("sql-quantiles", header, rows, [check])


def expected_error(curator: sd.Curator, sql: str, truth: int) -> float:
    """E|released - exact| over limits and values; what weights move the quantile by is in it."""
    plan = curator.plan(sql, AnswerOptions.checked(EPSILON, 0))
    (part,) = plan.parts
    error = 0.0
    with curator.data.engine.snapshot() as snapshot:
        above = part.read_sizes(snapshot, plan.statement, plan.owners).above
        chances = np.exp(part.limit.truncation.choice.law(above).log_probabilities)
        likely = np.flatnonzero(chances > 1e-4)
        for chance, limit in zip(chances[likely], np.array(part.limit.grid)[likely], strict=True):
            held = sum_weights(snapshot, plan.statement, plan.owners, part.measure, int(limit))[()]
            law = part.ranks[0].choice(int(limit)).law(held.spread(LAST + 1))
            error += chance * float(np.exp(law.log_probabilities) @ np.abs(np.arange(LAST + 1) - truth))
    return error / float(chances[likely].sum())


def compare_limits() -> Report:
    """What the preference for small limits is worth: as if the noise were that of so many numbers."""
    orders = make_tables()["orders"]
    customer = orders.column("customer_id").to_numpy()
    held = np.bincount(customer, minlength=CUSTOMERS)
    amount, rows = orders.column("amount").to_numpy(), []
    families = {"alike": amount, "who orders more pays more": amount * (held[customer] / 8) ** 0.3}
    for (family, values), epsilon, q in product(families.items(), (EPSILON, 1.0), (0.5, 0.9, 0.99)):
        points = np.minimum(values, LAST).astype(np.int64)
        truth = int(np.sort(points)[math.ceil(Fraction(str(q)) * ORDERS) - 1])
        chosen = math.ceil(MEDIAN_NUMBERS / (4 * q * (1 - q)))
        errors = []
        for numbers in (1, chosen // 10, chosen, chosen * 10, None):
            errors.append(limited_error(customer, held, points, truth, q, epsilon, numbers))
        rows.append([family, f"{epsilon}", f"{q}", *(f"{error:.1f}" for error in errors)])
    header = [
        "amounts",
        "ε",
        "q",
        "as for one number",
        "a tenth of ours",
        "ours",
        "ten times ours",
        "limit 1",
    ]
    return Report("sql-quantile-limits", header, rows)


def limited_error(
    customer: Ints, held: Ints, points: Ints, truth: int, q: float, epsilon: float, numbers: int | None
) -> float:
    """E|released - exact| where the limit is chosen as for so many numbers, or is 1."""
    grid, chances, left = (1,), np.ones(1), Fraction(str(epsilon))
    if numbers is not None:
        truncation = Truncation.of(epsilon=left, most=10**6, numbers=numbers)
        grid, left = truncation.grid, truncation.noise.epsilon
        above = [int((held > limit).sum()) for limit in grid]
        chances = np.exp(truncation.choice.law(above).log_probabilities)
    error = whole = 0.0
    for chance, limit in zip(chances, grid, strict=True):
        if chance > 1e-3:
            weight = np.minimum(WEIGHT_STEPS, WEIGHT_STEPS * limit // np.maximum(held, 1))[customer]
            counts = np.bincount(points, weights=weight, minlength=LAST + 1).astype(np.int64)
            choice = RankChoice.quantile(q, epsilon=left, most=limit * WEIGHT_STEPS)
            law = np.exp(choice.law(counts).log_probabilities)
            error += chance * float(law @ np.abs(np.arange(LAST + 1) - truth))
            whole += chance
    return error / whole


def seconds(ask: object) -> float:
    began = time.perf_counter()
    ask()  # type: ignore[operator]
    return time.perf_counter() - began
