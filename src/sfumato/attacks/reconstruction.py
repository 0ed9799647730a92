"""Reconstruction: enough answers about groups, even noisy ones, are a system of equations for everybody's secret.

Dinur and Nissim 2003, "Revealing information while preserving privacy", Theorems 3 and 5: answers to all, or to some
n log² n random, groups of n people with errors well below √n give away nearly all n bits; and no protection but more
noise, or fewer answers, helps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sfumato.attacks.guessing import best_guess_rate, hits
from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Violation
from sfumato.errors import BadArgument, MissingExtra
from sfumato.exact import Number, positive, rational
from sfumato.release.progress import Progress, reporting

Floats: TypeAlias = NDArray[np.float64]

METHODS = ("auto", "least squares", "linear program", "integer program")

ALMOST_NOTHING = 1e-6
"""What is taken for 0 in squares of unit vectors."""

PATIENCE = 60
"""How many seconds a program may take, unless told."""

OUT_OF_TIME = " (out of time)"
"""Added to what was attacked, where a program was stopped before it found the best solution."""

PHASES = 3
"""The steps that progress counts: equations read, equations solved, guesses rounded."""


@final
@dataclass(frozen=True, eq=False)
class Reconstruction:
    """What was reconstructed: a guess for everybody, and what it rests on.

    ``estimates`` are what the solver gave before rounding. ``rank`` is the number of independent equations, and
    ``determined`` says of whom they leave no choice, were they exact. ``misfit`` is how far the answers are from those
    that the guesses would give, as a root mean square. ``finished`` is false where a program ran out of time.
    """

    guesses: Floats = field(repr=False)
    estimates: Floats = field(repr=False)
    rank: int
    determined: NDArray[np.bool_] = field(repr=False)
    misfit: float
    method: str
    finished: bool = True


def reconstruction(
    answers: ArrayLike,
    queries: ArrayLike,
    *,
    secret: ArrayLike,
    method: str = "auto",
    values: Sequence[Number] = (0, 1),
    seconds: Number = PATIENCE,
    against: str = "exact answers",
    epsilon: float | None = None,
    progress: Progress | None = None,
) -> Attack:
    """Solves for everybody's secret, and counts how many guesses are right; `reconstruct` says how.

    Where a program ran out of time, ``against`` says so, for more time may find more.

    >>> groups = [[True, True, False], [False, True, True], [True, False, True]]
    >>> reconstruction([1, 1, 2], groups, secret=[1, 0, 1]).success.rate
    1.0
    """
    solved = reconstruct(answers, queries, method=method, values=values, seconds=seconds, progress=progress)
    return Attack(
        name="reconstruction",
        violation=Violation.RECONSTRUCTION,
        against=against if solved.finished else against + OUT_OF_TIME,
        success=hits(solved.guesses, secret),
        baseline=best_guess_rate(secret),
        epsilon=epsilon,
        found=solved,
    )


def reconstruct(
    answers: ArrayLike,
    queries: ArrayLike,
    *,
    method: str = "auto",
    values: Sequence[Number] = (0, 1),
    seconds: Number = PATIENCE,
    progress: Progress | None = None,
) -> Reconstruction:
    """Solves for a secret of each person from answers about groups.

    ``queries`` has a row for each question and a column for each person: who is in the group (or with what weight).
    ``answers`` are the sums over the groups of a secret that takes one of the ``values``; or, with a column for each of
    several categories, how many of each group are in each, and guesses are then the places of categories. An answer
    that is NaN was refused, and is left out; without any answer, everybody is guessed to be in the middle.

    "least squares" takes the numbers that miss the answers least, without regard to what values are possible.
    "linear program" minimises the sum of the misses over the range of the values, which is mostly better against
    Laplace noise; "integer program" over the values themselves, and is slow beyond some hundred people: it stops after
    this many ``seconds`` with the best solution it has. "auto" takes least squares where the equations determine
    everybody, else the integer program. Then each number is clipped and rounded to the nearest value; categories go to
    the largest.
    """
    if method not in METHODS:
        raise BadArgument("method", "one of " + ", ".join(METHODS), method)
    patience = float(positive(seconds, "seconds"))
    with reporting(progress, "reconstructing") as tell:
        weights, sums = _read(answers, queries)
        levels, normal, finished = _levels(values), _Normal.of(weights), True
        if method == "auto":
            method = "least squares" if normal.rank in (0, weights.shape[1]) else "integer program"
        tell(1, PHASES)
        if method == "least squares" or not len(sums):
            middle = 1 / sums.shape[1] if sums.ndim == 2 else (levels[0] + levels[-1]) / 2
            estimates = normal.solve(weights, sums, middle)
        else:
            estimates, finished = _program(weights, sums, levels, whole=method == "integer program", seconds=patience)
        tell(2, PHASES)
        guesses = _rounded(estimates, levels)
        misfit = _misfit(weights, sums, guesses)
        tell(3, PHASES)
    return Reconstruction(guesses, estimates, normal.rank, normal.determined, misfit, method, finished)


def _misfit(weights: Floats, answers: Floats, guesses: Floats) -> float:
    implied = weights @ (guesses if answers.ndim == 1 else np.eye(answers.shape[1])[guesses.astype(np.int64)])
    return float(np.sqrt(np.mean((implied - answers) ** 2))) if answers.size else 0.0


def _read(answers: ArrayLike, queries: ArrayLike) -> tuple[Floats, Floats]:
    weights, sums = floats(queries, "queries"), floats(answers, "answers")
    if weights.ndim != 2 or not weights.shape[1]:
        raise BadArgument("queries", "a row for each question and a column for each person", weights.shape)
    if sums.ndim not in (1, 2) or len(sums) != len(weights) or (sums.ndim == 2 and sums.shape[1] < 2):
        must = f"one for each of the {len(weights)} questions, or one for each and each of several categories"
        raise BadArgument("answers", must, sums.shape)
    if not np.isfinite(weights).all() or np.isinf(sums).any():
        raise BadArgument("queries and answers", "finite (an answer may be NaN, if it was refused)", "infinite ones")
    answered = ~np.isnan(sums).any(axis=tuple(range(1, sums.ndim)))
    return weights[answered], sums[answered]


def _levels(values: Sequence[Number]) -> Floats:
    levels = np.unique([float(rational(value, "a value")) for value in values])
    if len(levels) < 2:
        raise BadArgument("values", "two different numbers or more", values)
    return levels


def _rounded(estimates: Floats, levels: Floats) -> Floats:
    if estimates.ndim == 2:
        return np.asarray(np.argmax(estimates, axis=1), dtype=np.float64)
    clipped = np.clip(estimates, levels[0], levels[-1])
    return np.asarray(levels[np.searchsorted((levels[1:] + levels[:-1]) / 2, clipped, side="right")])


@final
@dataclass(frozen=True, eq=False)
class _Normal:
    """The normal equations of least squares: their rank, whom they determine, and how to solve them."""

    rank: int
    determined: NDArray[np.bool_]
    inverse: Callable[[Floats], Floats]

    @staticmethod
    def of(weights: Floats) -> _Normal:
        gram = weights.T @ weights
        people = len(gram)
        least = float(np.trace(gram)) * people * np.finfo(np.float64).eps
        try:  # succeeds only if every eigenvalue is above the least
            np.linalg.cholesky(gram - least * np.eye(people))
        except np.linalg.LinAlgError:
            return _Normal._short(gram, least)
        return _Normal(people, np.ones(people, dtype=np.bool_), lambda sides: np.asarray(np.linalg.solve(gram, sides)))

    @staticmethod
    def _short(gram: Floats, least: float) -> _Normal:
        """Takes equations apart that do not determine everybody."""
        strengths, vectors = np.linalg.eigh(gram)
        strong = strengths > least
        known, inverses = vectors[:, strong], 1 / strengths[strong]
        determined = (vectors[:, ~strong] ** 2).sum(axis=1) < ALMOST_NOTHING
        return _Normal(int(strong.sum()), determined, lambda sides: known @ (inverses * (known.T @ sides).T).T)

    def solve(self, weights: Floats, answers: Floats, middle: float) -> Floats:
        """The least-squares solution that is nearest to the middle, where there are several."""
        missing = answers - weights @ np.full((weights.shape[1], *answers.shape[1:]), middle)
        return middle + self.inverse(weights.T @ missing)


def _program(weights: Floats, answers: Floats, levels: Floats, *, whole: bool, seconds: float) -> tuple[Floats, bool]:
    """Minimises the sum of absolute misses over indicators: one for each person and each value but the first."""
    design, target = _indicators(weights, answers, levels)
    people, others = weights.shape[1], design.shape[1] // weights.shape[1]
    solved = _solve(design, target, people, whole=whole, seconds=seconds)
    if solved.x is None:
        raise BadArgument("seconds", "enough for a first solution, or another method", seconds)
    chosen = np.clip(solved.x[: people * others].reshape(others, people), 0, 1)
    if answers.ndim == 2:
        return np.column_stack([1 - chosen.sum(axis=0), *chosen]), solved.status == 0
    return levels[0] + (levels[1:] - levels[0]) @ chosen, solved.status == 0


def _indicators(weights: Floats, answers: Floats, levels: Floats) -> tuple[Floats, Floats]:
    """Writes the equations in the indicators."""
    sizes = weights.sum(axis=1)
    if answers.ndim == 1:
        return np.hstack([weights * (level - levels[0]) for level in levels[1:]]), answers - sizes * levels[0]
    others = answers.shape[1] - 1
    first = np.hstack([-weights] * others)
    rest = np.kron(np.eye(others), weights)
    return np.vstack([first, rest]), np.concatenate([answers[:, 0] - sizes, answers[:, 1:].T.ravel()])


def _solve(design: Floats, target: Floats, people: int, *, whole: bool, seconds: float) -> Any:
    """Solves: design · indicators + over - under = target, with the least sum of over and under."""
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, eye_array, hstack, vstack
    except ImportError:
        raise MissingExtra("reconstruction by linear and integer programs", "attacks") from None
    questions, unknowns = design.shape
    slack = eye_array(questions)
    one_each = hstack([eye_array(people)] * (unknowns // people) + [csr_array((people, 2 * questions))])
    rows = vstack([hstack([csr_array(design), slack, -slack]), one_each]).tocsr()
    return milp(
        np.concatenate([np.zeros(unknowns), np.ones(2 * questions)]),
        constraints=LinearConstraint(
            rows, np.concatenate([target, np.zeros(people)]), np.concatenate([target, np.ones(people)])
        ),
        bounds=Bounds(0, np.concatenate([np.ones(unknowns), np.full(2 * questions, np.inf)])),
        integrality=np.concatenate([np.full(unknowns, int(whole)), np.zeros(2 * questions)]),
        options={"time_limit": seconds},
    )
