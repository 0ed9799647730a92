"""Choices: what a plan is drawn from: hypothesis, which can make failures smaller, or a seed, which is faster."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(ABC):
    """Is a source of decisions."""

    @abstractmethod
    def whole(self, low: int, high: int) -> int:
        """Gives a whole number, both ends included; smaller ones are simpler."""

    def of(self, options: Sequence[T]) -> T:
        """Gives one of some; the first ones are simpler."""
        return options[self.whole(0, len(options) - 1)]

    def some(self, options: Sequence[T], low: int, high: int) -> list[T]:
        """Gives several of some, possibly one of them twice."""
        return [self.of(options) for _ in range(self.whole(low, high))]

    def often(self, times: int) -> bool:
        """Gives false once in so many times."""
        return self.whole(1, times) < times


class Drawn(Choices):
    """Lets hypothesis decide."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw

    def whole(self, low: int, high: int) -> int:
        return self.draw(integers(low, high))  # type: ignore[no-any-return]


class Seeded(Choices):
    """Lets a seed decide."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def whole(self, low: int, high: int) -> int:
        return low + int(self.random.random() * (high - low + 1))


@lru_cache(None)
def integers(low: int, high: int) -> st.SearchStrategy[int]:
    return st.integers(low, high)
