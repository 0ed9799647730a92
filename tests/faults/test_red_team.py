"""Attacks with numbers on a live service, by analysts with tokens: they learn what the limit says, and no more.

Differencing and trackers (Denning and Schlörer 1980), averaging, reconstruction (Dinur and Nissim 2003) and collusion,
on made-up visits and on a table that nobody here made. Each attack is run as well against a double of the service that
is broken in one place, and must succeed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import polars as pl
import pytest
from tests.faults.red_team import (
    ODD,
    VISITS,
    WITH,
    WITHOUT,
    Target,
    does_better,
    least_trials,
    most_right,
    name_of,
    patched,
    target_in,
    until_refused,
    with_little_noise,
    without_limits,
)

import sfumato as sf
from sfumato.attacks.averaging import averaging
from sfumato.attacks.differencing import value_from_means
from sfumato.attacks.queries import random_queries
from sfumato.attacks.reconstruction import reconstruction
from sfumato.entropy import system
from sfumato.errors import LimitReached
from sfumato.remote import RemoteSession

Epsilon: TypeAlias = Fraction
Attack: TypeAlias = Callable[[RemoteSession, Epsilon, int], float]

SHARE = Fraction("0.2")
TRIALS = least_trials(most_right(float(SHARE)))
"""As few as show an attack that is always right; at night ten times as many."""


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with target_in(tmp_path_factory.mktemp("red-team")) as made:
        yield made


def counted(session: RemoteSession, question: str, epsilon: Epsilon) -> float:
    return float(session.sql(question, epsilon=str(epsilon), max_rows=1).value.only())


# Differencing. Each attack says how sure it is that the target is in the data: more than one half means yes.
# ``turn`` stands in every question (with leading zeros: 61.5 is 61.50), so that no two trials share one answer.


def alone(session: RemoteSession, epsilon: Epsilon, turn: int) -> float:
    """Asks about a predicate that only the target fits."""
    return counted(
        session, f"SELECT COUNT(*) AS n FROM visits WHERE minutes = {ODD} AND minutes < 100.{turn:06d}", epsilon
    )


def with_and_without(session: RemoteSession, epsilon: Epsilon, turn: int) -> float:
    """Asks about everybody, and about everybody but the target."""
    everybody = counted(session, f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 61.{turn:06d}", epsilon / 2)
    others = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 61.{turn:06d} AND NOT minutes = {ODD}"
    return everybody - counted(session, others, epsilon / 2)


def tracker(session: RemoteSession, epsilon: Epsilon, turn: int) -> float:
    """Never asks about few people: pads the target with a tracker and its opposite, and takes everybody away."""
    count, third = "SELECT COUNT(*) AS n FROM visits WHERE", epsilon / 3
    padded = counted(session, f"{count} minutes = {ODD} OR minutes < 30.{turn:06d}", third)
    opposite = counted(session, f"{count} minutes = {ODD} OR NOT minutes < 30.{turn:06d}", third)
    return padded + opposite - counted(session, f"{count} minutes < 62.{turn:06d}", third)


def by_cases(session: RemoteSession, epsilon: Epsilon, turn: int) -> float:
    """Hides the predicate in the value: all rows are counted, and only the target's says anything."""
    value = f"CASE WHEN minutes = {ODD} THEN 1 WHEN minutes < 100.{turn:06d} THEN 0 ELSE 0 END"
    return float(session.sql(f"SELECT SUM({value}) AS s FROM visits", epsilon=str(epsilon), max_rows=1).value.only())


def largest_of_patients(session: RemoteSession, epsilon: Epsilon, turn: int) -> float:
    """Differences a real table by its largest mass, and by how many of the largest are malignant."""
    large = f"SELECT COUNT(*) AS n FROM patients WHERE radius > 20.{turn:06d}"
    rest = f"{large} AND radius < 28.1"
    return counted(session, large, epsilon / 2) - counted(session, rest, epsilon / 2)


ATTACKS: tuple[tuple[str, Attack], ...] = (
    ("visits", alone),
    ("visits", with_and_without),
    ("visits", tracker),
    ("visits", by_cases),
    ("patients", largest_of_patients),
)
BY_DAY = (ATTACKS[3], ATTACKS[4])
AT_NIGHT = pytest.mark.nightly


def hits(target: Target, table: str, attack: Attack, trials: int) -> int:
    """Runs an attack again and again, each time by a new analyst with a small share of one of two neighbours."""
    right, payers = 0, set[str]()
    for turn in range(trials):
        there = bool(turn % 2)
        data_set = name_of(table, there)
        name = target.analyst((data_set, SHARE))
        with target.session(name, data_set) as session:
            score = attack(session, SHARE, next(target.numbers))
        right += (score > 0.5) == there
        assert target.spent(f"{data_set}/{name}").within(sf.Pure(SHARE))
        payers.add(f"{data_set}/{name}")
    charges = [one for one in target.world.house.ledger.entries(kinds=("charged",)) if one.account in payers]
    assert not any("shares" in one.body for one in charges), "trials have shared an answer: they are no trials"
    return right


@pytest.mark.slow
@pytest.mark.parametrize(
    ("table", "attack", "times"),
    [*((*one, 1) for one in BY_DAY), *(pytest.param(*one, 10, marks=AT_NIGHT) for one in ATTACKS)],
)
def test_differencing_learns_no_more_than_the_limit_says(
    target: Target, table: str, attack: Attack, times: int
) -> None:
    """With ε nobody tells two neighbours apart more often than e^ε / (1 + e^ε)."""
    trials = times * TRIALS
    assert not does_better(hits(target, table, attack, trials), trials, most_right(float(SHARE)))
    with patched(with_little_noise):
        assert does_better(hits(target, table, attack, TRIALS), TRIALS, most_right(float(SHARE)))


def test_means_with_and_without_somebody_do_not_give_their_value_away(target: Target) -> None:
    """From two exact means one value follows exactly; from two answers, a number far from all possible ones."""

    def read(rounds: int) -> list[float]:
        found = []
        for _ in range(rounds):
            turn, data_set = next(target.numbers), name_of("visits", WITH)
            with target.session(target.analyst((data_set, 1)), data_set) as session:
                mean = f"SELECT AVG(minutes) AS m FROM visits WHERE minutes < 61.{turn:06d}"
                means = [
                    session.sql(question, epsilon="0.5", max_rows=1).value.only()
                    for question in (mean, f"{mean} AND NOT minutes = {ODD}")
                ]
            found.append(float(value_from_means((round(float(means[0]), 6), 65), (round(float(means[1]), 6), 64))))
        return found

    assert sum(abs(value - ODD) < 1 for value in read(5)) < 5
    with patched(with_little_noise):
        assert all(abs(value - ODD) < 1 for value in read(3))


# Averaging

SPELLED = (
    "SELECT COUNT(*) AS n FROM visits WHERE minutes < {0} AND answer = 1",
    "select  count(*)   as n\nfrom visits where minutes < {0} and answer = 1",
    "SELECT COUNT(*) AS m FROM visits WHERE minutes < {0} AND answer = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE answer = 1 AND minutes < {0}",
    "SELECT COUNT(*) AS n FROM visits WHERE 1 * minutes < {0} AND answer = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE minutes + 0 < {0} AND answer = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE {0} > minutes AND answer = 1",
    "SELECT COUNT(*) AS n FROM visits WHERE NOT minutes >= {0} AND answer = 1",
    "SELECT COUNT(*) AS n FROM visits AS v WHERE v.minutes < {0} AND v.answer = 1",
    "SELECT COUNT(1) AS n FROM visits WHERE minutes < {0} AND answer = 1 AND TRUE",
    "SELECT SUM(1) AS n FROM visits WHERE minutes < {0} AND answer IN (1)",
    "SELECT n FROM (SELECT COUNT(*) AS n FROM visits WHERE minutes < {0} AND answer = 1) AS t",
)


def averaged(target: Target, repeats: int) -> tuple[int, int]:
    """Asks one question over and over, in all spellings, forms and under new keys; (answers, different ones)."""
    data_set, turn = name_of("visits", WITH), next(target.numbers)
    name = target.analyst((data_set, 1))
    with target.session(name, data_set) as session:

        def ask(number: int) -> float:
            question = SPELLED[number % len(SPELLED)].format(f"59.{turn:06d}")
            key = f"{name}-{number}" if number % 3 else None
            return float(session.sql(question, epsilon="0.25", max_rows=1, key=key).value.only())

        numbers = iter(range(repeats))
        found = averaging(lambda: ask(next(numbers)), truth=32, repeats=repeats).found
    return found.answers, found.distinct


def test_the_same_question_in_other_words_is_paid_or_the_same_answer(target: Target) -> None:
    """Averages are over no more independent answers than were paid for: a share of 1 pays for 4 of 0.25."""
    answers, different = averaged(target, 5 * len(SPELLED))
    assert 1 <= different <= 4
    with patched(without_limits):
        answers, different = averaged(target, len(SPELLED))
        assert (answers, different > 4) == (len(SPELLED), True), "averaging would not have been seen"


def test_plain_repetition_costs_nothing_and_says_nothing_new(target: Target) -> None:
    data_set = name_of("visits", WITH)
    name = target.analyst((data_set, 1))
    path, octets = f"/api/data-sets/{data_set}/ask", set[str]()
    for form in ("json", "csv", "html", "text"):
        for number in range(4):
            question = SPELLED[number % 2].format("58.5")
            body = f'{{"sql": "{" ".join(question.split())}", "epsilon": "0.25", "max_rows": 1}}'
            headers = {"content_type": "application/json", "idempotency_key": f"{form}-{number}"}
            answer = target.sent(name, "POST", f"{path}?format={form}", body, **headers)
            assert answer.status == 200
            octets.add(f"{form} {answer.getheader('x-sfumato-answer')}")
    assert len(octets) == 4
    assert target.spent(f"{data_set}/{name}") == sf.Pure("0.25")


# Reconstruction


def reconstructed(target: Target, questions: int, epsilon: Fraction) -> tuple[int, int]:
    """Asks about random groups of people whose minutes are known, and solves for what they have answered."""
    people, data_set = 48, f"secrets-{next(target.numbers)}"
    secret = np.frombuffer(system().octets(people), np.uint8) % 2
    minutes = [number / 2 + 1 for number in range(people)]
    columns = {"person": [f"p{number}" for number in range(people)], "minutes": minutes}
    frame = pl.DataFrame(columns).with_columns(answer=pl.Series(secret.astype(np.int64)), note=pl.lit("none"))
    target.register(data_set, frame, VISITS)
    groups = random_queries(people, questions, entropy=system())
    asked = [
        f"SELECT COUNT(*) AS n FROM visits WHERE answer = 1 AND minutes IN ({', '.join(map(str, chosen))})"
        for chosen in (np.array(minutes)[group].tolist() for group in groups)
    ]
    name = target.analyst((data_set, epsilon))
    with target.session(name, data_set) as session:
        released = until_refused(session, asked, epsilon=str(epsilon / questions), max_rows=1)
        with pytest.raises(LimitReached):
            session.sql("SELECT COUNT(*) AS n FROM visits WHERE minutes < 7", epsilon="0.000001", max_rows=1)
    answers = [float(release.value.only()) for release in released]
    assert len(answers) == questions, "the limit was not used up"
    outcome = reconstruction(answers, groups, secret=secret, method="least squares", epsilon=float(epsilon))
    return outcome.success.hits, people


@pytest.mark.slow
def test_reconstruction_until_the_limit_is_used_up(target: Target) -> None:
    """Whatever is asked within ε, each bit is told with a chance of at most e^ε / (1 + e^ε) beside all others.

    So the number of bits that are told rightly is at most binomial, in the usual order of random variables.
    """
    epsilon = Fraction("0.25")
    right, people = reconstructed(target, 64, epsilon)
    assert not does_better(right, people, most_right(float(epsilon)))
    with patched(with_little_noise):
        right, people = reconstructed(target, 64, epsilon)
    assert does_better(right, people, most_right(float(epsilon)))


# Colluding analysts


def colluded(target: Target, epsilon: Fraction) -> tuple[Fraction, int, int]:
    """Three analysts, each with a share of all of the limit, ask in turns until nobody is answered any more.

    Gives what they have paid for together, the answers that they have, and how many of them are different.
    """
    data_set, turn = f"together-{next(target.numbers)}", next(target.numbers)
    frame = visits_and(turn)
    target.register(data_set, frame, VISITS, limit=sf.Pure(epsilon))
    names = [target.analyst((data_set, epsilon)) for _ in range(3)]
    seen, answered, price, number = set[str](), 0, epsilon / 5, 0
    refused: set[str] = set()
    while len(refused) < len(names) and number < 60:
        for name in names:
            number += 1
            question = f"SELECT COUNT(*) AS n FROM visits WHERE minutes < 60.{number:03d}"
            with target.session(name, data_set) as session:
                try:
                    release = session.sql(question, epsilon=str(price), max_rows=1)
                except LimitReached:
                    refused.add(name)
                else:
                    answered += 1
                    seen.add(str(release.receipt))
    return price * len(seen), answered, len(seen)


def visits_and(turn: int) -> pl.DataFrame:
    """Visits that no other data set has: data has one limit, whatever it is called."""
    columns = {"person": ["a", "b"], "minutes": [1.0, 2 + turn / 10_000], "answer": [0, 1], "note": ["x", "y"]}
    return pl.DataFrame(columns)


def test_analysts_together_have_no_more_than_the_limit_of_the_data(target: Target) -> None:
    """Shares may be worth more than the limit of the data set: together they pay for no more than it."""
    epsilon = Fraction(1, 2)
    paid, answered, different = colluded(target, epsilon)
    assert (paid, answered, different) == (epsilon, 5, 5)
    with patched(without_limits):
        assert colluded(target, epsilon)[0] > epsilon


def test_analysts_who_ask_the_same_have_the_same_answer(target: Target) -> None:
    """Two draws of noise for one question could be averaged: whoever asks what was asked pays, and gets that."""
    data_set, turn = name_of("visits", WITHOUT), next(target.numbers)
    found = []
    for _ in range(3):
        name = target.analyst((data_set, 1))
        with target.session(name, data_set) as session:
            release = session.sql(SPELLED[0].format(f"57.{turn:06d}"), epsilon="0.3", max_rows=1)
        found.append((release.receipt, release.value.only()))
        assert target.spent(f"{data_set}/{name}") == sf.Pure("0.3")
    assert len(set(found)) == 1
