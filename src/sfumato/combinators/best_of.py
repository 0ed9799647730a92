"""Private selection from private candidates: a measurement is run a secret number of times, and the best outcome kept.

Running something many times and keeping the best costs as much as all the runs, unless their number is random and
secret: then it costs about three times one run, however many there are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from sfumato.accounting.compose import total
from sfumato.accounting.events import PoissonRuns, RepeatAndSelect, Runs, Stated, TruncatedNegativeBinomial
from sfumato.accounting.losses.measures import Loss
from sfumato.combinators.composition import joint_how
from sfumato.combinators.requirements import Component, require_theorem
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw, Law, finite_law
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial, start
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import BITS, Number, ball, precision
from sfumato.guarantee import guarantee
from sfumato.noise.negative_binomial import TruncatedNegativeBinomial as NegativeBinomialNumber
from sfumato.noise.poisson import Poisson as PoissonNumber

RunNumber = NegativeBinomialNumber | PoissonNumber

PROOF = "proofs/repeat_and_select.md#wrapper"

FAILED = (-math.inf, None)
"""What a run counts for that raises, or whose outcome has no score: the worst score, and nothing."""

LONGEST = 10_000
"""A Decimal of a larger exponent, written out, could fill all memory: it is no score."""


@constructor
def best_of(measurement: Component, *, runs: Runs | None = None, stop: Number | None = None) -> Partial[Measurement]:
    """Runs a measurement a random number of times and releases the outcome with the highest score, and nothing else.

    How often it ran, what lost, and how long it took must stay secret. A run that raises, or whose outcome is not a
    pair that begins with a number, counts as a candidate of the worst score: (−inf, None). Of equal scores the first
    is kept. If you always get (−inf, None), try the scoring function on a made-up outcome: its errors are not shown.

    Takes:      a measurement in Pure, Approx or Renyi whose outcome is a pair (score, payload); the law of the number
                of runs: ``stop`` for the geometric one, of mean 1/stop, or ``runs``, such as sf.events.PoissonRuns(10)
    Gives:      the best pair; None where a Poisson number of runs is 0
    Guarantee:  Pure: less than (2 + shape) ε, so 3ε for the geometric law; Poisson: ε + mean · tanh(ε / 2)
                (proofs/repeat_and_select.md#wrapper)
    Cost:       that of all runs

    >>> from sfumato.core.space import scalar
    >>> from sfumato.mechanisms.additive import laplace
    >>> scored = scalar(int) >> laplace(scale=2) >> (lambda answer: (answer, "payload"))
    >>> best = scored.source >> best_of(scored, stop=0.01)
    >>> round(float(best.map(1).epsilon), 3)
    1.479
    """
    law = _law_of_runs(runs, stop)
    number = number_of(law)

    def build(space: Space) -> Measurement:
        inner = require_theorem(start(space, measurement), "best_of")
        run, kind = never_failing(inner), inner.measure
        how = joint_how("best of a random number of runs", [inner], PROOF)
        return Measurement(
            source=space,
            measure=kind,
            function=lambda data, entropy: _best_run(run, number, data, entropy),
            privacy_map=lambda d_in: selected_loss(inner.map(d_in), law),
            event=lambda d_in: RepeatAndSelect(inner.event_at(d_in), law),
            how=replace(how, parameters=(("runs", law_text(law)), ("measurement", str(inner.how)))),
            law=_selected_law(run, number),
        ).recorded()

    return Partial("best_of(…)", build)


@guarantee(claim="what the accountant says of the best of this law of runs", proof=PROOF, reviewed="558e141e53b1")
def selected_loss(once: Loss, runs: Runs) -> Loss:
    """The loss of the best run, from that of one run."""
    return total(RepeatAndSelect(Stated(once), runs), type(once))


@guarantee(
    claim="the outcome if it is a pair that begins with a number, else the worst candidate; a function of the outcome",
    proof="proofs/repeat_and_select.md#failed",
    reviewed="8d2c4b45a4f8",
)
def as_candidate(outcome: Data) -> tuple[int | float | Fraction, Data]:
    """Reads an outcome as a candidate, (score, payload)."""
    rows = isinstance(outcome, np.ndarray) and outcome.ndim > 0
    if not (rows or isinstance(outcome, tuple | list)) or len(outcome) != 2:
        return FAILED
    score = _plain(outcome[0])
    if not isinstance(score, int | float | Fraction) or score != score:
        return FAILED
    return score, outcome[1]


def _plain(score: Data) -> Data:
    """Converts a number of NumPy or a Decimal to one of Python, exactly; NaN for what is none; leaves all else."""
    if isinstance(score, np.ndarray) and score.ndim == 0:
        score = score[()]
    plain = score.item() if isinstance(score, np.generic) else score
    if isinstance(plain, Decimal) and plain.is_finite() and plain and abs(plain.adjusted()) > LONGEST:
        return math.nan
    if not isinstance(plain, np.floating | Decimal):  # a long double is its own item
        return plain
    try:
        return Fraction(*plain.as_integer_ratio())
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf if plain > 0 else -math.inf


@guarantee(
    claim="one run of the measurement, whatever it raises an outcome like others",
    proof="proofs/repeat_and_select.md#failed",
    reviewed="56d607b4a255",
)
def never_failing(measurement: Measurement) -> Measurement:
    """Wraps a measurement so that it never fails: its outcome is a candidate, the worst one where it raises."""

    def run(data: Data, entropy: Entropy) -> Data:
        try:
            return as_candidate(measurement.function(data, entropy))
        except Exception:  # which run failed, and how, may depend on the data
            return FAILED

    law = measurement.law
    return replace(
        measurement,
        function=run,
        law=None if law is None else lambda data: finite_law(law(data)).through(as_candidate),
        error=None,
    )


def _best_run(run: Measurement, number: RunNumber, data: Data, entropy: Entropy) -> Data:
    best = None
    for _ in range(number.sample(entropy)):
        candidate = run.function(data, entropy)
        if best is None or candidate[0] > best[0]:
            best = candidate
    return best


def _selected_law(run: Measurement, number: RunNumber) -> Callable[[Data], Law] | None:
    own = run.law
    return None if own is None else lambda data: selected_law(finite_law(own(data)), number)


@guarantee(
    claim="P(y) = (f(F(s)) - f(F(s-))) Q(y) / Q(score = s), f the generating function of the number of runs",
    proof="proofs/repeat_and_select.md#ties",
    reviewed="7162ae4a7680",
)
def selected_law(once: FiniteLaw, number: RunNumber) -> FiniteLaw:
    """The law of the best of a random number of candidates, from the law of one."""
    ranked: dict[int | float | Fraction, list[Hashable]] = {}
    for outcome in once.probabilities:
        ranked.setdefault(_score(outcome), []).append(outcome)
    with precision(BITS):
        below = ball(0)
        chances: dict[Hashable, Any] = {None: number.mean_power(below)} if number.support[0] == 0 else {}
        for score in sorted(ranked):
            tied = [(outcome, once.probability(outcome)) for outcome in ranked[score]]
            mass = sum((chance for _, chance in tied), ball(0))
            chosen = number.mean_power(below + mass) - number.mean_power(below)
            chances |= {candidate: chosen if len(tied) == 1 else chosen * chance / mass for candidate, chance in tied}
            below += mass
    return FiniteLaw(chances)


def _score(candidate: Data) -> int | float | Fraction:
    return as_candidate(candidate)[0]


def _law_of_runs(runs: Runs | None, stop: Number | None) -> Runs:
    if (runs is None) == (stop is None):
        raise BadArgument(
            "how often to run", "given once: stop=0.01, or runs=sf.events.PoissonRuns(10)", Several(runs, stop)
        )
    if stop is not None:
        return TruncatedNegativeBinomial(1, stop)
    if not isinstance(runs, Runs):
        raise BadArgument("runs", "a law of runs such as sf.events.PoissonRuns(10)", runs)
    return runs


def number_of(runs: Runs) -> RunNumber:
    """The distribution from which the number of runs is drawn, exactly."""
    match runs:
        case TruncatedNegativeBinomial(shape=shape, stop=stop):
            return NegativeBinomialNumber(shape, stop)
        case PoissonRuns(mean=mean):
            return PoissonNumber(mean)
    raise BadArgument("runs", "sf.events.TruncatedNegativeBinomial(…) or sf.events.PoissonRuns(…)", runs)


def law_text(runs: Runs) -> str:
    """Names a law of runs, with its numbers."""
    match runs:
        case TruncatedNegativeBinomial(shape=shape, stop=stop):
            return f"negative binomial, shape {float(shape):.3g}, stop {float(stop):.3g}"
        case PoissonRuns(mean=mean):
            return f"Poisson, mean {float(mean):.3g}"
    return type(runs).__name__
