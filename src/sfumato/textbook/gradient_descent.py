"""Plain gradient descent, as the texts teach it: without noise, for public numbers; it says where it diverges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Several
from sfumato.exact import integer

Point: TypeAlias = tuple[float, ...]
"""Where a function of some numbers is asked."""

MOST_STEPS = 10_000_000


def gradient_descent(
    function: Callable[..., float],
    gradient: Callable[..., Sequence[float]],
    start: Sequence[float],
    *,
    rate: float,
    tolerance: float = 0.0,
    steps: int = MOST_STEPS,
) -> tuple[Point, int]:
    """Goes down a function of some numbers: x − rate · gradient(x), again and again; gives where it ends, and after how
    many steps.

    It ends after ``steps``, or once the function changes by at most ``tolerance``. Where a number is no longer finite,
    it has diverged, and says so. Not for private data: when it stops tells about what it goes down.

    >>> gradient_descent(lambda x: x * x, lambda x: (2 * x,), (1.0,), rate=0.25, steps=2)
    ((0.25,), 2)
    """
    _check(start, rate, tolerance)
    place: Point = tuple(float(each) for each in start)
    most, value = integer(steps, "steps", least=0), _at(function, place)
    for step in range(1, most + 1):
        try:
            slope = gradient(*place)
        except OverflowError:
            raise _diverged(step, rate) from None
        place = tuple(each - rate * part for each, part in zip(place, slope, strict=True))
        before, value = value, _at(function, place)
        if not (math.isfinite(value) and all(map(math.isfinite, place))):
            raise _diverged(step, rate)
        if tolerance and abs(value - before) <= tolerance:
            return place, step
    return place, most


def _diverged(step: int, rate: float) -> BadArgument:
    must = (
        f"smaller, or the start closer: descent diverged in step {step:,}, each step overshoots by more than the last"
    )
    return BadArgument("rate", must, rate)


def _at(function: Callable[..., float], place: Point) -> float:
    try:
        return function(*place)
    except OverflowError:
        return math.inf


def _check(start: Sequence[float], rate: float, tolerance: float) -> None:
    if not len(start) or not all(math.isfinite(each) for each in start):
        raise BadArgument("start", "one or more finite numbers", "others" if len(start) else "none")
    if not 0 < rate < math.inf:
        raise BadArgument("rate", "a positive number", rate)
    if not 0 <= tolerance < math.inf:
        raise BadArgument("tolerance", "a number that is not negative", tolerance)


def linear_gradient(rows: Any, targets: Any, coefficients: Sequence[float]) -> NDArray[np.float64]:
    """The gradient of the mean squared error of b₀ + b₁x₁ + …, for rows that are public.

    With r the targets less what is predicted for n rows it is (−2/n) Σ rᵢ, and (−2/n) Σ xᵢⱼ rᵢ for each column j.

    >>> linear_gradient([[1.0], [3.0]], [1.0, 2.0], [0.0, 0.0]).tolist()
    [-3.0, -7.0]
    """
    held, wanted = np.asarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
    at = np.asarray(coefficients, dtype=np.float64)
    if held.ndim != 2 or not len(held) or wanted.shape != (len(held),) or at.shape != (held.shape[1] + 1,):
        must = "a table of one or more rows, a target for each, and one coefficient more than there are columns"
        raise BadArgument("rows, targets and coefficients", must, Several(held.shape, wanted.shape, at.shape))
    ones = np.column_stack([np.ones(len(held)), held])
    return np.asarray(-2 / len(held) * ones.T @ (wanted - ones @ at))


def descent_work(parameters: int, rows: int, *, steps: int = 1) -> int:
    """How many derivatives of single rows a descent works out: parameters × rows used in a step × steps.

    >>> descent_work(100, 100_000, steps=100), descent_work(100, 1_000, steps=100)
    (1000000000, 10000000)
    """
    counts = (parameters, "parameters"), (rows, "rows"), (steps, "steps")
    return math.prod(integer(count, name, least=1) for count, name in counts)
