"""How values are spelled in letters, so that long ones can be found by their prefixes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol, final

from sfumato.errors import BadArgument, Unseen
from sfumato.exact import integer
from sfumato.local.device.spellings import END, spelling_of

MOST_BITS = 53
"""Whole numbers are those that JavaScript has too."""


class Spelling(Protocol):
    """A way to write every value as letters, none of them the beginning of another."""

    @property
    @abstractmethod
    def letters(self) -> str:
        """All letters, but for an end."""

    @property
    @abstractmethod
    def length(self) -> int:
        """The most letters of a value, its end among them."""

    @abstractmethod
    def published(self) -> dict[str, Any]:
        """The spelling as devices read it."""

    @abstractmethod
    def read(self, spelled: str) -> str | int:
        """The value that is spelled so."""

    @abstractmethod
    def whole(self, prefix: str) -> bool:
        """Whether a prefix is all of a value."""

    def spell(self, value: Any) -> str:
        """A value in letters; refuses what has no spelling."""
        try:
            return spelling_of(self.published())(value)
        except ValueError as refusal:
            must = str(refusal).removeprefix("the value must be ")
        raise BadArgument("the value", must, Unseen())

    @abstractmethod
    def endings(self, letters: int) -> int:
        """In how many ways a prefix can be longer by so many letters, or end before."""

    @abstractmethod
    def extended(self, prefixes: Iterable[str], length: int) -> list[str]:
        """All ways in which prefixes of one length that are not whole go on to a length, or end before it."""


@final
@dataclass(frozen=True)
class Words(Spelling):
    """Words of up to so many letters of an alphabet; an end marks where they end.

    >>> Words("ab", 2).extended([""], 2)
    ['\\n', 'a\\n', 'b\\n', 'aa', 'ab', 'ba', 'bb']
    """

    alphabet: str
    longest: int

    def __post_init__(self) -> None:
        alphabet = self.alphabet
        if not isinstance(alphabet, str) or not alphabet or len(set(alphabet)) < len(alphabet):
            raise BadArgument("alphabet", "a text of different letters, such as string.ascii_lowercase", alphabet)
        if END in alphabet or any("\ud800" <= letter <= "\udfff" for letter in alphabet):
            raise BadArgument("alphabet", "of letters: no end of a line, no half of a letter", "one")
        integer(self.longest, "longest", least=1, most=256)

    @property
    def letters(self) -> str:
        """The alphabet."""
        return self.alphabet

    @property
    def length(self) -> int:
        """The longest word, and its end."""
        return self.longest + 1

    def published(self) -> dict[str, Any]:
        """The alphabet, and the length of the longest word."""
        return {"alphabet": self.alphabet, "longest": self.longest}

    def read(self, spelled: str) -> str:
        """The word without its end."""
        return spelled.removesuffix(END)

    def whole(self, prefix: str) -> bool:
        """A word is whole once it has its end."""
        return prefix.endswith(END)

    def endings(self, letters: int) -> int:
        """All words that are shorter, with their end, and all beginnings of that length."""
        return sum(len(self.alphabet) ** some for some in range(letters + 1))

    def extended(self, prefixes: Iterable[str], length: int) -> list[str]:
        """Each prefix with all words that end before a length, and with all beginnings that reach it."""
        return [prefix + ending for prefix in prefixes for ending in self._endings(length - len(prefix), length)]

    def _endings(self, letters: int, length: int) -> Iterator[str]:
        for some in range(letters):
            yield from ("".join(word) + END for word in product(self.alphabet, repeat=some))
        if length < self.length:  # else nothing can be longer: all must have ended
            yield from map("".join, product(self.alphabet, repeat=letters))


@final
@dataclass(frozen=True)
class WholeNumbers(Spelling):
    """Whole numbers of so many bits, as binary digits, the highest first.

    >>> WholeNumbers(4).spell(5), WholeNumbers(4).read("0101")
    ('0101', 5)
    """

    bits: int

    def __post_init__(self) -> None:
        integer(self.bits, "bits", least=1, most=MOST_BITS)

    @property
    def letters(self) -> str:
        """Two digits."""
        return "01"

    @property
    def length(self) -> int:
        """One letter for each bit."""
        return self.bits

    def published(self) -> dict[str, Any]:
        """The number of bits."""
        return {"bits": self.bits}

    def read(self, spelled: str) -> int:
        """The number of some digits."""
        return int(spelled, 2)

    def whole(self, prefix: str) -> bool:
        """All numbers have as many digits."""
        return len(prefix) == self.bits

    def endings(self, letters: int) -> int:
        """All rows of so many digits."""
        return 1 << letters

    def extended(self, prefixes: Iterable[str], length: int) -> list[str]:
        """Each prefix with all rows of digits up to a length."""
        listed = list(prefixes)
        more = length - len(listed[0]) if listed else 0
        endings = [format(number, f"0{more}b") for number in range(1 << more)] if more else [""]
        return [prefix + ending for prefix in listed for ending in endings]


def a_spelling(alphabet: str | None, longest: int | None, bits: int | None) -> Spelling:
    """Words of an alphabet, or whole numbers of some bits: whichever was stated."""
    if bits is not None and alphabet is None and longest is None:
        return WholeNumbers(bits)
    if bits is None and alphabet is not None and longest is not None:
        return Words(alphabet, longest)
    raise BadArgument(
        "the values", "words (alphabet=… and longest=…) or whole numbers (bits=…)", "neither of these, or both"
    )


def prefix_lengths(spelling: Spelling, *, first: int, candidates: int, kept: int) -> tuple[int, ...]:
    """Lengths of prefixes, each as much longer as leaves no more than so many candidates.

    The first prefixes may be ``first`` at most; later ones are those of ``kept`` shorter ones.

    >>> prefix_lengths(WholeNumbers(32), first=1 << 16, candidates=1 << 16, kept=100)
    (16, 25, 32)
    """
    lengths, many = [0], first
    while lengths[-1] < spelling.length:
        step = 1
        while lengths[-1] + step < spelling.length and spelling.endings(step + 1) <= many:
            step += 1
        lengths.append(lengths[-1] + step)
        many = candidates // kept
    return tuple(lengths[1:])
