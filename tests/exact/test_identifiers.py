"""Rows that belong to people, enumerated: all small tables, all neighbours, all orders of rows and all draws."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, final

import numpy as np
import pytest
from tests.exact.enumerated import multisets
from tests.examples.couplings import Law, Outcome, coupled

import sfumato as sf
import sfumato.transforms.owners as owners_module
import sfumato.transforms.truncate as truncate_module
from sfumato.audit.brute_force import brute_sensitivity
from sfumato.core.rows import records, rows_of
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.exact import root
from sfumato.noise import reservoir
from sfumato.transforms.parts import number_values
from sfumato.transforms.rows import select_rows

Table = dict[str, list[Any]]
ROWS = [(1, "a"), (1, "b"), (2, "a")]  # a tie in time, and two more rows


def table(*rows: tuple[Any, int, str]) -> Table:
    return {"id": [i for i, _, _ in rows], "time": [t for _, t, _ in rows], "tag": [w for _, _, w in rows]}


SPACE = sf.frame({"id": ["u", "v"], "time": [1, 2], "tag": ["a", "b"]}, metric=sf.Identifiers("id"))


def tables(most: int) -> Iterator[Table]:
    """All tables of two people with so many rows each at most, but for the order of rows."""
    for ours, theirs in itertools.product(multisets(ROWS, range(most + 1)), repeat=2):
        yield table(*(("u", *row) for row in ours), *(("v", *row) for row in theirs))


SMALL = list(tables(2))


# The distance.


def test_the_distance_is_a_metric_and_counts_steps() -> None:
    """The least number of people to add or remove with all their rows, found by walking through all tables."""
    metric = sf.Identifiers("id")
    known = {frozenset(records(one).items()): one for one in SMALL}

    def steps(one: Table) -> Iterator[frozenset[Any]]:
        for who in "uv":
            rows = list(zip(*one.values(), strict=True))
            rest = [row for row in rows if row[0] != who]
            if len(rest) < len(rows):
                yield frozenset(records(table(*rest)).items())
            else:
                for added in multisets(ROWS, range(3)):
                    yield frozenset(records(table(*rows, *((who, *row) for row in added))).items())

    for start in SMALL[::5]:
        far = {frozenset(records(start).items()): 0}
        edge = list(far)
        while edge:
            edge = list(dict.fromkeys(after for at in edge for after in steps(known[at]) if after not in far))
            far.update(dict.fromkeys(edge, max(far.values()) + 1))
        assert all(metric.distance(start, known[key]) == apart for key, apart in far.items())
        assert len(far) == len(SMALL)


def printed_distance(left: Table, right: Table) -> int:
    """E2-23: the identifiers that are in one table only."""
    return len(set(left["id"]) ^ set(right["id"]))


def test_the_printed_distance_would_allow_nothing() -> None:
    left, right = table(("u", 1, "a")), table(("u", 2, "a"))
    made = SPACE >> sf.truncate(1, keep="first", by="time")
    assert printed_distance(left, right) == 0 and made.target.distance(made(left), made(right)) == 2
    assert sf.Identifiers("id").distance(left, right) == 2


# What is a function of the data: sound on all neighbours, and reached.

EXACT: list[tuple[Callable[[], sf.Partial[sf.Transformation]], bool]] = [
    (lambda: sf.truncate(1, keep="first", by="time"), True),
    (lambda: sf.truncate(2, keep="last", by="time"), True),
    (lambda: sf.truncate(3, keep="last", by="tag"), False),  # nobody has three rows here
    (sf.count_identifiers, True),
    (lambda: sf.count_identifiers("time"), True),
    (lambda: sf.count_identifiers("time", metric=sf.L2()), True),
    (lambda: sf.count_identifiers("time", "tag", keys=[(1, "a"), (2, "a")], metric=sf.LInf()), True),
    (lambda: sf.one_each("rows"), True),
    (lambda: sf.one_each("first", "tag", by="time"), True),
    (lambda: sf.one_each("max", "time"), True),
]


@pytest.mark.parametrize(("make", "reached"), EXACT, ids=[make().name + str(i) for i, (make, _) in enumerate(EXACT)])
def test_maps_are_kept_and_reached(make: Callable[[], sf.Partial[sf.Transformation]], reached: bool) -> None:
    made = SPACE >> make()
    for d_in in (1, 2):
        found = brute_sensitivity(made, SMALL, d_in=d_in)
        assert found <= made.map(d_in)
        assert (found == made.map(d_in)) == reached


@pytest.mark.parametrize("make", [make for make, _ in EXACT], ids=[f"{i}" for i in range(len(EXACT))])
def test_the_order_of_rows_does_not_matter(make: Callable[[], sf.Partial[sf.Transformation]]) -> None:
    made = SPACE >> make()
    rows = [("u", 1, "b"), ("v", 1, "a"), ("u", 1, "a"), ("u", 2, "a")]
    images = [made(table(*order)) for order in itertools.permutations(rows)]
    assert all(made.target.distance(images[0], image) == 0 for image in images)


def test_ties_broken_by_where_rows_stand_are_caught() -> None:
    """The first row of each person as the table happens to stand: no function of the rows."""
    plain = SPACE >> sf.truncate(1, keep="first", by="time")

    def standing(data: Table, _: Entropy) -> Any:
        return select_rows(data, SPACE.domain, owners_module.first_rows(np.array([0, 0]), 1))  # type: ignore[arg-type]

    wrong = sf.Transformation(SPACE, plain.target, standing, plain.stability_map)
    one, other = table(("u", 1, "a"), ("u", 1, "b")), table(("u", 1, "b"), ("u", 1, "a"))
    assert SPACE.distance(one, other) == 0
    assert wrong.target.distance(wrong(one), wrong(other)) == 2
    assert plain.target.distance(plain(one), plain(other)) == 0


def test_truncation_in_an_order_of_all_rows_is_caught() -> None:
    """The first two rows of the whole table, and rows above the mean of all (E2-28): one person moves the others'."""
    right = SPACE >> sf.truncate(1, keep="first", by="time")

    def first_of_all(data: Table, _: Entropy) -> Any:
        return select_rows(data, SPACE.domain, np.lexsort([data["tag"], data["id"], data["time"]])[:2])  # type: ignore[arg-type]

    def above_the_mean(data: Table, _: Entropy) -> Any:
        times = np.array(data["time"], dtype=float)
        return select_rows(data, SPACE.domain, times > times.sum() / max(1, len(times)))  # type: ignore[arg-type]

    for wrong in (first_of_all, above_the_mean):
        made = sf.Transformation(SPACE, right.target, wrong, right.stability_map)
        assert brute_sensitivity(made, SMALL) > made.map(1)


def test_identifiers_that_python_takes_for_equal_are_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """1 and True are two people to the distance; taken for one, who stays would depend on who leaves."""
    space = sf.frame({"id": [1, 2], "time": [1, 2], "tag": ["a", "b"]}, metric=sf.Identifiers("id"))
    made = space >> sf.truncate(1, keep="first", by="time")
    both, alone = table((1, 1, "a"), (True, 2, "b")), table((True, 2, "b"))
    assert space.distance(both, alone) == 1
    assert made.target.distance(made(both), made(alone)) == 1
    monkeypatch.setattr(truncate_module, "holders", number_values)
    assert made.target.distance(made(both), made(alone)) == 2


# What is drawn: a coupling for all neighbours, through the real code and all of its draws.


def law_of(made: sf.Transformation, data: Table, monkeypatch: pytest.MonkeyPatch) -> Law:
    """Gives the exact law of what a randomized transformation does, as whole numbers, over all orders it may draw."""
    masses: dict[Outcome, Fraction] = Counter()
    waiting: list[list[tuple[int, ...]]] = [[]]
    while waiting:
        script = waiting.pop()
        asked: list[int] = []

        def drawn(size: int, *, entropy: Entropy, script: Any = script, asked: Any = asked) -> Any:
            asked.append(size)
            return np.array(script[len(asked) - 1] if len(asked) <= len(script) else range(size), dtype=np.int64)

        monkeypatch.setattr(truncate_module, "permutation", drawn)
        image = made(data)
        if len(asked) > len(script):
            waiting += [[*script, order] for order in itertools.permutations(range(asked[len(script)]))]
            continue
        masses[outcome(image)] += Fraction(1, math.prod(map(math.factorial, asked)))
    scale = math.lcm(*(mass.denominator for mass in masses.values()))
    assert sum(masses.values()) == 1
    return Counter({one: int(mass * scale) for one, mass in masses.items()})


def outcome(image: Any) -> Outcome:
    parts = (image,) if isinstance(image, dict) else image
    return tuple(tuple(sorted(map(repr, rows_of(part)))) for part in parts)


def rows_apart(most: int) -> Callable[[Outcome, Outcome], bool]:
    return lambda a, b: sf.AddRemove().distance(a[0], b[0]) <= most


def spread_within(most: sf.GroupedDistance) -> Callable[[Outcome, Outcome], bool]:
    return lambda a, b: sf.PartDistance().distance(a, b) <= most


U3 = [("u", 1, "a"), ("u", 1, "b"), ("u", 2, "a")]
V1 = [("v", 1, "a")]
PAIRS = [(V1, [*V1, *U3]), ([], U3), (U3[:2], U3[1:]), (U3, V1), (U3, [("v", 2, "a"), *V1])]


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize(("left", "right"), PAIRS, ids=map(str, range(len(PAIRS))))
def test_samples_of_each_person_have_a_coupling(
    rows: int, left: Any, right: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SPACE >> sf.truncate(rows)
    apart = SPACE.distance(table(*left), table(*right))
    laws = [law_of(made, table(*data), monkeypatch) for data in (left, right)]
    assert coupled(*laws, rows_apart(int(made.map(apart))))
    if (left, right) in (PAIRS[0], PAIRS[1]):
        assert not coupled(*laws, rows_apart(int(made.map(apart)) - 1))


def test_every_set_of_rows_is_as_likely_and_none_comes_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    law = law_of(SPACE >> sf.truncate(2), table(*U3, *V1), monkeypatch)
    assert len(law) == 3 and len(set(law.values())) == 1
    assert all(len(set(kept)) == len(kept) == 3 for (kept,) in law)


def test_the_rows_of_people_are_drawn_independently(monkeypatch: pytest.MonkeyPatch) -> None:
    data = table(("u", 1, "a"), ("u", 1, "b"), ("v", 1, "a"), ("v", 1, "b"))
    law = law_of(SPACE >> sf.truncate(1), data, monkeypatch)
    assert len(law) == 4 and len(set(law.values())) == 1


def test_a_sample_of_all_rows_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many random rows of the whole table as there are people: somebody else's rows leave when a person comes."""
    made = SPACE >> sf.truncate(1)

    def of_all(whose: Any, rows: int, entropy: Entropy) -> Any:
        order = truncate_module.permutation(len(whose), entropy=entropy)
        return np.isin(np.arange(len(whose)), order[: rows * len(set(whose.tolist()))])

    alone, beside = table(*U3[:1]), table(*U3[:1], ("v", 1, "a"), ("v", 2, "a"))
    assert coupled(*(law_of(made, data, monkeypatch) for data in (alone, beside)), rows_apart(1))
    monkeypatch.setattr(truncate_module, "sampled_rows", of_all)
    assert not coupled(*(law_of(made, data, monkeypatch) for data in (alone, beside)), rows_apart(1))


LIMITS = [
    {"max_groups": 1},
    {"max_rows": 1},
    {"max_rows_per_group": 1},
    {"max_groups": 1, "max_rows_per_group": 1},
    {"max_rows": 2, "max_rows_per_group": 1},
]
MANY = [("u", 1, "a"), ("u", 2, "a"), ("u", 2, "b")]


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize(
    ("left", "right"), [([], MANY), (V1, [*MANY, *V1]), (MANY[:1], MANY)], ids=["new", "beside", "changed"]
)
def test_groups_of_each_person_have_a_coupling(
    limits: dict[str, int], left: Any, right: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = SPACE >> sf.truncate_groups("time", **limits)
    apart = SPACE.distance(table(*left), table(*right))
    laws = [law_of(made, table(*data), monkeypatch) for data in (left, right)]
    assert coupled(*laws, spread_within(made.map(apart)))
    if not left and limits not in LIMITS[:1]:
        reached = made.map(1)
        assert not coupled(*laws, spread_within(sf.GroupedDistance(reached.parts, reached.rows - 1, reached.largest)))


def test_groups_only_lose_rows_and_keep_all_bounds() -> None:
    space = sf.frame({"id": int, "site": list("abcdef"), "n": int}, metric=sf.Identifiers("id"))
    rng = np.random.default_rng(0)
    data = {"id": rng.integers(0, 9, 300), "site": list(rng.choice(list("abcdef"), 300)), "n": np.arange(300)}
    for groups, rows, each in itertools.product((None, 1, 3), (None, 2, 5), (None, 1, 2)):
        if groups is rows is each is None:
            continue
        made = space >> sf.truncate_groups("site", max_groups=groups, max_rows=rows, max_rows_per_group=each)
        parts = made(data, entropy=ReplayEntropy(1))
        kept = [(who, site, n) for site, part in zip("abcdef", parts, strict=True) for who, n in held(part)]
        assert len({n for _, _, n in kept}) == len(kept)
        assert all(data["id"][n] == who and data["site"][n] == site for who, site, n in kept)
        cells = Counter((who, site) for who, site, _ in kept)
        spread = made.map(1)
        for who in range(9):
            own = [count for (one, _), count in cells.items() if one == who]
            assert sf.GroupedDistance(len(own), sum(own), max(own)) <= spread
            assert len(own) == spread.parts or sum(own) == spread.rows  # nobody loses more than is needed


def held(part: Any) -> Iterator[tuple[int, int]]:
    return zip(part["id"].tolist(), part["n"].tolist(), strict=True)


# The numbers of the acceptance cases.


def test_A2_042_distinct_visitors() -> None:
    sites = sf.frame({"id": int, "site": list("abcd"), "month": [8, 9, 10, 11, 12]}, metric=sf.Identifiers("id"))
    by_site = [sites >> sf.count_identifiers("site", metric=norm) for norm in (sf.L1(), sf.L2())]
    assert [made.map(1) for made in by_site] == [4, 2]
    by_both = [sites >> sf.count_identifiers("site", "month", metric=norm) for norm in (sf.L1(), sf.L2())]
    assert [made.map(1) for made in by_both] == [20, root(20)]
    assert float(by_both[1].map(1)) == pytest.approx(4.472, abs=1e-3)
    rows = list(itertools.product([7], "abcd", [8, 9, 10, 11, 12])) * 2
    everywhere = dict(zip(("id", "site", "month"), map(list, zip(*rows, strict=True)), strict=True))
    assert by_both[0](everywhere).tolist() == [1] * 20


@final
class Told(Entropy):
    """Gives the draws that it is told."""

    def __init__(self, draws: Sequence[int]) -> None:
        self.draws = list(draws)
        self.bounds: list[int] = []

    def below(self, bound: int) -> int:
        self.bounds.append(bound)
        return self.draws.pop(0)


DRAWS = [5, 0, 7, 10, 8, 4, 12, 2, 12, 17]


def test_A2_044_a_reservoir_of_ten() -> None:
    told = Told(DRAWS)
    assert reservoir(range(20), k=10, entropy=told) == [11, 1, 17, 3, 15, 10, 6, 12, 14, 9]
    assert told.bounds == list(range(11, 21))  # item i is drawn for among 0 … i: none is skipped (E2-24)
    shifted = [*range(10), *range(11, 21)]
    assert reservoir(shifted, k=10, entropy=Told(DRAWS)) == [12, 1, 18, 3, 16, 11, 6, 13, 15, 9]


@pytest.mark.parametrize(("items", "k"), [(5, 2), (5, 1), (4, 3), (3, 3), (2, 3), (0, 1)])
def test_A2_044_every_set_is_as_likely(items: int, k: int) -> None:
    """All draws: every set of k equally often, so every item of n with probability k / n: 0.01 for 10 of 1,000."""
    drawn = itertools.product(*(range(i + 1) for i in range(k, items)))
    found = Counter(frozenset(reservoir(range(items), k=k, entropy=Told(draws))) for draws in drawn)
    assert set(found) == set(map(frozenset, itertools.combinations(range(items), min(k, items))))
    assert len(set(found.values())) == 1


def test_A2_044_ten_of_a_thousand() -> None:
    entropy, runs = ReplayEntropy(44), 600
    found = Counter(item for _ in range(runs) for item in reservoir(range(1000), k=10, entropy=entropy))
    bands = np.array([sum(found[item] for item in range(low, low + 100)) for low in range(0, 1000, 100)]) / runs / 100
    assert bands == pytest.approx(np.full(10, 0.01), abs=6 * math.sqrt(0.01 * 0.99 / runs / 100))


def test_A2_044_reservoirs_without_room_are_refused() -> None:
    with pytest.raises(sf.errors.BadArgument, match="k must be a whole number of at least 1"):
        reservoir(range(3), k=0, entropy=ReplayEntropy(0))


def test_A2_045_truncation_to_forty_rows() -> None:
    for made in (SPACE >> sf.truncate(40), SPACE >> sf.truncate(40, keep="last", by="time")):
        assert (made.map(1), made.map(3), made.map(math.inf)) == (40, 120, math.inf)


WIDE = sf.frame({"id": int, "site": list("abcdefghi")}, metric=sf.Identifiers("id"))


@pytest.mark.parametrize(
    ("groups", "rows", "each", "triple"),
    [(3, None, 2, (3, 6, 2)), (4, 3, 5, (3, 3, 3)), (None, 5, 3, (5, 5, 3))],
    ids=["3 groups of 2", "3 rows", "5 rows"],
)
def test_A2_046_per_unit_triples(groups: Any, rows: Any, each: Any, triple: tuple[int, int, int]) -> None:
    made = WIDE >> sf.truncate_groups("site", max_groups=groups, max_rows=rows, max_rows_per_group=each)
    assert made.map(1) == sf.GroupedDistance(*triple) and made.map(0) == sf.GroupedDistance(0, 0, 0)
    parts, whole, most = triple
    twice = made.map(2)
    assert (twice.parts, twice.rows, twice.largest) == (min(9, 2 * parts), 2 * whole, 2 * most)
    for norm in (sf.L1(), sf.L2(), sf.LInf()):  # the sizes of d people move d times as far, not further
        one, three = ((made >> sf.transforms.sizes(metric=norm)).map(d) for d in (1, 3))
        assert three == one * 3


def test_A2_046_filling_up_again_breaks_the_bound() -> None:
    """E2-25: five groups of one row, cut to five rows, then resampled with replacement to three a group: 15 rows."""
    made = WIDE >> sf.truncate_groups("site", max_rows=5, max_rows_per_group=3)
    data = {"id": [1] * 5, "site": list("abcde")}
    empty = made({"id": [], "site": []})
    filled = [{"id": [1] * 3, "site": [site] * 3} for site in "abcde"]
    resampled = (*filled, *empty[5:])
    found = made.target.distance(resampled, empty)
    assert found.rows == 15 and not found <= made.map(1)
    assert made.target.distance(made(data), empty) == sf.GroupedDistance(5, 5, 1)


def test_A2_047_visits_of_six_patients() -> None:
    columns = sf.datasets.hospital_visits(patients=6).columns
    space = sf.frame({"patient": str, "specialty": str, "minutes": int}, metric=sf.Identifiers("patient"))
    data = {"patient": columns["patient"], "specialty": columns["specialty"], "minutes": columns["minutes"].astype(int)}
    assert len((space >> sf.truncate(5))(data)["patient"]) == 18
    assert sorted((space >> sf.one_each("rows"))(data).tolist()) == [1, 1, 3, 3, 5, 7]
    assert (space >> sf.count_identifiers())(data) == 6
    keys = sorted(set(columns["specialty"].tolist()))

    def kept(**limits: int) -> int:
        parts = (space >> sf.truncate_groups("specialty", keys=keys, **limits))(data)
        return sum(len(part["patient"]) for part in parts)

    assert kept(max_groups=6, max_rows=7, max_rows_per_group=2) == 20  # the maxima of the table: nothing is left out
    assert kept(max_rows=5) == kept(max_rows_per_group=1) == 18
    assert kept(max_groups=5) in (18, 19)  # of six specialties of one patient, one with one or two visits


def test_A2_050_counts_by_domain() -> None:
    made = WIDE >> sf.truncate(40) >> sf.select("site") >> sf.count_by()
    assert made.map(1) == 40
    assert (made >> sf.laplace(scale=40)).map(1) == sf.Pure(1)


def test_A2_053_nine_groups() -> None:
    rows = WIDE >> sf.truncate(9) >> sf.select("site") >> sf.count_by(metric=sf.L2())
    once = WIDE >> sf.truncate_groups("site", max_rows_per_group=1) >> sf.transforms.sizes(metric=sf.L2())
    four = WIDE >> sf.truncate_groups("site", max_groups=4, max_rows_per_group=1) >> sf.transforms.sizes(metric=sf.L2())
    assert [made.map(1) for made in (rows, once, four)] == [9, 3, 2]
