"""The likelihood-ratio adversary: guesses from one outcome which of two neighbours made it, as well as anyone can."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.meaning.attacker import Attacker, Tested
from sfumato.accounting.meaning.proportions import greatest_probability, least_probability
from sfumato.audit.black_box import own_claim
from sfumato.audit.claims import certainty, promised
from sfumato.audit.drawing import Runs
from sfumato.audit.likelihood import law_score, own_score
from sfumato.audit.outcomes import Pair, read
from sfumato.audit.record import Audit, Line, Witness
from sfumato.audit.testers import scores
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, text
from sfumato.release.progress import Progress, reporting


def adversary(
    measurement: Measurement,
    left: Data,
    right: Data,
    *,
    trials: int = 10_000,
    claim: Loss | None = None,
    delta: Number = 0,
    confidence: Number = "0.99",
    score: Callable[[Any], Any] | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Plays the best adversary: it sees one outcome y, and says "left" where L(y) > 0, the privacy loss of the outcome.

    Half of the ``trials`` are on each data set. Measured are its advantage, which is true alarms less false ones, and
    its true alarms; beside them stand the most that the claim allows to anyone, by its ε and by its trade-off curve.
    L comes from the law of the measurement, where that is known, and from ``score`` where not.

    >>> import sfumato as sf
    >>> coin = sf.scalar(["yes", "no"]) >> sf.randomized_response(p="0.75")
    >>> found = adversary(coin, "yes", "no", entropy=sf.entropy.ReplayEntropy(3))
    >>> 0.45 < found.line("advantage").low < found.line("advantage").claimed
    True
    """
    if not isinstance(measurement, Measurement):
        raise BadArgument("measurement", "a measurement; for other functions there is sf.audit.black_box", measurement)
    sure, count = certainty(confidence), integer(trials, "trials", least=2) // 2
    runs = Runs.of(measurement, left, right, batched=False, entropy=entropy)
    best = _best(own_claim(measurement, left, right) if claim is None else claim, delta)
    with reporting(progress, "guessing") as tell:
        seen = runs.draw(count, lambda done: tell(done, count))
    pair = Pair(read(seen[0], 1), read(seen[1], 1))
    loss = law_score(measurement, left, right, pair) if score is None else own_score(score, batched=False)
    if loss is None:
        raise BadArgument("score", "a function that gives L(y), for the law of such outcomes is not known", score)
    alarms, false_alarms = (int(np.count_nonzero(scores(loss, side) > 0)) for side in (pair.left, pair.right))
    half = 1 - (1 - sure) / 2
    low, high = least_probability(alarms, count, half), greatest_probability(false_alarms, count, half)
    return Audit(
        subject=measurement.how.mechanism,
        method="the likelihood-ratio adversary",
        lines=(
            Line("advantage", best.advantage(), max(low - high, Fraction(0))),
            Line("true alarms", best.detects(high), low),
        ),
        witness=Witness(left, right, "L(y) > 0"),
        facts=(
            ("trials", f"{2 * count:,}"),
            ("true alarms seen", f"{alarms / count:.6g}"),
            ("false alarms seen", f"{false_alarms / count:.6g}"),
            ("advantage seen", f"{(alarms - false_alarms) / count:.6g}"),
            ("confidence", text(sure)),
        ),
    )


def _best(claim: Loss | None, delta: Number) -> Attacker:
    """The best attacker that a claim allows: by its own curve, or by its ε at δ where it has none."""
    if isinstance(claim, get_args(Tested)):
        return Attacker(claim)
    epsilon, missed = promised(claim, delta)
    if epsilon is None:
        raise BadArgument("claim", "a privacy loss such as sf.Pure(1)", claim)
    return Attacker(Approx(epsilon, missed))
