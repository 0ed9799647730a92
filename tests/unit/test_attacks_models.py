"""Attacks on models: who was trained on, which attributes they have, and what a model remembers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sfumato.accounting.losses.measures import ZCDP, Approx, Pure
from sfumato.accounting.meaning.proportions import greatest_probability, least_probability
from sfumato.attacks import (
    attribute,
    canary,
    confidence,
    divided,
    exposure,
    inversion,
    lira,
    membership,
    memorisation,
    shadow_models,
    toy_models,
)
from sfumato.attacks.exposure import Canary
from sfumato.attacks.fitting import Fit, Labels, Predict, Rows, Sample, coins, fit_model, fractions
from sfumato.attacks.result import Attack, Violation, sweep
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, NoProvenRoute


def people(count: int, *, seed: int, width: int = 2) -> Sample:
    """Makes up records spread evenly, whose label their first attribute and chance decide."""
    source = ReplayEntropy(seed)
    rows = fractions(count * width, source).reshape(count, width)
    return Sample(rows, (rows[:, 0] + fractions(count, source) / 2 > 0.75).astype(np.int64))


MEMBERS, OUTSIDERS, AUXILIARY = people(200, seed=1), people(200, seed=2), people(400, seed=3)


def indifferent(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
    return lambda asked: np.full((len(asked), 2), 0.5)


class Fitted:
    """Is a model in the manner of scikit-learn that remembers every row."""

    seen: tuple[Rows, Labels] | None = None

    def fit(self, rows: Rows, labels: Labels) -> Fitted:
        assert self.seen is None, "each model is fitted to a copy"
        self.seen = rows, labels
        self.classes_ = np.unique(labels)
        return self

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        assert self.seen is not None
        kept, labels = self.seen
        predict = toy_models.memoriser(0.01)(kept, labels, ReplayEntropy(0))  # type: ignore[operator]  # a function
        return np.asarray(predict(rows)[:, self.classes_])


# --- scores


def test_scores_that_separate_and_scores_that_do_not() -> None:
    clear = membership([0.9, 0.8, 0.95, 0.7], [0.1, 0.3, 0.2, 0.4])
    assert (clear.success.rate, clear.baseline, clear.advantage) == (1.0, 0.5, 0.5)
    assert (clear.found.area, clear.found.advantage, clear.violation) == (1.0, 1.0, Violation.MEMBERSHIP)
    blind = membership([0.5] * 10, [0.5] * 10)
    assert (blind.success.rate, blind.found.area, blind.found.advantage) == (0.5, 0.5, 0.0)
    turned = membership([0.1, 0.1, 0.1, 0.1], [0.9, 0.9, 0.9, 0.9])
    assert turned.success.rate == 0.5, "a low score is no sign of membership"


def test_the_threshold_is_learnt_on_one_half_and_judged_on_the_other() -> None:
    found = membership([1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0])
    assert found.found.threshold == 0.5
    assert found.success.hits == 0, "what holds for the half that was told need not hold for the other"
    given_threshold = membership([1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0], threshold=0.5)
    assert given_threshold.success.trials == 8 and given_threshold.success.rate == 0.5


def test_guessing_says_what_is_true_of_most() -> None:
    assert membership([0.5] * 6, [0.5] * 2, threshold=2.0).baseline == 0.75
    assert membership([0.5] * 2, [0.5] * 6, threshold=2.0).baseline == 0.75


def test_what_is_no_number_looks_like_no_member() -> None:
    found = membership([math.nan, 0.9, math.inf], [-math.inf, math.nan], threshold=0.5)
    assert found.found.true_alarms.hits == 2 and found.found.false_alarms.hits == 0
    assert 0 <= found.found.area <= 1


scores = st.lists(st.floats(-3, 3).map(lambda x: round(x, 1)), min_size=2, max_size=12)


@given(scores, scores)
def test_the_area_is_how_often_a_member_scores_higher(inside: list[float], outside: list[float]) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in inside for other in outside]
    found = membership(inside, outside).found
    assert found.area == pytest.approx(sum(pairs) / len(pairs))
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in zip(found.curve, found.curve[1:], strict=False))
    level = sorted(outside)[-1]
    assert found.detects(0.0) == sum(one > level for one in inside) / len(inside)
    assert all(found.detects(false) >= true for false, true in found.curve), "also where a rate is no short decimal"


@pytest.mark.parametrize("rate", [-1, 1.5, math.nan, "often"], ids=str)
def test_alarms_are_asked_for_at_a_rate(rate: float) -> None:
    with pytest.raises(BadArgument, match="the rate of false alarms must be"):
        membership([0.9, 0.8], [0.1, 0.2]).found.detects(rate)


def test_long_findings_are_left_out_of_what_python_shows() -> None:
    found = membership([0.9, 0.8], [0.1, 0.2]).found
    assert "curve" not in repr(found) and len(found.curve) > 2
    assert repr(inverted(class_means).found).startswith("Inverted(close=")
    assert repr(MEMBERS) == "Sample(200 records of 2 attributes)"


@pytest.mark.parametrize("bad", [[0.5], [], [[1.0, 2.0]], ["high", "low"]], ids=["one", "none", "table", "texts"])
def test_scores_are_lists_of_two_or_more_numbers(bad: Sequence[object]) -> None:
    with pytest.raises(BadArgument, match="the scores of members must be"):
        membership(bad, [0.1, 0.2])  # type: ignore[arg-type]


# --- what a loss allows


def test_a_loss_caps_every_attack() -> None:
    cap = membership([1.0, 0.9], [0.1, 0.2], loss=Approx(1, "1e-3")).found
    assert cap.most_advantage == pytest.approx((math.e - 1 + 2e-3) / (math.e + 1), rel=1e-6)
    assert cap.allowed("0.01") == pytest.approx(math.e * 0.01 + 1e-3, rel=1e-6)
    pure = membership([1.0, 0.9], [0.1, 0.2], loss=Pure(2))
    assert pure.found.most_advantage == pytest.approx(math.tanh(1), rel=1e-6) and pure.epsilon == 2.0
    free = membership([1.0, 0.9], [0.1, 0.2])
    assert (free.found.most_advantage, free.found.allowed(0), free.epsilon) == (1.0, 1.0, None)


def test_a_loss_that_does_not_speak_of_tests_is_refused_when_asked() -> None:
    with pytest.raises(NoProvenRoute):
        _ = membership([1.0, 0.9], [0.1, 0.2], loss=ZCDP(1)).found.most_advantage  # type: ignore[arg-type]


def alarms(fit: Fit, *, rounds: int) -> tuple[int, int, int, int]:
    """Trains on coin tosses again and again, and adds up alarms at a confidence of one half."""
    source, everyone = ReplayEntropy(8), people(60, seed=9)
    total = np.zeros(4, dtype=np.int64)
    for _ in range(rounds):
        inside, outside = divided(everyone.rows, everyone.labels, entropy=source)
        predict = fit_model(fit, inside, source)
        for place, side in ((0, inside), (2, outside)):
            sure = predict(side.rows)[np.arange(len(side)), side.labels]
            total[place : place + 2] += np.array([(sure > 0.5).sum(), len(side)])
    caught, members, accused, others = total.tolist()
    return caught, members, accused, others


@pytest.mark.parametrize("epsilon", [1, 3])
def test_no_attack_on_a_private_model_exceeds_what_its_loss_allows(epsilon: int) -> None:
    cells: Callable[..., Fit] = toy_models.counted_cells
    exact = alarms(cells(bins=64), rounds=30)
    private = alarms(cells(bins=64, epsilon=epsilon), rounds=30)

    def surely_broken(caught: int, members: int, accused: int, others: int) -> bool:
        true, false = least_probability(caught, members, "0.9999"), greatest_probability(accused, others, "0.9999")
        return float(true) > math.exp(epsilon) * float(false)

    assert surely_broken(*exact), "the test tells exact counts that claim this ε"
    assert not surely_broken(*private)


def test_success_falls_to_guessing_as_epsilon_falls() -> None:
    def attack(epsilon: float) -> Attack:
        fit = toy_models.counted_cells(epsilon=epsilon, bins=64)
        return confidence(fit, MEMBERS, OUTSIDERS, loss=Pure(epsilon), entropy=ReplayEntropy(1))

    exact = confidence(toy_models.counted_cells(bins=64), MEMBERS, OUTSIDERS, against="exact counts")
    side_by_side = sweep(attack, [8, 2, 0.1], besides=[exact])
    rates = [one.success.rate for one in side_by_side.attacks]
    assert rates[0] > 0.9 and rates[1] > 0.9 and rates[0] >= rates[2] > rates[3]
    low, high = side_by_side.attacks[3].success.interval("0.999")
    assert low <= 0.5 <= high
    assert [one.epsilon for one in side_by_side.attacks] == [None, 8.0, 2.0, 0.1]
    assert "ε = 0.1" in str(side_by_side) and "exact counts" in str(side_by_side)


# --- confidence, shadows, likelihood ratios

ATTACKS: dict[str, Callable[[Fit], Attack]] = {
    "confidence": lambda fit: confidence(fit, MEMBERS, OUTSIDERS, entropy=ReplayEntropy(4)),
    "shadow models": lambda fit: shadow_models(
        fit, MEMBERS, OUTSIDERS, auxiliary=AUXILIARY, shadows=4, entropy=ReplayEntropy(5)
    ),
    "online": lambda fit: lira(fit, MEMBERS, OUTSIDERS, shadows=16, entropy=ReplayEntropy(6)),
    "offline": lambda fit: lira(
        fit, MEMBERS, OUTSIDERS, auxiliary=AUXILIARY, shadows=8, online=False, entropy=ReplayEntropy(7)
    ),
}
every_attack = pytest.mark.parametrize("attack", ATTACKS.values(), ids=list(ATTACKS))


@every_attack
def test_a_model_that_memorises_gives_its_members_away(attack: Callable[[Fit], Attack]) -> None:
    found = attack(toy_models.memoriser(0.01))
    assert found.success.rate > 0.8 and found.found.area > 0.85
    assert found.success.interval()[0] > found.baseline


@every_attack
@pytest.mark.parametrize(
    "fit", [toy_models.logistic_regression(steps=100), indifferent], ids=["logistic", "indifferent"]
)
def test_a_model_that_does_not_memorise_gives_nobody_away(attack: Callable[[Fit], Attack], fit: Fit) -> None:
    low, high = attack(fit).success.interval("0.999")
    assert low <= 0.5 <= high


@every_attack
def test_models_in_the_manner_of_scikit_learn_are_copied_and_fitted(attack: Callable[[Fit], Attack]) -> None:
    model = Fitted()
    assert attack(model) == attack(toy_models.memoriser(0.01))
    assert model.seen is None


def test_a_model_that_never_saw_a_class_gives_it_no_confidence() -> None:
    one_class = Sample(MEMBERS.rows, np.ones(len(MEMBERS), dtype=np.int64))
    predict = fit_model(Fitted(), one_class, ReplayEntropy(0))
    assert predict(MEMBERS.rows[:3])[:, 0].tolist() == [0.0, 0.0, 0.0]


def test_many_shadows_give_every_record_a_spread_of_its_own() -> None:
    found = lira(toy_models.memoriser(0.03), MEMBERS, OUTSIDERS, shadows=64, entropy=ReplayEntropy(6))
    few = lira(toy_models.memoriser(0.03), MEMBERS, OUTSIDERS, shadows=8, entropy=ReplayEntropy(6))
    assert found.success.rate >= few.success.rate > 0.7


def test_the_likelihood_ratio_weighs_how_far_confidences_spread() -> None:
    """Members have log-odds of ±1, others of ±4, around one mean: a member's is near it, and only its density tells."""

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        def predict(asked: Rows) -> NDArray[np.float64]:
            seen = (asked[:, None, :] == rows[None, :, :]).all(axis=2).any(axis=1)
            odds = np.where(seen, 1.0, 4.0) * np.where(coins(len(asked), entropy), 1, -1)
            return np.repeat(1 / (1 + np.exp(-odds))[:, None], 2, axis=1)

        return predict

    assert lira(fit, MEMBERS, OUTSIDERS, shadows=16, entropy=ReplayEntropy(1)).success.rate > 0.95


SIZED: dict[str, Callable[[Fit, Sample], Attack]] = {
    "shadow models": lambda fit, known: shadow_models(
        fit, MEMBERS, OUTSIDERS, auxiliary=known, shadows=3, entropy=ReplayEntropy(5)
    ),
    "online": lambda fit, known: lira(fit, MEMBERS, OUTSIDERS, auxiliary=known, shadows=3, entropy=ReplayEntropy(6)),
    "online, few outsiders": lambda fit, known: lira(
        fit, MEMBERS, people(20, seed=2), auxiliary=known, shadows=3, entropy=ReplayEntropy(6)
    ),
    "online, many outsiders": lambda fit, known: lira(
        fit, MEMBERS, people(300, seed=2), auxiliary=known, shadows=3, entropy=ReplayEntropy(6)
    ),
    "offline": lambda fit, known: lira(
        fit, MEMBERS, OUTSIDERS, auxiliary=known, shadows=3, online=False, entropy=ReplayEntropy(7)
    ),
}


@pytest.mark.parametrize("attack", SIZED.values(), ids=list(SIZED))
def test_shadows_are_as_large_as_the_target(attack: Callable[[Fit, Sample], Attack]) -> None:
    sizes: list[int] = []

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        sizes.append(len({tuple(row) for row in rows.tolist()}))
        return indifferent(rows, labels, entropy)

    attack(fit, people(1000, seed=3))
    assert sizes == [200] * 4


def test_every_questioned_record_is_in_half_of_the_shadows() -> None:
    seen: Counter[tuple[float, ...]] = Counter()

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        seen.update(map(tuple, rows.tolist()))
        return indifferent(rows, labels, entropy)

    lira(fit, MEMBERS, OUTSIDERS, shadows=6)
    seen.subtract(map(tuple, MEMBERS.rows.tolist()))  # by the target
    assert len(seen) == 400 and set(seen.values()) == {3}


def test_offline_every_record_is_held_against_itself() -> None:
    """Some records are easy for any model: confidence alone says little, what it is beyond the usual says all."""

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        def predict(asked: Rows) -> NDArray[np.float64]:
            seen = (asked[:, None, :] == rows[None, :, :]).all(axis=2).any(axis=1)
            return np.repeat(1 / (1 + np.exp(4 - 8 * asked[:, 0] - seen))[:, None], 2, axis=1)

        return predict

    assert confidence(fit, MEMBERS, OUTSIDERS).success.rate < 0.7
    assert lira(fit, MEMBERS, OUTSIDERS, auxiliary=AUXILIARY, shadows=4, online=False).success.rate == 1.0


def test_small_auxiliary_data_are_halved() -> None:
    """Shadows that all saw everything would be one model."""
    sizes: list[int] = []

    def fit(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
        sizes.append(len(rows))
        return indifferent(rows, labels, entropy)

    shadow_models(fit, MEMBERS, OUTSIDERS, auxiliary=people(100, seed=3), shadows=2)
    lira(fit, MEMBERS, OUTSIDERS, auxiliary=people(100, seed=3), shadows=2, online=False)
    assert sizes == [50, 50, 200] * 2


def test_more_auxiliary_data_do_not_weaken_the_attack() -> None:
    few, others = people(60, seed=1), people(60, seed=2)

    def area(auxiliary: Sample | None) -> float:
        fit = toy_models.memoriser(0.05)
        return float(lira(fit, few, others, auxiliary=auxiliary, shadows=16, entropy=ReplayEntropy(6)).found.area)

    assert area(people(4000, seed=3)) > area(None) - 0.05 > 0.75


NARROW = people(30, seed=5, width=1)
WIDE = people(30, seed=1)
MISFITS: dict[str, Callable[[], object]] = {
    "confidence": lambda: confidence(toy_models.memoriser(0.01), WIDE, NARROW),
    "shadow models": lambda: shadow_models(toy_models.memoriser(0.01), WIDE, WIDE, auxiliary=NARROW),
    "online": lambda: lira(toy_models.memoriser(0.01), WIDE, NARROW),
    "offline": lambda: lira(toy_models.memoriser(0.01), WIDE, WIDE, auxiliary=NARROW, online=False),
    "attribute": lambda: attribute(toy_models.memoriser(0.01), WIDE, NARROW, column=0),
    "inversion": lambda: inversion(fit_model(indifferent, WIDE, ReplayEntropy(1)), WIDE, NARROW),
    "memorisation": lambda: memorisation(fit_model(indifferent, WIDE, ReplayEntropy(1)), WIDE, NARROW),
    "model": lambda: memorisation(fit_model(toy_models.memoriser(0.01), WIDE, ReplayEntropy(1)), NARROW, NARROW),
}


@pytest.mark.parametrize("attack", MISFITS.values(), ids=list(MISFITS))
def test_rows_of_another_width_are_refused(attack: Callable[[], object]) -> None:
    """Arithmetic would stretch a column over two, and outsiders would look like outsiders for no reason."""
    with pytest.raises(BadArgument, match="of one width; got"):
        attack()


class OneTooMany(Fitted):
    """Is a model that speaks of one class more than it was shown."""

    def predict_proba(self, rows: Rows) -> NDArray[np.float64]:
        return np.ones((len(rows), len(self.classes_) + 1))


MODELS: dict[str, tuple[Any, str]] = {
    "nothing": (lambda rows, labels, entropy: None, "what fit returns must be a function"),
    "NaN": (lambda rows, labels, entropy: lambda asked: np.full((len(asked), 2), np.nan), "probabilities, between"),
    "scores": (lambda rows, labels, entropy: lambda asked: np.full((len(asked), 2), -3.0), "probabilities, between"),
    "texts": (lambda rows, labels, entropy: lambda asked: [["a", "b"]] * len(asked), "must be numbers"),
    "columns": (OneTooMany(), "a column for each of 2 classes"),
}


@pytest.mark.parametrize(("fit", "message"), MODELS.values(), ids=list(MODELS))
def test_models_that_are_none_are_refused(fit: Any, message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        confidence(fit, MEMBERS, OUTSIDERS)


def test_a_fitted_model_is_a_function() -> None:
    for attack in (inversion, memorisation):
        with pytest.raises(BadArgument, match="predict must be a function"):
            attack(None, MEMBERS, OUTSIDERS)  # type: ignore[arg-type]


def test_attacks_refuse_what_they_cannot_work_with() -> None:
    fit = toy_models.memoriser()
    with pytest.raises(BadArgument, match="auxiliary must be given where online is False"):
        lira(fit, MEMBERS, OUTSIDERS, online=False)
    with pytest.raises(BadArgument, match="shadows must be a whole number of at least 2"):
        lira(fit, MEMBERS, OUTSIDERS, shadows=1)
    with pytest.raises(BadArgument, match="outsiders must be at least 2 records"):
        confidence(fit, MEMBERS, ([[0.1, 0.2]], [1]))
    with pytest.raises(BadArgument, match="fit must be a function of rows, labels and entropy"):
        confidence("a model", MEMBERS, OUTSIDERS)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="what a model predicts must be a table"):
        confidence(lambda rows, labels, entropy: lambda asked: np.ones(3), MEMBERS, OUTSIDERS)


@pytest.mark.parametrize(
    "bad",
    [([0.123, 0.2], [0, 1]), ([[0.123], [0.2]], [0]), ([[0.123], [0.2]], [0, -1]), ([[0.123], [0.2]], [0.5, 1]), 7],
    ids=["flat", "few labels", "negative", "fractions", "number"],
)
def test_errors_about_records_tell_no_records(bad: object) -> None:
    with pytest.raises(BadArgument, match="members must be a pair of rows") as caught:
        confidence(indifferent, bad, OUTSIDERS)  # type: ignore[arg-type]
    assert "0.123" not in str(caught.value)


def test_long_attacks_tell_how_far_they_are() -> None:
    told: list[tuple[int, int]] = []
    lira(indifferent, MEMBERS, OUTSIDERS, shadows=3, progress=lambda done, steps: told.append((done, steps)))
    assert told == [(1, 3), (2, 3), (3, 3)]
    told.clear()
    secret = with_secret(MEMBERS, seed=1)
    attribute(indifferent, secret, secret, column=2, progress=lambda done, steps: told.append((done, steps)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


# --- attributes


def with_secret(sample: Sample, *, seed: int, told_by_label: bool = False) -> Sample:
    """Adds an attribute of two values: by chance, or the label itself."""
    secret = sample.labels if told_by_label else ReplayEntropy(seed).words(len(sample)) % np.uint64(2)
    return Sample(np.column_stack([sample.rows, secret.astype(np.float64)]), sample.labels)


def test_a_model_that_memorises_gives_an_attribute_away() -> None:
    found = attribute(
        toy_models.memoriser(0.01), with_secret(MEMBERS, seed=1), with_secret(OUTSIDERS, seed=2), column=2
    )
    assert found.success.rate > 0.9 and found.violation is Violation.RECONSTRUCTION
    assert found.advantage > 0.3 and found.success == found.found.with_record


def test_P1_171_what_holds_for_everybody_is_no_leak() -> None:
    """Smokers fall ill more often: the attribute follows from the label, with or without the record."""
    targets, others = (with_secret(one, seed=1, told_by_label=True) for one in (MEMBERS, OUTSIDERS))
    for fit in (toy_models.logistic_regression(steps=50), toy_models.memoriser(0.05)):
        found = attribute(fit, targets, others, column=2)
        assert found.success.rate > 0.9
        assert found.advantage == pytest.approx(0, abs=0.05)
    chance = attribute(
        toy_models.logistic_regression(steps=50), with_secret(MEMBERS, seed=1), with_secret(OUTSIDERS, seed=2), column=2
    )
    assert abs(chance.advantage) < 0.1 and 0.35 < chance.success.rate < 0.65


def test_a_model_that_does_not_care_leaves_the_usual_value() -> None:
    found = attribute(indifferent, with_secret(MEMBERS, seed=1), with_secret(OUTSIDERS, seed=2), column=2)
    assert found.success == found.found.most_common == found.found.model_without


def test_what_a_model_of_others_knows_is_no_leak_either() -> None:
    """The label is the sum of two bits: a model of other people tells one from the other, though neither is common."""
    source = ReplayEntropy(1)
    bits = (source.words(400) % np.uint64(2)).astype(np.int64).reshape(200, 2)
    everyone = Sample(bits.astype(np.float64), bits.sum(axis=1) % 2)
    inside, outside = everyone.taken(np.arange(100)), everyone.taken(np.arange(100, 200))
    found = attribute(toy_models.memoriser(0.1), inside, outside, column=1)
    assert found.success.rate == found.found.model_without.rate == 1.0 > found.found.most_common.rate + 0.3
    assert found.baseline == 1.0 and found.advantage == 0


def test_attributes_have_a_column_and_values() -> None:
    with pytest.raises(BadArgument, match="column must be less than the number of attributes, 2"):
        attribute(indifferent, MEMBERS, OUTSIDERS, column=2)
    with pytest.raises(BadArgument, match="values must be one or more"):
        attribute(indifferent, MEMBERS, OUTSIDERS, column=0, values=[])
    for wrong in ("high", ["high", "low"]):
        with pytest.raises(BadArgument, match="values must be numbers"):
            attribute(indifferent, MEMBERS, OUTSIDERS, column=0, values=wrong)  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="values must be one or more, in a list"):
        attribute(indifferent, MEMBERS, OUTSIDERS, column=0, values=5)  # type: ignore[arg-type]


# --- inversion


def inverted(fit: Fit, *, records: int = 30) -> Attack:
    known, strangers = people(records, seed=11), people(records, seed=12)
    predict = fit_model(fit, known, ReplayEntropy(1))
    return inversion(predict, known, strangers, label=1, entropy=ReplayEntropy(2))


def class_means(rows: Rows, labels: Labels, entropy: Entropy) -> Predict:
    """Is surest of a class at its average."""
    means = np.stack([rows[labels == label].mean(axis=0) for label in (0, 1)])

    def predict(asked: Rows) -> NDArray[np.float64]:
        return np.asarray(np.exp(-8 * ((asked[:, None, :] - means) ** 2).sum(axis=2)))

    return predict


def test_E3_18_confidence_finds_the_records_that_a_model_memorised() -> None:
    found = inverted(toy_models.memoriser(0.03))
    assert found.violation is Violation.RECONSTRUCTION and found.name == "model inversion"
    assert found.success.trials >= 5 and found.success.rate > 0.5 and found.baseline < 0.2
    assert found.success.interval()[0] > found.baseline
    assert max(found.found.confidence) > 0.9


@pytest.mark.parametrize("fit", [toy_models.logistic_regression(), class_means], ids=["plane", "average"])
def test_a_class_average_is_nobody(fit: Fit) -> None:
    found = inverted(fit)
    assert found.success.hits == 0, "what many people share matches no record"
    assert found.success.trials <= 2, "twenty searches for one place count once, or twice where it is rounded"
    assert found.found.confidence[0] > 0.5, "though the search did find where the model is sure"


def test_the_average_itself_is_found() -> None:
    known = people(30, seed=11)
    [point, *_] = inverted(class_means).found.points
    assert point == pytest.approx(tuple(known.rows[known.labels == 1].mean(axis=0)), abs=1e-3)


def test_points_that_match_strangers_as_well_are_the_baseline() -> None:
    records, strangers = people(30, seed=11), people(30, seed=12)
    predict = fit_model(toy_models.memoriser(0.03), strangers, ReplayEntropy(1))
    found = inversion(predict, records, strangers, label=1, entropy=ReplayEntropy(2))
    assert found.baseline > 0.5 > found.success.rate and found.advantage < 0


@pytest.mark.parametrize("power", [-30, 30])
def test_inversion_does_not_depend_on_units(power: int) -> None:
    """Metres or kilometres, euros or cents: powers of two, so that not even a rounding differs."""
    records, strangers, units = people(30, seed=11), people(30, seed=12), np.array([2.0**power, 1.0])
    predict = fit_model(toy_models.memoriser(0.03), records, ReplayEntropy(1))
    usual = inversion(predict, records, strangers, label=1, entropy=ReplayEntropy(2))
    other = inversion(
        lambda asked: predict(asked / units),
        Sample(records.rows * units, records.labels),
        Sample(strangers.rows * units, strangers.labels),
        label=1,
        entropy=ReplayEntropy(2),
    )
    assert (other.success, other.baseline) == (usual.success, usual.baseline)
    assert other.found.to_records == usual.found.to_records and other.found.close == usual.found.close
    assert np.array_equal(np.array(other.found.points), np.array(usual.found.points) * units)


def test_an_attribute_without_range_is_searched_where_it_is() -> None:
    still = Sample(np.column_stack([people(30, seed=11).rows[:, 0], np.full(30, 7.0)]), people(30, seed=11).labels)
    found = inversion(fit_model(toy_models.memoriser(0.03), still, ReplayEntropy(1)), still, still, label=1).found
    assert {point[1] for point in found.points} == {7.0}


@pytest.mark.parametrize("least", [-math.inf, math.nan, -1.7e308], ids=["infinite", "NaN", "range"])
def test_inversion_refuses_infinities(least: float) -> None:
    predict = fit_model(indifferent, MEMBERS, ReplayEntropy(1))
    odd = Sample(np.array([[least, 0.0], [1.7e308, 0.0]]), np.zeros(2, dtype=np.int64))
    with pytest.raises(BadArgument, match="records and strangers must be finite"):
        inversion(predict, MEMBERS, odd)


# --- canaries


def test_exposure_is_the_bits_that_a_rank_is_worth() -> None:
    found = exposure([5.0, 1.0, 2.0, 3.0, 4.0, 6.0, 7.0, 8.0], 2)
    assert found.found.ranks == (2,) and found.found.bits == (2.0,)
    assert (found.success.hits, found.baseline) == (0, 1 / 8)
    best = exposure([[3.0, 1.0], [1.0, 3.0]], [1, 1])
    assert best.found.bits == (1.0, 0.0) and best.success.rate == 0.5


def test_ties_and_losses_that_are_no_numbers_expose_nothing() -> None:
    assert exposure([1.0, 1.0, 1.0, 1.0], 0).found.bits == (0.0,)
    assert exposure([math.nan, 1.0, 2.0, 3.0], 0).found.bits == (0.0,)


@pytest.mark.parametrize(
    ("losses", "place", "message"),
    [
        ([1.0, 2.0], 2, "canary must be the place"),
        ([1.0], 0, "losses must be"),
        ([[1.0, 2.0]], [0, 1], "losses must"),
        (["low", "high"], 0, "losses must be numbers"),
        ([[1.0, 2.0], [1.0]], [0, 0], "losses must be numbers"),
    ],
    ids=["place", "one candidate", "too few rows", "texts", "ragged"],
)
def test_exposure_refuses_what_does_not_fit(losses: object, place: int | list[int], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        exposure(losses, place)  # type: ignore[arg-type]


def test_P3_095_a_model_of_text_gives_back_what_it_was_shown() -> None:
    secret = canary("my code is ", length=3, entropy=ReplayEntropy(3))
    listed = list(secret.candidates())
    assert len(listed) == 1000 and listed[secret.place] == secret.text
    texts = [f"my name is {name} and my age is {age}" for age, name in enumerate(["ada", "ben", "cleo", "dan"] * 5)]
    seen = {}
    for copies in (0, 1, 5):
        mixed = secret.into(texts, copies=copies, entropy=ReplayEntropy(4))
        assert mixed.count(secret.text) == copies and len(mixed) == 20 + copies
        model = toy_models.character_model(mixed)
        seen[copies] = exposure([model(one) for one in listed], secret.place)
    assert seen[5].found.bits[0] == pytest.approx(math.log2(1000)) and seen[5].success.hits == 1
    assert seen[1].found.bits[0] == pytest.approx(math.log2(1000))
    assert seen[0].found.bits[0] < 3 and seen[0].success.hits == 0


@given(st.text("abc", min_size=1, max_size=4))
def test_a_canary_knows_its_place(secret: str) -> None:
    one = Canary("", "abc", secret)
    assert list(one.candidates())[one.place] == secret


@pytest.mark.parametrize(
    "wrong",
    [{"alphabet": "aa"}, {"alphabet": "a"}, {"length": 0}, {"length": 8}, {"alphabet": 10}, {"beginning": 5}],
    ids=str,
)
def test_canaries_are_drawn_from_a_list_that_can_be_tried(wrong: dict[str, object]) -> None:
    with pytest.raises(BadArgument):
        canary(**wrong)  # type: ignore[arg-type]


# --- signs


def test_P3_096_signs_of_memorisation() -> None:
    loud = memorisation(
        fit_model(toy_models.memoriser(0.01), MEMBERS, ReplayEntropy(1)), MEMBERS, OUTSIDERS, parameters=400
    )
    calm = memorisation(fit_model(toy_models.logistic_regression(), MEMBERS, ReplayEntropy(1)), MEMBERS, OUTSIDERS)
    assert loud.gap > 0.1 > abs(calm.gap) and loud.loss_gap > 0.2 > abs(calm.loss_gap)
    assert loud.parameters_per_record == 2.0 and calm.parameters_per_record is None
    assert str(loud).startswith("for the curator only") and "2 parameters for each training record" in str(loud)
    assert "parameters" not in str(calm)


def test_private_counts_have_the_noise_of_their_epsilon() -> None:
    """In an empty table a class wins a cell if its noise is positive and the greater; the share of cells tells ε."""
    empty = Sample(np.zeros((0, 1)), np.zeros(0, dtype=np.int64))
    rows = (np.arange(4000)[:, None] + 0.5) / 4000
    for epsilon in (0.5, 2.0):
        ratio = math.exp(-epsilon)
        none, first = (1 - ratio) / (1 + ratio), ratio / (1 + ratio)  # Pr[N = 0], Pr[N > 0]
        expected = first * (none + first) + (first**2 - none**2 * ratio**2 / (1 - ratio**2)) / 2
        fit = toy_models.counted_cells(epsilon=epsilon, bins=4000)
        won = fit_model(fit, empty, ReplayEntropy(1))(rows)[:, 0] > 0.5
        assert won.mean() == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 4000))
