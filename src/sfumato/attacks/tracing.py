"""Tracing: from published means of many attributes, who was in the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.oracles import with_laplace
from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, rational
from sfumato.release.progress import Progress, reporting

Floats: TypeAlias = NDArray[np.float64]
Rows: TypeAlias = NDArray[np.bool_]

LEVEL = 0.05

RAREST = 26
"""How rare a made-up attribute is at most, in 256ths."""


@final
@dataclass(frozen=True)
class Trace:
    """The verdict on one person: a member if the statistic is above the threshold."""

    statistic: float
    threshold: float

    @property
    def member(self) -> bool:
        return self.statistic > self.threshold


def tracing_threshold(attributes: int, *, level: Number = LEVEL) -> float:
    """The threshold that the statistic of an outsider exceeds with chance at most ``level``: √(8 d ln(1/level)).

    It is a sum of d independent terms between -2 and 2 with mean 0, if the reference is as likely as the target to be
    whoever they are: Hoeffding's inequality.

    >>> [round(tracing_threshold(attributes), 3) for attributes in (100, 1_000, 10_000)]
    [48.955, 154.809, 489.549]
    """
    chance = rational(level, "level")
    if not 0 < chance < 1:
        raise BadArgument("level", "between 0 and 1, both excluded", level)
    threshold = sqrt(8 * integer(attributes, "attributes", least=1) * -log(chance))
    if threshold >= 2 * attributes:
        raise BadArgument("attributes", f"more: no statistic can exceed {threshold:.3g} with so few", attributes)
    return threshold


def tracing(
    target: ArrayLike, answers: ArrayLike, reference: ArrayLike, *, level: Number = LEVEL, clamp: bool = True
) -> Trace:
    """Tells whether a person is in the data behind some means, by comparison with somebody who is not.

    ``target`` and ``reference`` have 0 or 1 for each attribute, ``answers`` the means. All are mapped to -1 … 1, and
    the statistic is the target's inner product with the answers less the reference's (it is not a cosine: nothing is
    divided by lengths). Answers are clamped to 0 … 1 first: the threshold holds for none outside. After Dwork and
    others 2017, "Exposed! A survey of attacks on private data".
    """
    person, outsider = _bits(target, "target"), _bits(reference, "reference")
    if person.shape != outsider.shape:
        raise BadArgument("reference", f"as long as the target, {len(person)}", len(outsider))
    means = _means(answers, len(person), clamp=clamp)
    return Trace(float(_statistics(person, outsider, means)), tracing_threshold(len(means), level=level))


def _bits(person: ArrayLike, name: str) -> Rows:
    bits = floats(person, name, "0 or 1 for each attribute")
    if bits.ndim != 1 or not np.isin(bits, (0, 1)).all():
        raise BadArgument(name, "0 or 1 for each attribute", "something else")
    return bits.astype(np.bool_)


def _means(answers: ArrayLike, attributes: int, *, clamp: bool) -> Floats:
    means = floats(answers, "answers")
    if means.shape != (attributes,) or not np.isfinite(means).all():
        raise BadArgument("answers", f"a finite mean for each of the {attributes} attributes", means.shape)
    return np.clip(means, 0, 1) if clamp else means


def _statistics(targets: Rows, references: Rows, means: Floats) -> Floats:
    """<target, means> - <reference, means>, all in -1 … 1, for one pair, or one to a row."""
    difference = targets.astype(np.float64) - references
    return np.asarray(2 * difference @ (2 * means - 1))


Release: TypeAlias = Callable[[Rows], Floats]
"""Publishes means: from rows of bits, one to a person, to a mean for each attribute."""


def exact_means(rows: Rows) -> Floats:
    """Publishes the means as they are."""
    return np.asarray(rows.mean(axis=0))


def private_means(epsilon: Number, *, entropy: Entropy | None = None) -> Release:
    """Publishes means at an ε for all of them together.

    The number of people is public. One changed person moves every count by at most 1, all d of them by d in all, so
    each has Laplace noise of scale d / ε, before it is divided by the number of people.
    """
    loss = positive(epsilon, "epsilon")

    def publish(rows: Rows) -> Floats:
        people, attributes = rows.shape
        counts = with_laplace(rows.sum(axis=0), attributes / loss, entropy)
        return np.asarray(counts / people)

    return publish


@final
@dataclass(frozen=True)
class Traced:
    """How often members are taken for members, and how often others are."""

    members: Success
    others: Success


def tracing_experiment(
    release: Release = exact_means,
    *,
    members: int = 10,
    attributes: int = 10_000,
    rounds: int = 20,
    level: Number = LEVEL,
    clamp: bool = True,
    against: str = "exact answers",
    epsilon: float | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Makes up people, publishes the means of some of them, and traces as many others; the success is right verdicts.

    How common each attribute is, is drawn from 0.1 … 0.9, and is the same for members and others: nothing about people
    tells who is in, but the means.
    """
    count, source = integer(members, "members", least=1), entropy or system()
    threshold = tracing_threshold(attributes, level=level)
    caught = accused = 0
    with reporting(progress, "tracing") as tell:
        for done in range(integer(rounds, "rounds", least=1)):
            people = _made_up(3 * count, attributes, source)
            inside, outside, references = people[:count], people[count : 2 * count], people[2 * count :]
            means = _means(release(inside), attributes, clamp=clamp)
            caught += int((_statistics(inside, references, means) > threshold).sum())
            accused += int((_statistics(outside, references, means) > threshold).sum())
            tell(done + 1, rounds)
    trials = count * rounds
    return Attack(
        name="tracing",
        violation=Violation.MEMBERSHIP,
        against=against,
        success=Success(caught + trials - accused, 2 * trials),
        baseline=0.5,
        epsilon=epsilon,
        found=Traced(Success(caught, trials), Success(accused, trials)),
    )


def _made_up(people: int, attributes: int, entropy: Entropy) -> Rows:
    """Draws people whose attributes are as common as 0.1 … 0.9, each its own, in steps of 1/256."""
    drawn = np.frombuffer(entropy.octets((people + 1) * attributes), dtype=np.uint8).reshape(people + 1, attributes)
    common = RAREST + (drawn[0].astype(np.int64) * (257 - 2 * RAREST) >> 8)
    return np.asarray(drawn[1:] < common)
