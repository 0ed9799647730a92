"""Wherever a loss is named, ``epsilon=`` may stand for it, and means the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import sfumato as sf

ASKED: dict[str, Callable[..., Any]] = {
    "frequencies": lambda **paid: sf.local.frequencies(["yes", "no"], users=100, **paid),
    "candidates": lambda **paid: sf.local.candidates(range(3), users=100, **paid),
    "why": lambda **paid: sf.local.why(range(3), users=100, **paid),
    "compare": lambda **paid: str(sf.local.compare(sizes=[2, 3], users=100, **paid)),
    "least_error": lambda **paid: sf.local.least_error(5, users=100, **paid),
    "mean": lambda **paid: sf.local.mean(between=(0, 1), users=100, **paid),
    "mean_candidates": lambda **paid: sf.local.mean_candidates(between=(0, 1), users=100, **paid),
    "why_mean": lambda **paid: sf.local.why_mean(between=(0, 1), users=100, **paid),
    "distribution": lambda **paid: sf.local.distribution(between=(0, 1), users=100, **paid),
    "ranges": lambda **paid: sf.local.ranges(range(8), users=100, how=2, **paid),
    "range_plans": lambda **paid: sf.local.range_plans(range(8), users=100, **paid),
    "attributes": lambda **paid: sf.local.attributes({"a": range(2), "b": range(3)}, users=100, **paid),
    "attribute_plans": lambda **paid: sf.local.attribute_plans({"a": range(2), "b": range(3)}, users=100, **paid),
    "joint": lambda **paid: sf.local.joint({"a": range(2), "b": range(3)}, users=100, **paid),
    "joint_plans": lambda **paid: sf.local.joint_plans({"a": range(2), "b": range(3)}, users=100, **paid),
    "vectors": lambda **paid: sf.local.vectors(3, radius=1, users=1000, key=1, **paid),
    "tracked": lambda **paid: sf.local.tracked(steps=9, changes=1, **paid),
    "windowed": lambda **paid: sf.local.windowed(["a", "b"], turns=3, users=100, **paid),
    "heavy_hitters": lambda **paid: sf.local.heavy_hitters(bits=32, users=10**6, key="example", **paid),
    "heavy_hitter_rounds": lambda **paid: sf.local.heavy_hitter_rounds(bits=32, users=10**6, **paid),
    "itemsets": lambda **paid: sf.local.itemsets(["a", "b"], most=2, users=100, **paid),
    "key_values": lambda **paid: sf.local.key_values(["a", "b"], between=(0, 1), most=1, **paid),
}


@pytest.mark.parametrize("name", ASKED)
def test_an_epsilon_stands_for_the_loss_of_reports_on_devices(name: str) -> None:
    ask = ASKED[name]
    assert ask(epsilon=1) == ask(loss=sf.Pure(1)) == ask(loss=1)
    with pytest.raises(sf.errors.BadArgument, match=r"loss must be given: epsilon=0\.5"):
        ask()
    with pytest.raises(sf.errors.BadArgument, match="loss and epsilon must be one of them"):
        ask(loss=sf.Pure(1), epsilon=1)


def test_all_that_local_privacy_takes_a_named_loss_for_is_asked_here() -> None:
    public = [name for name in dir(sf.local) if not name.startswith("_")]
    functions = {name: getattr(sf.local, name) for name in public if inspect.isfunction(getattr(sf.local, name))}
    named = {
        name
        for name, function in functions.items()
        if (own := inspect.signature(function).parameters.get("loss")) is not None and own.kind is own.KEYWORD_ONLY
    }
    assert named - {"places"} == set(ASKED)  # whose epsilon is for each metre: no loss of a report


def test_an_epsilon_stands_for_the_loss_of_a_template_and_of_advice() -> None:
    rows = {"id": list(range(60)), "work": ["a", "b", "c"] * 20}
    data = sf.Dataset(rows, name="people", unit="id", categories={"work": ["a", "b", "c"]})
    session = data.session(epsilon=2, delta=1e-6, ledger="memory:")
    top = sf.templates.TopList("people", "work", most=2, bounds={"max_rows": 1})
    assert [str(plan.price) for plan in top.explain(session, epsilon=1).values()] == ["ε = 1"]
    assert top.release(session, epsilon=1).loss == top.release(session, loss=sf.Pure(1)).loss
    assert session.spent == sf.Approx(1, 0)
    with pytest.raises(sf.errors.BadArgument, match="loss must be given"):
        top.release(session)
    columns = {"sex": 2, "age": 9}
    by_loss = sf.synth.advise(columns, rows=9_000, loss=sf.Approx(1, 1e-6))
    assert sf.synth.advise(columns, rows=9_000, epsilon=1, delta=1e-6).noise == by_loss.noise is not None


def test_an_epsilon_stands_for_the_limit_of_plans_over_time() -> None:
    book, asked = sf.datasets.visits().codebook, ["SELECT COUNT(DISTINCT user_id) AS people FROM visits"]
    by_epsilon = sf.planning.plan_over_time(book, asked, epsilon=1, period="month")
    assert str(by_epsilon) == str(sf.planning.plan_over_time(book, asked, limit=sf.Pure(1), period="month"))
    with pytest.raises(sf.errors.BadArgument, match="limit must be given"):
        sf.planning.plan_over_time(book, asked, period="month")
