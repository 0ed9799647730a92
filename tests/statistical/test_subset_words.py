"""Sets drawn as rows of bits: of the right size, without the place left out, and all alike."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from sfumato.entropy import ReplayEntropy
from sfumato.noise.subsets import subset_words


@pytest.mark.parametrize(("size", "most"), [(2, 1), (5, 4), (64, 20), (65, 64), (1000, 300), (3000, 3)])
def test_sets_have_their_size_and_leave_one_out(size: int, most: int) -> None:
    people = 3000
    counts = np.arange(people) % (most + 1)
    without = np.arange(people) * 7 % size
    words = subset_words(size, counts, without=without, entropy=ReplayEntropy(1))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
    assert np.array_equal(bits.sum(axis=1), counts)
    assert not bits[:, size:].any() and not bits[np.arange(people), without].any()
    assert subset_words(size, counts[:0], without=without[:0], entropy=ReplayEntropy(1)).shape == (0, len(words[0]))


@pytest.mark.parametrize(("size", "some"), [(6, 2), (6, 4), (7, 1)])
def test_all_sets_are_alike(size: int, some: int) -> None:
    """Each within 6 standard deviations of its number; where a set is 5 % likelier than the others it is not."""
    people = 400_000
    words = subset_words(size, np.full(people, some), without=np.full(people, 2), entropy=ReplayEntropy(3))
    seen = Counter(words[:, 0].tolist())
    every = [sum(1 << one for one in chosen) for chosen in combinations([0, 1, 3, 4, 5, 6][: size - 1], some)]
    assert set(seen) == set(every)
    mean = people / len(every)
    assert all(abs(seen[one] - mean) < 6 * mean**0.5 for one in every)
    assert 0.05 * mean > 6 * mean**0.5


def test_places_far_apart_know_nothing_of_each_other() -> None:
    """In large sets too: each place is in a set as often as any other, and each pair as often as it must be."""
    people, size, some = 20_000, 1000, 269
    words = subset_words(size, np.full(people, some), without=np.full(people, size - 1), entropy=ReplayEntropy(5))
    bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")[:, : size - 1].astype(np.int64)
    single = some / (size - 1)
    assert np.all(np.abs(bits.mean(axis=0) - single) < 6 * (single * (1 - single) / people) ** 0.5)
    pair = single * (some - 1) / (size - 2)
    together = (bits[:, :-100] & bits[:, 100:]).mean(axis=0)
    assert np.all(np.abs(together - pair) < 6 * (pair * (1 - pair) / people) ** 0.5)
