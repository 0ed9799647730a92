"""Randomized response gone wrong: a list of options with one of them twice, or a truth that is rarer than a lie.

Both make the report tell more than the formula ε = ln(p (t − 1) / (1 − p)) says. `randomized_response` refuses both.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import final

from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, down, integer, log_up, probability, up
from sfumato.release.progress import Progress, reporting


@final
@dataclass(frozen=True)
class Broken:
    """What a broken response claims and what is true of it; probabilities of the reports are by the truth.

    ``claimed`` is the ε of the formula, which may be negative; ``actual`` is the largest log-ratio of the probability
    of a report under two truths. ``accuracy`` is the exact chance that the best guess is right.
    """

    claimed: float
    actual: float
    accuracy: Fraction
    reports: Mapping[Hashable, Mapping[Hashable, Fraction]] = field(repr=False)


def broken_response(
    options: Sequence[Hashable],
    *,
    p: Number,
    trials: int = 1000,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Guesses the truth from the report of a response that does not check its options or its p (P1-168).

    The response tells the truth with probability p, and else draws from the listed options that are not the truth.
    The guess is the truth under which the report is likeliest; the baseline is a guess without the report.

    >>> broken_response(["A", "A", "B"], p="1/3", trials=10).found.accuracy
    Fraction(2, 3)
    """
    if not isinstance(options, Sequence):
        raise BadArgument("options", "a list", type(options).__name__)
    distinct, truthful = tuple(dict.fromkeys(options)), probability(p, "p")
    if len(distinct) < 2:
        raise BadArgument("options", "at least two different ones", len(distinct))
    laws = {truth: _reports(options, truth, truthful) for truth in distinct}
    guess = {report: max(distinct, key=lambda truth: laws[truth][report]) for report in distinct}
    right = sum(laws[guess[report]][report] for report in distinct) / Fraction(len(distinct))
    source, count = entropy or system(), integer(trials, "trials", least=1)
    hits = 0
    with reporting(progress, "attacking") as tell:
        for done in range(count):
            truth = distinct[source.below(len(distinct))]
            hits += guess[_answer(options, truth, truthful, source)] == truth
            tell(done + 1, count)
    return Attack(
        name="broken randomized response",
        violation=Violation.RECONSTRUCTION,
        against=f"p = {truthful}, {len(options)} options listed, {len(distinct)} different",
        success=Success(hits, count),
        baseline=1 / len(distinct),
        found=Broken(_claimed(len(options), truthful), _actual(laws), right, laws),
    )


def _reports(options: Sequence[Hashable], truth: Hashable, p: Fraction) -> dict[Hashable, Fraction]:
    others = [option for option in options if option != truth]
    law = {option: (1 - p) * Fraction(others.count(option), len(others)) for option in options}
    law[truth] = p
    return law


def _answer(options: Sequence[Hashable], truth: Hashable, p: Fraction, entropy: Entropy) -> Hashable:
    others = [option for option in options if option != truth]
    return truth if entropy.below(p.denominator) < p.numerator else others[entropy.below(len(others))]


def _claimed(listed: int, p: Fraction) -> float:
    """The ε of the formula, although it counts repeated options and lets a logarithm be negative."""
    if p in (0, 1):
        return math.copysign(math.inf, p - Fraction(1, 2))
    odds = p * (listed - 1) / (1 - p)
    return up(log_up(odds)) if odds >= 1 else -down(log_up(1 / odds))


def _actual(laws: Mapping[Hashable, Mapping[Hashable, Fraction]]) -> float:
    most = Fraction(1)
    for report in laws:
        chances = [law[report] for law in laws.values()]
        if min(chances) == 0 < max(chances):
            return math.inf
        if max(chances):
            most = max(most, max(chances) / min(chances))
    return up(log_up(most))
