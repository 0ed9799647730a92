"""Keys that nobody listed, at the best chance that (ε, δ) allows: which ones occur, and how often."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise, product
from typing import final

from flint import arb

from sfumato.accounting.losses.measures import Approx
from sfumato.core.domains import Data, Vector
from sfumato.core.law import FiniteLaw, Law
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import DatasetMetric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.exact import BITS, Extended, Number, ball, exp_down, precision, upper
from sfumato.guarantee import guarantee
from sfumato.mechanisms.per_person import counting_metric, public_key, rows_on_one_side
from sfumato.mechanisms.stability import Histogram, HistogramLaw, noisy_counts_above
from sfumato.noise.categorical import Categorical
from sfumato.release.record import Failure, How
from sfumato.transforms.mode_gap import key_order, tally

LOSS_PROOF = "proofs/key_selection.md#loss"

FINENESS = 96
"""Chances are whole numbers of 2⁻⁹⁶ δ or less."""

SPARED = Fraction(1, 1 << 40)
"""The share of δ kept back for what rounding to the grid may cost."""

LONGEST = 1 << 17
"""The most values that the noise on a count may have."""


@guarantee(
    claim="entry n is the largest whole number that ratio · before + part allows, and whole − (whole − before − part) "
    "/ ratio; it ends at whole",
    proof="proofs/key_selection.md#optimal",
    reviewed="5f1825e1ed30",
)
def keep_chances(ratio: Fraction, *, part: int, whole: int) -> tuple[int, ...]:
    """The best chances to keep a key of 0, 1, 2, … rows, up to certainty, in parts of a whole."""
    top, bottom = ratio.numerator, ratio.denominator
    chances = [0]
    while chances[-1] < whole:
        before = chances[-1]
        dropped = -(-max(0, whole - before - part) * bottom // top)
        chances.append(min(top * before // bottom + part, whole - dropped))
        if len(chances) > LONGEST:
            must = "larger for each row: noise for an ε this small would be too long for a table"
            raise BadArgument("loss", must, "less than that")
    return tuple(chances)


@guarantee(
    claim="δ at exp(ε) = ratio: the largest hockey-stick divergence, either way, between a count and the next, of what "
    "is shown of it; weights[n − 1] is the mass of the noise that lifts n to the least count shown",
    proof="proofs/key_selection.md#one-row",
    reviewed="5cba1608bbe6",
)
def one_row_delta(weights: tuple[int, ...], ratio: Fraction) -> Fraction:
    """The exact δ of one row, for noise with masses that are whole numbers over their sum."""
    top, bottom = ratio.numerator, ratio.denominator
    masses = (0, *weights, 0)
    dropped = [*accumulate(reversed(masses[1:]), initial=0)][::-1]
    rises = [max(0, bottom * after - top * before) for before, after in pairwise(masses)]
    falls = [max(0, bottom * before - top * after) for before, after in pairwise(masses)]
    hidden = [max(0, bottom * here - top * there) for here, there in pairwise(dropped)]
    up_one = sum(rises)
    down_one = max(shown + rest for shown, rest in zip(accumulate(falls), hidden, strict=True))
    return Fraction(max(up_one, down_one), bottom * sum(weights))


@guarantee(claim="1 ≤ ratio ≤ exp(ε)", proof="proofs/key_selection.md#one-row", reviewed="ae2d9858af85")
def ratio_below(epsilon: Fraction) -> Fraction:
    """A rational just below exp(ε), and not below 1."""
    return max(Fraction(1), exp_down(epsilon))


@final
@dataclass(frozen=True)
class KeyNoise:
    """The noise on a count: ``weights[n − 1]`` is the mass of the value that lifts n to the least count shown."""

    epsilon: Fraction
    weights: tuple[int, ...]

    @cached_property
    def least_shown(self) -> int:
        """The least count that is ever shown: the noise is most likely 0."""
        return self.weights.index(max(self.weights)) + 1

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The least and the greatest value of the noise."""
        return self.least_shown - len(self.weights), self.least_shown - 1

    @cached_property
    def index(self) -> Categorical:
        """The law of the noise, counted from its least value."""
        return Categorical(tuple(Fraction(weight) for weight in reversed(self.weights)))

    @cached_property
    def one_row(self) -> Approx:
        """The loss of adding or removing one row."""
        return Approx(self.epsilon, min(Fraction(1), one_row_delta(self.weights, ratio_below(self.epsilon))))

    def chance_shown(self, count: int) -> Fraction:
        """The chance that a key of ``count`` rows is shown."""
        return Fraction(sum(self.weights[: max(0, count)]), sum(self.weights))

    def shifted(self, counts: Counter[Hashable]) -> Counter[Hashable]:
        """Counts plus the least value of the noise, to which its index is added."""
        return Counter({key: count + self.reach[0] for key, count in counts.items()})


@lru_cache(maxsize=64)
def key_noise(epsilon: Fraction, delta: Fraction) -> KeyNoise:
    """The noise on counts that shows keys with the best chance at a loss for one row.

    >>> key_noise(Fraction(1), Fraction(1, 10**6)).least_shown
    14
    """
    bits = math.ceil(1 / delta).bit_length() + FINENESS
    part = math.floor(delta * (1 - SPARED) * (1 << bits))
    chances = keep_chances(ratio_below(epsilon), part=part, whole=1 << bits)
    return KeyNoise(epsilon, tuple(after - before for before, after in pairwise(chances)))


@guarantee(
    claim="added or removed: the group loss of one row; exchanged: that of one side's rows, composed with itself",
    proof=LOSS_PROOF,
    reviewed="5080f4496b25",
)
def unknown_keys_loss(one_row: Approx, rows: Extended, *, exchanged: bool) -> Approx:
    """The loss for units with several rows, from that of one row added or removed."""
    if rows == math.inf:
        return Approx(math.inf, 1)
    if rows < 1:
        return Approx(0, 0)
    side = one_row.group(math.floor(rows))
    return side.then(side) if exchanged else side


def loss_of_a_row(loss: Approx, rows: int, *, exchanged: bool) -> tuple[Fraction, Fraction]:
    """The (ε, δ) of one row at which units of ``rows`` rows lose no more than a loss."""
    sides = 2 if exchanged else 1
    epsilon = Fraction(loss.epsilon) / (sides * rows)
    factor = upper(lambda: ball(rows * epsilon).expm1() / ball(epsilon).expm1()) if rows > 1 else Fraction(1)
    delta = loss.delta / sides / Fraction(factor) if factor != math.inf else Fraction(0)
    if not delta:
        raise BadArgument("loss", "large enough in δ to leave something for each row", str(loss))
    return epsilon, delta


@constructor
def histogram(*, loss: Approx, d_in: Number = 1) -> Partial[Measurement]:
    """Lists the values of a column that occur often enough, with noisy counts; nobody needs to know the values before.

    A key of n rows is shown with the best chance that any (ε, δ) method can give it, and its noisy count comes free.
    A count that is shown is within the public reach of the noise, with certainty.

    Takes:      a column of texts, categories or whole numbers, under a distance that counts rows; the loss to keep for
                units ``d_in`` apart, such as the most rows that one person has
    Gives:      pairs (value, noisy count), in the order of the values
    Guarantee:  Approx within ``loss`` at ``d_in``  (proofs/key_selection.md#loss)
    Cost:       one pass, and some 20 ns a value

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> histogram(loss=Approx(1, 1e-6))).check(1, Approx(1, 1e-6))
    True
    """
    return _unknown_keys(
        "histogram",
        loss,
        d_in,
        draw=lambda pairs: pairs,
        law=lambda counts, order, noise: HistogramLaw(
            tuple(noise.shifted(counts).items()), order, noise.index, noise.least_shown - 1
        ),
    )


@constructor
def select_keys(*, loss: Approx, d_in: Number = 1) -> Partial[Measurement]:
    """Lists the values of a column that occur often enough; nobody needs to know the values before.

    A key of n rows is listed with the best chance that any (ε, δ) method can give it.

    Takes:      what `histogram` takes
    Gives:      a tuple of values, in their order
    Guarantee:  Approx within ``loss`` at ``d_in``  (proofs/key_selection.md#loss)
    Cost:       one pass, and some 20 ns a value

    >>> from sfumato.core.space import vector
    >>> (vector(str) >> select_keys(loss=Approx(1, 1e-9)))(["rare"] + ["common"] * 100).value
    ('common',)
    """
    return _unknown_keys(
        "select_keys", loss, d_in, draw=lambda pairs: tuple(key for key, _ in pairs), law=selection_law
    )


def selection_law(counts: Counter[Hashable], order: Callable[[Hashable], int | str], noise: KeyNoise) -> FiniteLaw:
    """The exact distribution of the keys listed."""
    listed = sorted(counts, key=order)
    chances: dict[Hashable, arb] = {}
    with precision(BITS):
        for shown in product((True, False), repeat=len(listed)):
            odds = [noise.chance_shown(counts[key]) for key in listed]
            chance = math.prod((p if seen else 1 - p for p, seen in zip(odds, shown, strict=True)), start=Fraction(1))
            chances[tuple(key for key, seen in zip(listed, shown, strict=True) if seen)] = ball(chance)
    return FiniteLaw(chances)


LawOf = Callable[[Counter[Hashable], Callable[[Hashable], int | str], KeyNoise], Law]


def _unknown_keys(
    name: str, loss: Approx, d_in: Number, *, draw: Callable[[Histogram], Data], law: LawOf
) -> Partial[Measurement]:
    if not isinstance(loss, Approx) or not 0 < loss.epsilon < math.inf or not 0 < loss.delta < 1:
        raise BadArgument(f"the loss of {name}()", "Approx(ε, δ) with ε greater than 0 and δ between 0 and 1", loss)

    def build(space: Space) -> Measurement:
        domain, metric = counting_metric(space, name)
        order = key_order(domain.element, name)
        public, exchanged = public_key(domain.element, order), domain.size is not None
        noise = key_noise(*loss_of_a_row(loss, _rows(metric, domain, d_in), exchanged=exchanged))

        def function(data: Data, entropy: Entropy) -> Data:
            limit = noise.least_shown - 1
            return draw(noisy_counts_above(noise.shifted(tally(data)), public, order, noise.index, limit, entropy))

        return Measurement(
            source=space,
            measure=Approx,
            function=function,
            privacy_map=lambda d: unknown_keys_loss(
                noise.one_row, rows_on_one_side(metric, domain.size, d), exchanged=exchanged
            ),
            how=How(
                name.replace("_", " ") + " over unknown keys" * (name == "histogram"),
                (("least count shown", str(noise.least_shown)), ("reach", f"{noise.reach[0]} … {noise.reach[1]}")),
                proofs=(LOSS_PROOF,),
                failure=Failure.DISTINGUISHING,
            ),
            law=lambda data: law(tally(data), order, noise),
        ).recorded()

    return Partial(f"{name}({loss})", build)


def _rows(metric: DatasetMetric, domain: Vector, d_in: Number) -> int:
    rows = rows_on_one_side(metric, domain.size, metric.read(d_in))
    if rows == math.inf or rows < 1:
        raise BadArgument("d_in", "a number of rows by which neighbours can differ", d_in)
    return math.floor(rows)
