"""Exact coins: what a randomizer asks of chance, and how random bytes answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, final

BITS = 53
WHOLE = 1 << BITS
"""Chances are whole numbers over this one."""


class Coins(Protocol):
    """What a randomizer asks of chance; a test can answer with every possibility in turn."""

    def chance(self, weight: int) -> bool:
        """True with probability weight / 2⁵³."""

    def below(self, bound: int) -> int:
        """A uniform whole number in 0 … bound − 1."""

    def many(self, count: int, weight: int) -> int:
        """``count`` independent coins, each true with probability weight / 2⁵³, as the bits of a whole number."""


@final
class OctetCoins:
    """Coins made of random bytes, exactly as likely as stated."""

    def __init__(self, octets: Callable[[int], bytes]) -> None:
        self._octets = octets

    def chance(self, weight: int) -> bool:
        """Compares 53 random bits with the weight."""
        return int.from_bytes(self._octets(7), "little") >> 3 < weight

    def below(self, bound: int) -> int:
        """Draws bits until they are below the bound."""
        width = (bound - 1).bit_length()
        size = (width + 7) >> 3
        while (drawn := int.from_bytes(self._octets(size), "little") >> ((size << 3) - width)) >= bound:
            pass
        return drawn

    def many(self, count: int, weight: int) -> int:
        """Compares all coins with the weight at once, a binary digit at a time, until every one is decided."""
        size, heads, open_ = (count + 7) >> 3, 0, (1 << count) - 1
        for plane in range(BITS - 1, -1, -1):
            if not open_ or not weight & ((2 << plane) - 1):
                break
            drawn = int.from_bytes(self._octets(size), "little")
            if weight >> plane & 1:
                heads |= open_ & ~drawn
                open_ &= drawn
            else:
                open_ &= ~drawn
        return heads
