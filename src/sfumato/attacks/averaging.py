"""Averaging: an answer whose noise is drawn anew each time is as good as exact, to whoever may ask often enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import isnan, nan, sqrt
from typing import final

import numpy as np

from sfumato.attacks.guessing import hits, stated_baseline
from sfumato.attacks.result import Attack, Violation
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, LimitReached
from sfumato.exact import Number, integer, positive, probability, rational, up
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.release.progress import Progress, reporting


def averaged_deviation(scale: Number, repeats: int) -> float:
    """The standard deviation that the average of repeated answers with Laplace noise of a scale has: √(2b²/m).

    >>> round(averaged_deviation(1, 100), 6)
    0.141421
    """
    return sqrt(2 * up(positive(scale, "scale")) ** 2 / integer(repeats, "repeats", least=1))


@final
@dataclass(frozen=True)
class Averages:
    """What averaging found: an average for each trial (NaN where there was no answer), and how it went.

    ``answers`` counts the answers, ``distinct`` those that were not seen before: what is asked again and answered from
    a store adds nothing. ``stopped`` says that the curator's limit was reached.
    """

    averages: tuple[float, ...] = field(repr=False)
    answers: int
    distinct: int
    stopped: bool


def averaging(
    ask: Callable[[], float],
    *,
    truth: Number,
    repeats: int,
    trials: int = 1,
    within: Number = 0.5,
    baseline: Number = 0,
    against: str = "unaccounted noise",
    epsilon: float | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Asks the same question over and over, and averages; an average counts if it is ``within`` that much of the truth.

    A limit that is reached ends a trial with the answers it has; a refusal (NaN) is no answer. ``baseline`` is how
    often somebody is right who knows the question only.
    """
    many, rounds = integer(repeats, "repeats", least=1), integer(trials, "trials", least=1)
    right = float(rational(truth, "truth"))
    averages, seen, stopped = list[float](), list[float](), False
    with reporting(progress, "averaging") as tell:
        done = count(1)

        def asked() -> float:
            answer = float(ask())
            tell(next(done), rounds * many)
            return answer

        for _ in range(rounds):
            answers, ended = _answers(asked for _ in range(many))
            averages.append(_mean(answers))
            seen += answers
            stopped |= ended
    return Attack(
        name="averaging",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.array(averages), np.full(len(averages), right), within=within),
        baseline=float(probability(baseline, "baseline")),
        epsilon=epsilon,
        found=Averages(tuple(averages), len(seen), len(set(seen)), stopped),
    )


@final
@dataclass(frozen=True)
class SeededNoise:
    """Noise made from a seed and the text of a question: the same text always gets the same. It protects nobody.

    >>> noise = SeededNoise(seed=1, scale=5)
    >>> noise("how many are ill?") == noise("how many are ill?")
    True
    """

    seed: int
    scale: Number

    def __call__(self, question: str) -> int:
        entropy = ReplayEntropy(f"{integer(self.seed, 'seed')} {question}".encode())
        return DiscreteLaplace(positive(self.scale, "scale")).sample(entropy)


@final
@dataclass(frozen=True)
class Stripped:
    """What is left once seeded noise is stripped: the guesses, and the seeds that explain all that was known."""

    guesses: tuple[float, ...] = field(repr=False)
    seeds: tuple[int, ...] = ()


def rephrasing(
    ask: Callable[[str], float],
    phrasings: Sequence[Sequence[str]],
    *,
    truths: Sequence[float],
    baseline: Number | None = None,
    against: str = "noise seeded by the question",
    epsilon: float | None = None,
) -> Attack:
    """Asks each question in many words that mean the same, and averages: noise that depends on the words is stripped.

    ``phrasings`` are the ways to say each question; a limit that is reached leaves the rest unasked. ``baseline`` is
    how often somebody is right who never asked; unless given, how often the best single guess for all questions is, and
    0 for one question.
    """
    if not phrasings or not all(phrasings):
        raise BadArgument("phrasings", "one way or more to say each of one question or more", phrasings)
    guesses = [_mean(_answers(partial(ask, words) for words in ways)[0]) for ways in phrasings]
    return _stripped_attack("rephrasing", Stripped(tuple(guesses)), truths, baseline, against, epsilon)


def _answers(questions: Iterable[Callable[[], float]]) -> tuple[list[float], bool]:
    """Asks until a limit is reached, and says whether it was; refusals are left out."""
    answers = list[float]()
    try:
        for ask in questions:
            answers.append(float(ask()))
    except (LimitReached, Exhausted):
        return [answer for answer in answers if not isnan(answer)], True
    return [answer for answer in answers if not isnan(answer)], False


def _mean(answers: Sequence[float]) -> float:
    return sum(answers) / len(answers) if answers else nan


def seed_recovery(
    ask: Callable[[str], float],
    questions: Sequence[str],
    *,
    truths: Sequence[float],
    known: Mapping[str, float],
    seeds: Iterable[int],
    scale: Number,
    baseline: Number | None = None,
    against: str = "noise seeded by the question",
    epsilon: float | None = None,
) -> Attack:
    """Tries every seed on questions whose true answers are ``known``; the seed that fits strips all other answers.

    Where none fits, or several do, answers are taken as they are. ``baseline`` is that of `rephrasing`.
    """
    if not known:
        raise BadArgument("known", "one question or more whose true answer is known", known)
    gaps = {question: ask(question) - truth for question, truth in known.items()}
    fitting = tuple(
        seed for seed in seeds if all(SeededNoise(seed, scale)(question) == gap for question, gap in gaps.items())
    )
    noise = SeededNoise(fitting[0], scale) if len(fitting) == 1 else lambda question: 0
    guesses = tuple(ask(question) - noise(question) for question in questions)
    return _stripped_attack("seed recovery", Stripped(guesses, fitting), truths, baseline, against, epsilon)


def _stripped_attack(
    name: str,
    stripped: Stripped,
    truths: Sequence[float],
    baseline: Number | None,
    against: str,
    epsilon: float | None,
) -> Attack:
    return Attack(
        name=name,
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=hits(np.rint(stripped.guesses), truths),
        baseline=stated_baseline(baseline, truths),
        epsilon=epsilon,
        found=stripped,
    )
