"""The exact law of the sparse vector with discrete Laplace noise, for ratios that are fractions.

Noise of ratio r is k with probability (1 - r)/(1 + r) r^|k|; the ratio of scale 1/epsilon is e^-epsilon. One noisy
threshold T is drawn, and every answer with fresh noise is compared with it. The law is a sum over all t of P(T = t)
times a product of one-sided tails: finitely many t are summed as they are, and beyond them every tail is
geometric, so that the product is a polynomial in the ratio to the power of the distance, summed in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction


def laplace_mass(k: int, ratio: Fraction) -> Fraction:
    """P(noise = k); ratio 0 is no noise at all."""
    return (1 - ratio) / (1 + ratio) * ratio ** abs(k)


def laplace_at_least(k: int, ratio: Fraction) -> Fraction:
    """P(noise >= k)."""
    return ratio**k / (1 + ratio) if k > 0 else 1 - ratio ** (1 - k) / (1 + ratio)


def transcript_probability(
    answers: Sequence[int],
    above: Sequence[bool],
    *,
    threshold: int,
    threshold_ratio: Fraction,
    query_ratio: Fraction,
) -> Fraction:
    """P(for every i: answer_i + noise_i >= threshold + noise, exactly where above_i).

    `above` may be shorter than `answers`: what is never asked does not matter.
    """
    asked = list(zip(answers, above, strict=False))
    low = min([threshold, *(q for q, _ in asked)])
    high = max([threshold, *(q for q, _ in asked)])
    total = Fraction(0)
    for t in range(low, high + 1):
        term = laplace_mass(t - threshold, threshold_ratio)
        for q, is_above in asked:
            tail = laplace_at_least(t - q, query_ratio)
            term *= tail if is_above else 1 - tail
        total += term
    # t = high + k, k >= 1: being above has probability c x, x = ratio^k
    upper = [(query_ratio ** (high - q) / (1 + query_ratio), is_above) for q, is_above in asked]
    total += _geometric_sum(upper, high - threshold, threshold_ratio, query_ratio)
    # t = low - k, k >= 1: being below has probability c x
    lower = [(query_ratio ** (q - low + 1) / (1 + query_ratio), not is_above) for q, is_above in asked]
    return total + _geometric_sum(lower, threshold - low, threshold_ratio, query_ratio)


def _geometric_sum(
    factors: Iterable[tuple[Fraction, bool]], offset: int, threshold_ratio: Fraction, query_ratio: Fraction
) -> Fraction:
    """Sum over k >= 1 of P(noise = offset + k) times the product of c x or 1 - c x, x = query_ratio^k."""
    polynomial = [Fraction(1)]
    for c, is_monomial in factors:
        shifted = [Fraction(0), *(c * p for p in polynomial)]
        whole = [*polynomial, Fraction(0)]
        polynomial = shifted if is_monomial else [a - b for a, b in zip(whole, shifted, strict=True)]
    total = Fraction(0)
    for degree, coefficient in enumerate(polynomial):
        step = threshold_ratio * query_ratio**degree
        total += coefficient * step / (1 - step)
    return laplace_mass(offset, threshold_ratio) * total


def stopping_law(
    answers: Sequence[int], *, threshold: int, threshold_ratio: Fraction, query_ratio: Fraction
) -> list[Fraction]:
    """P(stop at i), i = 0, 1, ...: the first answer below the noisy threshold; last, that none is."""
    size = len(answers)
    return [
        transcript_probability(
            answers,
            [True] * i + [False] * (i < size),
            threshold=threshold,
            threshold_ratio=threshold_ratio,
            query_ratio=query_ratio,
        )
        for i in range(size + 1)
    ]


def worst_ratio(one: Sequence[Fraction], other: Sequence[Fraction]) -> Fraction:
    """The largest quotient of two probabilities of one outcome, either way; both laws must be positive."""
    return max(max(p / q, q / p) for p, q in zip(one, other, strict=True))
