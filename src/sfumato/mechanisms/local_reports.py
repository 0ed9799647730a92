"""Reports on a number that people make before anybody sees it: noisy, or rounded at random and answered by chance."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

import numpy as np

from sfumato.accounting.losses.measures import Pure
from sfumato.core.domains import Array, Bounds, Data, Floats, Integers, column
from sfumato.core.law import FiniteLaw, Law, ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Several, UnboundedColumn
from sfumato.exact import BITS, Number, ball, non_negative, positive, precision, probability, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import Gridded, exact_add
from sfumato.mechanisms.per_person import ENTRIES_PROOF, Entries, entries_of
from sfumato.mechanisms.randomized_response import ResponseOdds, offset_sampler, response_loss, sorted_law
from sfumato.noise.digits import DigitSampler
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.sampling import draw_array
from sfumato.release.record import How
from sfumato.transforms.grids import RowGrid, row_grid

NOISY_PROOF = "proofs/local_reports.md#noisy"
ROUNDED_PROOF = "proofs/local_reports.md#rounded"


@constructor
def local_laplace(*, scale: Number | None = None, epsilon: Number | None = None) -> Partial[Measurement]:
    """Adds Laplace noise to each person's own number, wide enough to hide where in its bounds the number lies.

    Takes:      a number within bounds under the discrete distance, or a column of a public size of them; the scale, or
                the epsilon of one report
    Gives:      the noisy number, or one for each person (sorted, under a distance that does not see the order of rows)
    Guarantee:  Pure(epsilon = (upper − lower) / scale) for each person who changes  (proofs/local_reports.md#noisy)
    Cost:       some 30 ns a report

    >>> from sfumato.core.metrics import Discrete
    >>> from sfumato.core.space import scalar
    >>> (scalar(int, between=(18, 100), metric=Discrete()) >> local_laplace(scale=3)).map(1)
    Pure(epsilon='82/3')
    """
    if (scale is None) == (epsilon is None):
        raise BadArgument("local_laplace()", "given either scale or epsilon", Several(scale, epsilon))
    size = None if scale is None else positive(scale, "scale")
    loss = None if epsilon is None else positive(epsilon, "epsilon")

    def build(space: Space) -> Measurement:
        entries, bounds = bounded_entries(space, "local_laplace")
        if bounds.width == 0:
            raise BadArgument("the bounds", "different from each other, or there is nothing to report", str(bounds))
        wide = size if size is not None else bounds.width / (loss or Fraction(1))
        grid = row_grid(entries.element, "local_laplace")
        noise = DiscreteLaplace(wide / grid.step)
        return Measurement(
            source=space,
            measure=Pure,
            function=lambda data, entropy: _noisy_reports(data, entries, grid, noise, entropy),
            privacy_map=lambda d_in: noisy_report_loss(noise, grid.span, entries.changed(d_in)),
            how=How(
                "local laplace",
                (("scale", f"{up(wide):.6g}"), ("between", str(bounds))),
                proofs=(NOISY_PROOF, ENTRIES_PROOF),
            ),
            # The law of reports that are sorted afterwards has not been worked out.
            law=(lambda data: _noisy_law(data, entries, grid, noise)) if entries.ordered else None,
        ).recorded()

    return Partial("local_laplace()", build)


@guarantee(claim="epsilon = entries · span / scale, in steps", proof=NOISY_PROOF, reviewed="c11f590e5ea8")
def noisy_report_loss(noise: DiscreteLaplace, span: int, entries: int) -> Pure:
    """The loss of noisy reports on numbers that lie within a span of each other."""
    return Pure(entries * span / noise.scale)


@constructor
def local_mean_response(*, p: Number | None = None, epsilon: Number | None = None) -> Partial[Measurement]:
    """Rounds each person's number to a bound at random, without bias, and answers that by randomized response.

    Takes:      a number within bounds under the discrete distance, or a column of a public size of them
    Gives:      True for the upper bound, False for the lower; `estimated_mean` reads the mean from them
    Guarantee:  Pure(epsilon = |ln(p / (1 − p))|) for each person who changes; a given epsilon is met exactly
                (proofs/local_reports.md#rounded)
    Cost:       a few µs a report

    >>> from sfumato.core.metrics import Discrete
    >>> from sfumato.core.space import scalar
    >>> (scalar(float, between=(0, 10), metric=Discrete()) >> local_mean_response(epsilon=1)).map(1)
    Pure(epsilon=1.0)
    """
    if (p is None) == (epsilon is None):
        raise BadArgument("local_mean_response()", "given either p or epsilon", Several(p, epsilon))
    truth = None if p is None else probability(p, "p")
    loss = None if epsilon is None else non_negative(epsilon, "epsilon")

    def build(space: Space) -> Measurement:
        entries, bounds = bounded_entries(space, "local_mean_response")
        if bounds.width == 0:
            raise BadArgument("the bounds", "different from each other, or there is nothing to report", str(bounds))
        answer = ResponseOdds.read(2, truth, loss)
        offsets = cache(lambda: offset_sampler(answer))
        shown = ("p", f"{float(truth):.6g}") if truth is not None else ("epsilon", f"{up(loss or Fraction(0)):.6g}")
        return Measurement(
            source=space,
            measure=Pure,
            function=lambda data, entropy: _rounded_answers(data, entries, bounds, offsets(), entropy),
            privacy_map=lambda d_in: rounded_report_loss(answer, entries.changed(d_in)),
            how=How("local mean response", (shown, ("between", str(bounds))), proofs=(ROUNDED_PROOF, ENTRIES_PROOF)),
            law=lambda data: _rounded_law(data, entries, bounds, answer),
        ).recorded()

    return Partial("local_mean_response()", build)


@guarantee(claim="the loss of binary randomized response", proof=ROUNDED_PROOF, reviewed="fc66605d4b8d")
def rounded_report_loss(answer: ResponseOdds, entries: int) -> Pure:
    """The loss of randomized response on a value that was rounded at random before."""
    return response_loss(answer, entries)


@guarantee(
    claim="P(upper) = (x − L) / (U − L), so that the rounded value has mean x",
    proof=ROUNDED_PROOF,
    reviewed="e028d5bf1288",
)
def rounding_odds(value: float, *, lower: Fraction, width: Fraction, step: Fraction) -> tuple[int, int]:
    """The exact probability of rounding up, as (part, whole); floats a hair outside count as on a bound."""
    top, bottom = value.as_integer_ratio()
    top, bottom = top * step.numerator, bottom * step.denominator
    part = (top * lower.denominator - lower.numerator * bottom) * width.denominator
    whole = bottom * lower.denominator * width.numerator
    return min(max(part, 0), whole), whole


def bounded_entries(space: Space, verb: str) -> tuple[Entries, Bounds]:
    """The entries of a space of numbers and their bounds; refuses any other space in the name of the verb."""
    entries = entries_of(space, verb)
    element = entries.element
    if not isinstance(element, Floats | Integers) or (isinstance(element, Floats) and element.nan):
        raise BadArgument(f"what {verb}() works on", "numbers within bounds, without NaN", str(space))
    if element.between is None:
        raise UnboundedColumn(verb)
    return entries, element.between


def _noisy_reports(data: Data, entries: Entries, grid: RowGrid, noise: DiscreteLaplace, entropy: Entropy) -> Data:
    single = entries.size is None
    whole = _steps([data] if single else data, grid)
    values = Gridded(grid.element, entries.size, L1, grid.step)
    if single:
        return values.value(int(whole[0]) + noise.sample(entropy))
    noisy = exact_add(whole, noise.samples(len(whole), entropy))
    return values.value(noisy if entries.ordered else np.sort(noisy))


def _steps(data: Data, grid: RowGrid) -> Array:
    """Values as whole numbers of steps from zero; 64-bit where that is certain to fit."""
    offsets = grid.offsets(data)
    near = max(abs(grid.low), abs(grid.high)) < 1 << 62
    return offsets + grid.low if near and offsets.dtype != object else offsets.astype(object) + grid.low


def _noisy_law(data: Data, entries: Entries, grid: RowGrid, noise: DiscreteLaplace) -> Law:
    whole = _steps([data] if entries.size is None else data, grid)
    parts = tuple(ShiftedLaw(noise, int(centre)) for centre in whole)
    return parts[0] if entries.size is None else ProductLaw(parts)


def _odds(data: Data, entries: Entries, bounds: Bounds) -> Iterable[tuple[int, int]]:
    # Through an array only where there is one: a single number need not pay for it, but may be a NumPy scalar.
    single = [data.item() if isinstance(data, np.generic) else data]
    values = single if entries.size is None else column(data, entries.element).tolist()
    lower, width, step = bounds.lower, bounds.width, entries.step
    return (rounding_odds(value, lower=lower, width=width, step=step) for value in values)


def _rounded_answers(data: Data, entries: Entries, bounds: Bounds, offsets: DigitSampler, entropy: Entropy) -> Data:
    upper = [entropy.below(whole) < part for part, whole in _odds(data, entries, bounds)]
    if entries.size is None:
        return upper[0] != bool(offsets.one(entropy))
    reports = np.array(upper, dtype=np.bool_)
    reports ^= draw_array(offsets, count=len(upper), entropy=entropy, wide=False).astype(np.bool_)
    return reports if entries.ordered else np.sort(reports)


def _rounded_law(data: Data, entries: Entries, bounds: Bounds, answer: ResponseOdds) -> Law:
    with precision(BITS):
        truth, lie = answer.chance(same=True), answer.chance(same=False)
        parts = []
        for part, whole in _odds(data, entries, bounds):
            up_share, down_share = ball(Fraction(part, whole)), ball(Fraction(whole - part, whole))
            parts.append(
                FiniteLaw({True: up_share * truth + down_share * lie, False: down_share * truth + up_share * lie})
            )
    if entries.size is None:
        return parts[0]
    return ProductLaw(tuple(parts)) if entries.ordered else sorted_law(parts, (False, True))
