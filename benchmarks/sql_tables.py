"""The tables of the SQL benchmarks: times beside the plain query, and noise by analysis."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from report import Check, Report
from sql_measure import ALL, VARIANTS
from sql_questions import Question

Times = dict[str, float | str]
Errors = dict[str, float]
WORDS = {"patterns": "patterns alone", "all": "all analyses"}
COLUMNS = ("plain", *VARIANTS)


def time_table(
    marker: str, questions: Sequence[Question], found: dict[str, Times], checks: Sequence[Check]
) -> Report:
    """``checks``: what the times are held against."""
    header = ["question", "tables", "plain", *(f"private, {name}" for name in WORDS.values())]
    header += [f"{name} / plain" for name in WORDS.values()]
    rows = []
    for question in questions:
        mine = found[question.name]
        cells = [milliseconds(mine[name]) for name in COLUMNS]
        cells += [ratio(mine[name], mine["plain"]) for name in VARIANTS]
        rows.append([question.name, str(question.tables), *cells])
    return Report(marker, header, rows, checks, {"times": found})


def ratio_check(found: dict[str, Times], name: str, most: float, where: str) -> Check:
    """Whether every private answer takes at most ``most`` times as long as its plain query."""
    over, worst = [], 0.0
    for question, mine in found.items():
        private, plain = mine[name], mine["plain"]
        if isinstance(private, float) and isinstance(plain, float):
            worst = max(worst, private / plain)
            if private <= most * plain:
                continue
        over.append(f"{question} ({ratio(private, plain) or private})")
    told = f"at most {worst:.1f}×"
    if over:
        told = f"{len(found) - len(over)} of {len(found)} within; over it: {'; '.join(over)}"
    return Check(f"at most {most:g}× the plain query with {WORDS[name]}{where}", told, not over)


def median_check(found: dict[str, Times], name: str, most: float, where: str) -> Check:
    """Whether half of the private answers take at most ``most`` times as long as their plain queries."""
    ratios = [
        mine[name] / mine["plain"] if isinstance(mine[name], float) else float("inf")
        for mine in found.values()
    ]
    middle = median(ratios)
    target = f"at most {most:g}× the plain query in the median with {WORDS[name]}{where}"
    return Check(target, f"{middle:.1f}×", middle <= most)


def profile_table(marker: str, found: dict[str, dict[str, float]]) -> Report:
    """Where the time of an answer goes."""
    stages = ("planning", "exact answer", "counts", "bounds", "draw")
    rows = [
        [
            name,
            *(milliseconds(mine[stage]) if mine else "" for stage in stages),
            f"{mine.get('distances', 0):.0f}",
        ]
        for name, mine in found.items()
    ]
    return Report(marker, ["question", *stages, "distances"], rows, raw={"profile": found})


def growth_table(
    marker: str,
    questions: Sequence[Question],
    small: dict[str, Times],
    large: dict[str, Times],
    scales: tuple[str, str],
) -> Report:
    """How many times as long ten times as many rows take."""
    header = ["question", "plain", *WORDS.values()]
    rows, faster = [], []
    for question in questions:
        growth = {}
        for name in COLUMNS:
            before, after = small[question.name][name], large[question.name][name]
            if isinstance(before, float) and isinstance(after, float):
                growth[name] = after / before
        rows.append([question.name, *(f"{growth[n]:.1f}×" if n in growth else "" for n in COLUMNS)])
        for name in VARIANTS:
            if "plain" in growth and growth.get(name, float("inf")) > growth["plain"]:
                faster.append(f"{question.name} ({WORDS[name]})")
    told = "never faster" if not faster else f"faster: {'; '.join(faster)}"
    target = f"time grows no faster than the plain query's from scale {scales[0]} to {scales[1]}"
    return Report(marker, header, rows, [Check(target, told, not faster)])


def noise_table(marker: str, found: dict[str, Errors]) -> Report:
    """Expected errors by one analysis alone and by all of them, and beside other noises."""
    others = {
        "old": "old noise / combined",
        "residual, published": "residual as published / combined",
        "elastic, published": "FLEX as published / combined",
    }
    header = ["question", "exact", *ALL, "combined", "local", "old noise", *others.values()]
    header += ["combined, 95 %", "old noise / combined, 95 %"]
    rows, larger, smaller = [], [], 0
    for question, mine in found.items():
        columns = ("exact", *ALL, "all", "local", "old")
        cells = [f"{mine[name]:.4g}" for name in columns]
        ratios = [f"{mine[name] / mine['all']:.3g}×" for name in others]
        radii = [f"{mine['all, 95 %']:.4g}", f"{mine['old, 95 %'] / mine['all, 95 %']:.3g}×"]
        rows.append([question, *cells, *ratios, *radii])
        shares = [mine["all"] / mine[name] for name in ("elastic", "residual")]
        larger += [question] if max(shares) > 1 + 1e-9 else []
        smaller += max(shares) < 1 - 1e-9
    told = f"larger in {'; '.join(larger) or 'none'}, smaller than both in {smaller} of {len(found)}"
    check = Check("error never larger than by elastic or by residual sensitivity alone", told, not larger)
    return Report(marker, header, rows, [check], {"errors": found})


def old_noise_check(found: dict[str, Errors], least: float) -> Check:
    """Whether the expected error of every question fell by a factor."""
    factors = {question: mine["old"] / mine["all"] for question, mine in found.items()}
    short = [f"{question} ({factor:.2f}×)" for question, factor in factors.items() if factor < least]
    told = f"{min(factors.values()):.2f}× to {max(factors.values()):.2f}×"
    if short:
        told += f"; less: {'; '.join(short)}"
    return Check(f"error at least {least:g}× below that of the old noise on the same bounds", told, not short)


def milliseconds(value: float | str) -> str:
    return f"{1e3 * value:,.0f} ms".replace(",", " ") if isinstance(value, float) else value


def ratio(value: float | str, plain: float | str) -> str:
    if isinstance(value, float) and isinstance(plain, float):
        return f"{value / plain:.1f}×"
    if isinstance(value, str) and value.startswith("> ") and isinstance(plain, float):
        return f"> {float(value[2:-2]) / plain:.0f}×"
    return ""
