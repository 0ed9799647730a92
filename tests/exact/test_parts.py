"""Data in parts, enumerated: every small data set, every label and every order, both adjacencies."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from tests.exact.enumerated import multisets
from tests.examples.couplings import Law, Outcome, coupled, outcomes

import sfumato as sf
from sfumato.audit.brute_force import brute_sensitivity
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.exact import root

VOUCHED = sf.claim("for this test")


def within(allowed: GroupedDistance, metric: sf.PartDistance) -> Callable[[Outcome, Outcome], bool]:
    return lambda a, b: metric.distance(a, b) <= allowed


def rows(letters: str, most: int, least: int = 0) -> list[list[str]]:
    return [list(x) for n in range(least, most + 1) for x in itertools.product(letters, repeat=n)]


ADDED = [("", "a"), ("a", "ab"), ("a", "aa"), ("ab", "abc"), ("ba", "aab"), ("ab", "a")]


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize(("left", "right"), ADDED)
def test_A2_025_independent_labels_move_one_row_in_one_part(
    count: int, left: str, right: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sf.vector(str) >> sf.transforms.random_parts(count)
    laws = [outcomes(made, list(data), monkeypatch, len(data), count) for data in (left, right)]
    assert made.map(1) == GroupedDistance(1, 1, 1)
    assert coupled(*laws, within(GroupedDistance(1, 1, 1), sf.PartDistance()))
    assert not coupled(*laws, within(GroupedDistance(0, 0, 0), sf.PartDistance()))


@pytest.mark.parametrize(("left", "right", "apart"), [("ab", "cd", 4), ("ab", "", 2), ("a", "bcd", 4)])
def test_several_rows_with_labels_of_their_own(
    left: str, right: str, apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sf.vector(str) >> sf.transforms.random_parts(2)
    laws = [outcomes(made, list(data), monkeypatch, len(data), 2) for data in (left, right)]
    assert coupled(*laws, within(made.map(apart), sf.PartDistance()))
    assert not coupled(*laws, within(GroupedDistance(2, 1, 1), sf.PartDistance()))


@pytest.mark.parametrize(("left", "right", "exchanged"), [("a", "b", 1), ("ab", "ac", 1), ("ab", "cd", 2)])
def test_exchanged_rows_share_a_label(left: str, right: str, exchanged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made = sf.vector(str, size=len(left)) >> sf.transforms.random_parts(2)
    laws = [outcomes(made, list(data), monkeypatch, len(data), 2) for data in (left, right)]
    assert made.map(exchanged) == GroupedDistance(exchanged, 2 * exchanged, 2 * exchanged)
    assert coupled(*laws, within(made.map(exchanged), sf.PartDistance()))
    assert not coupled(*laws, within(GroupedDistance(2, 2 * exchanged - 1, 2 * exchanged), sf.PartDistance()))


def shuffle_and_cut(data: Sequence[Hashable], count: int) -> Law:
    """The textbook's partition: shuffled rows in blocks of near-equal size."""
    sizes = [len(data) // count + (i < len(data) % count) for i in range(count)]
    ends = [0, *itertools.accumulate(sizes)]
    return Counter(
        tuple(tuple(order[a:b]) for a, b in itertools.pairwise(ends)) for order in itertools.permutations(data)
    )


def test_A2_025_shuffling_and_cutting_reaches_two_three_two() -> None:
    laws = shuffle_and_cut("r", 2), shuffle_and_cut("ra", 2)
    worst = GroupedDistance(0, 0, 0)
    for a, b in itertools.product(*laws):
        worst = worst.wider(sf.PartDistance().distance(a, b))
    assert worst == GroupedDistance(2, 3, 2)
    assert not coupled(*laws, within(GroupedDistance(1, 1, 1), sf.PartDistance()))
    assert not coupled(*laws, within(GroupedDistance(2, 2, 2), sf.PartDistance()))
    assert coupled(*laws, within(GroupedDistance(2, 3, 2), sf.PartDistance()))


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize(("left", "right", "exchanged"), [("abc", "abd", 1), ("aab", "abc", 1), ("abc", "ade", 2)])
def test_equal_cuts_of_a_public_size(
    count: int, left: str, right: str, exchanged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = sf.vector(str, size=3) >> sf.transforms.equal_parts(count)
    laws = [outcomes(made, list(data), monkeypatch, 0, 1) for data in (left, right)]
    metric = sf.PartDistance(sf.ChangeOne())
    assert made.target.metric == metric
    assert coupled(*laws, within(made.map(exchanged), metric))
    assert not coupled(*laws, within(made.map(exchanged - 1), metric))


def test_equal_cuts_are_not_offered_where_rows_are_added() -> None:
    with pytest.raises(sf.errors.UnknownSize, match="random_parts"):
        sf.vector(str) >> sf.transforms.equal_parts(2)


PEOPLE = sf.frame({"id": ["u", "v", "w"], "row": int})


def visits(*pairs: tuple[str, int]) -> dict[str, list[Any]]:
    return {"id": [who for who, _ in pairs], "row": [row for _, row in pairs]}


BASE = (("v", 1), ("w", 2))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (visits(*BASE), visits(*BASE, ("u", 1), ("u", 2))),
        (visits(*BASE, ("v", 5)), visits(*BASE, ("v", 6))),
        (visits(*BASE), visits(BASE[1])),
    ],
)
def test_identifiers_keep_a_unit_in_one_part(left: Any, right: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made = PEOPLE >> sf.transforms.random_parts(2, by="id", claim=VOUCHED)
    plain = PEOPLE >> sf.transforms.random_parts(2)
    apart = PEOPLE.distance(left, right)
    many = [len(set(data["id"])) for data in (left, right)]
    laws = [outcomes(made, data, monkeypatch, n, 2) for data, n in zip((left, right), many, strict=True)]
    assert made.map(apart) == GroupedDistance(1, apart, apart)
    assert coupled(*laws, within(made.map(apart), sf.PartDistance()))
    if abs(len(left["id"]) - len(right["id"])) > 1:  # a label for each row would spread the unit
        spread = [outcomes(plain, data, monkeypatch, len(data["id"]), 2) for data in (left, right)]
        assert not coupled(*spread, within(made.map(apart), sf.PartDistance()))


def test_labels_by_identifier_are_drawn_for_each_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    made = PEOPLE >> sf.transforms.random_parts(2, by="id", claim=VOUCHED)
    law = outcomes(made, visits(*BASE, ("v", 3)), monkeypatch, 2, 2)
    together = {True: 0, False: 0}
    for outcome, mass in law.items():
        together[any(len(part) == 3 for part in outcome)] += mass
    assert together[True] == together[False]  # two identifiers share a part half the time
    for outcome in law:
        homes = [i for i, part in enumerate(outcome) for row in part if ("str", "v") in row]
        assert len(set(homes)) == 1 and len(homes) == 2


# Groups by public keys.

CELLS = sf.frame({"country": ["f", "g"], "year": [1, 2]})


def tables(rows_listed: Iterable[Sequence[tuple[str, int]]]) -> list[dict[str, list[Any]]]:
    return [{"country": [c for c, _ in table], "year": [y for _, y in table]} for table in rows_listed]


CELLS_LISTED = list(itertools.product("fg", (1, 2)))


@pytest.mark.parametrize("columns", [("country",), ("year",), ("country", "year")])
@pytest.mark.parametrize("d_in", [1, 2, 3])
def test_groups_are_as_far_apart_as_the_map_says_and_no_farther(columns: tuple[str, ...], d_in: int) -> None:
    made = CELLS >> sf.group_by(*columns)
    assert brute_sensitivity(made, tables(multisets(CELLS_LISTED, range(4))), d_in=d_in) == made.map(d_in)


@pytest.mark.parametrize("columns", [("country",), ("country", "year")])
@pytest.mark.parametrize("d_in", [1, 2])
def test_groups_under_change_one(columns: tuple[str, ...], d_in: int) -> None:
    space = sf.frame({"country": ["f", "g"], "year": [1, 2]}, size=2)
    made = space >> sf.group_by(*columns)
    found = brute_sensitivity(made, tables(multisets(CELLS_LISTED, range(2, 3))), d_in=d_in)
    assert found == made.map(d_in)
    assert made.map(1) == GroupedDistance(
        2, 2, 2 if columns == ("country",) else 1
    )  # whole rows leave one kind of row a group
    even = sf.frame({"country": ["f", "g"], "year": [1, 2]}, size=2, metric=sf.AddRemove()) >> sf.group_by(*columns)
    assert even.map(2 * d_in) == even.map(2 * d_in + 1) == made.map(d_in)


def unit_fits(table: Sequence[tuple[str, int]], groups: dict[str, int], each: dict[str, int]) -> bool:
    """Tells whether the rows of one unit keep descriptors on single columns."""
    place = {"country": 0, "year": 1}
    return all(len({row[place[c]] for row in table}) <= most for c, most in groups.items()) and all(
        max(Counter(row[place[c]] for row in table).values(), default=0) <= most for c, most in each.items()
    )


@pytest.mark.parametrize("columns", [("country",), ("year",), ("country", "year")])
@pytest.mark.parametrize(
    ("groups", "each"), [({"country": 1}, {"year": 1}), ({"country": 1, "year": 2}, {}), ({}, {"country": 2})]
)
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("units", [1, 2])
def test_descriptors_of_one_unit(
    columns: tuple[str, ...], groups: dict[str, int], each: dict[str, int], other: bool, units: int
) -> None:
    """All units that keep the claim, added whole: within the map, for every number of rows."""
    listed = {("country",): ["f"], ("year",): [1], ("country", "year"): [("f", 1), ("g", 2)]}[columns]
    keys = listed if other else None
    made = CELLS >> sf.group_by(
        *columns, keys=keys, other=other, max_groups=groups, max_rows_per_group=each, units=units, claim=VOUCHED
    )
    empty = tables([()])[0]
    alone = [table for table in multisets(CELLS_LISTED, range(5)) if unit_fits(table, groups, each)]
    reached: dict[int, GroupedDistance] = {}
    for several in (
        itertools.product(alone, repeat=units) if units == 1 else ((a, b) for a in alone for b in alone[::3])
    ):
        table = [row for unit in several for row in unit]
        found = made.target.distance(made(empty), made(tables([table])[0]))
        assert found <= made.map(len(table))
        reached[len(table)] = reached.get(len(table), found).wider(found)
    if not other and units == 1:
        assert all(found.largest == made.map(rows).largest for rows, found in reached.items() if rows)


@pytest.mark.parametrize("columns", [("country",), ("year",), ("country", "year")])
@pytest.mark.parametrize(("groups", "each"), [({"country": 1}, {"year": 1}), ({"country": 1}, {}), ({}, {"year": 1})])
def test_descriptors_on_both_sides_of_an_exchange(
    columns: tuple[str, ...], groups: dict[str, int], each: dict[str, int]
) -> None:
    """All units that keep the claim, exchanged for all others of as many rows."""
    space = sf.frame({"country": ["f", "g"], "year": [1, 2]}, size=2)
    made = space >> sf.group_by(*columns, max_groups=groups, max_rows_per_group=each, claim=VOUCHED)
    fits = tables(table for table in multisets(CELLS_LISTED, range(2, 3)) if unit_fits(table, groups, each))
    found = brute_sensitivity(made, fits, d_in=2)
    assert found <= made.map(2)
    if columns == ("country",) and groups and not each:
        assert found == made.map(2) == GroupedDistance(2, 4, 4)


def test_a_unit_whose_rows_change_counts_twice() -> None:
    facts = {"max_groups": {"country": 1}, "max_rows_per_group": {"year": 1}, "claim": VOUCHED}
    once, twice = (CELLS >> sf.group_by("country", units=units, **facts) for units in (1, 2))
    here, there = tables([[("f", 1)], [("g", 1)]])
    found = once.target.distance(once(here), once(there))
    assert found == GroupedDistance(2, 2, 1)
    assert not found <= once.map(2)
    assert found <= twice.map(2)


def test_the_part_for_other_keys_gathers_groups() -> None:
    """Without the correction one row a group would be one row in the part for other keys."""
    made = CELLS >> sf.group_by("year", keys=[3], other=True, max_groups=2, max_rows_per_group=1, claim=VOUCHED)
    empty, full = tables([(), [("f", 1), ("f", 2)]])
    assert made.target.distance(made(empty), made(full)).largest == made.map(2).largest == 2


# One number for each part.


def vectors(spread: GroupedDistance) -> Iterator[tuple[int, ...]]:
    """All ways in which the rows of a spread can fall, in falling order."""
    for v in itertools.combinations_with_replacement(range(int(spread.largest), -1, -1), int(spread.parts)):
        if sum(v) <= spread.rows:
            yield v


SPREADS = sorted(
    {GroupedDistance(*triple) for triple in itertools.product(range(6), range(9), range(6))},
    key=lambda s: (s.parts, s.rows),
)


@pytest.mark.parametrize("given", [(4, 4, 1), (9, 4, 9), (3, 5, 2), (2, 9, 3), (5, 2, 7), (0, 3, 3), (2, 2, 0)])
def test_tightening_keeps_what_is_allowed_and_each_number_is_reached(given: tuple[int, int, int]) -> None:
    parts, rows_in_all, largest = given
    allowed = [
        v for v in itertools.combinations_with_replacement(range(largest, -1, -1), parts) if sum(v) <= rows_in_all
    ]
    found = GroupedDistance(
        max(sum(map(bool, v)) for v in allowed), max(map(sum, allowed)), max(max(v, default=0) for v in allowed)
    )
    tight = GroupedDistance(*given)
    assert (tight.parts, tight.rows, tight.largest) == (found.parts, found.rows, found.largest)


@pytest.mark.parametrize("spread", SPREADS, ids=repr)
def test_sums_of_squares_are_exact(spread: GroupedDistance) -> None:
    assert spread.squares == max(sum(n * n for n in v) for v in vectors(spread))
    l0, l1, linf = spread.parts, spread.rows, spread.largest
    assert spread.squares <= min(l1**2, l0 * linf**2, l1 * linf)


@pytest.mark.parametrize("spread", [s for s in SPREADS if s.parts <= 3 and s.rows <= 5], ids=repr)
def test_sizes_reach_their_sensitivities(spread: GroupedDistance) -> None:
    parted = (sf.vector(["a", "b", "c"]) >> sf.group_by()).target
    empty = ([], [], [])
    for metric in (sf.L1(), sf.L2(), sf.LInf()):
        made = parted >> sf.transforms.sizes(metric=metric)
        found = max(
            made.target.distance(
                made(empty), made(tuple([key] * n for key, n in zip("abc", (*v, 0, 0, 0), strict=False)))
            )
            for v in vectors(spread)
        )
        assert found == made.map(spread)


@pytest.mark.parametrize("bounds", [(-1, 3), (-4, 2)])
def test_sums_reach_their_sensitivities(bounds: tuple[int, int]) -> None:
    members = [
        (list(a), list(b)) for n in range(3) for a in itertools.product((-9, -1, 0, 2, 9), repeat=n) for b in ([], [9])
    ]
    added = sf.Space(sf.Parts((0, 1), (sf.domains.Vector(sf.Integers()),) * 2), sf.PartDistance())
    for metric in (sf.L1(), sf.L2(), sf.LInf()):
        made = added >> sf.transforms.sums(*bounds, metric=metric)
        assert brute_sensitivity(made, members, d_in=(1, 1, 1)) == max(map(abs, bounds)) == made.map(1)
        assert brute_sensitivity(made, members, d_in=(2, 2, 1)) <= made.map((2, 2, 1))
    sized = sf.Space(sf.Parts((0, 1), (sf.domains.Vector(sf.Integers(), 1),) * 2), sf.PartDistance(sf.ChangeOne()))
    exchanged = sized >> sf.transforms.sums(*bounds, metric=sf.L2())
    singles = [([a], [b]) for a in (-9, 0, 9) for b in (-9, 9)]
    width = bounds[1] - bounds[0]
    assert brute_sensitivity(exchanged, singles, d_in=1) == width == exchanged.map(1)
    assert (
        brute_sensitivity(exchanged, singles, d_in=(2, 2, 1))
        == root(Fraction(2 * width**2))
        == exchanged.map((2, 2, 1))
    )
    assert (sized >> sf.transforms.sizes()).map(5) == 0


ASYLUM = sf.frame({"country": list("abcde"), "year": list(range(2000, 2010))})
KNOWN = {"max_groups": {"country": 1}, "max_rows_per_group": {"year": 1}, "claim": VOUCHED}


@pytest.mark.parametrize(
    ("columns", "b_in", "facts", "spread", "l2", "rho"),
    [
        (("country", "year"), 1, KNOWN, (1, 1, 1), 1, "0.5"),
        (("country", "year"), 4, KNOWN, (4, 4, 1), 2, "2"),
        (("country",), 4, KNOWN, (1, 4, 4), 4, "8"),
        (("year",), 4, KNOWN, (4, 4, 1), 2, "2"),
        (("country", "year"), 4, {}, (4, 4, 4), 4, "8"),
    ],
)
def test_A2_026_asylum_seekers(
    columns: tuple[str, ...], b_in: int, facts: dict[str, Any], spread: tuple[int, int, int], l2: int, rho: str
) -> None:
    grouped = ASYLUM >> sf.group_by(*columns, **facts)
    counts = grouped >> sf.transforms.sizes(metric=sf.L2())
    assert grouped.map(b_in) == GroupedDistance(*spread)
    assert counts.map(b_in) == l2
    assert (counts >> sf.gaussian(scale=1)).map(b_in) == sf.ZCDP(rho)


def test_E2_09_groups_do_not_carry_to_finer_groupings() -> None:
    finer = ASYLUM >> sf.group_by("country", "year", max_groups={"country": 1}, claim=VOUCHED)
    both = ASYLUM >> sf.group_by("country", "year", max_groups={"country": 1, "year": 3}, claim=VOUCHED)
    coarser = ASYLUM >> sf.group_by("country", max_groups={("country", "year"): 3}, claim=VOUCHED)
    assert finer.map(9) == GroupedDistance(9, 9, 9)
    assert both.map(9) == GroupedDistance(3, 9, 9)
    assert coarser.map(9) == GroupedDistance(3, 9, 9)
    rows_do = ASYLUM >> sf.group_by("country", "year", max_rows_per_group={"year": 2}, claim=VOUCHED)
    assert rows_do.map(9) == GroupedDistance(9, 9, 2)
    assert (ASYLUM >> sf.group_by("country", max_rows_per_group={("country", "year"): 2}, claim=VOUCHED)).map(
        9
    ) == GroupedDistance(5, 9, 9)


def test_E2_10_and_E2_11_each_stage_takes_the_distance_of_the_one_before() -> None:
    grouped = ASYLUM >> sf.group_by("year")
    assert grouped.source.metric == sf.AddRemove()
    assert grouped.target.metric == sf.PartDistance()
    with pytest.raises(sf.errors.BadArgument, match="group_by"):
        ASYLUM >> sf.transforms.sizes()
    with pytest.raises(sf.errors.NotNoisable):
        grouped >> sf.gaussian(scale=1)


HAIR = {("f", h): n for h, n in zip("wxyz", (20, 32, 27, 9), strict=True)} | {
    ("m", h): n for h, n in zip("wxyz", (18, 40, 35, 10), strict=True)
}


def test_A1_119_a_table_of_counts_costs_what_one_cell_costs() -> None:
    """P1-129: one vector with its joint sensitivity, and not eight questions."""
    people = sf.frame({"sex": ["f", "m"], "hair": list("wxyz")})
    grouped = people >> sf.group_by("sex", "hair")
    counts = grouped >> sf.transforms.sizes()
    data = {
        "sex": [s for (s, _), n in HAIR.items() for _ in range(n)],
        "hair": [h for (_, h), n in HAIR.items() for _ in range(n)],
    }
    assert counts(data).tolist() == list(HAIR.values())
    assert sum(HAIR.values()) == 191
    joint, each = counts >> sf.laplace(scale=2), sf.count() >> sf.laplace(scale=2)
    apart = [people >> sf.group_by("sex", "hair", keys=[key]) >> sf.parallel(each) for key in HAIR]
    assert joint.map(1) == (grouped >> sf.parallel(each)).map(1) == sf.Pure("0.5")
    assert (people >> sf.composition(apart)).map(1) == sf.Pure(4)


def test_A1_120_two_groupings_add_up() -> None:
    students = sf.frame({"famsize": ["GT3", "LE3"], "school": ["GP", "MS"]})
    by = [sf.group_by(name) >> sf.transforms.sizes() >> sf.laplace(scale=4) for name in ("famsize", "school")]
    assert (students >> sf.composition(by)).map(1) == sf.Pure("0.5")
