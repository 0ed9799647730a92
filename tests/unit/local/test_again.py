"""Asked again and again: estimates that cover, candidate texts, steps of time, losses as events, and bad input."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import sfumato as sf
from sfumato import local
from sfumato.accounting.compose import total
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import (
    BitsAgain,
    DBitFlip,
    LocalHashing,
    Memoised,
    NumberAgain,
    Rappor,
    Response,
    Tracked,
    UnaryEncoding,
    Values,
    Windowed,
    device,
)
from sfumato.local.reports import Rejected

YES = Values(["yes", "no"])
PEOPLE = 20_000


def covered(estimate: Any, truth: Any) -> float:
    """The share of counts that lie in their intervals of 95 %."""
    low, high = estimate.interval()
    return float(np.mean((low <= truth) & (truth <= high)))


PROTOCOLS: dict[str, local.LastingProtocol[Any]] = {
    "response": local.memoised(Response(Values(range(20)), sf.Pure(4)), report=2),
    "bits": local.memoised(UnaryEncoding.optimized(Values(range(20)), sf.Pure(3)), report=1),
    "hashing": local.loloha(range(20), lifetime=3, report=1),
    "two buckets": local.loloha(range(20), lifetime=3, report=1, buckets=2),
    "windows": local.dbitflip(range(20), bits=4, lifetime=2),
    "windows, anew": local.dbitflip(range(20), bits=4, lifetime=2, report=1),
}


@pytest.mark.parametrize("name", PROTOCOLS)
def test_intervals_cover_the_truth(name: str) -> None:
    """About 95 % of 600 counts: fewer than 90 % or more than 99 % would not be 95 %."""
    protocol, source = PROTOCOLS[name], ReplayEntropy(4)
    values = np.minimum(np.random.default_rng(2).geometric(0.2, PEOPLE) - 1, 19)
    truth = np.bincount(values, minlength=20)
    estimates = [protocol.aggregate(protocol.randomize_many(values, entropy=source)) for _ in range(30)]
    assert 0.90 < np.mean([covered(one, truth) for one in estimates]) < 0.99
    off = np.mean([one.counts - truth for one in estimates], axis=0) / estimates[0].deviations * math.sqrt(30)
    assert np.abs(off).max() < 5


def test_messages_of_one_permanent_report_are_drawn_anew() -> None:
    protocol = PROTOCOLS["bits"]
    permanent = protocol.remember(np.arange(20).repeat(50), entropy=ReplayEntropy(1))
    first, second = (protocol.repeat(permanent, entropy=ReplayEntropy(seed)) for seed in (2, 3))
    assert not np.array_equal(first.bits, second.bits)
    assert protocol.aggregate(first).users == 1000
    with pytest.raises(BadArgument, match="remember"):
        PROTOCOLS["response"].repeat(permanent)
    with pytest.raises(BadArgument, match="same"):
        protocol.tally(permanent)


def test_the_loss_of_a_message_is_the_one_that_was_asked_for() -> None:
    for name, asked in (("response", 2), ("bits", 1), ("hashing", 1), ("windows, anew", 1)):
        epsilon = PROTOCOLS[name].loss.epsilon
        assert Fraction(asked) * (1 - Fraction(1, 10**12)) <= epsilon <= asked
    rappor = local.rappor(lifetime=4, report=1)
    assert Fraction(1) - Fraction(1, 10**12) <= rappor.loss.epsilon <= 1
    assert rappor.permanent_loss.epsilon <= 4


def test_losses_are_events_of_the_accountant() -> None:
    protocol = PROTOCOLS["hashing"]
    assert total(protocol.lifetime_event(values=2), sf.Pure) == protocol.lifetime_loss(values=2) == sf.Pure(6)
    assert total(protocol.event, sf.Pure) == protocol.loss
    weekly = local.windowed(range(5), turns=7, loss=1, users=100)
    assert total(weekly.window_event(steps=365), sf.Pure) == weekly.window_loss(steps=365) == sf.Pure(53)
    assert weekly.window_loss(steps=0) == sf.Pure(0)


def test_the_best_number_of_buckets_has_the_least_error() -> None:
    best = local.loloha(range(100), lifetime=4, report=3)
    others = [local.loloha(range(100), lifetime=4, report=3, buckets=buckets) for buckets in (2, 3, 4, 5, 7, 8, 16)]
    assert best.mean_squared_error(users=1) <= min(one.mean_squared_error(users=1) for one in others)
    assert best.options is not None and best.options > 2


TEXTS = [f"site{number}.example" for number in range(40)]


def visits(people: int = 60_000) -> list[str]:
    return [TEXTS[place] for place in np.minimum(np.random.default_rng(5).geometric(0.25, people) - 1, 39)]


def test_texts_are_found_and_counted() -> None:
    texts = visits()
    protocol = local.rappor(lifetime=6, report=3, bits=64, cohorts=16)
    estimate = protocol.aggregate(protocol.randomize_many(texts, entropy=ReplayEntropy(1)))
    nobodys = [f"nobody{number}" for number in range(60)]
    told = estimate.decode([*TEXTS[:30], *nobodys])
    truth = np.array([texts.count(text) for text in told.texts])
    assert np.abs((told.counts - truth) / told.deviations).max() < 5
    found = told.found()
    assert [text for text, _ in found][:3] == TEXTS[:3]
    assert not {text for text, _ in found} & set(nobodys)
    assert (told.plausible >= 0).all() and np.abs(told.plausible - truth).max() < 6 * told.deviations.max()
    assert covered(told, truth) > 0.85
    assert "found" in str(told) and told.users == len(texts)


def test_intervals_of_texts_cover() -> None:
    texts = visits(4000)
    protocol = local.rappor(lifetime=8, report=5, bits=32, cohorts=8)
    truth = np.array([texts.count(text) for text in TEXTS])
    source, shares, offs = ReplayEntropy(9), [], []
    for _ in range(40):
        told = protocol.aggregate(protocol.randomize_many(texts, entropy=source)).decode(TEXTS)
        shares.append(covered(told, truth))
        offs.append((told.counts - truth) / np.sqrt(told.variance({text: texts.count(text) for text in TEXTS})))
    assert 0.92 < np.mean(shares) < 0.98
    assert 0.9 < np.std(offs) < 1.1, "the exact variance is the one that is seen"


def test_many_candidates_are_screened() -> None:
    protocol = local.rappor(lifetime=6, report=4, bits=64, cohorts=8)
    estimate = protocol.aggregate(protocol.randomize_many(visits(), entropy=ReplayEntropy(2)))
    candidates = [*TEXTS, *(f"nobody{number}" for number in range(600))]
    with pytest.raises(BadArgument, match=r"screen\(\)"):
        estimate.decode(candidates)
    kept = estimate.screen(candidates)
    assert set(TEXTS[:4]) <= set(kept) and len(kept) < 40
    assert [text for text, _ in estimate.decode(kept).found()][:2] == TEXTS[:2]
    assert estimate.screen(candidates, most=1) == TEXTS[:1]


def test_bits_of_cohorts_are_unbiased() -> None:
    texts = visits(30_000)
    protocol = local.rappor(lifetime=5, bits=16, hashes=2, cohorts=2)
    reports = protocol.randomize_many(texts, entropy=ReplayEntropy(3))
    estimate = protocol.aggregate(reports)
    filled = {(text, cohort): set(protocol.filled(text, cohort)) for text in TEXTS for cohort in range(2)}
    truth = np.zeros((2, 16))
    for text in TEXTS:
        for cohort in range(2):
            truth[cohort, list(filled[text, cohort])] += texts.count(text) / 2
    spread = np.hypot(estimate.bit_deviations, math.sqrt(30_000) / 2)
    assert np.abs((estimate.bits - truth) / spread).max() < 5


def test_both_stages_of_rappor_hash_as_devices_do() -> None:
    protocol = Rappor(1 << 10, 3, 8, 3 << 51, key="schlüssel")
    for text in ("", "hello", "grün", "\U0001f600", '"\\\n\x00\x7f'):
        for cohort in (0, 7):
            rows = range(3 * cohort, 3 * cohort + 3)
            assert protocol.filled(text, cohort) == [
                device.text_bucket("schlüssel", row, text, 1 << 10) for row in rows
            ]


def test_steps_are_estimated_from_those_whose_turn_it_is() -> None:
    protocol, source = local.windowed(["on", "off"], turns=4, loss=2, users=40_000), ReplayEntropy(6)
    turns = protocol.draw_turns(40_000, entropy=source)
    assert np.bincount(turns).min() > 9500
    for step, share in ((9, 0.2), (10, 0.7)):
        asked = int(np.sum(turns == step % 4))
        values = ["on"] * round(share * asked) + ["off"] * (asked - round(share * asked))
        reports = protocol.randomize_many([step, values], entropy=source)
        estimate = protocol.in_step(reports, step=step)
        assert estimate.users == asked and abs(estimate.shares[0] - share) < 6 * estimate.deviations[0] / asked
        late = protocol.in_step(reports.messages(), step=step + 1)
        assert late.users == 0 and late.rejected == Rejected(invalid=asked)


def test_tracked_counts_follow_people_who_change() -> None:
    protocol, rng = local.tracked(steps=13, changes=2, loss=2), np.random.default_rng(1)
    rows = np.arange(16)[None, :]
    begins, ends = rng.integers(0, 20, (PEOPLE, 1)), rng.integers(0, 20, (PEOPLE, 1))
    histories = ((rows >= begins) & (rows < ends)).astype(int)
    assert protocol.steps == 16
    source, shares, offs = ReplayEntropy(2), [], []
    for _ in range(40):
        estimate = protocol.aggregate(protocol.randomize_many(histories, entropy=source))
        shares.append(covered(estimate, histories.sum(axis=0)))
        offs.append((estimate.counts - histories.sum(axis=0)) / estimate.deviations)
    assert 0.92 < np.mean(shares) < 0.98 and 0.9 < np.std(offs) < 1.1
    early = protocol.so_far(protocol.tally(protocol.randomize_many(histories[:, :5], entropy=source)), steps=5)
    assert list(early.labels) == [1, 2, 3, 4, 5]
    assert np.abs(early.counts - histories.sum(axis=0)[:5]).max() < 6 * early.deviations.max()


def test_nobody_and_one_person() -> None:
    for protocol in PROTOCOLS.values():
        nobody = protocol.aggregate([])
        assert nobody.users == 0 and np.isnan(nobody.shares).all() and not nobody.counts.any()
        assert protocol.aggregate([protocol.randomize(3)]).users == 1
    tracked = local.tracked(steps=4, changes=1, loss=1)
    assert np.isnan(tracked.aggregate([]).shares).all()
    assert local.rappor(lifetime=2).aggregate([]).bits.sum() == 0
    assert local.windowed(range(3), turns=2, loss=1, users=1).in_step([], step=1).users == 0


def test_counts_are_shown() -> None:
    estimate = PROTOCOLS["windows"].aggregate(PROTOCOLS["windows"].randomize_many([1] * 5000, entropy=ReplayEntropy(1)))
    assert estimate.top(1)[0][0] == 1 and str(estimate).startswith("20 counts of 5000 people")
    assert estimate.rows()[1]["low"] <= 5000 <= estimate.rows()[1]["high"] + 1
    with pytest.raises(BadArgument, match="confidence"):
        estimate.interval(1)


BAD: dict[str, tuple[Any, str]] = {
    "report above lifetime": (lambda: local.memoised(Response(YES, sf.Pure(1)), report=2), "less than the loss of a"),
    "report as lifetime": (lambda: local.loloha(range(9), lifetime=1, report=1), "less than the loss of a lifetime"),
    "no loss": (lambda: local.loloha(range(9), lifetime=1, report=0), "above 0"),
    "endless loss": (lambda: local.rappor(lifetime=math.inf), "finite"),
    "not a number": (lambda: local.rappor(lifetime=math.nan), "finite"),
    "a δ": (lambda: local.tracked(steps=4, changes=1, loss=sf.Approx(1, 1e-6)), "pure loss"),  # type: ignore[arg-type]
    "tiny report": (lambda: local.memoised(Response(YES, sf.Pure(1)), report="1e-17"), "at least 1e-9"),
    "no permanent protocol": (lambda: local.memoised("response"), "a Response, a UnaryEncoding or a LocalHashing"),  # type: ignore[arg-type]
    "wrong stage": (lambda: Memoised(Response(YES, sf.Pure(1)), BitsAgain(3 << 51, 1)), "a NumberAgain that fits"),
    "wrong options": (lambda: Memoised(Response(YES, sf.Pure(1)), NumberAgain(3, 1)), "a NumberAgain that fits"),
    "coins the wrong way": (lambda: BitsAgain(1, 2), "0 < lie < truth"),
    "certain coins": (lambda: BitsAgain(1 << 53, 1), "at most"),
    "one value": (lambda: local.dbitflip([1], bits=1, lifetime=1), "at least two"),
    "too many bits": (lambda: local.dbitflip(range(3), bits=4, lifetime=1), "at most the number of values"),
    "no bits": (lambda: local.dbitflip(range(3), bits=0, lifetime=1), "bits"),
    "fair bits": (lambda: DBitFlip(YES, 1, 1 << 52), "between"),
    "uneven coins": (lambda: DBitFlip(YES, 1, 3 << 51, BitsAgain(3 << 51, 1)), "add up to 1"),
    "filter of 3": (lambda: local.rappor(lifetime=1, bits=3), "a power of 2"),
    "3 cohorts": (lambda: local.rappor(lifetime=1, cohorts=3), "a power of 2"),
    "more hashes than bits": (lambda: local.rappor(lifetime=1, bits=2, hashes=3), "at most the number of bits"),
    "too large": (lambda: local.rappor(lifetime=1, bits=1 << 14, cohorts=1 << 14), "at most"),
    "f of 0": (lambda: Rappor.published(f=0), "greater than 0"),
    "p alone": (lambda: Rappor.published(f="0.5", p="0.5"), "both, or neither"),
    "a number": (lambda: local.rappor(lifetime=1).randomize(7), "a text of at most 256 letters"),
    "a long text": (lambda: local.rappor(lifetime=1).randomize("x" * 257), "a text of at most 256 letters"),
    "a list": (lambda: local.rappor(lifetime=1).randomize_many([["x"]]), "a text of at most 256 letters"),
    "candidates twice": (lambda: local.rappor(lifetime=1).aggregate([]).decode(["a", "a"]), "different texts"),
    "a text of candidates": (lambda: local.rappor(lifetime=1).aggregate([]).decode("ab"), "different texts"),
    "outside": (lambda: PROTOCOLS["windows"].randomize(20), "one of the listed values"),
    "no step": (lambda: local.windowed(YES.listed, turns=2, loss=1, users=9).randomize("yes"), "a pair"),
    "steps of others": (
        lambda: local.windowed(YES.listed, turns=2, loss=1, users=9).randomize_many([[1, 2], ["yes"]]),
        "for all or for each person",
    ),
    "no turns": (lambda: Windowed(Response(YES, sf.Pure(1)), 0), "turns"),
    "no protocol": (lambda: Windowed("protocol", 2), "a local protocol"),  # type: ignore[arg-type]
    "three steps": (lambda: Tracked(3, 1, sf.Pure(1)), "a power of 2"),
    "no changes": (lambda: Tracked(4, 0, sf.Pure(1)), "changes"),
    "more changes than steps": (lambda: Tracked(4, 5, sf.Pure(1)), "at most one for each step"),
    "half a yes": (lambda: Tracked(4, 1, sf.Pure(1)).randomize([0, 0.5]), "a history"),
    "no history": (lambda: Tracked(4, 1, sf.Pure(1)).randomize([]), "a history"),
    "uneven histories": (lambda: Tracked(4, 1, sf.Pure(1)).randomize_many([[0.5]]), "all as long"),
    "histories of 2": (lambda: Tracked(4, 1, sf.Pure(1)).randomize_many([[2]]), "all as long"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused(name: str) -> None:
    act, says = BAD[name]
    with pytest.raises(BadArgument, match=says):
        act()


def test_a_hash_function_is_drawn_once_for_all_values() -> None:
    protocol = Memoised(LocalHashing(Values(range(100)), sf.Pure(2), 4))
    assert protocol.most_values == 4 and protocol.lifetime_loss(values=100) == sf.Pure(8)
    assert protocol.permanent_recipe()["kind"] == "settled"
