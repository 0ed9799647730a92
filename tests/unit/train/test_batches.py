"""Ways to draw batches: each is drawn as its event says, remembers what it must, and is accounted as nothing else."""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.exact.scripted_entropy import ScriptedEntropy, halves
from torch import Tensor, nn

import sfumato as sf
from sfumato.accounting import Relation
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.train import (
    AllocatedBatches,
    FixedBatches,
    PoissonBatches,
    Private,
    ShuffledBatches,
    TruncatedPoissonBatches,
    private,
)
from sfumato.train.batches import Batches

NOISE = sf.events.Gaussian(2)

TRUNCATED = TruncatedPoissonBatches(Fraction(1, 2), 7, 40, 25)
ALLOCATED = AllocatedBatches(3, 4, 40, 2)
SHUFFLED = ShuffledBatches(16, 3, 40)


def made_up(rows: int = 40) -> tuple[Tensor, Tensor]:
    inputs = torch.from_numpy(np.random.default_rng(0).normal(size=(rows, 3))).float()
    return inputs, (inputs[:, 0] > 0).long()


def network() -> nn.Module:
    torch.manual_seed(1)
    return nn.Linear(3, 2)


def take(training: Private, steps: int) -> list[int]:
    """Takes some steps; gives how many rows each had that had any."""
    sizes = []
    for rows, labels in training.batches():
        training.step(nn.functional.cross_entropy(training.model(rows), labels, reduction="none"))
        sizes.append(len(rows))
        if len(sizes) == steps:
            break
    return sizes


def test_batches_are_accounted_as_they_are_drawn() -> None:
    cut = sf.events.TruncatedPoisson("1/2", most=25, population=40)
    expected: dict[Batches, tuple[Any, Relation, int, Fraction]] = {
        PoissonBatches(Fraction(1), 7, 40): (
            sf.events.Repeat(sf.events.Sampled(NOISE, sf.events.Poisson(1)), 7), Relation.ADD_REMOVE, 7, Fraction(40),
        ),
        TRUNCATED: (sf.events.Repeat(sf.events.Sampled(NOISE, cut), 7), Relation.ADD_REMOVE, 7, Fraction(20)),
        ALLOCATED: (sf.events.Repeat(sf.events.Allocated(NOISE, 4, 2), 3), Relation.ADD_REMOVE, 12, Fraction(20)),
        SHUFFLED: (
            sf.events.Repeat(sf.events.Sampled(NOISE, sf.events.WithoutReplacement(40, 40)), 3),
            Relation.CHANGE_ONE, 9, Fraction(16),
        ),
    }  # fmt: skip
    for batches, (event, relation, steps, average) in expected.items():
        assert (batches.event(NOISE), batches.relation) == (event, relation)
        assert (batches.steps, batches.expected) == (steps, average)
    assert ALLOCATED.first(5) == AllocatedBatches(2, 4, 40, 2)  # an epoch that was begun is priced as a whole
    assert SHUFFLED.first(3) == ShuffledBatches(16, 1, 40) and TRUNCATED.first(3).steps == 3


def test_every_way_to_deal_three_units_out_is_equally_likely() -> None:
    once = Counter(
        tuple(AllocatedBatches(1, 4, 3).deal(3, ScriptedEntropy(halves(*(value << 14 for value in drawn)))).ravel())
        for drawn in itertools.product(range(4), repeat=3)
    )
    assert len(once) == 64 and set(once.values()) == {1}
    twice: Counter[tuple[frozenset[int], ...]] = Counter()
    firsts, seconds = itertools.product(range(3), repeat=3), list(itertools.product(range(4), repeat=3))
    for first, second in itertools.product(firsts, seconds):
        script = halves(*(value << 14 for value in (*first, *second)))
        turns = AllocatedBatches(1, 4, 3, 2).deal(3, ScriptedEntropy(script))
        twice[tuple(frozenset(line) for line in turns.tolist())] += 1
    assert len(twice) == 6**3 and set(twice.values()) == {8} and all(len(one) == 2 for line in twice for one in line)


def law_of_cut(rate: Fraction, units: int, most: int) -> dict[tuple[int, ...], Fraction]:
    """The law of a Poisson sample, of which a uniformly random part is kept where it is too large."""
    law: Counter[tuple[int, ...]] = Counter()
    for drawn in itertools.chain.from_iterable(itertools.combinations(range(units), size) for size in range(units + 1)):
        chance = rate ** len(drawn) * (1 - rate) ** (units - len(drawn))
        kept = list(itertools.combinations(drawn, min(most, len(drawn))))
        for part in kept:
            law[part] += chance / len(kept)  # type: ignore[assignment]
    return dict(law)  # type: ignore[arg-type]


def misfit(seen: Counter[tuple[int, ...]], law: dict[tuple[int, ...], Fraction]) -> float:
    count = sum(seen.values())
    return sum((seen[one] - count * float(chance)) ** 2 / (count * float(chance)) for one, chance in law.items())


def test_cut_samples_have_their_law_and_no_other() -> None:
    """Replayed: of 11 outcomes, 2,000 draws; a wrong rate and a cut in order are far off."""
    batches, entropy = TruncatedPoissonBatches(Fraction(3, 5), 1, 4, 2), ReplayEntropy(11)
    seen = Counter(tuple(batches.draw(4, entropy).tolist()) for _ in range(2_000))
    law = law_of_cut(Fraction(3, 5), 4, 2)
    assert set(seen) == set(law) and misfit(seen, law) < 30
    assert misfit(seen, law_of_cut(Fraction(1, 2), 4, 2)) > 60
    first = Counter({one: int(2_000 * chance) for one, chance in law.items()})
    first[(0, 1)] += first.pop((2, 3))
    assert misfit(first, law) > 60


def test_shuffled_batches_are_disjoint_and_of_their_size() -> None:
    sampler = SHUFFLED.start(40, ReplayEntropy(3))
    drawn = [sampler.draw(step).tolist() for step in range(9)]
    assert [len(batch) for batch in drawn] == [16, 16, 8] * 3
    epochs = [drawn[begin : begin + 3] for begin in (0, 3, 6)]
    assert all(sorted(itertools.chain(*epoch)) == list(range(40)) for epoch in epochs)
    assert epochs[0] != epochs[1] != epochs[2]
    places = np.stack([ShuffledBatches(1, 1, 3).deal(3, ReplayEntropy(seed)).ravel() for seed in range(600)])
    assert min(Counter(map(tuple, places.tolist())).values()) > 65  # 100 of each of 6 orders are expected


def test_A3_022_disjoint_batches_cost_one_exchange_an_epoch_and_all_orders_reach_it() -> None:
    """Each batch gives its sum with noise 2^−|z|: of 4 units in batches of 2, over all orders, the ratio is 2²."""
    law = {place: Fraction(1, 3) / 2 ** abs(place) for place in range(-40, 41)}

    def chance(units: tuple[int, ...], seen: tuple[int, int]) -> Fraction:
        total = Fraction(0)
        for order in itertools.permutations(range(4)):
            sums = [sum(units[unit] for unit in order[begin : begin + 2]) for begin in (0, 2)]
            total += law[seen[0] - sums[0]] * law[seen[1] - sums[1]]
        return total / 24

    worst = Fraction(0)
    for others in itertools.combinations_with_replacement((-1, 0, 1), 3):
        for seen in itertools.product(range(-6, 7), repeat=2):
            worst = max(worst, chance((1, *others), seen) / chance((-1, *others), seen))
    assert worst == 4
    step = sf.events.Laplace(Fraction(10))
    assert sf.total(ShuffledBatches(2, 5, 4).event(step), sf.Pure, relation=Relation.CHANGE_ONE) == sf.Pure(1)
    with pytest.raises(NoProvenRoute):
        sf.total(ShuffledBatches(2, 5, 4).event(step), sf.Pure, relation=Relation.ADD_REMOVE)
    dealt = AllocatedBatches(5, 2, 4).event(step)
    assert sf.total(dealt, sf.Pure, relation=Relation.ADD_REMOVE) == sf.Pure(Fraction(1, 2))


@pytest.mark.parametrize("batches", [ALLOCATED, SHUFFLED])
def test_no_unit_takes_part_more_often_than_dealt_wherever_a_run_breaks_off(batches: Any) -> None:
    most = getattr(batches, "participations", 1)
    for broken, kept in itertools.product(range(1, batches.steps), (True, False)):
        often, entropy = Counter[tuple[int, int]](), ReplayEntropy(broken)
        sampler = batches.start(40, entropy)
        for step in range(batches.steps):
            if step == broken:
                state, sampler = sampler.state(), batches.start(40, entropy)
                sampler.load(state) if kept else None
            often.update((unit, step // batches.steps_per_epoch) for unit in sampler.draw(step).tolist())
        assert max(often.values()) == most
        whole = kept or broken % batches.steps_per_epoch == 0
        assert (sum(often.values()) == 40 * 3 * most) is whole


def test_a_training_by_epochs_goes_on_as_it_was_dealt(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"noise_multiplier": 1, "batches": AllocatedBatches(2, 4, 40)}
    whole = take(private(network(), made_up(), **asked, entropy=ReplayEntropy(5)), 8)
    training = private(network(), made_up(), **asked, entropy=ReplayEntropy(5))
    first = take(training, 2)
    training.save(tmp_path / "run.pt")
    later = private(network(), made_up(), **asked, entropy=ReplayEntropy(6)).resume(tmp_path / "run.pt")
    assert first + take(later, 2) == whole[:4] and sum(whole[:4]) == 40
    assert sum(take(later, 8)) == 40 and later.taken == 8
    with pytest.raises(BadArgument, match="units that were dealt"):
        private(network(), made_up(39), **asked).resume(tmp_path / "run.pt")


def test_a_session_counts_every_step_of_an_epoch_and_none_is_dealt_again() -> None:
    inputs, labels = made_up()
    data = sf.Dataset({"person": list(range(40)), "x": inputs[:, 0].tolist()}, unit="person", between={"x": (-5, 5)})
    session = data.session(limit=sf.ZCDP(1), ledger="memory:")
    asked: dict[str, Any] = {
        "batches": AllocatedBatches(2, 4, 40), "noise_multiplier": 2, "session": session, "key": "run",
    }  # fmt: skip
    training = private(network(), (inputs, labels), **asked)
    take(training, 2)
    again = private(network(), (inputs, labels), **asked)
    assert again.taken == 2
    assert sum(take(again, 8)) == 40 and again.taken == 8  # the rest of the first epoch was not saved: it is empty
    assert again.release().loss == sf.ZCDP(Fraction(1, 4)) == session.spent


def test_everyone_in_every_batch_costs_twice_as_far_where_one_is_exchanged() -> None:
    whole = PoissonBatches(Fraction(1), 10, 40).event(sf.events.Gaussian(4))
    for kind in (sf.ZCDP, sf.GDP):
        plain = sf.total(sf.events.Repeat(sf.events.Gaussian(4), 10), kind)
        far = sf.total(sf.events.Repeat(sf.events.Gaussian(4, shift=2), 10), kind)
        assert sf.total(whole, kind, relation=Relation.ADD_REMOVE) == plain
        assert sf.total(whole, kind, relation=Relation.ZERO_OUT) == plain
        assert sf.total(whole, kind, relation=Relation.CHANGE_ONE) == far != plain
    fixed = FixedBatches(40, 10, 40).event(sf.events.Gaussian(4))
    assert sf.total(fixed, sf.ZCDP, relation=Relation.CHANGE_ONE) == far_of(4)
    with pytest.raises(NoProvenRoute):
        sf.total(fixed, sf.ZCDP, relation=Relation.ADD_REMOVE)
    with pytest.raises(NoProvenRoute):
        sf.total(PoissonBatches(Fraction(1, 2), 10, 40).event(NOISE), sf.ZCDP, relation=Relation.ADD_REMOVE)


def far_of(scale: int) -> sf.ZCDP:
    return sf.total(sf.events.Repeat(sf.events.Gaussian(scale, shift=2), 10), sf.ZCDP)


def test_a_largest_batch_is_one_argument() -> None:
    training = private(network(), made_up(), noise_multiplier=2, batch=20, steps=7, most=22, entropy=ReplayEntropy(1))
    assert training.plan.batches == TruncatedPoissonBatches(Fraction(1, 2), 7, 40, 22)
    assert max(take(training, 7)) <= 22


@pytest.mark.parametrize("batches", [TRUNCATED, SHUFFLED, FixedBatches(10, 2, 40)])
def test_data_of_another_size_than_a_public_one_is_refused(batches: Batches) -> None:
    with pytest.raises(BadArgument, match="of 40 units"):
        private(network(), made_up(41), noise_multiplier=1, batches=batches)


def test_numbers_that_no_batches_have_are_refused() -> None:
    refused: list[tuple[Any, tuple[Any, ...]]] = [
        (TruncatedPoissonBatches, (Fraction(1, 2), 7, 40, 0)),
        (TruncatedPoissonBatches, (0, 7, 40, 5)),
        (AllocatedBatches, (3, 4, 40, 5)),
        (AllocatedBatches, (0, 4, 40)),
        (ShuffledBatches, (41, 3, 40)),
        (ShuffledBatches, (4, 0, 40)),
    ]
    for kind, given in refused:
        with pytest.raises(BadArgument):
            kind(*given)
