"""Running time as an outcome: a measurement that takes longer on some data is padded with truncated Laplace noise.

Waiting is done by the operating system, which may wake up late but not early; what else a machine gives away (caches,
load, the time before and after the measurement) is outside this wrapper.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

from sfumato.accounting.facts.truncated_laplace import truncated_laplace_approx, truncation_reach
from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import DatasetMetric
from sfumato.core.plan import constructor
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.exact import Distance, Number, positive, probability, rational_up, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.propose_test_release import as_approx, walkable
from sfumato.noise.bounded import Truncated
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.claim import Claim, required
from sfumato.release.record import Failure

PROOF = "proofs/timing.md#padding"

NANOSECONDS = 10**9

TICK = Fraction(1, 10**6)
"""The grid of waiting times: a microsecond."""


@final
@dataclass(frozen=True)
class Clock:
    """Tells the time in nanoseconds and waits; passed in, so that tests need not wait."""

    now: Callable[[], int] = time.perf_counter_ns
    wait: Callable[[float], None] = time.sleep

    def wait_until(self, moment: int) -> None:
        """Waits until a moment has come, however often the system wakes up early."""
        while (left := moment - self.now()) > 0:
            self.wait(left / NANOSECONDS)


@final
@dataclass(frozen=True)
class Padding:
    """A random waiting time: reach plus truncated Laplace noise, in ticks, never negative.

    ``sensitivity`` is how far, in ticks, the running times on neighbours may be apart.
    """

    noise: Truncated
    sensitivity: int

    @classmethod
    def read(cls, *, sensitivity: Fraction, scale: Fraction, delta: Fraction) -> Padding:
        """Makes the shortest padding of a scale that keeps a δ; all times in seconds."""
        apart, size = math.ceil(sensitivity / TICK), scale / TICK
        reach = truncation_reach(scale=size, shift=apart, delta=delta)
        return cls(Truncated.within(DiscreteLaplace(size), radius=reach), apart)

    @property
    def longest(self) -> Fraction:
        """The longest possible padding, in seconds; half of it is the average."""
        return 2 * self.noise.high * TICK

    def ticks(self, entropy: Entropy) -> int:
        """Draws a waiting time."""
        return self.noise.high + self.noise.sample(entropy)


@constructor
def padded(
    measurement: Measurement,
    *,
    sensitivity_seconds: Number,
    scale_seconds: Number,
    delta: Number,
    claim: Claim | None = None,
    clock: Clock | None = None,
) -> Measurement:
    """Waits a random time before it answers, so that the running time may be seen too.

    Takes:      a measurement with a pure or approximate loss; a bound on how far apart the running times on neighbours
                are when the outcome is the same, which the claim vouches for; the scale and the δ of the padding
    Gives:      the same outcome, later
    Guarantee:  the loss of the measurement plus Approx(t / scale, δ of the padding), for the outcome *and* the time it
                took  (proofs/timing.md#padding)
    Cost:       a wait of about scale · ln(1 / delta)

    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import vector
    >>> from sfumato.mechanisms.name_and_shame import name_and_shame
    >>> slow = vector(["a", "b"]) >> name_and_shame(0)
    >>> t = padded(slow, sensitivity_seconds=0.01, scale_seconds=0.01, delta=1e-6, claim=claim("measured"))
    >>> t.map(1).epsilon
    Fraction(1, 1)
    """
    vouched = required(claim, "that the running times on neighbours differ by no more than sensitivity_seconds")
    if measurement.interactive:
        raise NoProvenRoute(
            "padded() hides how long one outcome takes, and this measurement gives something to ask again and again: "
            "the time of its later answers would not be hidden. Pad a measurement that answers at once."
        )
    if not isinstance(measurement.source.metric, DatasetMetric):
        raise BadArgument("what padded() works on", "a measurement on rows of data", str(measurement.source))
    padding = Padding.read(
        sensitivity=positive(sensitivity_seconds, "sensitivity_seconds"),
        scale=positive(scale_seconds, "scale_seconds"),
        delta=_positive_probability(delta),
    )
    watch, path = clock or Clock(), walkable(measurement.source.domain)
    shown = (
        ("padding scale", f"{up(positive(scale_seconds, 'scale_seconds')):.3g} s"),
        ("longest padding", f"{up(padding.longest):.3g} s"),
    )
    return replace(
        measurement,
        measure=Approx,
        function=lambda data, entropy: _run(measurement, padding, watch, data, entropy),
        privacy_map=lambda d_in: as_approx(measurement.privacy_map(d_in)).then(padding_loss(padding, d_in, path=path)),
        event=None,
        how=replace(
            measurement.how,
            parameters=(*measurement.how.parameters, *shown),
            claims=(*measurement.how.claims, vouched),
            proofs=(*measurement.how.proofs, PROOF),
            failure=Failure.DISTINGUISHING,
        ),
    ).recorded()


def _run(measurement: Measurement, padding: Padding, clock: Clock, data: Data, entropy: Entropy) -> Data:
    # Drawn before the clock starts, so that the time to draw is no part of what is hidden.
    wait = padding.ticks(entropy)
    start = clock.now()
    outcome = measurement.function(data, entropy)
    clock.wait_until(start + release_moment(clock.now() - start, wait))
    return outcome


@guarantee(
    claim="the running time rounded up to ticks, plus the padding: times d apart come out at most ceil(d / tick) apart",
    proof="proofs/timing.md#ticks",
    reviewed="cc6ecc590aa2",
)
def release_moment(elapsed: int, wait: int) -> int:
    """How long after the start the outcome may leave, in nanoseconds."""
    tick = int(TICK * NANOSECONDS)
    return (-(-elapsed // tick) + wait) * tick


@guarantee(
    claim="the loss of truncated Laplace noise at a shift of d_in times the sensitivity, along a path; else nothing",
    proof=PROOF,
    reviewed="6d8515a75f62",
)
def padding_loss(padding: Padding, d_in: Distance, *, path: bool = True) -> Approx:
    """What the time of the release tells, between data sets d_in neighbours apart."""
    steps = rational_up(d_in)
    if steps == 0:
        return Approx(0, 0)
    if steps == math.inf or (steps > 1 and not path):
        return Approx(math.inf, 1)
    return truncated_laplace_approx(padding.noise, steps * padding.sensitivity)


def _positive_probability(delta: Number) -> Fraction:
    share = probability(delta, "delta")
    if not 0 < share < 1:
        raise BadArgument("delta", "greater than 0 and less than 1", delta)
    return share
