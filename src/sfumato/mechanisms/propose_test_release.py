"""Propose, test, release: an answer that is given only where a private test finds the data far from unstable."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from flint import arb

from sfumato.accounting.facts import loss_of
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.core.domains import Custom, Data, Domain, Integers
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, DatasetMetric, Hamming
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.core.steps import step_of
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, CannotJoin, NoProvenRoute
from sfumato.exact import BITS, Extended, Number, ball, log_up, positive, precision, probability, up, upper
from sfumato.guarantee import guarantee
from sfumato.mechanisms.per_person import counting_metric, public_key, rows_on_one_side
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.release.claim import Claim, required
from sfumato.release.record import Failure, How
from sfumato.transforms.mode_gap import gap_map, key_order, lead, most_frequent, tally

GENERAL_PROOF = "proofs/propose_test_release.md#general"
MODE_PROOF = "proofs/propose_test_release.md#mode"


@final
@dataclass(frozen=True)
class StabilityTest:
    """The private test: the distance to instability plus noise must exceed a threshold."""

    noise: Noise
    threshold: int

    @classmethod
    def read(cls, scale: Number, delta: Number) -> StabilityTest:
        """Makes the test that passes at distance 0 with probability at most δ."""
        noise = DiscreteLaplace(positive(scale, "scale"))
        allowed = probability(delta, "delta")
        if not 0 < allowed < 1:
            raise BadArgument("delta", "greater than 0 and less than 1", delta)
        return cls(noise, noise.quantile(1 - allowed))

    def passes(self, distance: int, entropy: Entropy) -> bool:
        """Draws whether data at a distance passes."""
        return distance + self.noise.sample(entropy) > self.threshold

    def chance(self, distance: int) -> arb:
        """Encloses the probability that data at a distance passes."""
        return self.noise.upper_tail(self.threshold - distance + 1)

    @property
    def false_pass(self) -> Fraction:
        """The probability that data at distance 0 passes, rounded up; strictly above, as the test is."""
        return Fraction(upper(lambda: self.chance(0)))


@guarantee(
    claim="(ε₁ + ε₂, max(δ₁, δ₂)): ε₁ of the test, δ₁ its chance to pass at distance 0, (ε₂, δ₂) of a stable release",
    proof=GENERAL_PROOF,
    reviewed="f07f3b5c4598",
)
def tested_loss(test: Extended, false_pass: Fraction, release: Approx) -> Approx:
    """The loss of a tested release between neighbours, whatever the test says."""
    return Approx(test + release.epsilon, max(false_pass, release.delta))


@guarantee(
    claim="(kε, δ (e^(kε) − 1) / (e^ε − 1)) over a path of k steps; nothing where there is none",
    proof="proofs/propose_test_release.md#group",
    reviewed="637bbf313af3",
)
def over_steps(once: Approx, steps: Extended, *, path: bool = True) -> Approx:
    """The loss over a path of neighbours, from the loss of one step."""
    if steps == 0:
        return Approx(0, 0)
    if steps == 1:
        return once
    if not path:
        return Approx(math.inf, 1)
    if steps == math.inf or once.epsilon == math.inf:
        return Approx(math.inf, 1 if once.delta else 0)
    epsilon, count = Fraction(once.epsilon), Fraction(steps)
    if once.delta == 0 or epsilon == 0:
        return Approx(count * epsilon, min(Fraction(1), count * once.delta))
    if (count - 1) * epsilon >= log_up(1 / once.delta):
        return Approx(count * epsilon, 1)
    grown = upper(lambda: ball(once.delta) * ball(count * epsilon).expm1() / ball(epsilon).expm1())
    return Approx(count * epsilon, min(Fraction(1), Fraction(grown)))


@constructor
def propose_test_release(
    distance: Transformation, release: Measurement, *, scale: Number, delta: Number, claim: Claim | None = None
) -> Measurement:
    """Releases only where a noisy distance to instability exceeds a threshold, and gives None otherwise.

    Takes:      rows; a transformation to the distance to instability (a whole number); a measurement whose loss holds
                between any data set at distance 1 or more and all its neighbours, which the claim vouches for
    Gives:      what the measurement gives, or None; the loss is the same in both cases
    Guarantee:  Approx(ε₁ + ε₂, max(δ₁, δ₂)) between neighbours, ε₁ = stability_map of the distance / scale, δ₁ ≤ delta
                (proofs/propose_test_release.md#general)
    Cost:       that of both parts
    """
    vouched = required(claim, "that the release keeps its loss wherever the distance to instability is at least 1")
    if distance.source != release.source:
        raise CannotJoin(distance.source, release.source, "the space of the test")
    whole = isinstance(distance.target.domain, Integers) and step_of(distance.target.domain) == 1
    if not whole or not isinstance(distance.target.metric, Absolute):
        raise BadArgument(
            "the distance to instability", "a whole number under the absolute distance", str(distance.target)
        )
    test, metric = StabilityTest.read(scale, delta), distance.source.metric
    size, single = _size(distance.source.domain), Fraction(distance.source.closest)
    if not isinstance(metric, AddRemove | ChangeOne | Hamming):
        raise BadArgument(
            "what propose_test_release() works on", "rows under a distance that counts rows", str(distance.source)
        )
    tested = _gated(distance, release, test, as_approx(release.map(single)), single, metric, size)
    how = How(
        "propose-test-release",
        (("scale", f"{up(positive(scale, 'scale')):.6g}"), ("threshold", str(test.threshold)), *release.how.parameters),
        steps=(*distance.steps, *release.how.steps, release.how.mechanism),
        claims=(vouched, *distance.claims, *release.how.claims),
        proofs=(GENERAL_PROOF, *distance.proofs, *release.how.proofs),
        failure=Failure.DISTINGUISHING,
    )
    return replace(tested, how=how).recorded()


def _gated(
    distance: Transformation,
    release: Measurement,
    test: StabilityTest,
    once: Approx,
    single: Fraction,
    metric: DatasetMetric,
    size: int | None,
) -> Measurement:
    first = loss_of(test.noise, Pure, distance.map(single))
    neighbours = tested_loss(first.epsilon, test.false_pass, once)  # type: ignore[attr-defined]  # loss_of gives a Pure here
    inner = release.law

    def draw(data: Data, entropy: Entropy) -> Data:
        passed = test.passes(distance.function(data, entropy), entropy)
        return release.function(data, entropy) if passed else None

    def law(data: Data) -> Law:
        return GatedLaw(test.chance(distance(data)), inner(data)) if inner is not None else FiniteLaw({})

    return Measurement(
        source=distance.source,
        measure=Approx,
        function=draw,
        privacy_map=lambda d_in: over_steps(
            neighbours, rows_on_one_side(metric, size, d_in), path=walkable(distance.source.domain)
        ),
        how=release.how,
        law=law if inner is not None else None,
    )


@final
@dataclass(frozen=True)
class GatedLaw(Law):
    """The distribution of an outcome that is only released when a test passes, and None otherwise."""

    passing: arb
    outcome: Law

    def probability(self, outcome: Data) -> arb:
        with precision(BITS):
            if outcome is not None:
                return self.passing * self.outcome.probability(outcome)
            # What passes may be None too: the most frequent of no values, or a second test that fails.
            empty = self.outcome.probability(None) if isinstance(self.outcome, FiniteLaw | GatedLaw) else arb(0)
            return 1 - self.passing + self.passing * empty

    def outcomes(self, missed: Fraction) -> Iterable[Data]:
        return (None, *self.outcome.outcomes(missed))


@constructor
def private_mode(scale: Number, *, delta: Number) -> Partial[Measurement]:
    """Releases the most frequent value, of a set that need not be known, where it leads by enough; None otherwise.

    Takes:      a column of texts, categories or whole numbers, under a distance that counts rows
    Gives:      the most frequent value, or None
    Guarantee:  Approx(1 / scale, at most delta) for a row added or removed, Approx(2 / scale, at most delta) for a row
                changed  (proofs/propose_test_release.md#mode)
    Cost:       one pass

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> private_mode(scale=1, delta=1e-6)).map(1).delta <= 1e-6
    True
    """
    test = StabilityTest.read(scale, delta)

    def build(space: Space) -> Measurement:
        domain, metric = counting_metric(space, "private_mode")
        order = key_order(domain.element, "private_mode")
        public = public_key(domain.element, order)
        margin = instability_margin(public_size=domain.size is not None)
        distance = Transformation(
            space,
            Space(Integers(), Absolute()),
            lambda data, _: lead(tally(data)) - margin,
            lambda d_in: gap_map(d_in, metric=metric, size=domain.size),
        )
        # Only ever run behind the test: where the distance is at least 1, all neighbours have the same mode.
        mode = Measurement(
            space,
            Approx,
            lambda data, _: public(most_frequent(tally(data), order)),
            lambda _: Approx(0, 0),
            How(
                "private mode",
                (("scale", f"{up(positive(scale, 'scale')):.6g}"), ("threshold", str(test.threshold))),
                proofs=(MODE_PROOF, GENERAL_PROOF),
                failure=Failure.DISTINGUISHING,
            ),
            lambda data: FiniteLaw({most_frequent(tally(data), order): arb(1)}),
        )
        return _gated(distance, mode, test, Approx(0, 0), Fraction(space.closest), metric, domain.size).recorded()

    return Partial(f"private_mode(scale={scale}, delta={delta})", build)


@guarantee(
    claim="a lead of margin + 1 or more is kept, by the same value, in every neighbour",
    proof=MODE_PROOF,
    reviewed="b821be99f198",
)
def instability_margin(*, public_size: bool) -> int:
    """The largest lead of the most frequent value that a step to a neighbour may undo; 2 for an exchange."""
    return 2 if public_size else 1


def as_approx(loss: Loss) -> Approx:
    """Reads a pure or approximate loss as an approximate one."""
    match loss:
        case Approx():
            return loss
        case Pure():
            return Approx(loss.epsilon, 0)
        case _:
            raise NoProvenRoute(f"a {type(loss).__name__} loss cannot be stated as one ε and δ here; convert it first.")


def walkable(domain: Domain) -> bool:
    """Tells whether a path of neighbours, all of them members, joins any two members; not known of a custom domain."""
    return not isinstance(domain, Custom)


def _size(domain: Domain) -> int | None:
    size: int | None = getattr(domain, "size", None)
    return size
