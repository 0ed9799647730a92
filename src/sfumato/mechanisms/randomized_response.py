"""Randomized response: each answer is the truth or, by chance, another one of a public list.

The report is the place of the truth in the list plus an offset, drawn without looking at the truth: offset 0 is the
truth, and each other offset is equally likely. Where the probability of the truth comes from an epsilon it is
irrational, and is drawn exactly all the same.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from typing import final

import numpy as np
from flint import arb
from numpy.typing import NDArray

from sfumato.accounting.events import Event, Repeat, Response, Stated
from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Array, Atom, Categories, Data, Integers
from sfumato.core.law import FiniteLaw, Law, ProductLaw
from sfumato.core.measurement import Measurement
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import BITS, Number, ball, log_up, non_negative, precision, probability, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.per_person import ENTRIES_PROOF, Entries, entries_of
from sfumato.noise.digits import DigitSampler
from sfumato.noise.inversion import IndexLaw, InversionTable
from sfumato.noise.sampling import draw_array
from sfumato.release.record import How

LOSS_PROOF = "proofs/randomized_response.md#loss"


@final
@dataclass(frozen=True)
class ResponseOdds:
    """How often an answer is the truth: weight truth · exp(exponent), against ``other`` for each other option."""

    options: int
    truth: Fraction
    other: Fraction
    exponent: Fraction = Fraction(0)

    @classmethod
    def read(cls, options: int, p: Fraction | None, epsilon: Fraction | None) -> ResponseOdds:
        """Reads a probability of the truth, or the loss that one answer may have."""
        if options < 2:
            raise BadArgument(
                "the options of randomized_response()", "at least two, or there is nothing to hide", options
            )
        if epsilon is not None:
            return cls(options, Fraction(1), Fraction(1), epsilon)
        if p is None:
            raise BadArgument("randomized_response()", "given either p or epsilon", p)
        if options > 2 and p * options < 1:
            raise BadArgument("p", f"at least 1/{options}: the truth must be no rarer than another answer", p)
        return cls(options, p, (1 - p) / (options - 1))

    def chance(self, *, same: bool) -> arb:
        """Encloses the probability of the truth, or of one other option, at the working precision."""
        if not self.exponent:
            return ball((self.truth if same else self.other) / (self.truth + (self.options - 1) * self.other))
        weight = ball(self.truth) * ball(self.exponent).exp()
        return (weight if same else ball(self.other)) / (weight + ball((self.options - 1) * self.other))


@guarantee(
    claim="offset 0 has the probability of the truth, every other offset that of one other option",
    proof="proofs/randomized_response.md#offsets",
    reviewed="efb109f19ba1",
)
def offset_law(answer: ResponseOdds) -> IndexLaw:
    """The law of the offset between the truth's place and the report's, round the list of options."""

    def below(index: int) -> arb:
        if not answer.exponent:
            total = answer.truth + (answer.options - 1) * answer.other
            return ball((answer.truth + (index - 1) * answer.other) / total)
        weight = ball(answer.truth) * ball(answer.exponent).exp()
        return (weight + ball((index - 1) * answer.other)) / (weight + ball((answer.options - 1) * answer.other))

    return IndexLaw(below, answer.options)


@guarantee(
    claim="epsilon = entries · |ln(P(truth) / P(one other option))|, infinite where one of them is 0",
    proof=LOSS_PROOF,
    reviewed="ad98cb7ac57c",
)
def response_loss(answer: ResponseOdds, entries: int) -> Pure:
    """The loss when ``entries`` independently answered entries may change."""
    if entries == 0:
        return Pure(0)
    if answer.truth == 0 or answer.other == 0:
        return Pure(math.inf)
    odds = answer.truth / answer.other
    return Pure(entries * (log_up(max(odds, 1 / odds)) + answer.exponent))


def response_event(answer: ResponseOdds, entries: int) -> Event:
    """The event when ``entries`` independently answered entries may change."""
    once = response_loss(answer, 1)
    return Stated(once) if once.epsilon == math.inf else Repeat(Response(once.epsilon, answer.options), entries)


@lru_cache(maxsize=64)
def offset_sampler(answer: ResponseOdds) -> DigitSampler:
    """The sampler of offsets: one certified table with an entry for each."""
    return DigitSampler.of(InversionTable.listing(offset_law(answer), answer.options), base=lambda index: index)


@constructor
def randomized_response(*, p: Number | None = None, epsilon: Number | None = None) -> Partial[Measurement]:
    """Answers truthfully with probability p, and else with one of the other options, each equally likely.

    Takes:      a category (or whole number within bounds) under the discrete distance, or a column of a public size of
                them; under a distance that does not see the order of rows, reports leave sorted by option
    Gives:      an option, or one for each row
    Guarantee:  Pure(epsilon = |ln(p (t − 1) / (1 − p))|) for each entry that changes, of t options; a given epsilon is
                met exactly  (proofs/randomized_response.md#loss)
    Cost:       some 10 ns an answer, in columns of booleans or whole numbers

    >>> from sfumato.core.space import scalar
    >>> (scalar(bool) >> randomized_response(epsilon=1)).map(1)
    Pure(epsilon=1.0)
    >>> (scalar(["a", "b", "c", "d"]) >> randomized_response(p=0.4)).map(1)
    Pure(epsilon=0.6931471805599453…)
    """
    if (p is None) == (epsilon is None):
        raise BadArgument("randomized_response()", "given either p or epsilon", Several(p, epsilon))
    truth = None if p is None else probability(p, "p")
    loss = None if epsilon is None else non_negative(epsilon, "epsilon")
    label = f"randomized_response(p={p})" if epsilon is None else f"randomized_response(epsilon={epsilon})"
    return Partial(label, lambda space: _build(space, truth, loss))


@constructor
def coin_flip_response(*, q: Number = Fraction(1, 2)) -> Partial[Measurement]:
    """Answers truthfully with probability q, and else as a fair coin falls: the classic survey with two coins.

    Takes:      a yes-or-no value under the discrete distance, or a column of a public size of them
    Gives:      yes or no, for each
    Guarantee:  Pure(epsilon = ln((1 + q) / (1 − q))) for each entry that changes  (proofs/randomized_response.md#coins)
    Cost:       some 10 ns an answer, in columns

    >>> from sfumato.core.space import scalar
    >>> (scalar(bool) >> coin_flip_response()).map(1)
    Pure(epsilon=1.0986122886681096…)
    """
    truth = coin_flip_probability(probability(q, "q"))

    def build(space: Space) -> Measurement:
        if len(options_of(entries_of(space, "coin_flip_response").element)) != 2:
            raise BadArgument(
                "what coin_flip_response() works on", "a choice of two; see randomized_response()", str(space)
            )
        return _build(space, truth, None)

    return Partial(f"coin_flip_response(q={q})", build)


@guarantee(claim="P(truth) = q + (1 − q) / 2", proof="proofs/randomized_response.md#coins", reviewed="ae514397bff5")
def coin_flip_probability(q: Fraction) -> Fraction:
    """The probability that the survey with two coins reports the truth."""
    return q + (1 - q) / 2


def options_of(element: Atom) -> Sequence[Hashable]:
    """Lists the public options of an entry, in order, or says what is needed."""
    match element:
        case Categories():
            return element.values
        case Integers(between=bounds) if bounds is not None:
            return range(math.ceil(bounds.lower / element.step), math.floor(bounds.upper / element.step) + 1)
        case _:
            raise BadArgument(
                "what randomized_response() works on", "categories, or whole numbers within bounds", str(element)
            )


def _build(space: Space, p: Fraction | None, epsilon: Fraction | None) -> Measurement:
    entries = entries_of(space, "randomized_response")
    options = options_of(entries.element)
    answer = ResponseOdds.read(len(options), p, epsilon)
    offsets = cache(lambda: offset_sampler(answer))
    shown = ("epsilon", f"{up(epsilon):.6g}") if epsilon is not None else ("p", f"{float(answer.truth):.6g}")
    return Measurement(
        source=space,
        measure=Pure,
        function=lambda data, entropy: respond(data, entries, options, offsets(), entropy),
        privacy_map=lambda d_in: response_loss(answer, entries.changed(d_in)),
        how=How("randomized response", (shown, ("options", str(len(options)))), proofs=(LOSS_PROOF, ENTRIES_PROOF)),
        law=lambda data: response_law(data, entries, options, answer),
        event=lambda d_in: response_event(answer, entries.changed(d_in)),
    ).recorded()


def respond(data: Data, entries: Entries, options: Sequence[Hashable], offsets: DigitSampler, entropy: Entropy) -> Data:
    """Draws the reports on one member of a space."""
    count = len(options)
    if entries.size is None:
        return options[(options.index(data) + offsets.one(entropy)) % count]
    places = places_of(data, options) + draw_array(offsets, count=entries.size, entropy=entropy, wide=False)
    places -= count * (places >= count)
    if not entries.ordered:
        places = np.repeat(np.arange(count), np.bincount(places, minlength=count))
    return _as_array(options).take(places)


def places_of(data: Data, options: Sequence[Hashable]) -> NDArray[np.int64]:
    """Finds the place of every entry in the list of options."""
    if isinstance(data, np.ndarray) and data.dtype.kind in "biu" and (first := _first_of_range(options)) is not None:
        return data.astype(np.int64) - first
    place = {option: index for index, option in enumerate(options)}
    listed = data.tolist() if isinstance(data, np.ndarray) else data
    return np.fromiter((place[entry] for entry in listed), dtype=np.int64, count=len(listed))


def response_law(data: Data, entries: Entries, options: Sequence[Hashable], answer: ResponseOdds) -> Law:
    """The exact distribution of the reports on one member: tuples of options for a column."""
    with precision(BITS):
        same, lie = answer.chance(same=True), answer.chance(same=False)

    def single(truth: Hashable) -> FiniteLaw:
        return FiniteLaw({option: same if option == truth else lie for option in options})

    if entries.size is None:
        return single(data)
    parts = tuple(single(truth) for truth in data)
    return ProductLaw(parts) if entries.ordered else sorted_law(parts, options)


def sorted_law(parts: Sequence[FiniteLaw], options: Sequence[Hashable]) -> FiniteLaw:
    """The distribution of independent reports once they are sorted by option."""
    masses: dict[tuple[int, ...], arb] = {(): arb(1)}
    with precision(BITS):
        for part in parts:
            longer: dict[tuple[int, ...], arb] = {}
            for before, mass in masses.items():
                for place, option in enumerate(options):
                    after = tuple(sorted((*before, place)))
                    longer[after] = longer.get(after, arb(0)) + mass * part.probability(option)
            masses = longer
    return FiniteLaw({tuple(options[place] for place in places): mass for places, mass in masses.items()})


def _first_of_range(options: Sequence[Hashable]) -> int | None:
    """The first option where they are consecutive whole numbers or truth values, else None."""
    first = options[0]
    if (
        not isinstance(first, int)
        or abs(first) >= 1 << 62
        or list(options) != list(range(int(first), int(first) + len(options)))
    ):
        return None
    return int(first)


def _as_array(options: Sequence[Hashable]) -> Array:
    kinds = {type(option) for option in options}
    if kinds == {bool} or (kinds == {int} and np.array(options).dtype == np.int64):
        return np.array(options)
    listed = np.empty(len(options), dtype=object)
    listed[:] = list(options)
    return listed
