"""Averaging: an answer whose noise is drawn anew each time is as good as exact, to whoever may ask often enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import nan, sqrt
from typing import final

import numpy as np

from sfumato.attacks.guessing import best_guess_rate, hits
from sfumato.attacks.result import Attack, Violation
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, LimitReached
from sfumato.exact import Number, integer, positive, up
from sfumato.noise.discrete_laplace import DiscreteLaplace


def averaged_deviation(scale: Number, repeats: int) -> float:
    """Gives the standard deviation that the average of repeated answers with Laplace noise of a scale has: √(2b²/m).

    >>> round(averaged_deviation(1, 100), 6)
    0.141421
    """
    return sqrt(2 * up(positive(scale, "scale")) ** 2 / integer(repeats, "repeats", least=1))


@final
@dataclass(frozen=True)
class Averages:
    """Is what averaging found: an average for each trial (NaN where there was no answer), and how it went.

    ``answers`` counts the answers, ``distinct`` those that were not seen before: what is asked again and answered from
    a store adds nothing. ``stopped`` says that the curator's limit was reached.
    """

    averages: tuple[float, ...]
    answers: int
    distinct: int
    stopped: bool


def averaging(
    ask: Callable[[], float],
    *,
    truth: float,
    repeats: int,
    trials: int = 1,
    within: float = 0.5,
    baseline: float = 0.0,
    against: str = "unaccounted noise",
    epsilon: float | None = None,
) -> Attack:
    """Asks the same question over and over, and averages; an average counts if it is ``within`` so much of the truth.

    A limit that is reached ends a trial with the answers it has. ``baseline`` is how often somebody is right who knows
    the question only.
    """
    many, averages, seen = integer(repeats, "repeats", least=1), [], list[float]()
    stopped = False
    for _ in range(integer(trials, "trials", least=1)):
        answers = list[float]()
        try:
            for _ in range(many):
                answers.append(float(ask()))
        except (LimitReached, Exhausted):
            stopped = True
        averages.append(sum(answers) / len(answers) if answers else nan)
        seen += answers
    return Attack(
        name="averaging",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.array(averages), np.full(len(averages), truth), within=within),
        baseline=baseline,
        epsilon=epsilon,
        found=Averages(tuple(averages), len(seen), len(set(seen)), stopped),
    )


@final
@dataclass(frozen=True)
class SeededNoise:
    """Is noise made from a seed and the text of a question: the same text always gets the same. It protects nobody.

    >>> noise = SeededNoise(seed=1, scale=5)
    >>> noise("how many are ill?") == noise("how many are ill?")
    True
    """

    seed: int
    scale: Number

    def __call__(self, question: str) -> int:
        """Gives the noise of a question."""
        entropy = ReplayEntropy(f"{integer(self.seed, 'seed')} {question}".encode())
        return DiscreteLaplace(positive(self.scale, "scale")).sample(entropy)


@final
@dataclass(frozen=True)
class Stripped:
    """Is what is left once seeded noise is stripped: the guesses, and the seeds that explain all that was known."""

    guesses: tuple[float, ...]
    seeds: tuple[int, ...] = ()


def rephrasing(
    ask: Callable[[str], float],
    phrasings: Sequence[Sequence[str]],
    *,
    truths: Sequence[float],
    against: str = "noise seeded by the question",
    epsilon: float | None = None,
) -> Attack:
    """Asks each question in many words that mean the same, and averages: noise that hangs on the words is stripped.

    ``phrasings`` are the ways to say each question; a limit that is reached leaves the rest unasked.
    """
    if not phrasings or not all(phrasings):
        raise BadArgument("phrasings", "one way or more to say each of one question or more", phrasings)
    guesses = [_average(ask, ways) for ways in phrasings]
    return _stripped("rephrasing", Stripped(tuple(guesses)), truths, against, epsilon)


def _average(ask: Callable[[str], float], ways: Sequence[str]) -> float:
    answers = list[float]()
    try:
        for words in ways:
            answers.append(float(ask(words)))
    except (LimitReached, Exhausted):
        pass
    return sum(answers) / len(answers) if answers else nan


def seed_recovery(
    ask: Callable[[str], float],
    questions: Sequence[str],
    *,
    truths: Sequence[float],
    known: Mapping[str, float],
    seeds: Iterable[int],
    scale: Number,
    against: str = "noise seeded by the question",
    epsilon: float | None = None,
) -> Attack:
    """Tries every seed on questions whose true answers are ``known``; the seed that fits strips all other answers.

    Where none fits, or several do, answers are taken as they are.
    """
    if not known:
        raise BadArgument("known", "one question or more whose true answer is known", known)
    gaps = {question: ask(question) - truth for question, truth in known.items()}
    fitting = tuple(
        seed for seed in seeds if all(SeededNoise(seed, scale)(question) == gap for question, gap in gaps.items())
    )
    noise = SeededNoise(fitting[0], scale) if len(fitting) == 1 else lambda question: 0
    guesses = tuple(ask(question) - noise(question) for question in questions)
    return _stripped("seed recovery", Stripped(guesses, fitting), truths, against, epsilon)


def _stripped(name: str, found: Stripped, truths: Sequence[float], against: str, epsilon: float | None) -> Attack:
    return Attack(
        name=name,
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.rint(found.guesses), truths),
        baseline=best_guess_rate(truths),
        epsilon=epsilon,
        found=found,
    )
