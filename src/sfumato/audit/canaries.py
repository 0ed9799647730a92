"""Auditing one run: canaries are put in or left out by fair coins, and the run's own scores guess which were in.

For models and synthesisers, which are too slow to be run a thousand times. Steinke, Nasr and Jagielski, "Privacy
auditing with one (1) training run", 2023 (arXiv 2305.08846); what is proved here is in proofs/audit.md#one-run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, final

import numpy as np
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.losses.pld import gaussian_epsilon_bracket
from sfumato.accounting.meaning.proportions import least_probability
from sfumato.audit.claims import certainty, line_name, promised
from sfumato.audit.guesses import shown_epsilon, shown_shift
from sfumato.audit.record import Audit, Line
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Extended, Number, integer, log_down, text
from sfumato.guarantee import guarantee

STEP = 4
"""Unless said otherwise, guesses are made of all canaries, of a quarter of them, of a sixteenth, and so on."""

FEWEST = 16
"""Unless said otherwise, no fewer guesses than this are tried, but for fewer canaries."""


class Trainer(Protocol):
    """One run to be audited: of a model's training or a synthesiser, with some canaries among its data.

    It gives a score for each canary, larger where what came out of the run looks as if the canary had been in. The
    scores may use whatever the run makes public, and must not look at which canaries were in.
    """

    def __call__(self, included: Sequence[bool], entropy: Entropy) -> Sequence[float]:
        """Runs with the canaries that are included, and scores all of them."""


@final
@dataclass(frozen=True)
class Canaries:
    """Which of some canaries are in the data: one fair coin each."""

    included: tuple[bool, ...]

    def __post_init__(self) -> None:
        if not self.included or not all(isinstance(coin, bool) for coin in self.included):
            raise BadArgument("canaries", "drawn by sf.audit.canaries(count)", type(self.included).__name__)

    def __len__(self) -> int:
        return len(self.included)


def canaries(count: int, *, entropy: Entropy | None = None) -> Canaries:
    """Draws which canaries are put into the data: each with probability one half, independently.

    Each canary must be one unit of privacy of its own, chosen before anything is seen of the data or the run.

    >>> from sfumato.entropy import ReplayEntropy
    >>> len(canaries(1000, entropy=ReplayEntropy(1)))
    1000
    """
    number = integer(count, "count", least=1)
    coins = (entropy or system()).octets((number + 7) // 8)
    return Canaries(tuple(bool(coins[place >> 3] >> (place & 7) & 1) for place in range(number)))


@guarantee(
    claim="at most epsilon, where one run is (epsilon, delta)-private for one canary, unless an event of probability "
    "1 - confidence has happened",
    proof="proofs/audit.md#one-run",
    reviewed="eb54d25cf8fd",
)
def guessed_epsilon(right: int, guesses: int, count: int, confidence: Fraction, delta: Fraction) -> Extended:
    """Bounds ε from below by ``right`` guesses of ``guesses``, about some of ``count`` canaries.

    >>> round(float(guessed_epsilon(100, 100, 1000, Fraction(95, 100), Fraction(0))), 3)
    3.493
    >>> 3.48 < guessed_epsilon(100, 100, 1000, Fraction(95, 100), Fraction(1, 10**5)) < 3.493
    True
    """
    best = shown_epsilon(right, guesses, count, 1 - confidence, delta) if delta > 0 else Fraction(0)
    for power in range(right.bit_length() if delta > 0 else 1):
        excess = 2**power  # of the guesses that are right by more than their share, this many are allowed for, less one
        missed = 1 - confidence - count * delta / (2 * excess)
        if missed > 0:
            chance = least_probability(right - excess + 1, guesses, 1 - missed)
            best = max(best, log_down(chance / (1 - chance))) if 2 * chance > 1 else best
    return best


def one_run(
    scores: Iterable[float],
    canaries: Canaries | Sequence[bool] | NDArray[np.bool_],
    *,
    claim: Loss | Number | None = None,
    delta: Number = 0,
    confidence: Number = "0.95",
    guesses: int | Sequence[int] | None = None,
    subject: str = "one run",
) -> Audit:
    """Finds a lower bound on ε at δ from the scores that one run gives to canaries.

    Half of the ``guesses`` say that the canaries with the highest scores were in, half that those with the lowest were
    out; of the others nothing is said. Several numbers of guesses are all tried, and share the confidence. Which of the
    ``canaries`` were in must have been drawn by fair coins, here or elsewhere.

    >>> drawn = Canaries((True, False) * 50)
    >>> audit = one_run([float(coin) for coin in drawn.included], drawn, guesses=100)
    >>> round(float(audit.lines[0].low), 3)
    3.493
    """
    sure, (epsilon, missed) = certainty(confidence), promised(claim, delta)
    drawn = _read(canaries)
    order = _order(scores, drawn)
    numbers = _numbers(guesses, len(drawn))
    share = 1 - (1 - sure) / len(numbers)
    hits = {number: _right(order, drawn, number) for number in numbers}
    bounds = {number: guessed_epsilon(hits[number], number, len(drawn), share, missed) for number in numbers}
    best = max(numbers, key=lambda number: bounds[number])
    shift = shown_shift(hits[best], best, len(drawn), 1 - share)
    return Audit(
        subject=subject,
        method="guesses which canaries were in one run",
        lines=(Line(line_name(missed), epsilon, bounds[best]),),
        facts=(
            ("canaries", f"{len(drawn):,}"),
            ("guesses", f"{best:,}"),
            ("right guesses", f"{hits[best]:,}"),
            ("numbers of guesses tried", f"{len(numbers)}"),
            ("confidence", text(sure)),
            *_if_gaussian(shift, missed),
        ),
    )


def _if_gaussian(shift: Fraction, delta: Fraction) -> tuple[tuple[str, str], ...]:
    """What the guesses say of a run whose whole curve is that of Gaussian noise: more than of any run."""
    if shift == 0:
        return ()
    said = f"μ ≥ {float(shift):.3g}"
    if delta > 0:
        said += f", ε ≥ {float(gaussian_epsilon_bracket(shift**2, delta).lower):.3g}"
    return (("if its noise is Gaussian", said),)


def audit_training(
    train: Trainer,
    count: int,
    *,
    claim: Loss | Number | None = None,
    delta: Number = 0,
    confidence: Number = "0.95",
    guesses: int | Sequence[int] | None = None,
    entropy: Entropy | None = None,
) -> Audit:
    """Audits one run of a trainer or a synthesiser with ``count`` canaries: draws them, runs once, and guesses."""
    if not callable(train):
        raise BadArgument("train", "a function of which canaries are in, and of entropy, that scores them all", train)
    source = entropy or system()
    drawn = canaries(count, entropy=source)
    scores = train(drawn.included, source)
    name = str(getattr(train, "__name__", type(train).__name__))
    return one_run(scores, drawn, claim=claim, delta=delta, confidence=confidence, guesses=guesses, subject=name)


def _read(canaries: object) -> Canaries:
    """Reads which canaries were in: as drawn here, or as a list or an array of booleans."""
    if isinstance(canaries, Canaries):
        return canaries
    if not isinstance(canaries, list | tuple | np.ndarray):
        raise BadArgument("canaries", "drawn by sf.audit.canaries(count), or a list of booleans", type(canaries))
    return Canaries(tuple(bool(coin) if isinstance(coin, np.bool_) else coin for coin in canaries))


def _order(scores: Iterable[float], canaries: Canaries) -> list[int]:
    """The canaries from the lowest score to the highest; what is no number is lowest, and ties go by place."""
    try:
        numbers = np.array([float(score) for score in scores], dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise BadArgument("scores", "one number for each canary", type(scores).__name__) from None
    if len(numbers) != len(canaries):
        raise BadArgument("scores", f"one number for each of the {len(canaries)} canaries", len(numbers))
    places: list[int] = np.argsort(np.where(np.isnan(numbers), -math.inf, numbers), kind="stable").tolist()
    return places


def _numbers(guesses: int | Sequence[int] | None, count: int) -> tuple[int, ...]:
    """Reads how many guesses are made: settled before any score is seen."""
    if guesses is None:
        fewest = min(FEWEST, count)
        return tuple(number for power in range(count.bit_length()) if (number := count // STEP**power) >= fewest)
    wanted = guesses if isinstance(guesses, Sequence) else [guesses]
    numbers = tuple(dict.fromkeys(integer(number, "guesses", least=1) for number in wanted))
    if not numbers or max(numbers) > count:
        raise BadArgument("guesses", f"from 1 to the number of canaries, {count}", guesses)
    return numbers


def _right(order: Sequence[int], canaries: Canaries, guesses: int) -> int:
    """Counts the right guesses: the lower half of them says out, the upper half in."""
    out = guesses // 2
    lowest, highest = order[:out], order[len(order) - (guesses - out) :]
    hits = sum(canaries.included[place] for place in highest)
    return hits + sum(not canaries.included[place] for place in lowest)
