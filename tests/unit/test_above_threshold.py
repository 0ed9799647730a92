"""Above threshold and sparse vector as state machines, and their bad inputs."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from sfumato.accounting.losses.measures import Pure
from sfumato.core.calibrate import calibrate_parameter
from sfumato.core.domains import Integers, Stream
from sfumato.core.metrics import LInf
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, QueryRefused
from sfumato.mechanisms.above_threshold import above_threshold
from sfumato.mechanisms.sparse_vector import sparse_vector

NUMBERS = Space(Stream(Integers()), LInf())
TENTHS = Space(Stream(Integers(step=Fraction(1, 10))), LInf())
FAR = 10**6


def test_A1_111_query_after_the_hit_is_refused_as_exhausted() -> None:
    watch = (NUMBERS >> above_threshold(0, scale=1))([-FAR, FAR, FAR]).value
    assert isinstance(watch, Queryable)
    assert [watch(), watch()] == [False, True]
    for _ in range(2):
        with pytest.raises(Exhausted, match="all the hits that were paid for"):
            watch()


def test_sparse_vector_gives_its_hits_and_ends() -> None:
    watch = (NUMBERS >> sparse_vector(0, count=2, scale=1))([FAR, -FAR, FAR, FAR]).value
    assert [watch(), watch(), watch()] == [True, False, True]
    with pytest.raises(Exhausted):
        watch()


def test_end_of_the_stream_is_not_the_end_of_the_hits() -> None:
    watch = (NUMBERS >> above_threshold(0, scale=1))([-FAR]).value
    assert watch() is False
    with pytest.raises(Exhausted, match="stream has ended"):
        watch()


def test_refused_queries_change_nothing() -> None:
    def picky(query: object) -> int:
        if query == "no":
            raise QueryRefused("not this one")
        return int(str(query))

    watch = (NUMBERS >> above_threshold(0, scale=1))(picky).value
    with pytest.raises(QueryRefused):
        watch("no")
    assert [watch(-FAR), watch(FAR)] == [False, True]


def test_concurrent_callers_get_no_more_hits_than_paid_for() -> None:
    watch = (NUMBERS >> sparse_vector(0, count=3, scale=1))(lambda _: FAR).value

    def ask(_: int) -> bool:
        try:
            return bool(watch())
        except Exhausted:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(200))) == 3


def test_loss_and_steps_scale_together() -> None:
    coarse, fine = NUMBERS >> above_threshold(4, scale=1), TENTHS >> above_threshold(4, scale=1)
    assert coarse.map(1) == fine.map(1) == Pure(2)
    assert fine.map("0.1") == Pure("0.2")
    assert coarse.map(0) == Pure(0)
    assert coarse.map(math.inf) == Pure(math.inf)


def test_scales_are_set_apart() -> None:
    measurement = NUMBERS >> sparse_vector(0, count=5, scale=2, query_scale=40)
    assert measurement.map(3) == Pure(Fraction(3, 2) + Fraction(2 * 5 * 3, 40))
    default = NUMBERS >> sparse_vector(0, count=5, scale=2)
    assert default.map(1) == Pure(1)


def test_calibration_finds_the_scale() -> None:
    assert calibrate_parameter(lambda s: NUMBERS >> above_threshold(0, scale=s), d_in=1, loss=Pure("0.5")) == 4


def test_release_says_how_it_was_made_and_that_replays_are_not_private() -> None:
    release = (NUMBERS >> above_threshold(4, scale=1))([1, 2], entropy=ReplayEntropy(1))
    assert release.replayable
    assert release.loss == Pure(2)
    assert str(release.how) == "above threshold(threshold 4, scale 1, query scale 2, hits 1)"
    assert release.how.proofs == ("proofs/sparse_vector.md#map",)
    assert "Queryable(…)" in str(release)


def test_answers_can_be_post_processed() -> None:
    watch = (NUMBERS >> above_threshold(0, scale=1) >> (lambda hit: "high" if hit else "low"))([-FAR, FAR]).value
    assert [watch(), watch()] == ["low", "high"]


def test_same_bits_same_answers() -> None:
    measurement = NUMBERS >> above_threshold(4, scale=3)

    def run() -> list[bool]:
        watch = measurement(lambda _: 3, entropy=ReplayEntropy(7)).value
        answers = [watch()]
        while not answers[-1]:
            answers.append(watch())
        return answers

    assert run() == run()


@pytest.mark.parametrize(
    "parameters",
    [
        {"threshold": math.nan, "scale": 1},
        {"threshold": math.inf, "scale": 1},
        {"threshold": "many", "scale": 1},
        {"threshold": 1, "scale": 0},
        {"threshold": 1, "scale": -1},
        {"threshold": 1, "scale": math.nan},
        {"threshold": 1, "scale": 1, "query_scale": 0},
    ],
)
def test_bad_parameters(parameters: dict[str, object]) -> None:
    with pytest.raises(BadArgument):
        above_threshold(**parameters)


@pytest.mark.parametrize("count", [0, -1, 1.0, True])
def test_bad_counts(count: object) -> None:
    with pytest.raises(BadArgument):
        sparse_vector(1, count=count, scale=1)


def test_law_needs_a_listed_stream() -> None:
    with pytest.raises(BadArgument, match="a list of numbers"):
        (NUMBERS >> above_threshold(1, scale=1)).law(lambda query: 1)
