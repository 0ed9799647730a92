"""Attacks on answers to questions: differencing, averaging, reconstruction, tracing; and that they stop."""

from __future__ import annotations

import sys
from fractions import Fraction
from math import isnan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sfumato as sf
from sfumato import attacks
from sfumato.attacks import Oracle, oracles
from sfumato.attacks.guessing import best_guess_rate
from sfumato.attacks.oracles import CELLS, with_laplace
from sfumato.attacks.protections import noised, offset, refusing, rounded, thresholded
from sfumato.datasets import CLASSROOM
from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, LimitReached, MissingExtra
from sfumato.noise.discrete_laplace import DiscreteLaplace

BITS = [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1, 0]
SALARIES = [41_000, 52_500, 38_200, 77_000, 61_300, 45_900, 58_800, 49_100]


def holders(count: int = 20, *, of: int = 20) -> np.ndarray:
    return np.arange(of) < count


# Differencing


def test_A1_159_and_A3_050_two_means_give_the_departed_score() -> None:
    assert attacks.value_from_means((85, 10), (87, 9)) == 67


def test_A1_160_a_lower_mean_means_a_good_score() -> None:
    assert attacks.value_from_means((85, 10), (84, 9)) == 94


def test_A1_161_the_class_has_those_means() -> None:
    scores = CLASSROOM.scores
    assert scores == (85, 84, 85, 89, 92, 95, 100, 83, 70, 67)
    assert (Fraction(sum(scores), 10), Fraction(sum(scores[:-1]), 9)) == (85, 87)


def test_A1_162_a_hire_shows_the_new_salary() -> None:
    assert attacks.value_from_means((500_000, 25), (505_000, 26)) == 630_000


def test_private_means_never_give_the_score_exactly() -> None:
    scores = [float(score) for score in CLASSROOM.scores]
    first = sf.vector(float, size=10) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=10)
    second = sf.vector(float, size=9) >> sf.clamp(0, 100) >> sf.mean() >> sf.laplace(scale=Fraction(100, 9))
    entropy = ReplayEntropy(1)
    guesses = [
        attacks.value_from_means(
            (first(scores, entropy=entropy).value, 10), (second(scores[:-1], entropy=entropy).value, 9)
        )
        for _ in range(300)
    ]
    assert 67 not in guesses
    assert sum(abs(guess - 67) <= 5 for guess in guesses) < 30  # a blind guess comes as close one time in ten


def test_A3_051_the_scale_tells_a_weight() -> None:
    found = attacks.differencing_over_time([2_210], [2_336], changed=[126])
    assert found.found.estimates.tolist() == [126]
    assert found.success.rate == 1
    assert attacks.differencing_over_time([2_210], [2_336], changed=[226]).success.rate == 0  # Kevin's sum is wrong


def test_the_larger_group_less_the_smaller() -> None:
    curator = Oracle.exact(SALARIES)
    smaller = np.array([True, False, True, False, False, False, False, False])
    larger = smaller.copy()
    larger[3] = True
    assert attacks.difference(curator, smaller, larger) == 77_000  # not its negative
    for wrong in (smaller, ~smaller, np.ones(8, dtype=bool), np.ones(3, dtype=bool)):
        with pytest.raises(BadArgument, match="the smaller group and one person besides"):
            attacks.difference(curator, smaller, wrong)
    with pytest.raises(BadArgument, match="one person besides"):
        attacks.difference(curator, larger, smaller)  # the operands swapped


@pytest.mark.parametrize("arguments", [{}, {"pairs": 5}, {"total": sum(SALARIES)}], ids=["pair", "pairs", "total"])
def test_differencing_finds_every_exact_value(arguments: dict[str, int]) -> None:
    found = attacks.differencing(Oracle.exact(SALARIES), entropy=ReplayEntropy(1), **arguments)
    assert (found.success.hits, found.success.trials, found.baseline) == (8, 8, 1 / 8)


@pytest.mark.parametrize("arguments", [{}, {"pairs": 5}, {"total": sum(SALARIES)}], ids=["pair", "pairs", "total"])
def test_differencing_finds_no_private_value(arguments: dict[str, int]) -> None:
    asked = 8 if "total" in arguments else 16 * arguments.get("pairs", 1)
    curator = Oracle.private(SALARIES, epsilon=1, questions=asked, between=(0, 100_000), entropy=ReplayEntropy(asked))
    found = attacks.differencing(curator, entropy=ReplayEntropy(1), **arguments)
    assert found.success.hits == 0
    assert found.epsilon == 1


@pytest.mark.parametrize(
    ("protection", "rate"),
    [(offset(7), 1.0), (refusing(5), 1.0), (noised(100, entropy=ReplayEntropy(2)), 0.0)],
    ids=["offset", "refusing", "noise"],
)
def test_tricks_against_differencing(protection: object, rate: float) -> None:
    people = [*SALARIES] * 5
    curator = Oracle.protected(people, protection, against="a trick")  # type: ignore[arg-type]
    found = attacks.differencing(curator, entropy=ReplayEntropy(1))
    assert found.success.rate == rate


def test_many_pairs_beat_rounding_and_noise_that_is_not_counted() -> None:
    bits = BITS * 3
    for protection in (rounded(5), noised(2, entropy=ReplayEntropy(3))):
        curator = Oracle.protected(bits, protection, against="a trick")
        few = attacks.differencing(curator, entropy=ReplayEntropy(4))
        many = attacks.differencing(curator, pairs=400, entropy=ReplayEntropy(4))
        assert few.success.rate < 0.85 < 0.95 < many.success.rate


def test_refusals_are_no_answers() -> None:
    curator = Oracle.protected(BITS, refusing(1_000), against="refusal")
    found = attacks.differencing(curator, entropy=ReplayEntropy(1))
    assert found.success.hits == 0
    assert np.isnan(found.found.estimates).all()


def test_A3_055_a_difference_of_laplace_counts_has_eight_times_the_variance() -> None:
    found = attacks.difference_variance(sf.Pure(1))
    assert found.single == pytest.approx(2, rel=1e-9)
    assert found.difference == pytest.approx(16, rel=1e-9)
    assert found.ratio == pytest.approx(8, rel=1e-9)  # the text says 4


def test_A3_056_a_difference_of_gaussian_counts_has_four_times_the_variance() -> None:
    for rho in ("0.5", "0.01"):
        assert attacks.difference_variance(sf.ZCDP(rho)).ratio == pytest.approx(4, rel=1e-9)
    with pytest.raises(BadArgument, match="Pure or ZCDP"):
        attacks.difference_variance(sf.Approx(1, "1e-6"))  # type: ignore[arg-type]


def test_A3_067_b_c_d_noise_covers_one_person_and_grows_with_the_questions() -> None:
    single = attacks.difference_variance(sf.Pure(1))
    assert sqrt(single.single) >= 1  # b: a count of one person is 0 or 1
    assert single.difference > single.single  # c
    widths = []
    for questions in (1, 10, 100):  # d: the same ε for all of them
        curator = Oracle.private(BITS, epsilon=1, questions=questions, entropy=ReplayEntropy(questions))
        widths.append(np.abs(curator.ask_all(np.zeros((questions, 20), dtype=bool))).mean())
    assert widths[0] < widths[1] < widths[2]
    assert 70 < widths[2] < 130  # scale 100


def test_groups_of_one_mind_give_themselves_away() -> None:
    groups = np.array([np.array(BITS) == 1, np.array(BITS) == 0, np.ones(20, dtype=bool)])
    exact = attacks.unanimous_groups(Oracle.exact(BITS), groups)
    assert exact.success.rate == 1
    assert exact.found.estimates.tolist() == [1, 0, 0.5]
    rates = [
        attacks.unanimous_groups(
            Oracle.private(BITS, epsilon="0.1", questions=3, entropy=ReplayEntropy(seed)), groups
        ).success.rate
        for seed in range(100)
    ]
    assert np.mean(rates) < 0.55
    with pytest.raises(BadArgument, match="0 or 1 for each person"):
        attacks.unanimous_groups(Oracle.exact(SALARIES), groups)


def test_a_recommender_that_is_updated_tells_what_somebody_took() -> None:
    entropy = ReplayEntropy(5)
    baskets = attacks.random_queries(30, 400, entropy=entropy).astype(int)
    taken = baskets[0] == 1
    before, after = baskets[1:].T @ baskets[1:], baskets.T @ baskets
    known = np.flatnonzero(taken)[:4].tolist()
    exact = attacks.recommender(before, after, known=known, taken=taken)
    assert exact.success.rate == 1
    rates = []
    for _ in range(40):
        noisy = sf.vector(int, size=900, metric=sf.L1()) >> sf.laplace(scale=900)
        late = noisy(after.ravel(), entropy=entropy).value.reshape(30, 30)
        early = noisy(before.ravel(), entropy=entropy).value.reshape(30, 30)
        rates.append(attacks.recommender(early, late, known=known, taken=taken, share=0.5).success.rate)
    assert abs(np.mean(rates) - 0.5) < 0.06


def test_a_private_recommendation_or_count_at_two_times_tells_little() -> None:
    entropy, noisy = ReplayEntropy(30), sf.vector(int, size=20, metric=sf.L1()) >> sf.laplace(scale=40)  # ε = ½ each
    rates = []
    for _ in range(50):
        before, after = (noisy(counts, entropy=entropy).value for counts in (np.full(20, 50), 50 + np.array(BITS)))
        rates.append(attacks.differencing_over_time(before, after, changed=BITS, epsilon=1).success.rate)
    assert attacks.differencing_over_time(np.full(20, 50), 50 + np.array(BITS), changed=BITS).success.rate == 1
    assert np.mean(rates) < 0.05  # blind guesses are right half of the time


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=12))
def test_means_of_any_numbers_give_the_last_away(values: list[int]) -> None:
    count = len(values)
    whole = Fraction(sum(values), count), count
    rest = Fraction(sum(values[:-1]), count - 1), count - 1
    assert attacks.value_from_means(whole, rest) == attacks.value_from_means(rest, whole) == values[-1]


@given(st.lists(st.integers(-(2**40), 2**40), min_size=1, max_size=10), st.integers(0, 2**32))
def test_differencing_finds_any_exact_numbers(values: list[int], seed: int) -> None:
    assert attacks.differencing(Oracle.exact(values), entropy=ReplayEntropy(seed)).success.rate == 1


@pytest.mark.parametrize("counts", [(10, 10), (10, 8), (-1, 0)], ids=str)
def test_means_must_be_one_person_apart(counts: tuple[int, int]) -> None:
    with pytest.raises(BadArgument, match="how many"):
        attacks.value_from_means((1, counts[0]), (1, counts[1]))


@pytest.mark.parametrize("targets", [[], [20], [-1], [[1]], [0.7], [True], "ab", 3], ids=str)
def test_targets_are_people(targets: list[int]) -> None:
    with pytest.raises(BadArgument, match="places between 0 and 19"):
        attacks.differencing(Oracle.exact(BITS), targets=targets)


@pytest.mark.parametrize("means", [(85, 87), ((85, 10, 1), (87, 9)), ((85, 10), "ab")], ids=str)
def test_means_come_with_how_many(means: tuple[Any, Any]) -> None:
    with pytest.raises(BadArgument, match="a mean and how many people it is over"):
        attacks.value_from_means(*means)


@pytest.mark.parametrize("within", [-1, float("nan"), float("inf")], ids=str)
def test_how_close_is_close_is_a_number(within: float) -> None:
    with pytest.raises(BadArgument, match="within must be"):
        attacks.differencing(Oracle.exact(BITS), within=within)
    with pytest.raises(BadArgument, match="within must be"):
        attacks.averaging(lambda: 1.0, truth=1, repeats=1, within=within)


def test_one_target_is_guessed_from_everybody() -> None:
    bits = [1, 0, 1, 0, 1, 1, 0, 0]
    found = attacks.differencing(Oracle.exact(bits), targets=[0])
    assert (found.success.rate, found.baseline) == (1, 0.5)
    assert attacks.differencing(Oracle.exact(SALARIES), targets=[0], within=4_000).baseline == 3 / 8
    assert attacks.differencing_over_time([2_210], [2_336], changed=[126]).baseline == 0  # of one nothing is common
    assert attacks.differencing_over_time([2_210], [2_336], changed=[126], baseline="0.1").baseline == 0.1
    assert attacks.differencing_over_time([0] * 4, bits[:4], changed=bits[:4]).baseline == 0.5
    assert attacks.rephrasing(lambda words: 5.0, [["a"]], truths=[5]).baseline == 0
    assert attacks.rephrasing(lambda words: 5.0, [["a"]], truths=[5], baseline=1).advantage == 0
    stripped = attacks.seed_recovery(
        lambda words: 5.0, ["b"], truths=[5], known={"a": 5}, seeds=[], scale=1, baseline="0.3"
    )
    assert stripped.baseline == 0.3
    nobody = np.zeros((2, 2))
    assert attacks.recommender(nobody, nobody, known=[0], taken=[True, False]).baseline == 0.5


def test_groups_of_one_mind_are_guessed_from_their_sizes() -> None:
    bits = [1, 1, 1, 0]
    pair, nobody = [False, True, True, False], [False] * 4
    found = attacks.unanimous_groups(Oracle.exact(bits), np.array([pair]))
    assert (found.success.rate, found.baseline) == (1, 0.5)  # 3 of the 6 pairs are all ones, 3 are mixed, none is zeros
    assert attacks.unanimous_groups(Oracle.exact(bits), np.array([pair, nobody])).baseline == 0.75


def test_a_noisy_total_is_asked_anew_for_each_target() -> None:
    people = 200
    bits, everybody, errors = np.arange(people) % 2, np.ones(people, dtype=bool), []
    for fresh in (True, False):
        curator = Oracle.private(bits, epsilon=20, questions=2 * people, entropy=ReplayEntropy(31))
        total = (lambda curator=curator: curator.ask(everybody)) if fresh else curator.ask(everybody)
        found = attacks.differencing(curator, total=total)
        errors.append(found.found.estimates - bits)
    # Scale 20 in each answer: independent errors average out to a deviation of 40 / sqrt(200), a shared one stays.
    shared_total = float(np.median(errors[1]))
    assert abs(errors[0].mean()) < 4 * 40 / sqrt(people)
    assert np.std(errors[0]) == pytest.approx(40, rel=0.25)
    assert np.std(errors[1]) == pytest.approx(sqrt(2) * 20, rel=0.25)  # half of the variance: the rest is in all alike
    assert abs(errors[1].mean() - shared_total) < 10


def test_many_people_are_asked_in_blocks() -> None:
    largest = 0

    def watched(groups: np.ndarray) -> np.ndarray:
        nonlocal largest
        largest = max(largest, groups.size)
        return exact.answer(groups)

    told: list[tuple[int, int]] = []
    exact = Oracle.exact(np.arange(3_000) % 3)
    found = attacks.differencing(
        Oracle(exact.secret, watched, "watched"), progress=lambda done, steps: told.append((done, steps))
    )
    assert found.success.rate == 1
    assert largest <= 2 * CELLS < 3_000**2
    assert told == [(1_398, 3_000), (2_796, 3_000), (3_000, 3_000)]


# Averaging


def test_A1_163_a_hundred_answers() -> None:
    assert attacks.averaged_deviation(1, 100) == pytest.approx(0.141421, abs=5e-7)


def test_A3_068_the_deviation_falls_with_the_root_and_the_ledger_grows() -> None:
    entropy = ReplayEntropy(6)
    noisy = sf.scalar(float) >> sf.laplace(scale=1)
    for repeats in (1, 4, 16):
        found = attacks.averaging(lambda: noisy(20.0, entropy=entropy).value, truth=20, repeats=repeats, trials=400)
        spread = float(np.std(found.found.averages))
        assert spread == pytest.approx(attacks.averaged_deviation(1, repeats), rel=0.2)
    session = sf.Dataset(BITS, name="bits", space=sf.vector(int, size=20)).session(limit=sf.Pure(10), ledger="memory:")
    unnamed = sf.clamp(0, 1) >> sf.sum() >> sf.laplace(scale=2) >> (lambda answer: answer)
    attacks.averaging(lambda: session.run(unnamed).value, truth=10, repeats=7)
    assert session.spent == sf.Pure("3.5")  # 7 · ½


def test_averaging_beats_noise_that_nobody_counts() -> None:
    entropy, noise = ReplayEntropy(7), DiscreteLaplace(Fraction(3))

    def ask() -> float:
        return 10 + noise.sample(entropy)

    few = attacks.averaging(ask, truth=10, repeats=1, trials=100)
    many = attacks.averaging(ask, truth=10, repeats=300, trials=20)
    assert few.success.rate < 0.3
    assert many.success.rate > 0.9


def test_the_stored_release_gives_averaging_nothing() -> None:
    session = sf.Dataset(BITS, name="bits", space=sf.vector(int, size=20)).session(limit=sf.Pure(1), ledger="memory:")
    question = sf.clamp(0, 1) >> sf.sum() >> sf.laplace(scale=2)
    found = attacks.averaging(lambda: session.run(question).value, truth=10, repeats=50)
    assert (found.found.answers, found.found.distinct, found.found.stopped) == (50, 1, False)
    assert found.found.averages == (session.run(question).value,)
    assert session.spent == sf.Pure("0.5")


def test_a_limit_stops_averaging() -> None:
    session = sf.Dataset(BITS, name="bits", space=sf.vector(int, size=20)).session(limit=sf.Pure(1), ledger="memory:")
    unnamed = sf.clamp(0, 1) >> sf.sum() >> sf.laplace(scale=4) >> (lambda answer: answer)
    found = attacks.averaging(lambda: session.run(unnamed).value, truth=10, repeats=50, trials=2)
    assert (found.found.answers, found.found.stopped) == (4, True)
    assert isnan(found.found.averages[1])
    with pytest.raises(LimitReached):
        session.run(unnamed)


def test_what_averaging_is_told() -> None:
    told: list[tuple[int, int]] = []
    answers = iter([3.0, float("nan"), 5.0, 4.0])
    found = attacks.averaging(
        lambda: next(answers), truth=4, repeats=2, trials=2, progress=lambda done, steps: told.append((done, steps))
    )
    assert found.found.averages == (3.0, 4.5)  # a refusal is no answer
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    with pytest.raises(BadArgument, match="truth must be a number"):
        attacks.averaging(lambda: 1.0, truth=None, repeats=1)  # type: ignore[arg-type]


def test_noise_seeded_by_the_question_is_stripped() -> None:
    seeded = attacks.SeededNoise(seed=40_961, scale=5)
    truths = {f"how many of group {group}?": group + 10 for group in range(12)}

    def curator(words: str) -> float:
        return truths[words.partition("  ")[0]] + seeded(words)

    phrasings = [[question + "  " + " " * extra for extra in range(600)] for question in truths]
    assert [curator(question) for question in truths] == [curator(question) for question in truths]
    plain = attacks.rephrasing(curator, [ways[:1] for ways in phrasings], truths=[*truths.values()])
    stripped = attacks.rephrasing(curator, phrasings, truths=[*truths.values()])
    assert plain.success.rate < 0.5 < 0.8 < stripped.success.rate

    questions = [*truths]
    found = attacks.seed_recovery(
        curator,
        questions[4:],
        truths=[truths[question] for question in questions[4:]],
        known={question: truths[question] for question in questions[:4]},
        seeds=range(40_900, 41_000),
        scale=5,
    )
    assert found.found.seeds == (40_961,)
    assert found.success.rate == 1


def test_fresh_noise_has_no_seed_and_ends_with_the_questions() -> None:
    truths = {f"question {place}": int(sum(BITS[: place + 1])) for place in range(20)}
    masks = {f"question {place}": holders(place + 1) for place in range(20)}
    curator = Oracle.private(BITS, epsilon=1, questions=20, entropy=ReplayEntropy(8))
    questions = [*truths]
    found = attacks.seed_recovery(
        lambda words: curator.ask(masks[words]),
        questions[4:],
        truths=[truths[question] for question in questions[4:]],
        known={question: truths[question] for question in questions[:4]},
        seeds=range(2_000),
        scale=20,
    )
    assert found.found.seeds == ()
    assert found.success.rate < 0.3
    marked = (sf.scalar(int) >> sf.laplace(scale=1))(1, entropy=ReplayEntropy(1))
    assert marked.replayable  # a seed is for tests, and what is made with one says so
    spent = attacks.rephrasing(
        lambda words: curator.ask(masks["question 1"]), [["a", "b"]], truths=[1], against="ε = 1"
    )
    assert isnan(spent.found.guesses[0])
    with pytest.raises(Exhausted, match="0 of the 20 answers"):
        curator.ask(holders())


# Reconstruction


def test_random_groups_hold_about_half() -> None:
    groups = attacks.random_queries(101, 203, entropy=ReplayEntropy(9))
    assert groups.shape == (203, 101)
    assert abs(groups.mean() - 0.5) < 0.02
    assert (groups == attacks.random_queries(101, 203, entropy=ReplayEntropy(9))).all()


@pytest.mark.parametrize("prime", [691, 2_147_483_647])
def test_hashed_predicates_are_fixed_by_their_coefficients_and_tell_everybody(prime: int) -> None:
    people = {"ward": np.arange(60) // 12, "birth": [f"{1940 + person}" for person in range(60)]}
    predicates = attacks.HashedPredicates.draw(2, 180, prime=prime, entropy=ReplayEntropy(10))
    groups = predicates(people)
    assert (groups == predicates(people)).all()
    assert abs(groups.mean() - 0.5) < 0.05
    one = int(predicates.coefficients[5] @ [people["ward"][30], 30, 1]) % prime % 2
    assert groups[5, 30] == (one == 1)
    secret = attacks.random_queries(60, 1, entropy=ReplayEntropy(11))[0]
    found = attacks.reconstruction(Oracle.exact(secret).ask_all(groups), groups, secret=secret)
    assert found.success.rate == 1
    with pytest.raises(BadArgument, match="2 columns"):
        predicates({"ward": [1, 2]})


@pytest.mark.parametrize("prime", [4, 9, 2, 1, -7, 2_147_483_647 - 2])
def test_predicates_are_hashed_with_a_prime(prime: int) -> None:
    with pytest.raises(BadArgument, match="an odd prime"):
        attacks.HashedPredicates.draw(2, 2, prime=prime)


def test_tables_of_any_form_make_equations() -> None:
    cells = attacks.table_queries(sf.datasets.students(), most=1)
    assert cells.sum() == 5 * 649  # the total, and each of four columns once
    codes = attacks.table_queries({"code": [2, None, "x", float("nan"), 2.0, True]}, most=1)
    assert sorted(codes[1:].sum(axis=1).tolist()) == [1, 1, 1, 1, 2]
    predicates = attacks.HashedPredicates.draw(1, 40, entropy=ReplayEntropy(32))
    labels: list[object] = ["b", None, "a", "c", 3]
    assert (predicates({"a": labels})[:, ::-1] == predicates({"a": labels[::-1]})).all()  # rows may come in any order


@pytest.mark.parametrize("method", ["auto", "least squares", "linear program", "integer program"])
def test_no_equations_leave_everybody_open(method: str) -> None:
    for answers, queries in (([], np.zeros((0, 5))), ([np.nan], np.ones((1, 5))), (np.zeros((0, 3)), np.zeros((0, 5)))):
        found = attacks.reconstruct(answers, queries, method=method)
        assert (found.rank, found.misfit, found.determined.any()) == (0, 0, False)
        assert len(found.guesses) == 5


def test_progress_of_a_reconstruction_is_told() -> None:
    told: list[tuple[int, int]] = []
    attacks.reconstruction(
        [1, 0], [[1, 0], [0, 1]], secret=[1, 0], progress=lambda done, steps: told.append((done, steps))
    )
    assert told == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize("method", ["least squares", "linear program", "integer program"])
def test_every_method_solves_exact_answers(method: str) -> None:
    groups = attacks.random_queries(20, 40, entropy=ReplayEntropy(12))
    found = attacks.reconstruction(Oracle.exact(BITS).ask_all(groups), groups, secret=BITS, method=method)
    assert found.success.rate == 1
    assert found.found.method == method
    assert found.found.rank == 20
    assert found.found.misfit == 0


def test_published_tables_give_those_away_who_are_alone_in_a_cell() -> None:
    people = {"sex": list("fmfmfm"), "age": [30, 30, 40, 40, 50, 50], "ward": [1, 1, 1, 2, 2, 2]}
    secret = [1, 0, 0, 1, 1, 0]
    cells = attacks.table_queries(people)
    found = attacks.reconstruction(Oracle.exact(secret).ask_all(cells), cells, secret=secret)
    assert found.success.rate == 1
    assert found.found.determined.all()
    coarse = attacks.table_queries(people, most=1)  # by sex, by age, by ward, never together
    assert len(coarse) == 1 + 2 + 3 + 2
    assert not attacks.reconstruct(Oracle.exact(secret).ask_all(coarse), coarse).determined.all()


def test_whom_the_equations_leave_open_is_said() -> None:
    groups = [[True, False, False], [False, True, True]]
    found = attacks.reconstruct([1, 1], groups, method="least squares")
    assert found.rank == 2
    assert found.determined.tolist() == [True, False, False]
    assert found.estimates.tolist() == pytest.approx([1, 0.5, 0.5])
    assert attacks.reconstruct([1, 1], groups).method == "integer program"


@pytest.mark.parametrize("method", ["least squares", "linear program", "integer program"])
def test_secrets_of_several_values(method: str) -> None:
    levels = [20, 35, 50]
    secret = [levels[place % 3] for place in range(15)]
    groups = attacks.random_queries(15, 40, entropy=ReplayEntropy(13))
    sums = Oracle.exact(secret).ask_all(groups)
    assert attacks.reconstruction(sums, groups, secret=secret, values=levels, method=method).success.rate == 1


@pytest.mark.parametrize("method", ["least squares", "linear program", "integer program"])
def test_secrets_that_are_categories(method: str) -> None:
    secret = np.array([place * 7 % 4 for place in range(16)])
    groups = attacks.random_queries(16, 40 if method == "least squares" else 14, entropy=ReplayEntropy(14))
    counts = np.column_stack([Oracle.exact(secret == kind).ask_all(groups) for kind in range(4)])
    found = attacks.reconstruction(counts, groups, secret=secret, method=method)
    assert found.success.rate >= (0.7 if method == "linear program" else 1)
    assert found.found.estimates.shape == (16, 4)
    assert found.baseline == 0.25


def test_values_that_can_be_make_up_for_missing_equations() -> None:
    secret = attacks.random_queries(40, 1, entropy=ReplayEntropy(15))[0]
    groups = attacks.random_queries(40, 24, entropy=ReplayEntropy(16))
    answers = Oracle.exact(secret).ask_all(groups)
    least, whole = (
        attacks.reconstruction(answers, groups, secret=secret, method=method)
        for method in ("least squares", "integer program")
    )
    assert least.success.rate < 1 == whole.success.rate


def test_a_program_that_runs_out_of_time_says_so() -> None:
    secret = attacks.random_queries(120, 1, entropy=ReplayEntropy(17))[0]
    groups = attacks.random_queries(120, 240, entropy=ReplayEntropy(18))
    curator = Oracle.private(secret, epsilon=24, questions=240, entropy=ReplayEntropy(19))
    try:
        found = attacks.reconstruct(curator.ask_all(groups), groups, method="integer program", seconds=1)
        assert not found.finished
    except BadArgument as refusal:
        assert "enough for a first solution" in str(refusal)


def test_that_time_ran_out_is_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    def unfinished(*arguments: object, **options: object) -> tuple[np.ndarray, bool]:
        return np.array([1.0, 0.0]), False

    monkeypatch.setattr(sys.modules["sfumato.attacks.reconstruction"], "_program", unfinished)

    def attack(answers: list[int]) -> attacks.Attack:
        return attacks.reconstruction(answers, [[True, True]], secret=[1, 0])

    assert attack([1]).against == "exact answers (out of time)"
    compared = attacks.before_and_after(attack, exact=[1], private=lambda epsilon: [1], epsilons=[2])
    assert [one.against for one in compared.attacks] == ["exact answers (out of time)", "ε = 2 (out of time)"]
    assert "ε = 2 (out of time)" in str(compared)


def test_refused_answers_are_left_out() -> None:
    groups = attacks.random_queries(20, 80, entropy=ReplayEntropy(20))
    answers = Oracle.protected(BITS, refusing(9), against="refusal").ask_all(groups)
    assert np.isnan(answers).any()
    assert attacks.reconstruction(answers, groups, secret=BITS).success.rate == 1
    nothing = attacks.reconstruct(np.full(3, np.nan), groups[:3], method="least squares")
    assert nothing.rank == 0
    assert not nothing.determined.any()
    assert set(nothing.estimates) == {0.5}


def test_rounding_and_small_counts_left_out_do_not_stop_it() -> None:
    bits = BITS * 3
    groups = attacks.random_queries(60, 600, entropy=ReplayEntropy(21))
    for protection in (rounded(5), thresholded(20)):
        answers = Oracle.protected(bits, protection, against="a trick").ask_all(groups)
        asked = answers > 0
        assert attacks.reconstruction(answers[asked], groups[asked], secret=bits).success.rate > 0.95


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [[True], [False], [True]]), "one for each of the 3 questions"),
        (([[[1]]], [[True]]), "one for each of the 1 questions"),
        (([[1]], [[True]]), "several categories"),
        (([1], [True]), "a row for each question"),
        (([], np.zeros((0, 0))), "a column for each person"),
        (([np.inf], [[1.0]]), "finite"),
        (([1], [[np.nan]]), "finite"),
        ((["1"], [[1.0]]), "answers must be numbers"),
        (([1], [["a"]]), "queries must be numbers"),
        (([1, 2], [[1.0], [1.0, 0.0]]), "queries must be numbers"),
    ],
)
def test_wrong_equations_are_refused(arguments: tuple[object, object], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        attacks.reconstruct(*arguments)  # type: ignore[arg-type]


def test_wrong_options_are_refused() -> None:
    with pytest.raises(BadArgument, match="one of auto, least squares"):
        attacks.reconstruct([1], [[True]], method="magic")
    with pytest.raises(BadArgument, match="two different numbers"):
        attacks.reconstruct([1], [[True]], values=[1, 1])
    with pytest.raises(BadArgument, match="like the guesses"):
        attacks.reconstruction([1], [[True]], secret=[1, 0])


def test_programs_need_their_solver_and_least_squares_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    assert attacks.reconstruct([1, 0], [[True, False], [False, True]]).guesses.tolist() == [1, 0]
    with pytest.raises(MissingExtra, match=r"sfumato\[attacks\]"):
        attacks.reconstruct([1], [[True, True]], method="linear program")


# Tracing


def test_A3_060_thresholds() -> None:
    assert [round(attacks.tracing_threshold(many), 3) for many in (100, 1_000, 10_000)] == [48.955, 154.809, 489.549]


def test_A3_061_six_attributes_are_needed() -> None:
    with pytest.raises(BadArgument, match=r"no statistic can exceed 10\.9"):
        attacks.tracing_threshold(5)
    found = attacks.tracing([1] * 6, [1.0] * 6, [0] * 6)
    assert (found.statistic, found.member) == (12, True)


def test_the_statistic_is_an_inner_product_of_clamped_answers() -> None:
    target, reference = [1, 1, 0, 1, 0, 1, 1, 1], [0, 1, 1, 0, 0, 1, 0, 1]
    answers = [0.75, 9.0, -3.0, 0.5, 1.0, 0.0, 0.25, 1.0]
    signs = np.array(target) * 2 - 1, np.array(reference) * 2 - 1
    clamped = np.clip(answers, 0, 1) * 2 - 1
    assert attacks.tracing(target, answers, reference).statistic == (signs[0] - signs[1]) @ clamped
    raw = attacks.tracing(target, answers, reference, clamp=False).statistic
    assert raw == (signs[0] - signs[1]) @ (np.array(answers) * 2 - 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1] * 8, [0.5] * 7, [0] * 8), "a finite mean for each of the 8"),
        (([1] * 8, [0.5] * 7 + [float("nan")], [0] * 8), "finite mean"),
        (([1] * 8, [0.5] * 8, [0] * 7), "as long as the target"),
        (([2] * 8, [0.5] * 8, [0] * 8), "0 or 1 for each attribute"),
    ],
)
def test_wrong_vectors_are_refused(arguments: tuple[list[float], ...], message: str) -> None:
    with pytest.raises(BadArgument, match=message):
        attacks.tracing(*arguments)


@pytest.mark.parametrize("level", [0, 1, -1])
def test_a_level_is_a_chance(level: float) -> None:
    with pytest.raises(BadArgument, match="between 0 and 1"):
        attacks.tracing_threshold(100, level=level)


# Before and after


def test_one_attack_before_and_after() -> None:
    bits = BITS * 5
    groups = attacks.random_queries(100, 300, entropy=ReplayEntropy(22))
    told: list[tuple[int, int]] = []
    found = attacks.before_and_after(
        lambda curator: attacks.reconstruction(curator.ask_all(groups), groups, secret=curator.secret),
        exact=Oracle.exact(bits),
        protections={"rounding to 5": Oracle.protected(bits, rounded(5), against="rounding")},
        private=lambda epsilon: Oracle.private(bits, epsilon=epsilon, questions=300, entropy=ReplayEntropy(23)),
        epsilons=(1, 1_000),
        progress=lambda done, steps: told.append((done, steps)),
    )
    exact, tricked, private, loose = found.attacks
    assert [one.against for one in found.attacks] == ["exact answers", "rounding to 5", "ε = 1", "ε = 1000"]
    assert [one.epsilon for one in found.attacks] == [None, None, 1, 1000]
    assert exact.success.rate == 1
    assert tricked.success.rate > 0.95
    assert private.success.interval()[0] < private.baseline < 0.6
    assert loose.success.rate > 0.95
    assert told == [(1, 2), (2, 2)]
    assert "rounding to 5" in str(found)

    allowed = attacks.tolerable_epsilon(found, "0.75")
    assert allowed.measured == 1
    assert allowed.proven == pytest.approx(1.098612, abs=1e-6)  # ln 3
    assert "Known attacks are a lower bound" in str(allowed)
    assert attacks.tolerable_epsilon(found, "0.5").measured is None
    assert "no ε that was tried" in str(attacks.tolerable_epsilon(found, "0.5"))


def test_whatever_is_attacked_can_be_compared() -> None:
    found = attacks.before_and_after(
        lambda release: attacks.tracing_experiment(
            release, members=2, attributes=500, rounds=20, entropy=ReplayEntropy(25)
        ),
        exact=attacks.exact_means,
        private=lambda epsilon: attacks.private_means(epsilon, entropy=ReplayEntropy(26)),
        epsilons=(1,),
    )
    assert [one.success.rate for one in found.attacks] == [1, 0.5]


def test_epsilons_need_something_private() -> None:
    with pytest.raises(BadArgument, match="private must be given with epsilons"):
        attacks.before_and_after(attacks.differencing, exact=Oracle.exact(BITS), epsilons=[1])


# Oracles


@pytest.mark.parametrize("secret", [[], [0.5], [[1]], ["a"], [1 << 52, 1], [[1], [1, 2]]], ids=str)
def test_secrets_are_whole_numbers(secret: list[object]) -> None:
    with pytest.raises(BadArgument):
        Oracle.exact(secret)  # type: ignore[arg-type]


@pytest.mark.parametrize("group", [[1, 0, 1], [True], [[True, True, False]]], ids=str)
def test_groups_are_masks(group: list[object]) -> None:
    with pytest.raises(BadArgument, match="masks of 3 people"):
        Oracle.exact([1, 2, 3]).ask(group)  # type: ignore[arg-type]


def test_private_answers_clamp_and_keep_the_loss() -> None:
    curator = Oracle.private([10**9, 0], epsilon=1_000_000, questions=1, entropy=ReplayEntropy(24))
    assert curator.ask([True, True]) == 1
    with pytest.raises(BadArgument, match="the lower one first"):
        Oracle.private([1], epsilon=1, questions=1, between=(1, 1))
    with pytest.raises(BadArgument, match="epsilon"):
        Oracle.private([1], epsilon=0, questions=1)


@pytest.mark.parametrize("between", [5, (1, 2, 3), (2, 1), "ab", None], ids=str)
def test_bounds_are_two(between: Any) -> None:
    with pytest.raises(BadArgument, match="between must be"):
        Oracle.private([1], epsilon=1, questions=1, between=between)


@pytest.mark.parametrize(("low", "high"), [(0, 1), (0, 9), (-5, 4)])
def test_noise_is_as_wide_as_the_bounds(low: int, high: int, monkeypatch: pytest.MonkeyPatch) -> None:
    scales: list[Fraction] = []

    def watched(whole: np.ndarray, scale: Fraction, entropy: Entropy | None) -> np.ndarray:
        scales.append(scale)
        return with_laplace(whole, scale, entropy)

    monkeypatch.setattr(oracles, "with_laplace", watched)
    people, asked = 4, 1_000
    curator = Oracle.private(
        [low] * people, epsilon=asked, questions=asked, between=(low, high), entropy=ReplayEntropy(33)
    )
    noise = curator.ask_all(np.zeros((asked, people), dtype=bool))
    assert scales == [high - low]
    assert np.abs(noise).mean() == pytest.approx(high - low, rel=0.2)
    # What one changed value costs over all questions, from the map of the noise itself: no more than ε.
    each = (sf.vector(int, size=1, metric=sf.L1()) >> sf.laplace(scales[0])).map(high - low)
    assert each == sf.Pure(1)


def test_the_secret_is_not_printed() -> None:
    assert repr(Oracle.exact([4_711, 1])) == "Oracle(against='exact answers', epsilon=None)"
    found = attacks.differencing(Oracle.exact([4_711, 1]))
    assert "4711" not in repr(found) + repr(found.found)


def test_the_best_guess() -> None:
    assert best_guess_rate([]) == 0
    assert best_guess_rate([5, 5, 7]) == pytest.approx(2 / 3)
    assert best_guess_rate([0, 10, 20], within=10) == 1
