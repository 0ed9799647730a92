"""Name and shame: a worthless mechanism that shows what δ allows, and the warning that follows. For teaching only."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Data
from sfumato.core.law import FiniteLaw
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.exact import BITS, Extended, Number, ball, precision, probability, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.per_person import counting_metric, rows_on_one_side
from sfumato.mechanisms.randomized_response import options_of, places_of
from sfumato.noise.bernoulli import Bernoulli
from sfumato.release.record import Failure, How

PROOF = "proofs/name_and_shame.md#loss"


@constructor
def name_and_shame(delta: Number) -> Partial[Measurement]:
    """Publishes each row in the clear with probability delta: private on paper, a disgrace in fact. Never use it.

    Takes:      a column of categories under a distance that counts rows
    Gives:      the published rows, sorted by category
    Guarantee:  Approx(0, 1 − (1 − delta)^rows)  (proofs/name_and_shame.md#loss)
    Cost:       one coin a row

    >>> from sfumato.core.space import vector
    >>> (vector(["sick", "well"]) >> name_and_shame("0.01")).map(1)
    Approx(epsilon=0.0, delta=0.01)
    """
    chance = probability(delta, "delta")

    def build(space: Space) -> Measurement:
        domain, metric = counting_metric(space, "name_and_shame")
        options = options_of(domain.element)
        return Measurement(
            source=space,
            measure=Approx,
            function=lambda data, entropy: _publish(data, options, chance, entropy),
            privacy_map=lambda d_in: shaming_loss(chance, rows_on_one_side(metric, domain.size, d_in)),
            how=How(
                "name and shame (for teaching, never for data)",
                (("delta", f"{up(chance):.3g}"),),
                proofs=(PROOF,),
                failure=Failure.DISTINGUISHING,
            ),
            law=lambda data: _published_law(data, options, chance),
        ).recorded()

    return Partial(f"name_and_shame({delta})", build)


@guarantee(claim="(0, 1 − (1 − delta)^rows)", proof=PROOF, reviewed="9bee8bb21b31")
def shaming_loss(chance: Fraction, rows: Extended) -> Approx:
    """The loss of publishing every row with a probability, when ``rows`` rows differ on each side."""
    return Approx(0, int(chance > 0)) if rows == math.inf else Approx(0, 1 - (1 - chance) ** math.floor(rows))


def _publish(data: Data, options: Sequence[Hashable], chance: Fraction, entropy: Entropy) -> tuple[Hashable, ...]:
    places = places_of(data, options)
    shown = Bernoulli(chance).samples(len(places), entropy).astype(np.bool_)
    return tuple(options[place] for place in np.sort(places[shown]).tolist())


def _published_law(data: Data, options: Sequence[Hashable], chance: Fraction) -> FiniteLaw:
    masses: dict[tuple[int, ...], arb] = {(): arb(1)}
    with precision(BITS):
        for place in places_of(data, options).tolist():
            longer = {before: mass * ball(1 - chance) for before, mass in masses.items()}
            for before, mass in masses.items():
                after = tuple(sorted((*before, place)))
                longer[after] = longer.get(after, arb(0)) + mass * ball(chance)
            masses = longer
    return FiniteLaw({tuple(options[place] for place in places): mass for places, mass in masses.items()})
