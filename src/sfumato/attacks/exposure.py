"""Canaries: made-up secrets put into training texts, to measure how much of them a model gives back.

Carlini, Liu, Erlingsson, Kos, Song 2019, "The Secret Sharer" (arXiv 1802.08232).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from sfumato.attacks.reading import floats
from sfumato.attacks.result import Attack, Success, Violation
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import integer

MOST_CANDIDATES = 1 << 24
"""More candidates than this are not listed one by one."""


@final
@dataclass(frozen=True)
class Canary:
    """A made-up secret after a public beginning: one of all texts of a length over an alphabet, drawn evenly."""

    beginning: str
    alphabet: str
    secret: str

    @property
    def text(self) -> str:
        return self.beginning + self.secret

    def candidates(self) -> Iterator[str]:
        """Every text that the canary might have been, in the order of the alphabet."""
        return (self.beginning + "".join(letters) for letters in product(self.alphabet, repeat=len(self.secret)))

    @property
    def place(self) -> int:
        place = 0
        for character in self.secret:
            place = place * len(self.alphabet) + self.alphabet.index(character)
        return place

    def into(self, texts: Iterable[str], *, copies: int = 1, entropy: Entropy | None = None) -> list[str]:
        """Puts copies among texts, each in a random place."""
        mixed, source = list(texts), entropy or system()
        for _ in range(integer(copies, "copies", least=0)):
            mixed.insert(source.below(len(mixed) + 1), self.text)
        return mixed


def canary(
    beginning: str = "the code is ",
    *,
    alphabet: str = "0123456789",
    length: int = 4,
    entropy: Entropy | None = None,
) -> Canary:
    """Draws a canary.

    >>> len(canary(length=6).secret)
    6
    """
    size, source = integer(length, "length", least=1), entropy or system()
    if not isinstance(beginning, str) or not isinstance(alphabet, str):
        raise BadArgument("beginning and alphabet", "texts", (beginning, alphabet))
    if len(set(alphabet)) != len(alphabet) or len(alphabet) < 2:
        raise BadArgument("alphabet", "two or more characters, each once", alphabet)
    if size * math.log2(len(alphabet)) > math.log2(MOST_CANDIDATES):
        raise BadArgument("length", f"short enough for at most {MOST_CANDIDATES} candidates", length)
    return Canary(beginning, alphabet, "".join(alphabet[source.below(len(alphabet))] for _ in range(size)))


@final
@dataclass(frozen=True)
class Exposure:
    """How far a model lifts canaries above their candidates: log₂ of the number of these, less log₂ of the rank."""

    ranks: tuple[int, ...]
    candidates: int

    @property
    def bits(self) -> tuple[float, ...]:
        """The exposure of each canary, between 0 and the bits that its secret has."""
        return tuple(math.log2(self.candidates) - math.log2(rank) for rank in self.ranks)


def exposure(losses: ArrayLike, canary: int | Sequence[int], *, against: str = "a model of text") -> Attack:
    """Ranks a canary among all its candidates by the loss that a model gives them, the least first.

    ``losses`` holds the loss of every candidate, ``canary`` the place of the true one; for several canaries, a row and
    a place for each. Candidates with the same loss rank behind the canary's rivals: a model that says the same of all
    exposes nothing. A hit is a canary with the least loss of all, which whoever tries all candidates finds.

    >>> exposure([3.0, 0.5, 2.0, 4.0], 1).found.bits
    (2.0,)
    """
    table = np.atleast_2d(floats(losses, "losses"))
    places = [integer(place, "canary", least=0) for place in (canary if isinstance(canary, Sequence) else (canary,))]
    if table.ndim != 2 or table.shape[0] != len(places) or table.shape[1] < 2:
        raise BadArgument("losses", "a row for each canary, with the loss of two or more candidates", table.shape)
    if any(index >= table.shape[1] for index in places):
        raise BadArgument("canary", f"the place of one of {table.shape[1]} candidates", canary)
    costs = np.where(np.isnan(table), np.inf, table)
    own = costs[np.arange(len(places)), places]
    ranks = tuple((costs <= own[:, None]).sum(axis=1).tolist())
    return Attack(
        name="extraction of canaries",
        violation=Violation.RECONSTRUCTION,
        against=against,
        success=Success(sum(rank == 1 for rank in ranks), len(ranks)),
        baseline=1 / table.shape[1],
        found=Exposure(ranks, table.shape[1]),
    )
