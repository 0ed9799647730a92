"""Differencing: two answers that differ in one person give that person's value away."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import comb
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.losses.measures import ZCDP, Pure
from sfumato.attacks.guessing import best_guess_rate, hits, stated_baseline
from sfumato.attacks.oracles import CELLS, MASK, Groups, Oracle
from sfumato.attacks.queries import random_queries
from sfumato.attacks.reading import floats, places, plain_array
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.core.calibrate import calibrate
from sfumato.core.space import scalar
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument, Several
from sfumato.exact import Number, integer, probability, rational
from sfumato.mechanisms.additive import gaussian, laplace
from sfumato.release.progress import Progress, reporting

NAME = "differencing"


@final
@dataclass(frozen=True, eq=False)
class Differences:
    """What differencing found: whom or what it was aimed at, and the value of each, before it is rounded."""

    targets: NDArray[np.int64] = field(repr=False)
    estimates: NDArray[np.float64] = field(repr=False)


def value_from_means(before: tuple[Number, int], after: tuple[Number, int]) -> Fraction:
    """Computes the value of the one person who left, or came, from two means and how many people each is over.

    >>> value_from_means((85, 10), (87, 9)), value_from_means((500_000, 25), (505_000, 26))
    (Fraction(67, 1), Fraction(630000, 1))
    """
    for name, pair in (("before", before), ("after", after)):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise BadArgument(name, "a mean and how many people it is over, such as (85, 10)", pair)
    (first, many), (second, later) = before, after
    if abs(integer(many, "how many before", least=0) - integer(later, "how many after", least=0)) != 1:
        raise BadArgument("how many people", "one more or one less after than before", Several(many, later))
    change = later * rational(second, "the mean after") - many * rational(first, "the mean before")
    return change * (later - many)


def difference(oracle: Oracle, smaller: ArrayLike, larger: ArrayLike) -> float:
    """Computes the value of the one person in the larger group who is not in the smaller: larger answer less smaller.

    >>> difference(Oracle.exact([3, 4, 5]), [True, False, False], [True, False, True])
    5.0
    """
    without, with_target = (plain_array(group, "a group", MASK) for group in (smaller, larger))
    fits = without.shape == with_target.shape and without.dtype == with_target.dtype == np.bool_
    if not fits or (without & ~with_target).any() or int((with_target & ~without).sum()) != 1:
        raise BadArgument("larger", "the smaller group and one person besides", "other groups")
    low, high = oracle.ask_all(np.stack([without, with_target]))
    return float(high - low)


def differencing(
    oracle: Oracle,
    *,
    targets: Iterable[int] | None = None,
    pairs: int = 1,
    total: Number | Callable[[], float] | None = None,
    within: Number = 0,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Aims at one person after another: asks for a group, and for the group with that person in it.

    Groups are random halves of the others. With several ``pairs`` for each person, differences are averaged. Where the
    ``total`` of everybody is known from elsewhere, one question does: everybody but the target. Estimates are rounded
    to whole numbers; one counts if it is ``within`` that much of the truth. The baseline is the best guess for
    everybody.

    A number given as ``total`` is used for all targets. Where it is itself a noisy answer, its error is in every
    estimate, trials are not independent, and intervals of the success do not hold: give a function instead, such as
    ``lambda: oracle.ask(everybody)``, which is asked anew for each target.
    """
    people, many = len(oracle.secret), integer(pairs, "pairs", least=1)
    aims, source = places(targets, people, "targets"), entropy or system()
    known = None if total is None else total if callable(total) else _same(total)
    step, blocks = max(1, CELLS // (people * many)), []
    with reporting(progress, NAME) as tell:
        for start in range(0, len(aims), step):
            block = aims[start : start + step]
            blocks.append(_by_pairs(oracle, block, many, source) if known is None else _by_total(oracle, block, known))
            tell(start + len(block), len(aims))
    estimates = np.concatenate(blocks)
    return Attack(
        name=NAME,
        violation=Violation.RECONSTRUCTION,
        against=oracle.against,
        success=hits(np.rint(estimates), oracle.secret[aims], within=within),
        baseline=best_guess_rate(oracle.secret, within=within),
        epsilon=oracle.epsilon,
        found=Differences(aims, estimates),
    )


def _only(aims: NDArray[np.int64], people: int) -> Groups:
    return np.asarray(aims[:, None] == np.arange(people))


def _same(total: Number) -> Callable[[], float]:
    constant = float(rational(total, "total"))
    return lambda: constant


def _by_total(oracle: Oracle, aims: NDArray[np.int64], total: Callable[[], float]) -> NDArray[np.float64]:
    others = oracle.ask_all(~_only(aims, len(oracle.secret)))
    return np.array([float(total()) for _ in aims]) - others


def _by_pairs(oracle: Oracle, aims: NDArray[np.int64], pairs: int, entropy: Entropy) -> NDArray[np.float64]:
    repeated = _only(np.repeat(aims, pairs), len(oracle.secret))
    without = random_queries(len(oracle.secret), len(repeated), entropy=entropy) & ~repeated
    answers = oracle.ask_all(np.concatenate([without, without | repeated]))
    gaps = (answers[len(repeated) :] - answers[: len(repeated)]).reshape(len(aims), pairs)
    answered = np.isfinite(gaps)
    sums, counts = np.where(answered, gaps, 0).sum(axis=1), answered.sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def differencing_over_time(
    before: ArrayLike,
    after: ArrayLike,
    *,
    changed: ArrayLike,
    within: Number = 0,
    baseline: Number | None = None,
    against: str = "exact answers",
    epsilon: float | None = None,
) -> Attack:
    """Asks the same questions at two times, between which one person came or changed: the gaps are that person's.

    ``baseline`` is how often somebody is right who never saw an answer; unless given, how often the best single guess
    for all the gaps is, and 0 where there is one gap only.

    >>> differencing_over_time([2210], [2336], changed=[126]).success.rate
    1.0
    """
    early, late = (np.atleast_1d(floats(answers, "before and after")) for answers in (before, after))
    truth = np.atleast_1d(floats(changed, "changed"))
    if not early.shape == late.shape == truth.shape:
        raise BadArgument("before, after and changed", "of one shape", (early.shape, late.shape, truth.shape))
    gaps = late - early
    return Attack(
        name="differencing over time",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.rint(gaps), truth, within=within),
        baseline=stated_baseline(baseline, truth, within=within),
        epsilon=epsilon,
        found=Differences(np.arange(gaps.size), gaps),
    )


def recommender(
    before: ArrayLike,
    after: ArrayLike,
    *,
    known: Sequence[int],
    taken: ArrayLike,
    share: Number = 1,
    baseline: Number | None = None,
    against: str = "exact answers",
    epsilon: float | None = None,
) -> Attack:
    """Compares what a recommender says at two times: what rose beside things a person took, that person took too.

    ``before`` and ``after`` say how strongly each thing (row) goes with each other one (column), as "others also took"
    does. ``known`` are things that the target is known to have taken in between; ``taken`` is the truth. A thing is
    guessed if it rose by one half or more beside at least this ``share`` of the known things. After Calandrino and
    others 2011, "You Might Also Like". ``baseline`` is how often somebody is right who never saw a recommendation;
    unless given, how often one guess for all things is, and one half where there is one thing only.
    """
    early, late = (floats(scores, "before and after") for scores in (before, after))
    truth = floats(taken, "taken") == 1
    if early.shape != late.shape or early.shape != (truth.size, truth.size):
        raise BadArgument("before and after", "square, with a row and a column for each thing", early.shape)
    beside = places(known, truth.size, "known")
    risen = ((late - early)[beside] >= 1 / 2).mean(axis=0)
    others = np.setdiff1d(np.arange(truth.size), beside)
    guesses = (risen[others] >= float(probability(share, "share"))).astype(np.float64)
    return Attack(
        name="recommender differencing",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(guesses, truth[others]),
        baseline=stated_baseline(baseline, truth[others], alone=0.5),
        epsilon=epsilon,
        found=Differences(others, risen[others]),
    )


def unanimous_groups(oracle: Oracle, groups: ArrayLike) -> Attack:
    """Asks how many of each group say yes: none or all gives everybody in the group away, without a second question.

    A hit is a group of which it is told rightly whether nobody, everybody, or only some of it say yes. The baseline
    says of each what is likeliest of a random group of that size.
    """
    if not np.isin(oracle.secret, (0, 1)).all():
        raise BadArgument("the secret", "0 or 1 for each person", "something else")
    masks = plain_array(groups, "the groups", MASK)
    counts = np.rint(oracle.ask_all(masks))
    sizes, truth = masks.sum(axis=1), masks.astype(np.float64) @ oracle.secret.astype(np.float64)

    def kinds(yeses: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(yeses), np.nan, (yeses >= sizes).astype(np.float64) - (yeses <= 0))

    right = kinds(counts) == kinds(truth)
    return Attack(
        name="groups of one mind",
        violation=Violation.RECONSTRUCTION,
        against=oracle.against,
        success=Success(int(right.sum()), len(sizes)),
        baseline=_likeliest(sizes, int(oracle.secret.sum()), len(oracle.secret)),
        epsilon=oracle.epsilon,
        found=Differences(np.arange(len(sizes)), counts / np.maximum(sizes, 1)),
    )


def _likeliest(sizes: NDArray[np.int64], ones: int, people: int) -> float:
    """How often the likeliest of none, all and some is right of random groups of these sizes, on average."""

    def chance(size: int) -> float:
        if size == 0:
            return 1.0
        none, every = (Fraction(comb(many, size), comb(people, size)) for many in (people - ones, ones))
        return float(max(none, every, 1 - none - every))

    different, counts = np.unique(sizes, return_counts=True)
    rates = [chance(size) for size in different.tolist()]
    return float(np.average(rates, weights=counts)) if rates else 0.0


@final
@dataclass(frozen=True)
class DifferenceVariance:
    """The variance of one answer for a whole loss, and of the difference of two that share the loss."""

    single: float
    difference: float

    @property
    def ratio(self) -> float:
        """How many times the variance of one answer a difference has."""
        return self.difference / self.single


def difference_variance(loss: Pure | ZCDP) -> DifferenceVariance:
    """Compares the noise of one count with that of the difference of two that share a loss.

    A pure loss buys Laplace noise, a concentrated one Gaussian noise.

    >>> round(difference_variance(Pure(1)).ratio, 6), round(difference_variance(ZCDP("0.5")).ratio, 6)
    (8.0, 4.0)
    """
    if not isinstance(loss, Pure | ZCDP):
        raise BadArgument("the loss", "Pure or ZCDP, such as sf.Pure(1)", loss)
    return DifferenceVariance(_variance(loss), 2 * _variance(loss.scaled(Fraction(1, 2))))


def _variance(loss: Pure | ZCDP) -> float:
    """Reads the variance of the least noise that keeps a loss from the record of that noise."""
    kind = laplace if isinstance(loss, Pure) else gaussian
    calibrated = calibrate(lambda scale: scalar(float) >> kind(scale), d_in=1, loss=loss)
    if calibrated.noise is None:
        raise BadArgument("the mechanism", "one that adds noise", calibrated)
    return float(calibrated.noise.noise.variance().mid()) * float(calibrated.noise.step) ** 2
