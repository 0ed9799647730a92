"""Brackets for δ(ε) and ε(δ) of plans with known moments by inversion, planned again where they come out too wide."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.pld.contour import Survey
from sfumato.accounting.pld.crossing import crossing, log_ratio
from sfumato.accounting.pld.inversion import Inverted, Known
from sfumato.accounting.pld.laplace_moments import LaplacePart
from sfumato.accounting.pld.pairs.gaussian import GaussianPair
from sfumato.accounting.pld.pairs.laplace import LaplacePair
from sfumato.accounting.pld.pairs.pair import Pair
from sfumato.accounting.pld.sampled_parts import Part, part_of
from sfumato.exact import up

TRIES = 4
"""How often an inversion is planned again, from what the one before has found."""

SLACK = 5.0
"""Errors relative to δ are aimed at exp(−this) of the tolerance."""

FIRST, NEXT = 0.7, 0.97
"""The share of an estimated ε, and of one that was found, above which ε is taken to lie."""

FAR, RAREST = 10**12, -600.0
"""No larger ε, and no smaller ln δ, is asked for."""

MOVED = 5e-3
"""No smoothing moves ε by more than this share of it."""

FEW_LAPLACE = 8
"""Fewer different Laplace mechanisms than this, without samples, are put on a lattice."""

MOST_PARTS = 1024
"""Plans with more different samples than this are put on a lattice."""


def split(composition: Sequence[tuple[Pair, int]]) -> Known | None:
    """The parts of a composition whose moments are known; None where it has others, or is better on a lattice."""
    parts: list[Part] = []
    laplace: list[LaplacePart] = []
    square = Fraction(0)
    for pair, count in composition:
        part = part_of(pair, count)
        if part is not None:
            parts.append(part)
        elif isinstance(pair, GaussianPair):
            square += pair.square * count
        elif isinstance(pair, LaplacePair):
            laplace.append(LaplacePart(pair.ratio, count))
        else:
            return None
    known = Known(tuple(parts), tuple(laplace), square)
    return known if len(parts) <= MOST_PARTS and (parts or len(laplace) >= FEW_LAPLACE) else None


def inverted_epsilon(
    composition: Sequence[tuple[Pair, int]],
    delta: Fraction,
    variation: Fraction,
    *,
    tolerance: float,
    near: Bracket | None = None,
) -> Bracket | None:
    """Encloses ε(δ) about as closely as asked for; None where a composition cannot be inverted."""
    known = split(composition)
    if known is None:
        return None
    log_delta, sharp = log_ratio(delta, Fraction(1)), SLACK - math.log(tolerance)
    rare, apart = sharp - log_delta + math.log(known.uses), up(variation)
    best = near if near is not None and near.lower > 0 and near.upper != math.inf else None
    epsilon, sure = (Survey(known, rare).estimate(log_delta), FIRST) if best is None else (float(best.upper), NEXT)
    moved, smoothing = min(0.7 * tolerance, MOVED), Fraction(1 << 60)
    for _ in range(TRIES):
        survey = Survey(known, rare, above=epsilon, apart=apart)
        contour = survey.contour(epsilon, log_delta, least=sure * epsilon, sharp=sharp, moved=moved * epsilon)
        if contour is None or contour.smoothing >= smoothing:
            break  # there is nothing to gain
        smoothing = contour.smoothing or smoothing
        bracket = _searched(Inverted(known, contour, variation=variation), delta, epsilon)
        if bracket.upper == math.inf:
            break
        best = bracket if best is None else Bracket(max(best.lower, bracket.lower), min(best.upper, bracket.upper))
        width = best.upper - best.lower
        if width <= tolerance * best.upper:
            break
        epsilon, sure = float(bracket.upper), NEXT
        moved *= min(0.5, max(0.1, 0.7 * tolerance * epsilon / float(width)))
        sharp += 0 if contour.smoothing else 3
    return best


def _searched(answer: Inverted, delta: Fraction, epsilon: float) -> Bracket:
    """Encloses ε(δ) by bounds of δ(ε)."""
    upper = crossing(answer.above, delta, start=epsilon, scale=epsilon)[1]
    begin = epsilon if upper == math.inf else float(upper)
    lower = crossing(answer.below, delta, start=begin, scale=epsilon)[0]
    if lower > upper:
        raise RuntimeError("the two ends of a bracket contradict each other; please report the plan")
    return Bracket(lower, upper)


def inverted_delta(
    composition: Sequence[tuple[Pair, int]], epsilon: Fraction, variation: Fraction, *, tolerance: float
) -> Bracket | None:
    """Encloses δ(ε) about as closely as an ε that is off by the tolerance would move it; None where that cannot be."""
    known = split(composition)
    if known is None or epsilon > FAR:
        return None
    place, sharp, uses = up(epsilon), SLACK - math.log(tolerance), math.log(known.uses)
    moved, best = tolerance, Bracket(Fraction(0), variation)
    chernoff = Survey(known, sharp - RAREST / 8 + uses).log_delta(place)
    log_delta = max(RAREST, min(chernoff, math.log(up(variation)), -1e-3))
    for _ in range(TRIES):
        survey = Survey(known, sharp - log_delta + uses, above=place, apart=up(variation))
        size = max(place, math.sqrt(survey.spread[0]) / 4)
        contour = survey.contour(place, log_delta, least=NEXT * place, sharp=sharp, moved=moved * size)
        if contour is None:
            return None
        answer = Inverted(known, contour, variation=variation)
        best = Bracket(max(best.lower, answer.below(epsilon)), min(best.upper, answer.above(epsilon)))
        if best.upper - best.lower <= tolerance * max(1.0, -log_delta) * best.upper or best.upper == 0:
            break
        log_delta = max(RAREST, min(log_delta - 1, log_ratio(best.upper, Fraction(1))))
        moved /= 4
    return best
