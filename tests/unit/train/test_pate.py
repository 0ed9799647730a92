"""PATE: one unit reaches one teacher, votes leave with noise only, and questions are paid for before teachers look."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from torch import nn

import sfumato as sf
from sfumato.accounting.compose import total
from sfumato.accounting.plans.account import account
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, ClaimRequired, Exhausted
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.train import PATE, ConfidentGNMax, GNMax, GumbelMax, LNMax, TorchClassifier, recommend_framework
from sfumato.train.pate import aggregators
from sfumato.train.pate.estimators import fresh
from sfumato.train.pate.holder import ORDERS, gaussian_tail, local_renyi, lost_by, other_winner
from sfumato.train.pate.parts import names_of, teacher_of
from sfumato.train.pate.plan import VotingPlan
from sfumato.train.pate.teachers import Teachers

PUBLIC = sf.claim("rows that were made up for this test")


def made_up(rows: int = 60) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    drawn = np.random.default_rng(0)
    labels = drawn.integers(0, 3, size=rows)
    return np.eye(3)[labels] + drawn.normal(scale=0.6, size=(rows, 3)), labels


def ensemble(**changed: Any) -> PATE:
    given: dict[str, Any] = {
        "teachers": 6, "estimator": GaussianNB(), "classes": 3, "noise": GNMax(2), "queries": 20,
        "entropy": ReplayEntropy(1),
    }  # fmt: skip
    return PATE(**given | changed)


# Who is with whom


def test_P3_031_all_rows_of_a_unit_are_with_one_teacher_and_nobody_moves_for_another() -> None:
    people = [number // 3 for number in range(300)]
    names, key = names_of(people, 300), b"k" * 32
    of = teacher_of(names, 7, key)
    assert all(len(set(of[start : start + 3].tolist())) == 1 for start in range(0, 300, 3))
    without = [name for person, name in zip(people, names, strict=True) if person != 50]
    np.testing.assert_array_equal(teacher_of(without, 7, key), np.delete(of, [150, 151, 152]))
    assert set(of.tolist()) == set(range(7)) and (teacher_of(names, 7, b"l" * 32) != of).any()
    counts = np.bincount(teacher_of(names_of(None, 70_000), 7, key))
    assert (abs(counts - 10_000) < 7 * 93).all()  # 7 deviations of a fair draw: less than once in 10⁹ keys


def test_P3_031_names_that_read_alike_are_one_unit() -> None:
    same = names_of([1, 1.0, "1", np.int64(1), b"1"], 5) + names_of(torch.tensor([1]), 1) + names_of(np.array([1.0]), 1)
    assert len(set(same)) == 1
    assert len(set(names_of([None, float("nan"), np.nan], 3))) == 1
    assert len(set(names_of(["a", "b", "a ", "A"], 4))) == 4


def test_A3_033_one_person_less_moves_votes_by_2_in_L1_and_no_more() -> None:
    rows, labels = made_up()
    people, asked = np.arange(60) // 2, np.random.default_rng(1).normal(size=(40, 3))

    def votes(kept: NDArray[np.bool_]) -> NDArray[np.int64]:
        pate = ensemble(estimator=DecisionTreeClassifier())
        pate.fit(rows[kept], labels[kept], people=people[kept])
        assert pate._teachers is not None
        return pate._teachers.votes(asked)

    whole = votes(np.ones(60, dtype=bool))
    assert (whole.sum(axis=1) == 6).all()
    moved = [np.abs(votes(people != person) - whole).sum(axis=1) for person in range(30)]
    assert max(each.max() for each in moved) == 2 and min(each.max() for each in moved) >= 0
    by_map = [(sf.vector([0, 1, 2], size=6) >> sf.count_by(metric=norm)).map(1) for norm in (sf.L1(), sf.L2())]
    assert by_map == [2, sf.exact.root(Fraction(2))]
    event = LNMax(4).event(3, 1)
    assert total(event, sf.Pure) == sf.Pure(Fraction(2, 4))
    assert total(GNMax(4).event(3, 1), sf.ZCDP) == sf.ZCDP(Fraction(1, 16))  # (√2)² / (2 · 4²)


def test_a_unit_that_reaches_several_teachers_costs_as_many_times_as_much() -> None:
    for noise in (LNMax(8), GumbelMax(8)):
        assert total(noise.event(5, 3), sf.Pure) == total(noise.event(5, 1), sf.Pure).times(3)
    assert total(GNMax(8).event(5, 3), sf.ZCDP) == total(GNMax(8).event(5, 1), sf.ZCDP).times(9)
    confident = ConfidentGNMax(10, sigma_check=8, sigma=8)
    assert total(confident.check_event(3), sf.ZCDP) == total(confident.check_event(1), sf.ZCDP).times(9)


# Teachers


class Careless:
    """A program that fails, or says what is no class."""

    def __init__(self, says: Any) -> None:
        self.says = says

    def fit(self, X: Any, y: Any) -> None:  # noqa: N803  # scikit-learn's name
        if self.says == "no training":
            raise RuntimeError(f"private: {X}")

    def predict(self, X: Any) -> Any:  # noqa: N803  # scikit-learn's name
        if self.says == "no answer":
            raise RuntimeError(f"private: {X}")
        return [self.says] * len(X)


@pytest.mark.parametrize("says", ["no training", "no answer", "a word", 99, -5, float("nan"), [1, 2]])
def test_every_teacher_has_one_vote_whatever_happens(says: Any) -> None:
    teachers, rows = Teachers(3), np.ones((9, 2))
    of = np.array([0, 0, 0, 1, 1, 3, 3, 3, 3])
    labels = np.array([0, 1, 2, 2, 2, 0, 1, 0, 1])  # teacher 1 has one class, teacher 2 nobody
    teachers.train(Careless(says), rows, labels, of, 4, ReplayEntropy(1), lambda done, steps: None)
    votes = teachers.votes(rows[:5])
    assert votes.shape == (5, 3) and (votes.sum(axis=1) == 4).all() and (votes[:, 2] >= 2).all()
    assert repr(teachers) == "Teachers(4)"


def test_models_start_without_what_they_learnt_and_with_seeds_of_their_own() -> None:
    rows, labels = made_up()
    nested = make_pipeline(StandardScaler(), DecisionTreeClassifier()).fit(rows, labels)
    entropy = ReplayEntropy(1)
    one: Any = fresh(nested, entropy)
    other: Any = fresh(nested, entropy)
    assert not hasattr(one[1], "tree_") and not hasattr(one[0], "mean_") and one[1] is not nested[1]
    assert one[1].random_state is not None and one[1].random_state != other[1].random_state
    assert fresh(DecisionTreeClassifier(random_state=3), entropy).random_state == 3  # type: ignore[attr-defined]
    assert nested[1].random_state is None
    network = nn.Linear(3, 3)
    before = network.weight.clone()
    fresh(network, entropy).fit(rows, labels)
    assert torch.equal(network.weight, before)
    state = torch.random.get_rng_state()
    learnt: Any = fresh(TorchClassifier(network), entropy)
    learnt.fit(rows, labels)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert (learnt.predict(rows) == labels).mean() > 0.6


# Noise on votes: the law of what the code does, by every noise it may draw


class Listed:
    """Noise that gives back numbers that were chosen for it."""

    def __init__(self, numbers: NDArray[np.int64]) -> None:
        self.numbers = numbers

    def samples(self, count: int, entropy: object) -> NDArray[np.int64]:
        assert count == self.numbers.size
        return self.numbers.ravel()


def law_of_winners(votes: tuple[int, ...], noise: Any, reach: int, winners: Callable[..., Any]) -> NDArray[np.float64]:
    """The chance of each class, by all noise up to a reach: in a box, the mass outside of which is next to none."""
    one = np.arange(-reach, reach + 1)
    drawn = np.stack(np.meshgrid(*[one] * len(votes), indexing="ij"), axis=-1).reshape(-1, len(votes))
    masses = np.array([float(noise.pmf(int(z))) for z in one])
    chances = np.prod(masses[drawn + reach], axis=1)
    won = winners(np.tile(np.array(votes), (len(drawn), 1)), Listed(drawn), None)
    return np.bincount(won, weights=chances, minlength=len(votes)) / chances.sum()


def neighbours(votes: tuple[int, ...]) -> list[tuple[int, ...]]:
    """All counts after one teacher has changed its mind."""
    moved = []
    for a, b in product(range(len(votes)), repeat=2):
        if a != b and votes[a]:
            moved.append(tuple(count - (j == a) + (j == b) for j, count in enumerate(votes)))
    return moved


def renyi(p: NDArray[np.float64], q: NDArray[np.float64], order: float) -> float:
    """In logarithms: an outcome that one side lacks makes it infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(p > 0, order * np.log(p) + (1 - order) * np.log(q), -np.inf)
    return float(np.logaddexp.reduce(terms) / (order - 1))


COUNTS = [votes for votes in product(range(5), repeat=3) if sum(votes) == 4]


@pytest.mark.parametrize("kind", ["laplace", "gaussian", "gumbel"])
def test_every_neighbour_of_every_vote_keeps_the_loss(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregators, "FINE", 1)
    noise = {"laplace": LNMax(1), "gaussian": GNMax("1.5"), "gumbel": GumbelMax(2)}[kind]
    laws: dict[tuple[int, ...], NDArray[np.float64]] = {}
    for votes in COUNTS:
        if isinstance(noise, GumbelMax):
            weights = np.exp(np.array(votes) / float(noise.scale))
            laws[votes] = weights / weights.sum()
        else:
            drawn = DiscreteLaplace(1) if kind == "laplace" else DiscreteGaussian(Fraction("1.5"))  # type: ignore[arg-type]
            laws[votes] = law_of_winners(votes, drawn, 12, aggregators.noisy_winners)
    event = noise.event(3, 1)
    worst = 0.0
    for votes in COUNTS:
        for other in neighbours(votes):
            p, q = laws[votes], laws[other]
            if kind == "gaussian":
                for order in (1.5, 2, 8):
                    assert renyi(p, q, order) <= order * float(total(event, sf.ZCDP).rho) + 1e-9
            with np.errstate(divide="ignore", invalid="ignore"):
                worst = max(worst, float(np.nanmax(np.log(p) - np.log(q))))
    if kind != "gaussian":
        stated = float(total(event, sf.Pure).epsilon)
        assert 0.7 * stated < worst <= stated + 1e-4  # of Laplace noise, 1e-5 of the mass is outside of the box


def test_the_exponential_choice_has_the_law_that_it_is_paid_for() -> None:
    votes = np.tile(np.array([[3, 1, 0]]), (1000, 1))
    chosen = np.bincount(GumbelMax(2).choose(votes, ReplayEntropy(1)), minlength=3) / 1000
    weights = np.exp(np.array([1.5, 0.5, 0]))
    assert np.abs(chosen - weights / weights.sum()).max() < 0.05


def test_noisy_counts_cost_exactly_what_the_event_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pair of two counts that move by 1 each: its δ at the stated ε is the stated one, and no ε below has it."""
    monkeypatch.setattr(aggregators, "FINE", 1)
    z = np.arange(-60, 61)
    masses = np.array([float(DiscreteLaplace(2).pmf(int(each))) for each in z])  # type: ignore[arg-type]
    p = np.outer(masses, masses)
    q = np.outer(np.roll(masses, 1), np.roll(masses, -1))
    report = account(LNMax(2).event(10, 1), delta=0.01)
    stated = float(report.epsilon.upper)
    assert np.maximum(p - np.exp(stated) * q, 0).sum() <= 0.01 + 1e-9
    assert np.maximum(p - np.exp(stated - 1e-3) * q, 0).sum() > 0.01
    square = np.array([float(DiscreteGaussian(2).pmf(int(each))) for each in z[30:-30]])  # type: ignore[arg-type]
    both = np.outer(square, square)
    moved = np.outer(np.roll(square, 1), np.roll(square, -1))
    assert renyi(both.ravel(), moved.ravel(), 2) == pytest.approx(2 * float(total(GNMax(2).event(10, 1), sf.ZCDP).rho))


def test_A3_034_seven_of_ten_teachers_win_as_often_as_the_text_says() -> None:
    step = 2 * aggregators.FINE
    decay = np.exp(-1 / step)
    gap = 4 * aggregators.FINE
    i = np.arange(
        gap + 1, 60 * step
    )  # class 0 wins ties: it loses if the noise of the other is more than 4 votes ahead
    chances = ((1 - decay) / (1 + decay)) ** 2 * decay**i * (i + (1 + decay**2) / (1 - decay**2))
    assert 1 - chances.sum() == pytest.approx(1 - np.exp(-2), abs=5e-5)
    votes = np.tile(np.array([[7, 3]]), (40_000, 1))
    assert (LNMax(2).choose(votes, ReplayEntropy(5)) == 0).mean() == pytest.approx(0.8647, abs=0.01)
    assert total(LNMax(2).event(2, 1), sf.Pure) == sf.Pure(1)


def test_ties_favour_nobody() -> None:
    chosen = GNMax(3).choose(np.full((20_000, 2), 5), ReplayEntropy(2))
    assert abs(chosen.mean() - 0.5) < 0.02


# The threshold


def test_every_neighbour_of_every_vote_keeps_the_loss_of_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    noise = ConfidentGNMax(3, sigma_check="1.5", sigma=2)
    z = np.arange(-14, 15)
    law = np.array([float(DiscreteGaussian(Fraction("1.5")).pmf(int(each))) for each in z])
    monkeypatch.setattr(aggregators, "DiscreteGaussian", lambda scale: Listed(z))

    def passing(votes: tuple[int, ...]) -> NDArray[np.float64]:
        passed = float(law[noise.passes(np.tile(np.array(votes), (len(z), 1)), None)].sum())  # type: ignore[arg-type]
        return np.array([passed, 1 - passed])

    rho, worst = float(Fraction(2, 9)), 0.0
    for votes in COUNTS:
        for other in neighbours(votes):
            for order in (1.5, 2, 6):
                worst = max(worst, renyi(passing(votes), passing(other), order) / order)
    monkeypatch.undo()
    assert total(noise.check_event(1), sf.ZCDP) == sf.ZCDP(Fraction(2, 9))
    assert 0.4 * rho < worst <= rho + 1e-9


def test_a_plan_charges_every_check_passed_or_not_and_every_label() -> None:
    noise = ConfidentGNMax(5, sigma_check=10, sigma=4)
    plan = VotingPlan(noise, queries=100, answers=30, classes=3)
    assert plan.loss == sf.ZCDP(100 * Fraction(1, 200) + 30 * Fraction(1, 16)) and plan.steps == 130
    assert total(plan.event(100, 0), sf.ZCDP) == sf.ZCDP(Fraction(1, 2))
    never = ConfidentGNMax(1_000, sigma_check=2, sigma=4)
    pate = ensemble(noise=never, queries=20, answers=5).fit(*made_up())
    votes = pate.vote(made_up()[0][:20])
    assert not votes.answered.any() and set(votes.labels.tolist()) == {None}
    assert (pate.asked, pate.answered, pate.left) == (20, 0, 0)
    assert pate.spent(1e-5).epsilon == account(sf.events.Repeat(never.check_event(1), 20), delta=1e-5).epsilon


def test_labels_stop_where_the_plan_does_though_more_would_pass() -> None:
    always = ConfidentGNMax(1, sigma_check="0.5", sigma=1)
    pate = ensemble(noise=always, queries=20, answers=4, classes=3).fit(*made_up())
    votes = pate.vote(made_up()[0][:10])
    assert votes.answered.tolist() == [True] * 4 + [False] * 6 and pate.labels_left == 0
    with pytest.raises(Exhausted, match="0 labels"):
        pate.vote(made_up()[0][10:12])
    assert pate.predict(made_up()[0][:10]).tolist() == votes.labels.tolist()  # what was answered stays answered


def test_guesses_of_a_student_are_taken_off_before_the_check() -> None:
    rows, labels = made_up()
    rows = rows + 9 * np.eye(3)[labels]  # so that all teachers agree
    noise = ConfidentGNMax(4, sigma_check="0.1", sigma="0.1")
    sure = ensemble(noise=noise, queries=20, answers=20).fit(rows, labels)
    right = np.eye(3)[sure.vote(rows[:5]).labels.astype(int)]
    again = ensemble(noise=noise, queries=20, answers=20).fit(rows, labels)
    assert not again.vote(rows[:5], expected=right).answered.any()  # nothing that the student does not know already
    assert again.vote(rows[5:10], expected=np.zeros((5, 3))).answered.all()
    with pytest.raises(BadArgument, match="did not depend on answers"):
        again.for_holder(1e-5)
    for wrong in (np.zeros((2, 3)), np.full((5, 3), 2.0), np.full((5, 3), np.nan)):
        with pytest.raises(BadArgument, match="probabilities of each class"):
            again.vote(rows[10:15], expected=wrong)
    with pytest.raises(BadArgument, match="only confident noise"):
        ensemble().fit(rows, labels).vote(rows[:1], expected=right[:1])


# The service


def test_P3_033_answers_until_the_loss_is_used_up_and_the_same_question_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, labels = made_up()
    pate = ensemble(noise=GNMax(1), queries=8).fit(rows, labels)
    first = pate.predict(rows[:6])
    assert pate.left == 2
    np.testing.assert_array_equal(pate.predict(rows[[3, 1, 3]]), first[[3, 1, 3]])
    assert pate.left == 2 and pate.vote(np.repeat(rows[6:7], 5, axis=0)).asked == 1 and pate.left == 1

    def looked(self: object, rows: object) -> None:
        raise AssertionError("teachers must not be asked")

    monkeypatch.setattr(Teachers, "votes", looked)
    with pytest.raises(Exhausted, match="2 new questions were asked, and 1 are left"):
        pate.predict(rows[20:22])
    np.testing.assert_array_equal(pate.predict(rows[:6]), first)
    assert pate.release().value == {"questions": 7, "labels": 7, "teachers": 6}
    with pytest.raises(Exhausted):
        pate.predict(rows[30:31])


def test_loss_noise_and_questions_each_follow_from_the_other_two() -> None:
    limit = sf.Approx(3, 1e-5)
    found = ensemble(noise=None, loss=limit, queries=50).plan
    assert isinstance(found.aggregator, GNMax) and found.keeps(limit)
    assert not VotingPlan(GNMax(found.aggregator.sigma * Fraction(999, 1000)), 50, 50, 3).keeps(limit)
    many = ensemble(noise=GNMax(10), loss=limit, queries=None).plan
    assert many.keeps(limit) and not VotingPlan(GNMax(10), many.queries + 1, many.queries + 1, 3).keeps(limit)
    assert isinstance(ensemble(noise=None, loss=None, epsilon=2, queries=10).plan.aggregator, GumbelMax)
    assert ensemble(noise=None, epsilon=2, queries=10).plan.loss == sf.Pure(2)
    assert ensemble(noise=None, loss=sf.Approx(2, 0), queries=10).plan.loss == sf.Pure(2)
    assert "at most 2 teachers, as was said" in str(ensemble(max_teachers=2))
    confident = ConfidentGNMax(4, sigma_check=20, sigma=5)
    some = ensemble(noise=confident, loss=sf.ZCDP("0.5"), queries=100).plan
    assert some.answers == 9 and some.loss == sf.ZCDP(100 * Fraction(1, 800) + Fraction(9, 25))
    assert ensemble(noise=confident, loss=sf.ZCDP(100), queries=10).plan.answers == 10


def test_A3_035_a_thousand_labels_at_a_tenth_cost_a_hundred_and_the_student_nothing() -> None:
    rows, labels = made_up()
    pate = ensemble(noise=LNMax(20), queries=1000, teachers=20).fit(rows, labels)
    assert pate.plan.loss == sf.Pure(100)
    inputs = np.random.default_rng(3).normal(size=(1000, 3))
    student = pate.student(GaussianNB(), inputs, labels=1000, public=PUBLIC)
    assert student.votes.asked == 1000 and student.loss == sf.Pure(100) and pate.left == 0
    for _ in range(3):
        student.predict(inputs)
    release = pate.release()
    assert release.loss == sf.Pure(100) and not release.charged and PUBLIC in release.how.claims
    assert release.value["labels"] == 1000 and "nothing" in str(student) and "1,000 labels" in str(student)


def session_of(limit: sf.Loss) -> Any:
    data = sf.Dataset({"person": list(range(60)), "x": [0.0] * 60}, unit="person", between={"x": (0, 1)})
    return data.session(limit=limit, ledger="memory:")


def test_a_session_is_charged_before_teachers_look_and_counts_questions_and_labels() -> None:
    rows, labels = made_up()
    session = session_of(sf.ZCDP(3))
    noise = ConfidentGNMax(2, sigma_check=4, sigma=4)
    asked: dict[str, Any] = {"noise": noise, "queries": 20, "answers": 10, "entropy": None}

    class Watched(GaussianNB):
        def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]  # noqa: N803
            if len(X) < 60:  # no rehearsal
                assert session.spent == sf.ZCDP(20 * Fraction(1, 32) + 10 * Fraction(1, 16))
            return super().fit(X, y)

    pate = ensemble(estimator=Watched(), **asked).fit(rows, labels, people=np.arange(60), session=session, key="vote")
    assert pate._teachers is not None and pate.left == 20
    pate.vote(rows[:4])
    counted = pate._run.taken  # type: ignore[union-attr]
    assert counted == 4 + pate.answered
    again = ensemble(**asked).fit(rows, labels, session=session, key="vote")
    assert again.asked == again.answered == counted  # which of them were labels is not known any more
    assert session.spent == sf.ZCDP(Fraction(5, 4))
    release = again.release()
    assert release.charged and release.loss == sf.ZCDP(Fraction(5, 4))
    with pytest.raises(BadArgument, match="key"):
        ensemble().fit(rows, labels, session=session)
    with pytest.raises(sf.errors.LimitReached):
        ensemble(noise=GNMax("0.5"), entropy=None).fit(rows, labels, session=session, key="too dear")
    with pytest.raises(BadArgument, match="whoever can replay it"):
        ensemble().fit(rows, labels, session=session, key="replayed")


# For the holder's eyes


@pytest.mark.parametrize("noise", [GNMax(1), ConfidentGNMax(6, sigma_check="1.5", sigma=1)], ids=["plain", "confident"])
def test_what_a_data_set_lost_is_no_less_than_it_did_by_every_neighbour(noise: GNMax | ConfidentGNMax) -> None:
    sigma = 1.0
    counts = [votes for votes in product(range(8), repeat=2) if sum(votes) == 7]
    laws = {}
    for votes in counts:
        drawn = DiscreteGaussian(1)  # type: ignore[arg-type]
        law = law_of_winners(votes, drawn, 14, lambda v, z, e: (v + z.numbers.reshape(v.shape)).argmax(axis=1))
        if isinstance(noise, ConfidentGNMax):
            passed = float(DiscreteGaussian(noise.sigma_check).upper_tail(noise.threshold - max(votes)))
            law = np.array([*(passed * law), 1 - passed])
        else:
            assert np.log(law.min()) <= other_winner(np.array([votes]), sigma)[0] + 1e-12
        laws[votes] = law
    stated = lost_by(noise, np.array(counts), np.array(counts))
    for place, votes in enumerate(counts):
        for other in neighbours(votes):
            for at, order in enumerate(ORDERS[:16]):
                real = max(renyi(laws[votes], laws[other], order), renyi(laws[other], laws[votes], order))
                assert real <= stated[place, at] + 1e-9
    most = 1 + (2 / 9 if isinstance(noise, ConfidentGNMax) else 0)
    assert (stated <= ORDERS * most + 1e-9).all()
    far = local_renyi(other_winner(np.array([[40, 0, 0]]), 2.0), 1 / 4)
    assert far[0, 3] < 1e-6 * ORDERS[3] / 4  # where teachers agree, next to nothing is lost


def test_the_chance_of_a_check_is_bounded_on_both_sides() -> None:
    noise = DiscreteGaussian(Fraction("2.5"))
    for away in range(-3, 15):
        assert np.log(float(noise.upper_tail(away))) <= gaussian_tail(np.array([away]), 2.5)[0] + 1e-12


def test_what_depends_on_data_is_marked_and_never_the_loss_of_a_release() -> None:
    rows = np.eye(3)[np.arange(600) % 3] * 9.0
    pate = ensemble(teachers=60, noise=GNMax(4), queries=10).fit(rows, np.arange(600) % 3)
    pate.vote(rows[:3] + np.arange(3)[:, None] * 1e-3)
    own = pate.for_holder(1e-5)
    assert own.epsilon < own.planned / 6 and "itself private" in str(own) and "itself private" in repr(own)
    assert own.planned == pytest.approx(float(pate.plan.account(delta=1e-5).epsilon.upper))
    assert pate.release().loss == pate.plan.loss == sf.ZCDP(Fraction(10, 16))
    assert str(own.epsilon)[:6] not in str(pate.release()) + str(pate)
    confident = ensemble(teachers=60, noise=ConfidentGNMax(40, sigma_check=4, sigma=4), queries=10, answers=10)
    confident.fit(rows, np.arange(600) % 3).vote(rows[:3] + np.arange(3)[:, None] * 1e-3)
    assert confident.for_holder(1e-5).epsilon < confident.for_holder(1e-5).planned / 4
    for noise in (LNMax(4), GumbelMax(4)):
        with pytest.raises(BadArgument, match="Gaussian noise"):
            other = ensemble(noise=noise).fit(*made_up())
            other.vote(made_up()[0][:2])
            other.for_holder(1e-5)


# Real data


def test_digits_by_students_of_both_kinds() -> None:
    rows, labels = load_digits(return_X_y=True)
    rows = rows / 16
    pate = ensemble(
        teachers=40, estimator=KNeighborsClassifier(3), classes=10, noise=None, loss=sf.Approx(8, 1e-5), queries=300
    ).fit(rows[:1300], labels[:1300])
    student = pate.student(KNeighborsClassifier(9), rows[1300:1600], public=PUBLIC)
    assert (student.predict(rows[1600:]) == labels[1600:]).mean() > 0.6
    torch.manual_seed(0)
    again = pate.student(
        TorchClassifier(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10)), epochs=20),
        rows[1300:1600], labels=300, public=PUBLIC,
    )  # fmt: skip
    assert again.votes.asked == 0 and pate.left == 0  # the same rows are labelled already
    assert (again.predict(rows[1600:]) == labels[1600:]).mean() > 0.5


def test_breast_cancer_by_teachers_of_torch_with_names_for_classes() -> None:
    rows, labels = load_breast_cancer(return_X_y=True)
    rows = (rows - rows[:50].mean(axis=0)) / rows[:50].std(axis=0)
    named = np.array(["malignant", "benign"])[labels]
    pate = ensemble(
        teachers=15, estimator=TorchClassifier(nn.Linear(30, 2), epochs=15), classes=["malignant", "benign"],
        noise=GNMax(2), queries=100,
    ).fit(torch.from_numpy(rows[:450]), named[:450])  # fmt: skip
    said = pate.predict(rows[450:550])
    assert said.dtype.kind == "U" and (said == named[450:550]).mean() > 0.85
    student = pate.student(LogisticRegression(), rows[450:550], public=PUBLIC)
    assert set(student.predict(rows[550:])) <= {"malignant", "benign"}
    network = pate.student(nn.Linear(30, 2), rows[450:550], labels=100, public=PUBLIC)
    assert set(network.predict(rows[550:])) <= {"malignant", "benign"}


def test_data_frames_and_texts_are_rows_too() -> None:
    pandas = pytest.importorskip("pandas")
    rows, labels = made_up()
    frame = pandas.DataFrame(rows, columns=["a", "b", "c"])
    pate = ensemble().fit(frame, pandas.Series(labels), people=pandas.Series(np.arange(60)))
    assert len(pate.predict(frame[:4])) == 4 and pate.left == 16
    pate.predict(frame[2:6])
    assert pate.left == 14
    texts = ensemble(estimator=Careless(1)).fit(np.array(["a", "b", "c"] * 20), labels)
    assert len(texts.predict(["x", "yy"])) == 2 and texts.left == 18


# What is refused, and what is never shown


def test_teachers_never_leave() -> None:
    pate = ensemble().fit(*made_up())
    for leave in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(BadArgument, match="carry the teachers away"):
            leave(pate)
    public = {name: value for name, value in vars(pate).items() if not name.startswith("_")}
    assert set(public) == {"teachers", "classes", "plan", "asked", "answered"} and public["teachers"] == 6
    assert "GaussianNB" in str(pate) and repr(pate) == "PATE(6 teachers, GaussianNB)"


ROWS, LABELS = made_up()
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "labels out of range": ({}, {"y": LABELS + 1}, "labels out of classes=.*got 'another label'"),
    "labels that are no numbers": ({}, {"y": np.where(LABELS > 1, np.nan, LABELS)}, "labels out of classes="),
    "labels of another number": ({}, {"y": LABELS[:5]}, "one label for each row"),
    "people of another number": ({}, {"people": [1, 2]}, "one id for each row"),
    "more teachers than rows": ({"teachers": 61}, {}, "at most as many as there are units"),
    "more teachers than people": ({"teachers": 3}, {"people": [1, 2] * 30}, "at most as many as there are units"),
    "one teacher": ({"teachers": 1}, {}, "teachers"),
    "a class in place of a model": ({"estimator": GaussianNB}, {}, r"GaussianNB\(\)"),
    "a model that cannot learn": ({"estimator": object()}, {}, "fit"),
    "an estimator that never works": ({"estimator": GaussianNB(priors=[2, 2])}, {}, "ValueError, on made-up rows"),
    "labels of another shape": ({"estimator": Careless([1, 2])}, {}, "another shape"),
    "one class": ({"classes": ["a"]}, {}, "two labels at least"),
    "classes from nowhere": ({"classes": None}, {}, "never read off y"),
    "neither noise nor loss": ({"noise": None, "queries": 5}, {}, "loss and queries"),
    "noise without questions": ({"queries": None}, {}, "queries"),
    "a loss that does not do": ({"loss": sf.Approx(1, 1e-9), "noise": GNMax(1)}, {}, "at least what the noise"),
    "no number for confident noise": ({"noise": ConfidentGNMax}, {}, "with its numbers"),
    "confident noise without labels": ({"noise": ConfidentGNMax(3, sigma_check=1, sigma=1)}, {}, "answers"),
    "checks that cost all": (
        {"noise": ConfidentGNMax(3, sigma_check=1, sigma=1), "loss": sf.ZCDP(1)}, {}, "checks cost without a single",
    ),
    "labels where all questions have one": ({"answers": 3}, {}, "every question gets a label"),
    "a noise of another kind": ({"noise": "gaussian"}, {}, "a way to choose"),
    "no scale": ({"noise": GNMax}, {}, "loss and queries"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_is_refused_unpaid(name: str) -> None:
    made, fitted, word = REFUSED[name]
    session = session_of(sf.ZCDP(100))
    with pytest.raises(BadArgument, match=word):
        ensemble(**made).fit(**{"X": ROWS, "y": LABELS, "session": session, "key": "k"} | fitted)
    assert session.spent == sf.ZCDP(0)


def test_questions_that_cannot_be_asked_are_refused_unpaid() -> None:
    pate = ensemble()
    with pytest.raises(BadArgument, match="trained first"):
        pate.predict(ROWS[:1])
    pate.fit(ROWS, LABELS)
    for wrong in (ROWS[:2, :2], np.full((1, 3), np.nan), np.full((1, 3), np.inf), 3.0):
        with pytest.raises(BadArgument):
            pate.predict(wrong)
    with pytest.raises(ClaimRequired, match="public"):
        pate.student(GaussianNB(), ROWS)
    with pytest.raises(BadArgument, match="public rows"):
        pate.student(GaussianNB(), ROWS[:5], labels=6, public=PUBLIC)
    with pytest.raises(BadArgument, match="public rows"):
        pate.student(GaussianNB(), ROWS[:0], public=PUBLIC)
    with pytest.raises(BadArgument, match="twice"):
        pate.fit(ROWS, LABELS)
    with pytest.raises(BadArgument, match="before it, nothing is"):
        pate.spent(1e-5)
    assert pate.left == 20 and pate.predict(ROWS[:0]).shape == (0,)


def test_rows_without_numbers_spoil_one_teacher_and_nothing_else() -> None:
    spoilt = ROWS.copy()
    spoilt[7] = np.nan
    pate = ensemble(noise=GNMax("0.1")).fit(spoilt, LABELS)
    assert len(pate.predict(ROWS[:5])) == 5


# Advice


def test_A3_036_a_model_that_is_trained_anew_every_half_year() -> None:
    year = {"loss": sf.Approx(1, 1e-6), "retrains_a_year": 2, "years": 5}
    default: Any = recommend_framework(**year)  # type: ignore[arg-type]
    assert default.choice == "DP-SGD" and default.trainings == 11 and default.total == sf.Approx(11, "11e-6")
    assert "no public data are needed" in str(default) and "11 times" in str(default)
    taught: Any = recommend_framework(black_box=True, public_data=True, **year)  # type: ignore[arg-type]
    assert taught.choice == "PATE with a student" and taught.total == default.total
    bare: Any = recommend_framework(black_box=True, **year)  # type: ignore[arg-type]
    assert bare.choice == "neither" and "too many to pay for one by one" in str(bare)
    few = recommend_framework(loss=sf.Pure(1), black_box=True, predictions=200)
    assert few.choice.startswith("PATE that answers") and few.trainings == 1 and few.total == sf.Pure(1)
    assert recommend_framework(loss=sf.Pure(1), black_box=True, classification=False).choice == "neither"
    assert "also allow PATE" in str(recommend_framework(loss=sf.Pure(1), public_data=True))
    with pytest.raises(BadArgument, match="what one training may cost"):
        recommend_framework(loss=1)  # type: ignore[arg-type]
