"""Noise that waits for its scale, and losses that are stated as an ε and a δ."""

from __future__ import annotations

from typing import Any

import pytest

import sfumato as sf
from sfumato.accounting.losses.stated import needed_loss, stated_loss
from sfumato.errors import BadArgument, NotChainable, NotNoisable

MEAN = sf.vector(float, size=250) >> sf.clamp(0, 100) >> sf.mean()
SCORES = [71.5, 64.0, 88.0, 93.5, 55.0] * 50


@pytest.mark.parametrize(
    ("noise", "loss"),
    [
        (sf.laplace, sf.Pure("0.3")),
        (sf.laplace, sf.ZCDP("0.1")),
        (sf.gaussian, sf.ZCDP("0.1")),
    ],
)
def test_a_loss_decides_the_scale_as_calibration_does(noise: Any, loss: Any) -> None:
    solved = (MEAN >> noise()).with_loss(loss)
    by_hand = sf.calibrate(lambda scale: MEAN >> noise(scale), d_in=1, loss=loss)
    assert sf.accuracy(solved) == pytest.approx(sf.accuracy(by_hand), rel=1e-6)
    assert solved.check(1, loss) and solved.measure is type(loss)
    less = (MEAN >> noise()).with_loss(loss, d_in=sf.Unit("a team", sf.ChangeOne(), 3))
    assert less.check(3, loss) and not solved.check(3, loss)


def test_gaussian_noise_at_an_epsilon_and_a_delta() -> None:
    solved = (MEAN >> sf.gaussian()).with_loss(epsilon=1, delta="1e-6")
    assert solved.check(1, sf.Approx(1, "1e-6"))
    assert solved.noise is not None
    sigma = float(solved.noise.noise.scale * solved.noise.step) / 0.4  # type: ignore[attr-defined]
    assert sigma == pytest.approx(4.2247, rel=1e-4)  # the least, by the analytic Gaussian mechanism


def test_what_is_solved_is_the_question_that_could_have_been_typed() -> None:
    solved = (MEAN >> sf.laplace()).with_loss(epsilon=1)
    assert solved.plan is not None
    assert solved.plan == (MEAN >> sf.laplace(scale="0.4")).plan
    assert solved(SCORES).loss == sf.Pure(1)


def test_chains_wait_in_every_order() -> None:
    question = sf.clamp(0, 100) >> sf.mean() >> sf.laplace()
    solved = (sf.vector(float, size=250) >> question).with_loss(epsilon=1)
    assert solved.how == (MEAN >> sf.laplace()).with_loss(epsilon=1).how
    rounded = (MEAN >> sf.laplace() >> round).with_loss(epsilon=1)
    assert rounded.how.postprocessing == ("round",)
    assert isinstance(rounded(SCORES).value, int)
    near = (MEAN >> sf.laplace()).with_accuracy(2)
    assert 1.9 < sf.accuracy(near) <= 2
    with pytest.raises(NotNoisable):
        sf.vector(float) >> sf.laplace()
    with pytest.raises(NotChainable, match="a measurement has been made already"):
        MEAN >> sf.laplace() >> sf.laplace(scale=1)  # type: ignore[operator]
    assert "waiting for a loss" in repr(question)


def test_a_session_solves_a_question_for_what_it_is_asked_with() -> None:
    data = sf.Dataset(SCORES, name="scores", space=sf.vector(float, size=250))
    session, question = data.session(epsilon=2, ledger="memory:"), sf.clamp(0, 100) >> sf.mean() >> sf.laplace()
    plan = session.explain(question, epsilon="0.5")
    release = session.run(question, epsilon="0.5")
    assert plan.price == release.loss == sf.Pure("0.5")
    assert session.run(question, epsilon="0.5").value == release.value
    assert session.left == sf.Pure("1.5")
    pairs = sf.Dataset(
        SCORES, name="pairs", space=sf.vector(float, size=250), unit=sf.Unit("a pair", sf.ChangeOne(), 2)
    )
    wider = pairs.session(epsilon=2, ledger="memory:").run(question, epsilon="0.5")
    assert wider.half_width > 1.9 * release.half_width


def test_a_limit_is_an_epsilon_and_perhaps_a_delta() -> None:
    data = sf.Dataset(["a"], name="words", space=sf.vector(str))
    assert data.session(epsilon=3, ledger="memory:").limit == sf.Pure(3)
    session = data.session(epsilon=3, delta="1e-6", ledger="memory:")
    assert session.limit == sf.Approx(3, "1e-6")
    assert session.part("ada", epsilon=1).limit == sf.Pure(1)


@pytest.mark.parametrize(
    ("given", "stated"),
    [
        ((None, None, None), None),
        ((sf.ZCDP(1), None, None), sf.ZCDP(1)),
        ((None, "0.1", None), sf.Pure("0.1")),
        ((None, 1, 0), sf.Pure(1)),
        ((None, 1, "1e-9"), sf.Approx(1, "1e-9")),
    ],
)
def test_a_loss_is_read_once(given: Any, stated: Any) -> None:
    assert stated_loss(*given) == stated


@pytest.mark.parametrize("given", [(sf.Pure(1), 1, None), (None, None, 1e-6), (0.5, None, None), (True, None, None)])
def test_two_losses_and_half_of_one_are_refused(given: Any) -> None:
    with pytest.raises(BadArgument):
        stated_loss(*given)
    with pytest.raises(BadArgument, match="limit must be given"):
        needed_loss(None, None, None, name="limit")


def test_a_limit_is_split_evenly() -> None:
    parts = sf.split(sf.Approx(1, "1e-6"), 3)
    assert len(parts) == 3
    assert parts[0].then(parts[1]).then(parts[2]).within(sf.Approx(1, "1e-6"))
