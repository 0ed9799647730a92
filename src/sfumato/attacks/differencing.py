"""Differencing: two answers that differ in one person give that person's value away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.accounting.measures import ZCDP, Pure
from sfumato.attacks.guessing import best_guess_rate, hits
from sfumato.attacks.oracles import Groups, Oracle
from sfumato.attacks.queries import random_queries
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.core.calibrate import calibrate
from sfumato.core.space import scalar
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, rational
from sfumato.mechanisms.additive import gaussian, laplace

NAME = "differencing"


@final
@dataclass(frozen=True, eq=False)
class Differences:
    """Is what differencing found: whom or what it was aimed at, and the value of each, before it is rounded."""

    targets: NDArray[np.int64]
    estimates: NDArray[np.float64]


def value_from_means(before: tuple[Number, int], after: tuple[Number, int]) -> Fraction:
    """Gives the value of the one person who left, or came, from two means and how many people each is over.

    >>> value_from_means((85, 10), (87, 9)), value_from_means((500_000, 25), (505_000, 26))
    (Fraction(67, 1), Fraction(630000, 1))
    """
    (first, many), (second, later) = before, after
    if abs(integer(many, "how many before", least=0) - integer(later, "how many after", least=0)) != 1:
        raise BadArgument("how many people", "one more or one less after than before", (many, later))
    change = later * rational(second, "the mean after") - many * rational(first, "the mean before")
    return change * (later - many)


def difference(oracle: Oracle, smaller: ArrayLike, larger: ArrayLike) -> float:
    """Gives the value of the one person in the larger group who is not in the smaller: larger answer less smaller.

    >>> difference(Oracle.exact([3, 4, 5]), [True, False, False], [True, False, True])
    5.0
    """
    without, with_target = np.asarray(smaller), np.asarray(larger)
    fits = without.shape == with_target.shape and without.dtype == with_target.dtype == np.bool_
    if not fits or (without & ~with_target).any() or int((with_target & ~without).sum()) != 1:
        raise BadArgument("larger", "the smaller group and one person besides", "other groups")
    low, high = oracle.ask_all(np.stack([without, with_target]))
    return float(high - low)


def differencing(
    oracle: Oracle,
    *,
    targets: Sequence[int] | None = None,
    pairs: int = 1,
    total: float | None = None,
    within: float = 0,
    entropy: Entropy | None = None,
) -> Attack:
    """Aims at one person after another: asks for a group, and for the group with that person in it.

    Groups are random halves of the others. With several ``pairs`` for each person, differences are averaged. Where the
    ``total`` of everybody is known from elsewhere, one question does: everybody but the target. Estimates are rounded
    to whole numbers; one counts if it is ``within`` so much of the truth.
    """
    people = len(oracle.secret)
    aims = np.arange(people) if targets is None else np.asarray(targets, dtype=np.int64)
    if aims.ndim != 1 or not aims.size or aims.min() < 0 or aims.max() >= people:
        raise BadArgument("targets", f"places between 0 and {people - 1}, one or more", targets)
    if total is None:
        estimates = _by_pairs(oracle, aims, integer(pairs, "pairs", least=1), entropy or system())
    else:
        estimates = float(rational(total, "total")) - oracle.ask_all(~_only(aims, people))
    truth = oracle.secret[aims]
    return Attack(
        name=NAME,
        violation=Violation.RECONSTRUCTION,
        against=oracle.against,
        success=hits(np.rint(estimates), truth, within=within),
        baseline=best_guess_rate(truth, within=within),
        epsilon=oracle.epsilon,
        found=Differences(aims, estimates),
    )


def _only(aims: NDArray[np.int64], people: int) -> Groups:
    return np.asarray(aims[:, None] == np.arange(people))


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
    within: float = 0,
    against: str = "exact answers",
    epsilon: float | None = None,
) -> Attack:
    """Asks the same questions at two times, between which one person came or changed: the gaps are that person's.

    >>> differencing_over_time([2210], [2336], changed=[126]).success.rate
    1.0
    """
    early, late = (np.atleast_1d(np.asarray(answers, dtype=np.float64)) for answers in (before, after))
    truth = np.atleast_1d(np.asarray(changed, dtype=np.float64))
    if not early.shape == late.shape == truth.shape:
        raise BadArgument("before, after and changed", "of one shape", (early.shape, late.shape, truth.shape))
    gaps = late - early
    return Attack(
        name="differencing over time",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.rint(gaps), truth, within=within),
        baseline=best_guess_rate(truth.ravel(), within=within),
        epsilon=epsilon,
        found=Differences(np.arange(gaps.size), gaps),
    )


def recommender(
    before: ArrayLike,
    after: ArrayLike,
    *,
    known: Sequence[int],
    taken: ArrayLike,
    share: float = 1,
    against: str = "exact answers",
    epsilon: float | None = None,
) -> Attack:
    """Compares what a recommender says at two times: what rose beside things a person took, that person took too.

    ``before`` and ``after`` say how strongly each thing (row) goes with each other one (column), as "others also took"
    does. ``known`` are things that the target is known to have taken in between; ``taken`` is the truth. A thing is
    guessed if it rose by one half or more beside at least this ``share`` of the known things. After Calandrino and
    others 2011, "You Might Also Like".
    """
    early, late = (np.asarray(scores, dtype=np.float64) for scores in (before, after))
    truth, places = np.asarray(taken, dtype=np.bool_), np.asarray(known, dtype=np.int64)
    if early.shape != late.shape or early.shape != (truth.size, truth.size):
        raise BadArgument("before and after", "square, with a row and a column for each thing", early.shape)
    if not places.size or places.min() < 0 or places.max() >= truth.size:
        raise BadArgument("known", "places of one or more things", known)
    risen = ((late - early)[places] >= 1 / 2).mean(axis=0)
    others = np.setdiff1d(np.arange(truth.size), places)
    guesses = (risen[others] >= share).astype(np.float64)
    return Attack(
        name="recommender differencing",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(guesses, truth[others]),
        baseline=best_guess_rate(truth[others]),
        epsilon=epsilon,
        found=Differences(others, risen[others]),
    )


def unanimous_groups(oracle: Oracle, groups: ArrayLike) -> Attack:
    """Asks how many of each group say yes: none or all gives everybody in the group away, without a second question.

    A hit is a group of which it is told rightly whether nobody, everybody, or only some of it say yes.
    """
    if not np.isin(oracle.secret, (0, 1)).all():
        raise BadArgument("the secret", "0 or 1 for each person", "something else")
    masks = np.asarray(groups)
    counts = np.rint(oracle.ask_all(masks))
    sizes, truth = masks.sum(axis=1), masks.astype(np.float64) @ oracle.secret.astype(np.float64)

    def kinds(found: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.where(np.isnan(found), np.nan, (found >= sizes).astype(np.float64) - (found <= 0))

    right = kinds(counts) == kinds(truth)
    return Attack(
        name="groups of one mind",
        violation=Violation.RECONSTRUCTION,
        against=oracle.against,
        success=Success(int(right.sum()), len(sizes)),
        baseline=best_guess_rate(kinds(truth)),
        epsilon=oracle.epsilon,
        found=Differences(np.arange(len(sizes)), counts / np.maximum(sizes, 1)),
    )


@final
@dataclass(frozen=True)
class DifferenceVariance:
    """Is the variance of one answer for a whole loss, and of the difference of two that share the loss."""

    single: float
    difference: float

    @property
    def ratio(self) -> float:
        """Is how much more noise a difference has."""
        return self.difference / self.single


def difference_variance(loss: Pure | ZCDP) -> DifferenceVariance:
    """Gives how noisy the difference of two counts is that share a loss: Laplace noise if it is pure, else Gaussian.

    >>> round(difference_variance(Pure(1)).ratio, 6), round(difference_variance(ZCDP("0.5")).ratio, 6)
    (8.0, 4.0)
    """
    match loss:
        case Pure():
            return DifferenceVariance(_variance(loss), 2 * _variance(Pure(Fraction(loss.epsilon) / 2)))
        case ZCDP():
            return DifferenceVariance(_variance(loss), 2 * _variance(ZCDP(Fraction(loss.rho) / 2)))
    raise BadArgument("the loss", "Pure or ZCDP, such as sf.Pure(1)", loss)


def _variance(loss: Pure | ZCDP) -> float:
    """Reads the variance of the least noise that keeps a loss from the record of that noise."""
    kind = laplace if isinstance(loss, Pure) else gaussian
    made = calibrate(lambda scale: scalar(float) >> kind(scale), d_in=1, loss=loss)
    if made.noise is None:
        raise BadArgument("the mechanism", "one that adds noise", made)
    return float(made.noise.noise.variance().mid()) * float(made.noise.step) ** 2
