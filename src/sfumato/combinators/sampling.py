"""Amplification by sampling: a measurement that sees a secret random part of the data costs less.

Sampling loses accuracy. It pays where the data is a sample already, or where a step must be cheap and is repeated.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from sfumato.accounting.amplify.population import chance_drawn, population_amplified
from sfumato.accounting.amplify.sampled_rows import three_laws
from sfumato.accounting.compose import total
from sfumato.accounting.events import Event, Poisson, Sampled, Stated
from sfumato.accounting.losses.measures import Approx, Loss, Pure, lesser
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.relation import Relation
from sfumato.combinators.composition import joint_how
from sfumato.combinators.requirements import Component, require_theorem
from sfumato.core.domains import Data
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.law import Law, MixtureLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import AddRemove, ChangeOne, DatasetMetric
from sfumato.core.partial import Partial, start
from sfumato.core.plan import constructor
from sfumato.core.rows import records
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, NoProvenRoute, UnknownSize
from sfumato.exact import Number, integer, up
from sfumato.guarantee import guarantee
from sfumato.noise.bernoulli import Bernoulli
from sfumato.noise.uniform import choose
from sfumato.release.claim import Claim, required
from sfumato.release.record import How
from sfumato.transforms.distances import exchanged_rows
from sfumato.transforms.rows import Rows, count_rows, row_space, select_rows

PROOF = "proofs/amplification.md#wrappers"

MOST_ROWS = 12
"""The most rows of which laws are written out over every sample."""


@constructor
def on_poisson_sample(measurement: Component, rate: Number) -> Partial[Measurement]:
    """Keeps each row independently with a probability and runs a measurement on those kept. The sample stays secret.

    The number of rows kept is random and secret too, so that the measurement must be one for data of unknown size.

    Takes:      a measurement of rows of unknown number, in Pure, Approx or Renyi; the rate, in (0, 1]
    Gives:      its outcome on the sample
    Guarantee:  Pure: ln(1 + rate (exp(ε) − 1)) for one row, and never more than without sampling
                (proofs/amplification.md#wrappers)
    Cost:       2 bytes of entropy a row, and the measurement on the rows kept

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import count
    >>> from sfumato.mechanisms.additive import laplace
    >>> sampled = vector(int) >> on_poisson_sample(count() >> laplace(scale=1), rate=0.1)
    >>> round(float(sampled.map(1).epsilon), 6)
    0.158565
    """
    sampling = Poisson(rate)
    if sampling.rate == 0:
        raise BadArgument("rate", "greater than 0 and at most 1", rate)
    chance = sampling.rate

    def build(space: Space) -> Measurement:
        domain, metric = row_space(space, "on_poisson_sample")
        if not isinstance(metric, AddRemove) or domain.size is not None or domain.least:
            what = "rows of unknown number under sf.AddRemove(), for a random sample may have any number of them"
            raise BadArgument("what on_poisson_sample() works on", what, str(space))
        inner = require_theorem(start(space, measurement), "on_poisson_sample")

        def privacy_map(d_in: AnyDistance) -> Loss:
            if d_in in (0, math.inf):
                return inner.map(d_in)
            described = (Stated(inner.map(1)), inner.event_at(1))
            return poisson_sample_loss(described, inner.map(d_in), chance, int(d_in))

        return Measurement(
            source=space,
            measure=inner.measure,
            function=lambda data, entropy: inner.function(poisson_sample(data, domain, chance, entropy), entropy),
            privacy_map=privacy_map,
            how=_describe("on a Poisson sample", inner, ("rate", f"{up(chance):.3g}")),
            law=_law_over(inner, domain, lambda rows: _poisson_subsets(rows, chance)),
            event=lambda d_in: Sampled(inner.event_at(1), sampling) if d_in == 1 else Stated(privacy_map(d_in)),
        ).recorded()

    return Partial(f"on_poisson_sample(rate={rate})", build)


@constructor
def on_fixed_sample(measurement: Component, size: int) -> Partial[Measurement]:
    """Draws a fixed number of rows without replacement and runs a measurement on them. The sample stays secret.

    Takes:      a measurement of ``size`` rows, in Pure, Approx or Renyi, for data of a public number of rows
    Gives:      its outcome on the sample
    Guarantee:  Pure: ln(1 + q (exp(ε) − 1)) for one row exchanged, q the share of rows drawn
                (proofs/amplification.md#wrappers)
    Cost:       8 bytes of entropy a row at most, and the measurement on the rows drawn

    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import mean
    >>> from sfumato.mechanisms.additive import laplace
    >>> sampled = vector(float, between=(0, 10), size=100) >> on_fixed_sample(mean() >> laplace(scale=0.5), size=10)
    >>> round(float(sampled.map(1).epsilon), 6)
    0.494029
    """
    drawn = integer(size, "size", least=1)

    def build(space: Space) -> Measurement:
        domain, metric, rows = _exchangeable(space, "on_fixed_sample")
        if drawn > rows:
            raise BadArgument("size", f"at most the {rows} rows there are", size)
        smaller = Space(replace(domain, size=drawn, least=0), metric)
        inner = require_theorem(start(smaller, measurement), "on_fixed_sample")
        return Measurement(
            source=space,
            measure=inner.measure,
            function=lambda data, entropy: inner.function(fixed_sample(data, domain, drawn, entropy), entropy),
            privacy_map=_population_map(inner, metric, drawn, rows),
            how=_describe("on a sample of fixed size", inner, ("size", f"{drawn} of {rows}")),
            law=_law_over(inner, domain, lambda most: _equal_subsets(most, drawn)),
        ).recorded()

    return Partial(f"on_fixed_sample(size={size})", build)


@constructor
def amplified_by_known_sample(
    measurement: Component, *, population: int, claim: Claim | None = None
) -> Partial[Measurement]:
    """Charges less because the data is itself a random sample of a larger population. It does not sample.

    A distance counts rows of the *population*: a unit that may own three of them is at distance 3.

    Takes:      a measurement of a public number of rows, in Pure, Approx or Renyi; a lower bound on the size of the
                population, and the claim that the rows were drawn from it uniformly, without replacement and in secret
    Gives:      the outcome of the measurement
    Guarantee:  Pure: ln(1 + q (exp(ε) − 1)) for one row exchanged, q = rows / population, if the claim holds
                (proofs/amplification.md#wrappers)
    Cost:       that of the measurement

    >>> from sfumato.release.claim import claim
    >>> from sfumato.core.space import vector
    >>> from sfumato.transforms.aggregate import mean
    >>> from sfumato.mechanisms.additive import laplace
    >>> drawn = claim("drawn by lot from the register, list destroyed")
    >>> answer = amplified_by_known_sample(mean() >> laplace(scale=0.5), population=100, claim=drawn)
    >>> round(float((vector(float, between=(0, 10), size=10) >> answer).map(1).epsilon), 6)
    0.494029
    """
    vouched = required(claim, "that the data is a secret, uniformly random sample of the population")
    whole = integer(population, "population", least=1)

    def build(space: Space) -> Measurement:
        _, metric, rows = _exchangeable(space, "amplified_by_known_sample")
        if whole < rows:
            raise BadArgument("population", f"at least the {rows} rows of the sample", population)
        inner = require_theorem(start(space, measurement), "amplified_by_known_sample")
        how = _describe("on a known sample", inner, ("sample", f"{rows} of at least {whole}"))
        return replace(
            inner,
            privacy_map=_population_map(inner, metric, rows, whole),
            event=None,
            how=replace(how, claims=(vouched, *how.claims)),
            law=None,  # of a sample that is given there is one, but the loss speaks of the population
        ).recorded()

    return Partial(f"amplified_by_known_sample(population={population})", build)


@guarantee(claim="each row is kept independently with the probability", proof=PROOF, reviewed="f487ea967315")
def poisson_sample(data: Data, domain: Rows, rate: Fraction, entropy: Entropy) -> Data:
    """Draws a Poisson sample of the rows of a member."""
    drawn = Bernoulli(rate).samples(count_rows(data, domain), entropy)
    return select_rows(data, domain, drawn.astype(np.bool_))


@guarantee(
    claim="every ordered choice of that many different rows is equally likely", proof=PROOF, reviewed="887b3e60340b"
)
def fixed_sample(data: Data, domain: Rows, size: int, entropy: Entropy) -> Data:
    """Draws rows of a member without replacement."""
    return select_rows(data, domain, choose(count_rows(data, domain), k=size, entropy=entropy))


@guarantee(
    claim="k rows more or fewer: k steps of the loss of a Poisson sample for one row, or the loss of all k unsampled",
    proof=PROOF,
    reviewed="80e3b8614454",
)
def poisson_sample_loss(described: Iterable[Event], whole: Loss, rate: Fraction, rows: int) -> Loss:
    """The loss on a Poisson sample, from what runs for one row, described in some ways, and the loss of all."""
    best = whole
    for event in described:
        with suppress(NoProvenRoute):  # no theorem about a sample of it, described so
            sampled = total(Sampled(event, Poisson(rate)), type(whole), relation=Relation.ADD_REMOVE)
            best = lesser(sampled.group(rows), best)
    return best


@guarantee(
    claim="k rows exchanged: k steps of the loss at the chance that one row is drawn, or the loss for all k at the "
    "chance that any is",
    proof=PROOF,
    reviewed="5b2146386415",
)
def fixed_sample_loss(one_row: Loss, whole: Loss, rows: int, sample: int, population: int) -> Loss:
    """The loss on a sample of fixed size, from those of the measurement for one row and for all that differ."""
    stepwise = _amplify(one_row, 1, sample, population).group(rows)
    return lesser(stepwise, _amplify(whole, rows, sample, population))


def _amplify(loss: Loss, rows: int, sample: int, population: int) -> Loss:
    """What a loss for exchanging sampled rows comes to when any of them is drawn by chance only."""
    match loss:
        case Pure():
            return population_amplified(loss, sample=sample, population=population, rows=rows)
        case Approx():
            return population_amplified(loss, sample=sample, population=population, rows=rows)
        case Renyi():
            return three_laws(loss, chance_drawn(rows, sample=sample, population=population))
    raise NoProvenRoute("no theorem says what sampling saves in this kind of loss.")


def _population_map(
    inner: Measurement, metric: DatasetMetric, sample: int, population: int
) -> Callable[[AnyDistance], Loss]:
    def privacy_map(d_in: AnyDistance) -> Loss:
        rows = int(exchanged_rows(d_in, metric=metric, size=population))
        if rows == 0:
            return inner.map(0)
        return fixed_sample_loss(inner.map(inner.source.closest), inner.map(d_in), rows, sample, population)

    return privacy_map


def _exchangeable(space: Space, verb: str) -> tuple[Rows, DatasetMetric, int]:
    """The rows of a space of public size and any order, their distance, and how many there are."""
    domain, metric = row_space(space, verb)
    if domain.size is None:
        raise UnknownSize(verb, "Give size=…, or resize(…) first; for data of unknown size use on_poisson_sample(…).")
    if not isinstance(metric, ChangeOne | AddRemove):
        raise BadArgument(f"what {verb}() works on", "rows in any order, under sf.ChangeOne()", str(space))
    return domain, metric, domain.size


def _describe(name: str, inner: Measurement, shown: tuple[str, str]) -> How:
    how = joint_how(name, [inner], PROOF)
    return replace(how, parameters=(shown, ("measurement", str(inner.how))))


def _law_over(
    inner: Measurement, domain: Rows, samples: Callable[[int], Iterable[tuple[Fraction, tuple[int, ...]]]]
) -> Callable[[Data], Law] | None:
    """The exact law over all samples; equal ones are brought together."""
    own = inner.law
    if own is None:
        return None

    def law(data: Data) -> Law:
        rows = count_rows(data, domain)
        if rows > MOST_ROWS:
            raise BadArgument("the law on a sample", f"asked for at most {MOST_ROWS} rows", rows)
        weights: dict[Hashable, Fraction] = {}
        drawn: dict[Hashable, Data] = {}
        for weight, places in samples(rows):
            sample = select_rows(data, domain, np.array(places, dtype=np.int64))
            key = frozenset(records(sample).items())
            drawn.setdefault(key, sample)
            weights[key] = weights.get(key, Fraction(0)) + weight
        return MixtureLaw(tuple((weights[key], own(sample)) for key, sample in drawn.items() if weights[key]))

    return law


def _poisson_subsets(rows: int, rate: Fraction) -> Iterable[tuple[Fraction, tuple[int, ...]]]:
    for size in range(rows + 1):
        weight = rate**size * (1 - rate) ** (rows - size)
        yield from ((weight, places) for places in itertools.combinations(range(rows), size))


def _equal_subsets(rows: int, size: int) -> Iterable[tuple[Fraction, tuple[int, ...]]]:
    weight = Fraction(1, math.comb(rows, size))
    return ((weight, places) for places in itertools.combinations(range(rows), size))
