"""Questions about positions of ships: noise beside the largest slope there is, and time beside the plain query.

python benchmarks/value_ships.py [--rows 1000000] [--plot docs/img/values.png]
"""

from __future__ import annotations

import argparse
import time

import duckdb
import numpy as np
import pyarrow as pa

import sordino as sd
from sordino.curator.questions.sql import plan_sql
from sordino.sql.answering.plan import AnswerOptions

POLICY = {
    "version": 1,
    "dataset": "ships",
    "protects": "values",
    "tables": {
        "ship": {
            # one unit is 100 m, or a twentieth of the speed
            "norm": "l1(10*l2(x, y), 20*log(speed))",
            "key": "id",
            "columns": {
                "id": {"type": "integer", "public": True},
                "x": {"type": "float", "granularity": 0.01, "bounds": [-300, 300]},
                "y": {"type": "float", "granularity": 0.01, "bounds": [-300, 300]},
                "speed": {"type": "float", "granularity": 0.1, "bounds": [1, 60]},
            },
        }
    },
}
QUESTIONS = {
    "ships within 50 km of the port": ("SELECT COUNT(*) FROM ship WHERE SQRT(x*x + y*y) < 50", "ramp(2)"),
    "slow ships within 50 km": (
        "SELECT COUNT(*) FROM ship WHERE SQRT(x*x + y*y) < 50 AND speed < 10",
        "ramp(2)",
    ),
    "hours until the first arrives": ("SELECT MIN(SQRT(x*x + y*y)/speed) FROM ship", None),
    "sum of squared distances": ("SELECT SUM(x*x + y*y) FROM ship", None),
    "sum of speeds": ("SELECT SUM(speed) FROM ship", None),
    "how close two of 500 ships come": (
        "SELECT MIN(SQRT((a.x - b.x)*(a.x - b.x) + (a.y - b.y)*(a.y - b.y))) FROM ship AS a JOIN ship AS b "
        "ON a.id < b.id WHERE a.id < 500 AND b.id < 500",
        None,
    ),
}


def make_ships(count: int) -> dict[str, pa.Table]:
    """Positions that fill the sea evenly, a few near the port; the same on every run."""
    numbers = np.arange(count)
    angle, radius = 2.399963 * numbers, 295 * np.sqrt((numbers + 0.5) / count)
    return {
        "ship": pa.table(
            {
                "id": numbers,
                "x": np.round(radius * np.cos(angle), 2),
                "y": np.round(radius * np.sin(angle), 2),
                "speed": np.round(5 + 20 * ((numbers * 0.618034) % 1), 1),
            }
        )
    }


def open_plain(tables: dict[str, pa.Table]) -> duckdb.DuckDBPyConnection:
    """The same rows in a database of their own."""
    plain = duckdb.connect()
    plain.register("ship_rows", tables["ship"])
    plain.execute("CREATE TABLE ship AS SELECT * FROM ship_rows")
    return plain


def print_noise(
    curator: sd.Curator, plain: duckdb.DuckDBPyConnection
) -> dict[str, list[tuple[float, float]]]:
    """Bound, largest slope, error and exact answer of every question; error against ε for the plot."""
    print(
        f"{'question':34} {'exact':>12} {'continuous':>12} {'bound':>10} {'largest':>10} {'error 95 %':>11}"
    )
    curves = {}
    for name, (sql, filters) in QUESTIONS.items():
        facts = curator.explain(sql, 1, filters=filters).reveal()
        number = facts["numbers"][0]
        largest, exact = number["global_sensitivity"], plain.execute(sql).fetchall()[0][0]
        print(
            f"{name:34} {exact:12.6g} {facts['continuous']:12.6g} {number['smooth_bound']:10.4g} "
            f"{largest:10.4g} {number['error']['95%']:11.4g}"
        )
        curves[name] = [(row["epsilon"], row["error"]["95%"]) for row in facts["error_against_epsilon"]]
    return curves


def print_times(curator: sd.Curator, plain: duckdb.DuckDBPyConnection) -> None:
    """All β of the grid together, beside the question itself; processor seconds of all threads."""
    print(f"\n{'question':34} {'plain s':>9} {'private s':>9} {'ratio':>7}")
    for name, (sql, filters) in QUESTIONS.items():
        began = time.process_time()
        plain.execute(sql).fetchall()
        alone = time.process_time() - began
        plan = plan_sql(curator.data, sql, AnswerOptions.checked(1, 0), filters)
        with curator.data.engine.snapshot() as snapshot:
            began = time.process_time()
            plan.measure(snapshot)
            private = time.process_time() - began
        print(f"{name:34} {alone:9.3f} {private:9.3f} {private / alone:7.1f}")


def plot(curves: dict[str, list[tuple[float, float]]], path: str) -> None:
    """The error against ε: of counts, and of kilometres and hours."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(9, 4))
    panels = {
        "How many ships": ("ships within 50 km of the port", "slow ships within 50 km"),
        "How close, and when (km, hours)": (
            "how close two of 500 ships come",
            "hours until the first arrives",
        ),
    }
    for axes, (title, names) in zip(both, panels.items(), strict=True):
        for name in names:
            points = np.array(curves[name])
            axes.loglog(points[:, 0], points[:, 1], marker="o", label=name)
        axes.set_xticks([0.25, 0.5, 1, 2, 5], ["0.25", "0.5", "1", "2", "5"])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("ε per 100 m (and per 5 % of speed)")
        axes.set_ylabel("error with 95 %")
        axes.set_title(title)
        axes.grid(visible=True, which="both", alpha=0.3)
        axes.legend(frameon=False, loc="lower left", fontsize=7)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--plot", default="")
    given = parser.parse_args()
    tables = make_ships(given.rows)
    with sd.connect(tables, policy=POLICY) as curator:
        plain = open_plain(tables)
        curves = print_noise(curator, plain)
        print_times(curator, plain)
    if given.plot:
        plot(curves, given.plot)


if __name__ == "__main__":
    main()
