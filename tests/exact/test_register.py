"""A limit for each unit, against everyone who chooses releases as they go: all data, all neighbours, all strategies.

The register itself says who takes part, for every sequence of releases. A release tells one bit about the rows that are
kept, by randomized response, so that its likelihood ratios are rational. Ratios and moments of the answers multiply
along a transcript, and who is kept depends on the releases that were asked for and not on their answers; the worst
strategy is therefore the worst sequence, and for (ε, δ) it is found by recursion.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Protocol

import numpy as np
import pytest
from tests.exact.enumerated import response

from sfumato.accounting.adaptive.filters import SumFilter
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.exact import exp_up, log_up
from sfumato.ledger.register.register import Register, changed

TINY = Fraction(1, 10**30)
"""More than all roundings of the stated losses together."""

Pairs = tuple[tuple[Fraction, Fraction], ...]
Person = tuple[frozenset[int], int]
"""Is the tables in which a unit has rows, and the bit that all of them carry."""

World = tuple[Person | None, ...]
"""Is for each possible unit its rows, or none where it is not in the data."""


@dataclass(frozen=True)
class Offer:
    """Is a release on the menu: a table, a likelihood ratio, the chance to say everything, and the stated loss."""

    table: int
    ratio: Fraction
    loss: Loss
    leak: Fraction = Fraction(0)


class Door(Protocol):
    """Is what says who takes part: for each row yes or no, or none where it refuses the release as a whole."""

    def admit(self, ids: list[int], loss: Loss, *, release: str) -> np.ndarray | None: ...


def rows_of(world: World, table: int) -> list[int]:
    """Gives the ids of the rows of a table: everyone has two rows in table 1, which lie apart, and one in others."""
    there = [unit for unit, person in enumerate(world) if person and table in person[0]]
    return there + there if table == 1 else there


def told(world: World, offer: Offer, kept: list[bool] | None) -> tuple[int, int] | None:
    """Gives the two bits that a release may be asked for: whether somebody has a 1, and whether the rows are odd."""
    if kept is None:
        return None
    seen = [unit for unit, keep in zip(rows_of(world, offer.table), kept, strict=True) if keep]
    bits = [person[1] for unit in seen if (person := world[unit])]
    return int(any(bits)), len(bits) % 2 if offer.table != 1 else len(bits) // 2 % 2


@dataclass
class Interaction:
    """Is what follows from one way to say who takes part."""

    made: Callable[[], Door]
    _kept: dict[object, list[bool] | None] = field(default_factory=dict)

    def kept(self, world: World, offers: tuple[Offer, ...]) -> list[bool] | None:
        """Gives who takes part in the last of some releases."""
        members = tuple(person and person[0] for person in world)
        if (members, offers) not in self._kept:
            door, mask = self.made(), None
            for offer in offers:
                mask = door.admit(rows_of(world, offer.table), offer.loss, release="release")
            self._kept[members, offers] = None if mask is None else mask.tolist()
        return self._kept[members, offers]

    def laws(self, one: World, other: World, offers: tuple[Offer, ...]) -> Iterator[Pairs]:
        """Gives the laws of the last release on two neighbours, for each bit that it may be asked for."""
        last = offers[-1]
        first, second = (told(world, last, self.kept(world, offers)) for world in (one, other))
        if first is None or second is None:  # a refusal is seen by everybody
            yield ((Fraction(1), Fraction(int(first == second))), (Fraction(int(first != second)),) * 2)
            return
        for bit, opposite in zip(first, second, strict=True):
            if bit != opposite:
                yield response(last.ratio, leak=last.leak)

    def worst(
        self, one: World, other: World, menu: tuple[Offer, ...], rounds: int, price: Callable[[Pairs], Fraction | float]
    ) -> Fraction | float:
        """Gives the largest product of prices over all sequences of releases."""

        def value(offers: tuple[Offer, ...]) -> Fraction | float:
            if len(offers) == rounds:
                return Fraction(1)
            longer = [(*offers, offer) for offer in menu]
            return max(max(map(price, self.laws(one, other, o)), default=Fraction(1)) * value(o) for o in longer)

        return value(())

    def worst_delta(self, one: World, other: World, menu: tuple[Offer, ...], rounds: int, growth: Fraction) -> Fraction:
        """Gives the largest δ at ε = ln(growth) over all strategies."""

        @cache
        def value(offers: tuple[Offer, ...], at: Fraction) -> Fraction:
            best = max(Fraction(0), 1 - at)
            for offer in menu if len(offers) < rounds else ():
                after = (*offers, offer)
                for pairs in (*self.laws(one, other, after), ((Fraction(1), Fraction(1)),)):
                    best = max(best, sum((p * value(after, at * q / p) for p, q in pairs if p > 0), Fraction(0)))
            return best

        return value((), growth)


def largest_ratio(pairs: Pairs) -> Fraction | float:
    return max(math.inf if 0 in (p, q) else max(p / q, q / p) for p, q in pairs if p or q)


def second_moment(pairs: Pairs) -> Fraction:
    """Gives exp of the Rényi divergence of order 2; randomized response is the same in both directions."""
    return sum((p**2 / q for p, q in pairs), Fraction(0))


def worlds(*choices: tuple[Person | None, ...]) -> list[World]:
    return list(itertools.product(*choices))


def people(*tables: int) -> tuple[Person | None, ...]:
    """Gives all that one unit can be: absent, or in some of the tables, with either bit."""
    sets = [frozenset(part) for size in range(1, len(tables) + 1) for part in itertools.combinations(tables, size)]
    return (None, *itertools.product(sets, (0, 1)))


def neighbours(every: list[World]) -> Iterator[tuple[World, World]]:
    """Gives all pairs in which all rows of one unit are in the first and none in the second."""
    for world in every:
        for unit, person in enumerate(world):
            if person is not None:
                yield world, (*world[:unit], None, *world[unit + 1 :])


KEY = bytes(range(32))


def register(limit: Loss) -> Callable[[], Door]:
    return lambda: Register(":memory:", key=KEY, limit=limit)


class Everyone:
    """Is a wrong door: everybody takes part, always."""

    def admit(self, ids: list[int], loss: Loss, *, release: str) -> np.ndarray:
        return np.ones(len(ids), dtype=bool)


@dataclass
class AllOrNothing:
    """Is a wrong door: it refuses the whole release when somebody has no room left."""

    limit: Loss
    spent: dict[int, SumFilter] = field(default_factory=dict)

    def admit(self, ids: list[int], loss: Loss, *, release: str) -> np.ndarray | None:
        own = {unit: self.spent.get(unit, SumFilter(self.limit)) for unit in ids}
        if not all(rule.admits(loss) for rule in own.values()):
            return None
        self.spent |= {unit: rule.after(loss) for unit, rule in own.items()}
        return np.ones(len(ids), dtype=bool)


@dataclass
class CommonPot:
    """Is a wrong door: units have limits of their own, and draw besides on a pot that all have in common."""

    limit: Loss
    pot: int
    spent: dict[int, SumFilter] = field(default_factory=dict)

    def admit(self, ids: list[int], loss: Loss, *, release: str) -> np.ndarray:
        own = {unit: self.spent.get(unit, SumFilter(self.limit)) for unit in sorted(set(ids))}
        takes = {}
        for unit, rule in own.items():
            takes[unit] = self.pot > 0 and rule.admits(loss)
            if takes[unit]:
                self.pot, self.spent[unit] = self.pot - 1, rule.after(loss)
        return np.array([takes[unit] for unit in ids], dtype=bool)


def pure_menu(*ratios: int) -> tuple[Offer, ...]:
    return tuple(Offer(table, Fraction(r), Pure(log_up(Fraction(r)))) for table in (1, 2) for r in ratios)


SMALL = worlds(people(1, 2), people(1, 2), (None, (frozenset({1, 2}), 1)))
LIMIT = Pure(log_up(6) + TINY)
INDIVIDUAL = Interaction(register(LIMIT))


def test_each_unit_keeps_its_limit_although_the_releases_cost_more_together() -> None:
    menu = pure_menu(2, 3)
    found = [INDIVIDUAL.worst(one, other, menu, 3, largest_ratio) for one, other in neighbours(SMALL)]
    assert max(found) == 6  # sound, and reached
    everyone = Interaction(Everyone)
    assert max(everyone.worst(one, other, menu, 3, largest_ratio) for one, other in neighbours(SMALL)) == 27


def test_the_stated_loss_of_all_releases_is_more_than_the_limit() -> None:
    total = Pure(log_up(3)).times(3)
    assert not total.within(LIMIT)


def test_refusing_the_whole_release_gives_units_away() -> None:
    door = Interaction(lambda: AllOrNothing(LIMIT))
    assert (
        max(door.worst(one, other, pure_menu(2, 3), 3, largest_ratio) for one, other in neighbours(SMALL)) == math.inf
    )


def test_leaving_out_by_a_total_of_several_units_breaks_the_limit() -> None:
    door = Interaction(lambda: CommonPot(LIMIT, pot=2))
    assert max(door.worst(one, other, pure_menu(2, 3), 3, largest_ratio) for one, other in neighbours(SMALL)) == 18


def test_concentrated_and_renyi_limits_hold() -> None:
    two = second_moment(response(2))
    rho = Fraction(log_up(Fraction(2))) / 3  # ε tanh(ε/2)
    for limit, loss in (
        (Renyi({2: 2 * log_up(two) + TINY}), Renyi({2: log_up(two)})),
        (ZCDP(2 * rho + TINY), ZCDP(rho)),
    ):
        menu = tuple(Offer(table, Fraction(2), loss) for table in (1, 2))
        door = Interaction(register(limit))
        assert max(door.worst(*pair, menu, 3, second_moment) for pair in neighbours(SMALL)) == two**2
        most = Fraction(limit.at(2) if isinstance(limit, Renyi) else 2 * limit.rho)
        assert two**2 <= exp_up(most)
        assert two**3 > exp_up(most)  # what everybody would come to


@pytest.mark.parametrize(("ratio", "delta"), [(2, Fraction(1, 5)), (1, Fraction(3, 10))], ids=["ln 2", "0"])
def test_approximate_limits_hold(ratio: int, delta: Fraction) -> None:
    limit, growth = Approx(log_up(Fraction(ratio)) + TINY, delta), Fraction(ratio)
    menu: tuple[Offer, ...] = (
        Offer(1, Fraction(1), Approx(0, Fraction(1, 10)), Fraction(1, 10)),
        Offer(2, Fraction(1), Approx(0, Fraction(1, 5)), Fraction(1, 5)),
        Offer(2, Fraction(2), Approx(log_up(Fraction(2)), 0)),
    )
    menu = tuple(offer for offer in menu if offer.loss.within(limit))
    pairs = list(neighbours(worlds(people(1, 2), people(2))))
    pairs += [(other, one) for one, other in pairs]
    door, everyone = Interaction(register(limit)), Interaction(Everyone)
    found = max(door.worst_delta(*pair, menu, 3, growth) for pair in pairs)
    assert delta / 2 < found <= delta
    assert max(everyone.worst_delta(*pair, menu, 3, growth) for pair in pairs) > delta


def test_one_full_leak_reaches_an_approximate_limit() -> None:
    limit = Approx(0, Fraction(1, 5))
    menu = (Offer(1, Fraction(1), limit, Fraction(1, 5)),)
    door = Interaction(register(limit))
    assert max(door.worst_delta(*pair, menu, 3, Fraction(1)) for pair in neighbours(SMALL[::5])) == Fraction(1, 5)


def test_a_changed_unit_has_twice_the_limit_and_no_less() -> None:
    """All rows of one unit are replaced by other rows, in other tables and with another bit, or by another unit."""
    menu, rest = pure_menu(2, 3), None
    options = [person for person in people(1, 2) if person]
    pairs = [
        ((first, None, rest), (second, None, rest) if same else (None, second, rest))
        for first, second in itertools.product(options, repeat=2)
        for same in (True, False)
    ]
    found = [INDIVIDUAL.worst(one, other, menu, 4, largest_ratio) for one, other in pairs]
    assert LIMIT.epsilon < log_up(max(found))
    assert changed(LIMIT) == Pure(2 * LIMIT.epsilon)
    assert max(found) <= exp_up(Fraction(2 * LIMIT.epsilon))
    assert max(found) == 36


def test_who_takes_part_depends_on_the_unit_alone() -> None:
    """Whatever others have, a unit gets the same answers: that is what the theorem needs."""
    menu = pure_menu(2, 3)
    answers: dict[object, bool] = {}
    for world in SMALL:
        for offers in itertools.product(menu, repeat=3):
            kept = INDIVIDUAL.kept(world, offers) or []
            for unit, keep in zip(rows_of(world, offers[-1].table), kept, strict=True):
                person = world[unit]
                assert person is not None
                assert answers.setdefault((unit, person[0], offers), keep) == keep
    assert set(answers.values()) == {True, False}


def test_releases_without_a_unit_cost_it_nothing() -> None:
    door = INDIVIDUAL
    one: Mapping[int, World] = {1: ((frozenset({1}), 1),), 2: ((frozenset({2}), 1),)}
    three = (pure_menu(3)[0],) * 3
    assert door.kept(one[1], three) == [False, False]
    assert door.kept(one[1], (*(pure_menu(3)[1],) * 3, pure_menu(3)[0])) == [True, True]


def test_half_of_the_stated_loss_would_be_too_little() -> None:
    menu = tuple(Offer(table, Fraction(3), Pure(Fraction(log_up(3)) / 2)) for table in (1, 2))
    door = Interaction(register(LIMIT))
    assert exp_up(Fraction(LIMIT.epsilon)) < max(
        door.worst(*pair, menu, 3, largest_ratio) for pair in neighbours(SMALL[::3])
    )
