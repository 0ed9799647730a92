"""The inversion engine: thresholds, guide, and every rare path, forced."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from numpy.typing import NDArray
from tests.exact.scripted_entropy import ScriptedEntropy, halves, words

from sfumato.exact import ball, precision
from sfumato.noise.binomial import folded_law as binomial_law
from sfumato.noise.binomial import folded_masses as binomial_masses
from sfumato.noise.blocks import block_law, block_masses
from sfumato.noise.digits import digit_law, digit_masses
from sfumato.noise.discrete_laplace import folded_law, folded_masses
from sfumato.noise.geometric import leading_law, leading_masses
from sfumato.noise.inversion import OPEN, TABLE_BITS, TOP, IndexLaw, InversionTable, locate, resolve, thresholds


def table_of(law: IndexLaw, masses: object) -> InversionTable:
    with precision(TABLE_BITS):
        return InversionTable.of(law, masses)  # type: ignore[arg-type]


def third() -> InversionTable:
    return InversionTable.listing(IndexLaw(lambda _: ball(Fraction(1, 3)), 2), 2)


TABLES = {
    "third": third,
    "sure": lambda: InversionTable.listing(IndexLaw(lambda _: arb(1), 2), 2),
    "never": lambda: InversionTable.listing(IndexLaw(lambda _: arb(0), 2), 2),
    "half": lambda: InversionTable.listing(IndexLaw(lambda _: ball(Fraction(1, 2)), 2), 2),
    "laplace 1/1000": lambda: table_of(
        folded_law(Fraction(1, 1000), width=1), folded_masses(Fraction(1, 1000), width=1)
    ),
    "laplace 1": lambda: table_of(folded_law(Fraction(1), width=1), folded_masses(Fraction(1), width=1)),
    "laplace 77/10, 4": lambda: table_of(
        folded_law(Fraction(77, 10), width=4), folded_masses(Fraction(77, 10), width=4)
    ),
    "geometric 5": lambda: table_of(leading_law(Fraction(5), width=1), leading_masses(Fraction(5), width=1)),
    "digit of 10^4": lambda: table_of(
        digit_law(Fraction(10**4), place=8, size=64), digit_masses(Fraction(10**4), place=8, size=64)
    ),
    "digit of 10^15": lambda: table_of(
        digit_law(Fraction(10**15), place=1, size=32), digit_masses(Fraction(10**15), place=1, size=32)
    ),
    "gaussian 3": lambda: table_of(block_law(Fraction(9), width=1), block_masses(Fraction(9), width=1)),
    "gaussian blocks": lambda: table_of(
        block_law(Fraction(10**8), width=256), block_masses(Fraction(10**8), width=256)
    ),
    "binomial 11": lambda: table_of(binomial_law(11), binomial_masses(11)),
    "binomial 1000": lambda: table_of(binomial_law(1000), binomial_masses(1000)),
}


@pytest.mark.parametrize("name", TABLES)
def test_thresholds_enclose_the_masses_of_the_law(name: str) -> None:
    """Every threshold is checked against the law's own closed form, not the recurrence that filled the table."""
    table = TABLES[name]()
    chosen = sorted({*range(1, min(len(table.limits), 40) + 1), len(table.limits) // 2 + 1, len(table.limits)})
    with precision(512):
        for index in chosen:
            limit, scaled = int(table.limits[index - 1]), table.law.mass_below(index) * arb(2) ** 64
            assert not limit > scaled
            assert scaled < limit + 2


@pytest.mark.parametrize("name", TABLES)
def test_the_law_drawn_from_words_is_the_law(name: str) -> None:
    """Counts the words that decide each index: within 2^-61 of its mass, and never above it."""
    table = TABLES[name]()
    ends = [-2, *(int(limit) for limit in table.limits)]
    with precision(256):
        for index in range(min(len(table.limits), 60)):
            sure = max(ends[index + 1] - ends[index] - 2, 0)
            mass = (table.law.mass_below(index + 1) - table.law.mass_below(index)) * arb(2) ** 64
            assert sure <= mass or abs(sure - mass) < arb(2) ** -100
            assert mass - sure < 5


@pytest.mark.parametrize("name", TABLES)
def test_a_cell_names_an_index_only_if_all_its_words_agree(name: str) -> None:
    table = TABLES[name]()
    cells = np.arange(1 << 16, dtype=np.uint64)
    first, last = cells << np.uint64(48), (cells << np.uint64(48)) | np.uint64((1 << 48) - 1)
    low = np.searchsorted(table.limits, first, side="right")
    high = np.searchsorted(table.limits, last, side="right")
    named = table.cells != OPEN
    assert np.array_equal(low[named], high[named])
    assert np.array_equal(low[named], table.cells[named])
    assert not table._unsure(first, low)[named].any()
    assert not table._unsure(last, high)[named].any()
    touched = np.unique(table.limits >> np.uint64(48))
    assert (~named).sum() <= 2 * len(touched) + 1 + (high == len(table.limits)).sum()


def truth(law: IndexLaw, prefix: int, bits: int) -> int:
    """Finds the index by a linear walk at high precision."""
    with precision(2048):
        place, index = ball(Fraction(2 * prefix + 1, 2 << bits)), 0
        while not law.mass_below(index + 1) > place:
            assert law.mass_below(index + 1) < place
            index += 1
        return index


@pytest.mark.parametrize("name", ["third", "laplace 1", "geometric 5", "gaussian 3", "digit of 10^4", "binomial 11"])
@pytest.mark.parametrize("above", [0, 1])
@pytest.mark.parametrize("more", [0, 1 << 63, TOP])
def test_words_on_a_threshold_are_resolved_exactly(name: str, above: int, more: int) -> None:
    table = TABLES[name]()
    for index in range(1, min(len(table.limits), 6)):
        word = int(table.limits[index - 1]) + above
        entropy = ScriptedEntropy(words(more, 1 << 63))
        found = table.decide(word, entropy)
        bits = 64 + 8 * (16 - entropy.left)
        prefix = {64: word, 128: word << 64 | more, 192: (word << 64 | more) << 64 | 1 << 63}[bits]
        assert found == truth(table.law, prefix, bits)


@pytest.mark.parametrize("name", ["third", "laplace 1", "gaussian 3"])
def test_digits_that_follow_a_mass_are_extended_until_they_leave_it(name: str) -> None:
    """U agrees with F(1) to 64, 128 and 192 digits and then goes below or above."""
    table = TABLES[name]()
    with precision(1024):
        found = (table.law.mass_below(1) * arb(2) ** 192).floor().unique_fmpz()
    assert found is not None
    digits = int(found)
    head, second, last = digits >> 128, digits >> 64 & TOP, digits & TOP
    for change, expected in ((-1, 0), (1, 1)):
        entropy = ScriptedEntropy(words(second, last + change))
        assert table.decide(head, entropy) == expected
        assert entropy.left == 0


@pytest.mark.parametrize("name", ["laplace 1/1000", "laplace 1", "geometric 5", "gaussian 3", "gaussian blocks"])
def test_words_beyond_the_table_are_resolved_exactly(name: str) -> None:
    table = TABLES[name]()
    for more in (0, 12345 << 40, TOP):
        entropy = ScriptedEntropy(words(more, 0))
        found = table.decide(TOP, entropy)
        known = (TOP << 64 | more) if entropy.left == 8 else TOP if entropy.left == 16 else (TOP << 64 | more) << 64
        bits = 64 + 8 * (16 - entropy.left)
        with precision(1024):
            place = ball(Fraction(2 * known + 1, 2 << bits))
            assert table.law.mass_below(found) < place < table.law.mass_below(found + 1)


def test_vectors_force_the_same_paths() -> None:
    """One head that decides, one that needs 48 more bits, one on a threshold, one beyond the table."""
    table = TABLES["geometric 5"]()
    limit = int(table.limits[0])
    decided = int(np.flatnonzero(table.cells == 3)[0])
    heads = [decided, limit >> 48, limit >> 48, 0xFFFF]
    tails = [((limit + 5) & (1 << 48) - 1) << 16, (limit & (1 << 48) - 1) << 16, TOP]
    entropy = ScriptedEntropy(halves(*heads) + words(*tails) + words(0, TOP))
    found, beyond = table.many(4, entropy)
    assert found[0] == 3
    assert found[1] == 1
    assert found[2] == truth(table.law, limit << 64, 128) == 0
    assert list(beyond) == [3]
    assert beyond[3] > len(table.limits)
    with precision(512):
        assert 1 - table.law.mass_below(beyond[3]) > arb(2) ** -193
        assert 1 - table.law.mass_below(beyond[3] + 1) < arb(2) ** -128


def test_scalar_and_vector_agree_on_the_same_words() -> None:
    table = TABLES["laplace 77/10, 4"]()
    heads = list(range(0, 1 << 16, 97))
    named = [head for head in heads if table.cells[head] != OPEN]
    found, beyond = table.many(len(named), ScriptedEntropy(halves(*named)))
    assert not beyond
    assert [table.after(head, ScriptedEntropy(b"")) for head in named] == found.tolist()


def test_thresholds_against_decimal_arithmetic() -> None:
    """A second implementation, in Python's decimals, of the cumulative masses at scale 10."""
    with precision(TABLE_BITS):
        found = thresholds(folded_masses(Fraction(10), width=1))
    with localcontext() as context:
        context.prec = 80
        ratio = (Decimal(-1) / 10).exp()
        total, expected = Decimal(0), []
        for index in range(200):
            block, negative = divmod(index, 2)
            total += (1 - ratio) / (1 + ratio) * ratio ** (block + negative)
            expected.append(int(total * 2**64))
    assert np.abs(found[:200].astype(object) - np.array(expected, dtype=object)).max() <= 0


def test_masses_that_are_not_known_well_are_refused() -> None:
    with precision(40), pytest.raises(ArithmeticError):
        thresholds([ball(Fraction(1, 3))])


def test_locate_says_none_where_the_digits_do_not_decide() -> None:
    law = IndexLaw(lambda _: ball(Fraction(1, 3)), 2)
    assert locate(law, 0, 1) is None
    assert locate(law, 1, 1) == 1
    assert locate(law, 0, 2) == 0


def test_a_dyadic_mass_is_decided_at_once() -> None:
    law = IndexLaw(lambda _: ball(Fraction(1, 2)), 2)
    entropy = ScriptedEntropy(words(0))
    assert [resolve(law, prefix, 1, entropy) for prefix in (0, 1)] == [0, 1]
    assert entropy.left == 8


def test_many_outcomes_use_a_wider_guide() -> None:
    size = 40_000
    table = InversionTable.listing(IndexLaw(lambda index: ball(Fraction(index, size)), size), size)
    assert table.cells.dtype == np.int32
    entropy = ScriptedEntropy(b"")
    found, beyond = table.many(50_000, entropy)
    assert not beyond
    counts: NDArray[np.int64] = np.bincount(found // 400, minlength=100)
    assert abs(counts - 500).max() < 6.5 * 500**0.5
