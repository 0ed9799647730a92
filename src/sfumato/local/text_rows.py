"""A public family of hash functions of texts, one for each row of a sketch, for many texts at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import BadArgument, Unseen
from sfumato.exact import integer
from sfumato.local.device import FIELDS

MOST_BUCKETS = 1 << 16


@final
@dataclass(frozen=True, eq=False)
class Texts:
    """Texts of many people: the different ones, and which of them each person has."""

    distinct: tuple[str, ...]
    places: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.places)

    def __getitem__(self, people: Any) -> Texts:
        return Texts(self.distinct, self.places[people])

    @classmethod
    def of(cls, texts: Iterable[Any]) -> Texts:
        """Gathers texts; refuses what is no text."""
        if isinstance(texts, str | bytes):
            raise BadArgument("values", "a list of texts, one of each person", Unseen())
        listed = list(texts)
        try:
            distinct = dict.fromkeys(listed)
        except TypeError:
            raise BadArgument("the value", "a text", Unseen()) from None
        if not all(isinstance(text, str) for text in distinct):
            raise BadArgument("the value", "a text", Unseen())
        numbers = {text: at for at, text in enumerate(distinct)}
        places = np.fromiter(map(numbers.__getitem__, listed), dtype=np.int64, count=len(listed))
        return cls(tuple(map(str, distinct)), places)


@final
@dataclass(frozen=True)
class Rows:
    """So many hash functions of a family, from a first one on, each into a number of buckets that is a power of 2.

    What is unbiased because a family was drawn at random supposes that the key was chosen without a look at any text.
    """

    key: str
    rows: int
    buckets: int
    first: int = 0

    def __post_init__(self) -> None:
        if not isinstance(self.key, str):
            raise BadArgument("key", "a text, chosen without a look at anybody's: it names the hash functions", None)
        integer(self.rows, "rows", least=1, most=1 << 20)
        buckets = integer(self.buckets, "buckets", least=2, most=MOST_BUCKETS)
        if buckets & (buckets - 1):
            raise BadArgument("buckets", "a power of 2", self.buckets)

    def __len__(self) -> int:
        return self.rows

    def buckets_of(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """The buckets of texts, a row of the family in each column.

        >>> Rows("words", 3, 16).buckets_of(["hello"]).tolist()
        [[0, 5, 4]]
        """
        first, last = self.first // FIELDS, (self.first + self.rows - 1) // FIELDS
        quoted = [encode_basestring_ascii(text) for text in texts]
        blocks = [self._fields([block] * len(quoted), quoted) for block in range(first, last + 1)]
        start = self.first - first * FIELDS
        return np.concatenate(blocks, axis=1)[:, start : start + self.rows].astype(np.int64) & (self.buckets - 1)

    def bucket_of_each(self, texts: Texts, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The bucket of each person's text in a row of her own; each pair of a text and 16 rows is hashed once."""
        blocks, places = np.divmod(rows + self.first, FIELDS)
        pairs, back = np.unique(blocks * len(texts.distinct) + texts.places, return_inverse=True)
        block, text = np.divmod(pairs, max(len(texts.distinct), 1))
        quoted = [encode_basestring_ascii(one) for one in texts.distinct]
        fields = self._fields(block.tolist(), list(map(quoted.__getitem__, text.tolist())))
        return fields[back, places].astype(np.int64) & (self.buckets - 1)

    def _fields(self, blocks: Sequence[int], quoted: Sequence[str]) -> NDArray[np.uint16]:
        """Sixteen numbers of two bytes for each block and text, as `device.row_bucket` reads them."""
        start, digest = f"[{encode_basestring_ascii(self.key)},", hashlib.sha256
        digests = [
            digest(f"{start}{block},{text}]".encode("ascii")).digest()
            for block, text in zip(blocks, quoted, strict=True)
        ]
        return np.frombuffer(b"".join(digests), dtype="<u2").reshape(-1, FIELDS)
