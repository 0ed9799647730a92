"""Mixed reports: who is counted on, several questions, and protocols calibrated from a central loss."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

import sfumato as sf
from sfumato.accounting import events as ev
from sfumato.accounting.codec import from_json, to_json
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument
from sfumato.local import OneOf, Response, UnaryEncoding, Values, calibrated, shuffled, shuffled_loss

YES, TEN = Values(["yes", "no"]), Values(range(10))
DELTA = Fraction(1, 10**6)


def test_only_honest_reports_hide() -> None:
    protocol = Response(TEN, sf.Pure(1))
    few, counted = shuffled(protocol, users=300), shuffled(protocol, users=1000, honest=300)
    assert counted.central_loss(delta=DELTA) == few.central_loss(delta=DELTA)
    assert counted.event == few.event
    assert counted.local_epsilon(sf.Approx("1/2", DELTA)) == few.local_epsilon(sf.Approx("1/2", DELTA))
    more = shuffled(protocol, users=1000)
    assert more.central_loss(delta=DELTA).epsilon < few.central_loss(delta=DELTA).epsilon
    alone = shuffled(protocol, users=1000, honest=1)
    assert Fraction(99, 100) < alone.central_loss(delta=DELTA).epsilon <= 1


def test_several_questions_compose_and_cost_less_than_their_sum() -> None:
    one, other = shuffled(Response(TEN, sf.Pure(1)), users=5000), shuffled(Response(YES, sf.Pure(2)), users=5000)
    single = one.central_loss(delta=DELTA).epsilon
    assert single <= shuffled_loss(one, delta=DELTA).epsilon < single * Fraction(1005, 1000)
    both = shuffled_loss(one, other, delta=DELTA)
    assert max(single, other.central_loss(delta=DELTA).epsilon) < both.epsilon
    assert both.epsilon < single + Fraction(other.central_loss(delta=DELTA).epsilon)
    assert shuffled_loss(*[one] * 16, delta=DELTA).epsilon < 5 * Fraction(single)
    report = sf.account(ev.Sequence(one.event, other.event), delta=DELTA, relation=Relation.CHANGE_ONE)
    assert report.epsilon == both.epsilon
    near_pure = shuffled(Response(YES, sf.Pure("0.01")), users=1)
    assert shuffled_loss(near_pure, near_pure, delta=Fraction(1, 10**30)).epsilon <= Fraction("0.02")


@pytest.mark.parametrize("users", [1, 50, 20_000, 10**9])
def test_calibrated_protocols_keep_the_central_loss(users: int) -> None:
    limit = sf.Approx("0.3", 1e-8)
    for build in (lambda loss: Response(TEN, loss), lambda loss: UnaryEncoding.optimized(TEN, loss)):
        made: Callable[[sf.Pure], Response | UnaryEncoding] = build
        protocol = calibrated(made, central=limit, users=users)
        assert shuffled(protocol, users=users).central_loss(delta=1e-8).epsilon <= limit.epsilon
        assert protocol.loss.epsilon >= limit.epsilon or users == 1
        if 50 < users < 10**9:
            more = made(sf.Pure(Fraction(protocol.loss.epsilon) * Fraction(1001, 1000)))
            assert shuffled(more, users=users).central_loss(delta=1e-8).epsilon > limit.epsilon


def test_a_calibrated_protocol_may_lose_more_than_any_randomizer_may() -> None:
    limit = sf.Approx("0.3", 1e-8)
    protocol = calibrated(lambda loss: Response(TEN, loss), central=limit, users=20_000)
    assert protocol.loss.epsilon > shuffled(protocol, users=20_000).local_epsilon(limit)
    assert calibrated(lambda loss: Response(TEN, loss), central=limit, users=10**9, most=2).loss == sf.Pure(2)
    fewer = calibrated(lambda loss: Response(TEN, loss), central=limit, users=20_000, honest=5000)
    assert fewer.loss.epsilon < protocol.loss.epsilon


def test_one_of_several_questions_is_priced_by_its_questions() -> None:
    many, few = Response(Values(range(50)), sf.Pure(2)), Response(TEN, sf.Pure(1))
    mixed = shuffled(OneOf((many, few)), users=10_000)
    unknown = ev.Shuffled(mixed.protocol.event, 10_000)
    known = sf.account(mixed.event, delta=DELTA, relation=Relation.CHANGE_ONE).epsilon
    assert known < sf.account(unknown, delta=DELTA, relation=Relation.CHANGE_ONE).epsilon
    assert mixed.central_loss(delta=DELTA).epsilon <= known
    assert from_json(to_json(mixed.event)) == mixed.event
    assert OneOf((few,)).hiding.epsilon0 == few.hiding.epsilon0


HIDING = ev.Hiding.of_response(10, "1/4")
BAD: dict[str, tuple[Callable[[], object], str]] = {
    "no users": (lambda: shuffled(Response(YES, sf.Pure(1)), users=0), "users must be a whole number of at least 1"),
    "nobody honest": (lambda: shuffled(Response(YES, sf.Pure(1)), users=5, honest=0), "honest must be a whole number"),
    "more honest than there are": (
        lambda: shuffled(Response(YES, sf.Pure(1)), users=5, honest=6),
        "honest must be at most the number of users; got 6",
    ),
    "no protocol": (lambda: shuffled(3, users=5), "protocol must be a local protocol"),  # type: ignore[arg-type]
    "no questions": (lambda: shuffled_loss(delta=DELTA), "questions must be one or more"),
    "a protocol for a question": (
        lambda: shuffled_loss(Response(YES, sf.Pure(1)), delta=DELTA),  # type: ignore[arg-type]
        "questions must be one or more of what sf.local.shuffled",
    ),
    "a pure limit": (
        lambda: calibrated(lambda loss: Response(YES, loss), central=sf.Pure(1), users=9),  # type: ignore[arg-type]
        "central must be a loss with a δ",
    ),
    "more honest than are calibrated for": (
        lambda: calibrated(lambda loss: Response(YES, loss), central=sf.Approx(1, DELTA), users=9, honest=10),
        "honest must be at most the number of users",
    ),
    "nothing built": (
        lambda: calibrated(lambda loss: 3, central=sf.Approx(1, DELTA), users=9),  # type: ignore[type-var]
        "protocol must be a local protocol",
    ),
    "no parts": (lambda: ev.HidingOneOf((), ()), "parts must be one or more records"),
    "weights for others": (lambda: ev.HidingOneOf((HIDING,), (1, 2)), "weights must be one for each question"),
    "a part of unknown sets": (
        lambda: ev.HidingAllOf((ev.HidingOneOf((HIDING,), (1,)),)),
        "parts must be records of kind Hiding",
    ),
    "too many kinds": (
        lambda: ev.HidingAllOf(tuple(ev.Hiding.of_bits("1/2", Fraction(1, 3 + place)) for place in range(9))),
        "parts must be of at most 4096 kinds of reports together",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    ask, said = BAD[name]
    with pytest.raises(BadArgument) as refusal:
        ask()
    assert said in str(refusal.value)
