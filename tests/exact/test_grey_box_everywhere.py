"""The grey-box audit over everything that adds noise: mechanisms, estimators, and questions in SQL on nasty data."""

from __future__ import annotations

import datetime as dt
import math
import typing
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.examples.frame_and_sql import PAIRS
from tests.examples.measurements import EXAMPLES, INTERACTIVE, Example
from tests.examples.visits import CATALOG, SAID
from tests.examples.visits import COLUMNS as VISITS

import sfumato as sf
from sfumato.audit.brute_force import neighbours
from sfumato.audit.grey_box import grey_box
from sfumato.audit.grey_box_queries import Audited, audit_question, open_for_audit
from sfumato.audit.record import Audit, Verdict
from sfumato.audit.recorder import Recorder
from sfumato.core.partial import Partial
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, Exhausted, QueryRefused
from sfumato.query.build.settings import Settings
from sfumato.query.engines.duckdb.engine import DuckDBEngine
from sfumato.query.plan.compile import compile_question
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Bound, Cells, Computed
from sfumato.query.plan.sensitivity import Influence, influence
from sfumato.session.dataset import Dataset

HOLDS = (Verdict.TIGHT, Verdict.SOUND)
MOST_PAIRS = 30


def listened(made: sf.Measurement) -> Callable[[Any, sf.entropy.Entropy], Any]:
    """Gives a function that runs a measurement, and asks a queryable until it ends."""

    def run(data: Any, entropy: sf.entropy.Entropy) -> Any:
        outcome, told = made.function(data, entropy), []
        if not made.interactive:
            return outcome
        try:
            while True:
                told.append(outcome())
        except Exhausted:
            return told

    return run


def pairs(example: Example, made: sf.Measurement) -> Iterator[tuple[Any, Any]]:
    """Gives neighbours among the members; of very many, some that lie evenly among them."""
    listed = list(neighbours(made.source, example.members, d_in=made.source.closest))
    return islice(listed, 0, None, -(-len(listed) // MOST_PAIRS))


every = pytest.mark.parametrize("example", EXAMPLES, ids=[f"{k}-{e.name}" for k, e in enumerate(EXAMPLES)])


@every
def test_every_mechanism_keeps_its_promise(example: Example) -> None:
    made = example.build()
    for seed, (left, right) in enumerate(pairs(example, made)):
        claim = made.map(made.source.distance(left, right))
        found = grey_box(listened(made), left, right, claim=claim, entropy=ReplayEntropy(seed))
        assert found.verdict in HOLDS, str(found)


@every
def test_every_mechanism_is_seen(example: Example) -> None:
    """A new mechanism cannot forget to say what it randomizes: nothing is drawn outside of an act."""
    recorder = Recorder(ReplayEntropy(3))
    listened(example.build())(list(example.members)[-1], recorder)
    assert recorder.record.steps and not recorder.record.coins


# Estimators

numbers = [k / 2 for k in range(40)] + [-0.0, 5e-324, 2.0**53 + 1, 1e308]
wholes = [*range(40), 2**53 + 1, -(2**63)]
words = ["a"] * 30 + ["b"] * 20 + ["c", "", "x" * 10_000]
points = np.array([[float(k % 7), float(k % 5)] for k in range(30)])
places = {"town": ["a", "b", "a"] * 5, "age": ["y", "o", "o"] * 5}
increments = [1, 0, 2**62, -(2**53) - 1, 5, 6, 7, 2**62]
vectors = [[1, 0], [2**62, -(2**53) - 1], [5, 6], [7, 2**62]]
floats, ints, texts = sf.vector(float), sf.vector(int), sf.vector(str)
known, eight = sf.vector(int, size=8, between=(0, 9)), [0, 3, 4, 4, 5, 5, 6, 9]
plane, totals = sf.matrix(2, between=(0, 10)), sf.vector(int, size=8, metric=sf.L1())
steps = sf.stats.step_vectors(2)
towns = sf.frame({"town": ["a", "b"], "age": ["y", "o"]})
levels = [["town"], ["town", "age"]]
few, many, scales = [0.2, 0.5, 0.8], [k / 20 for k in range(1, 20)], [0, 1, 2, 4, 8]
ONE, RHO, BOTH = sf.Pure(1), sf.ZCDP("0.5"), sf.Approx(1, "1e-6")

ESTIMATORS: list[tuple[str, Callable[[], sf.Measurement], Any]] = [
    ("quantiles", lambda: floats >> sf.stats.quantiles(few, loss=ONE, between=(0, 20)), numbers),
    ("quantiles", lambda: floats >> sf.stats.quantiles(many, loss=ONE, between=(0, 20)), numbers),
    ("quantiles", lambda: floats >> sf.stats.quantiles(few, loss=RHO, between=(0, 20)), numbers),
    ("bounds_by_quantiles", lambda: floats >> sf.stats.bounds_by_quantiles(loss=ONE, between=(0, 20)), numbers),
    ("bounds_by_histogram", lambda: floats >> sf.stats.bounds_by_histogram(scale=3), numbers),
    ("bounds_by_histogram", lambda: ints >> sf.stats.bounds_by_histogram(scale=3, measure=sf.ZCDP), wholes),
    ("mean_without_bounds", lambda: floats >> sf.stats.mean_without_bounds(loss=ONE), numbers),
    ("mean_without_bounds", lambda: floats >> sf.stats.mean_without_bounds(loss=RHO), numbers),
    ("trimmed_mean", lambda: known >> sf.stats.trimmed_mean("0.25", loss=ONE), eight),
    ("smooth_median", lambda: known >> sf.stats.smooth_median(loss=ONE), eight),
    ("tree", lambda: ints >> sf.stats.tree(range(33), loss=ONE), wholes),
    ("tree", lambda: floats >> sf.stats.tree(scales, loss=RHO), numbers),
    ("tree", lambda: floats >> sf.stats.tree(range(33), loss=RHO, branching=4), numbers),
    ("hierarchical_counts", lambda: towns >> sf.stats.hierarchical_counts(levels, loss=ONE), places),
    ("hierarchical_counts", lambda: towns >> sf.stats.hierarchical_counts(levels, loss=RHO), places),
    ("histogram", lambda: texts >> sf.stats.histogram(loss=BOTH), words),
    ("select_keys", lambda: texts >> sf.stats.select_keys(loss=BOTH), words),
    ("top_keys", lambda: texts >> sf.stats.top_keys(2, keys=["a", "b", "c"], temperature=4), words),
    ("running_counts", lambda: totals >> sf.stats.running_counts(loss=ONE, method="tree"), increments),
    ("running_counts", lambda: totals >> sf.stats.running_counts(loss=RHO, method="square root"), increments),
    (
        "correlated_noise",
        lambda: steps >> sf.stats.correlated_noise(loss=RHO, strategy=sf.events.SquareRoot(4)),
        vectors,
    ),
    ("k_means", lambda: plane >> sf.stats.k_means(2, loss=ONE), points),
    ("k_means", lambda: plane >> sf.stats.k_means(2, loss=RHO), points),
    ("scored_k_means", lambda: plane >> sf.stats.scored_k_means([2, 3], loss=ONE), points),
]

estimators = pytest.mark.parametrize(
    ("build", "data"),
    [(build, data) for _, build, data in ESTIMATORS],
    ids=[f"{place}-{name}" for place, (name, _, _) in enumerate(ESTIMATORS)],
)


def neighbour(data: Any, place: int) -> Any:
    """Leaves out one row; where their number is public one is changed: of increments, by 1."""
    if data is increments:
        return [*data[:place], data[place] - 1, *data[place + 1 :]]
    if data is eight:
        return [*data[:place], 9 - data[place], *data[place + 1 :]]
    if data is vectors:
        return [*data[:place], [data[place][0] - 1, data[place][1]], *data[place + 1 :]]
    if isinstance(data, dict):
        return {name: neighbour(column, place) for name, column in data.items()}
    return np.delete(data, place, axis=0) if isinstance(data, np.ndarray) else [*data[:place], *data[place + 1 :]]


@estimators
def test_every_estimator_keeps_its_promise(build: Callable[[], sf.Measurement], data: Any) -> None:
    made, many_rows = build(), len(data["town"]) if isinstance(data, dict) else len(data)
    run, claim = (listened(made), made.map(1)) if made.interactive else (made, None)
    for seed, place in enumerate((0, many_rows // 2, many_rows - 1)):
        pair = (data, neighbour(data, place))
        found = grey_box(run, *(pair if seed % 2 else pair[::-1]), claim=claim, entropy=ReplayEntropy(seed))
        assert found.verdict in HOLDS, str(found)


@estimators
def test_every_estimator_is_seen(build: Callable[[], sf.Measurement], data: Any) -> None:
    """Only where to start looking for clusters is drawn outside of an act: public coins."""
    recorder, made = Recorder(ReplayEntropy(3)), build()
    (listened(made) if made.interactive else made.function)(data, recorder)
    assert recorder.record.steps and (not recorder.record.coins or made.source is plane)


def test_every_estimator_has_an_example() -> None:
    made = {sf.Measurement, Partial[sf.Measurement]}
    exported = [name for name in sf.stats.__all__ if callable(getattr(sf.stats, name))]
    hints = {name: typing.get_type_hints(getattr(sf.stats, name)).get("return") for name in exported}
    assert {name for name, hint in hints.items() if hint in made} == {name for name, _, _ in ESTIMATORS}


def test_direct_calls_keep_their_promise() -> None:
    vouched = sf.claim("for this test")
    calls: list[tuple[Callable[[Any, sf.entropy.Entropy], Any], sf.Loss]] = [
        (
            lambda d, e: (
                sf.textbook.laplace_mechanism(d, sum, epsilon=1, sensitivity=9, claim=vouched, entropy=e).value
            ),
            ONE,
        ),
        (
            lambda d, e: (
                sf.textbook.gaussian_mechanism(
                    d, sum, epsilon=1, delta="1e-6", sensitivity=9, claim=vouched, entropy=e
                ).value
            ),
            BOTH,
        ),
    ]
    for run, claim in calls:
        assert grey_box(run, [1, 9], [1], claim=claim, entropy=ReplayEntropy(1)).verdict in HOLDS
        assert grey_box(run, [1, 90], [1], claim=claim, entropy=ReplayEntropy(1)).verdict is Verdict.VIOLATED


# Questions

COLUMNS = {
    "user_id": pa.string(),
    "day": pa.date32(),
    "at": pa.timestamp("us"),
    "site": pa.string(),
    "minutes": pa.float64(),
    "pages": pa.int64(),
    "paid": pa.bool_(),
    "note": pa.string(),
    "wait": pa.float64(),
}
first, last, usual = dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(2024, 2, 29)
dawn, dusk = dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59)
NASTY: list[tuple[Any, ...]] = [
    ("odd", first, None, "north", math.nan, 0, None, "x" * 100_000, math.nan),
    ("odd", last, dawn, "south", math.inf, 9, True, "\0", -math.inf),
    ("odd", usual, dusk, "elsewhere", -0.0, -(2**63), False, "é", -0.0),
    ("odd", usual, None, None, None, 2**63 - 1, None, None, 1e308),
    ("odd", usual, None, "", 2.0**53 + 1, 10, True, "", 2.0**53 + 1),
    ("odd", usual, None, "north", 1e-320, -1, True, "\U0010ffff", -1e308),
]
USUAL = [
    (
        f"u{k % 4}",
        dt.date(2024, 1 + k, 3),
        None,
        ("north", "south")[k % 2],
        k * 7.5,
        k % 10,
        k % 3 == 0,
        f"n{k % 3}",
        1.0,
    )
    for k in range(12)
]
ACCOUNTS = [("u0", 30, "x"), ("u1", -5, "y"), ("odd", 2**62, "lonely"), ("odd", 40, "x"), ("u7", 1, None)]


def table_of(rows: list[tuple[Any, ...]]) -> pa.Table:
    """Gives visits as a table."""
    return pa.table({name: pa.array([row[k] for row in rows], t) for k, (name, t) in enumerate(COLUMNS.items())})


@cache
def database(*gone: str | None, engine: str | None = None) -> Audited:
    """Opens the tables without the rows of some people."""
    visits, accounts = ([row for row in rows if row[0] not in gone] for rows in ([*USUAL, *NASTY], ACCOUNTS))
    kinds = {"user_id": pa.string(), "age": pa.int64(), "home": pa.string()}
    tables = {
        "visits": table_of(visits),
        "accounts": pa.table({n: pa.array([r[k] for r in accounts], t) for k, (n, t) in enumerate(kinds.items())}),
        "sites": pa.table({"site": ["north", "south"], "region": ["a", "b"], "size": [5, 2]}),
    }
    return open_for_audit(tables, CATALOG.codebook, engine)


def on_both(
    question: Any, left: Audited, right: Audited, *, d_in: Any = None, entropy: Any = None, **settings: Any
) -> Audit:
    """Audits a question on two databases that are opened once for many."""
    return audit_question(question, left, right, (), d_in, entropy, Settings.read(**settings))


ALONE = [
    "SELECT SUM(minutes) AS s FROM visits",
    "SELECT SUM(pages) AS s, AVG(pages) AS m, COUNT(*) AS n FROM visits",
    "SELECT SUM(CLAMP(wait, -10, 10)) AS s FROM visits",
    "SELECT SUM(CLAMP(wait * wait, 0, 10)) AS s FROM visits",
    "SELECT SUM(CLAMP(LENGTH(note), 0, 20)) AS s FROM visits",
    "SELECT COUNT(DISTINCT note) AS n, COUNT(DISTINCT pages) AS p FROM visits",
    "SELECT COUNT(*) AS n FROM visits WHERE wait > 0 OR wait IS NULL",
    "SELECT COUNT(*) AS n FROM visits WHERE at < TIMESTAMP '2000-01-01'",
    "SELECT MEDIAN(pages) AS m, MIN(pages) AS low, MAX(pages) AS high FROM visits",
    "SELECT HISTOGRAM(minutes, [0, 30, 60, 90]) AS h FROM visits",
    "SELECT APPROX_TOP_K(site, 1) AS t FROM visits",
]
GROUPED = [
    "SELECT site, COUNT(*) AS n FROM visits GROUP BY site",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY note",
    "SELECT note, SUM(minutes) AS s, COUNT(DISTINCT user_id) AS n FROM visits GROUP BY note",
    "SELECT home, AVG(CLAMP(age, 0, 99)) AS a FROM accounts GROUP BY home",
    "SELECT at, COUNT(*) AS n FROM visits GROUP BY at",
    "SELECT pages, MEDIAN(minutes) AS m FROM visits GROUP BY pages",
    "SELECT DATE_TRUNC('year', day) AS y, COUNT(*) AS n FROM visits GROUP BY y",
    "SELECT site, note, COUNT(*) AS n FROM visits GROUP BY site, note HAVING n > 1 ORDER BY n DESC LIMIT 3",
]
QUESTIONS = [*ALONE, *GROUPED, *(text for _, text in PAIRS.values() if "LENGTH(LOWER" not in text)]


def settled(question: Any, loss: sf.Loss, gone: str, *, turned: bool, engine: str | None = None) -> Audit:
    """Audits a question, with bounds on groups where it has some."""
    pair = (database(None, engine=engine), database(gone, engine=engine))
    pair = pair[::-1] if turned else pair
    for bounds in ({"max_groups": 2, "max_rows_per_group": 2}, {"max_rows_per_group": 2}):
        try:
            return on_both(question, *pair, loss=loss, entropy=ReplayEntropy(5), **bounds)
        except QueryRefused:
            continue
    raise QueryRefused(str(question))


@pytest.mark.parametrize("question", QUESTIONS, ids=[f"q{place}" for place in range(len(QUESTIONS))])
def test_every_question_keeps_its_promise(question: str) -> None:
    place = QUESTIONS.index(question)
    found = settled(question, sf.Approx(1, "1e-5"), "odd", turned=bool(place % 2))
    assert found.verdict in HOLDS, str(found)
    assert int(dict(found.facts)["randomized steps"]) >= 1 and "drawn outside of the steps" not in dict(found.facts)
    found = settled(question, sf.Approx(4, "1e-2"), "u0", turned=not place % 2)  # at which rare keys may show
    assert found.verdict in HOLDS, str(found)


POLARS = [
    *(pytest.param(text, marks=pytest.mark.nightly) if place % 4 else text for place, text in enumerate(QUESTIONS))
]


@pytest.mark.parametrize("question", POLARS, ids=[f"q{place}" for place in range(len(QUESTIONS))])
def test_every_question_keeps_its_promise_in_polars(question: str) -> None:
    turned = bool(QUESTIONS.index(question) % 2)
    found = settled(question, sf.Approx(1, "1e-5"), "odd", turned=turned, engine="polars")
    assert found.verdict in HOLDS, str(found)
    assert int(dict(found.facts)["randomized steps"]) >= 1 and "drawn outside of the steps" not in dict(found.facts)
    found = settled(question, sf.Approx(4, "1e-2"), "u0", turned=not turned, engine="polars")
    assert found.verdict in HOLDS, str(found)


@pytest.mark.parametrize("loss", [sf.Pure(1), sf.ZCDP(1)], ids=["pure", "concentrated"])
def test_questions_as_frames_and_in_other_losses(loss: sf.Loss) -> None:
    for name in ("the example of the guide", "moments", "people"):
        found = settled(PAIRS[name][0](), loss, "odd", turned=False)
        assert found.verdict in HOLDS, str(found)


def test_data_behind_a_ledger_is_not_audited() -> None:
    data = Dataset(database(None).given, codebook=CATALOG.codebook, name="visits")
    with pytest.raises(BadArgument, match="through a permit only"):
        sf.audit.grey_box_query("SELECT COUNT(*) AS n FROM visits", data, data, loss=ONE)


@pytest.mark.parametrize("most", [1, 3])
def test_rows_may_be_the_units(most: int) -> None:
    """Several rows of one unit, and nothing that says which belong together."""
    visits = {"columns": VISITS, "contributions": {"rows": most, **SAID}}
    book = {"codebook": 1, "title": "v", "created": "2026-01-10", "unit": {"protects": "a visitor"}}
    told = sf.Codebook.read({**book, "tables": {"visits": visits}})
    left, right = (open_for_audit({"visits": table_of([*USUAL, *kept])}, told) for kept in (NASTY, NASTY[most:]))
    for text in (*ALONE[:4], *GROUPED[:2], "SELECT pages, MEDIAN(minutes) AS m FROM visits GROUP BY pages"):
        found = on_both(text, left, right, loss=sf.Approx(2, "1e-3"), entropy=ReplayEntropy(1))
        assert found.verdict in HOLDS, str(found)


def test_a_plan_that_depends_on_the_data_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def peeking(question: Any, settings: Any, opened: Any, **said: Any) -> CompiledQuery:
        most = 2 if opened is database(None).opened else 1
        return compile_question(question, replace(settings, max_rows_per_group=most), opened, **said)

    monkeypatch.setattr("sfumato.audit.grey_box_queries.compile_question", peeking)
    found = violated("SELECT COUNT(*) AS n FROM visits", loss=ONE, max_rows_per_group=2)
    assert found.faults == ("the plan of the question depends on the data",)


def test_databases_that_differ_by_more_than_one_person_are_refused() -> None:
    """Two people are not one: what they cost together is no breach of what one costs."""
    ask = "SELECT COUNT(*) AS n FROM visits"
    others = database("odd", "u0")
    with pytest.raises(BadArgument, match="d_in"):
        on_both(ask, database(None), others, loss=ONE, max_rows_per_group=2)
    with pytest.raises(BadArgument, match="d_in"):  # one who leaves, and one who joins
        on_both(ask, database("u0"), database("odd"), loss=ONE, max_rows_per_group=2)
    assert on_both(ask, database(None), others, loss=ONE, max_rows_per_group=2, d_in=2).verdict in HOLDS


def violated(text: str, **settings: Any) -> Audit:
    found = on_both(text, database(None), database("odd"), entropy=ReplayEntropy(5), **settings)
    assert found.verdict is Verdict.VIOLATED
    return found


def test_an_engine_that_forgets_to_bound_people_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    run = DuckDBEngine.run

    def unbounded(engine: DuckDBEngine, cells: Cells) -> Computed:
        return run(engine, replace(cells, bound=Bound()))

    monkeypatch.setattr(DuckDBEngine, "run", unbounded)
    violated("SELECT COUNT(*) AS n FROM visits", loss=ONE, max_rows_per_group=2)
    text = "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE pages = 4) AS p FROM visits"
    found = violated(text, loss=ONE, max_rows_per_group=5)
    assert [fault.partition(": what")[0] for fault in found.faults] == ["1. noise"]  # not in the sum


def test_an_influence_that_is_too_small_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def halved(*given: Any) -> Influence:
        found = influence(*given)
        return replace(found, l1=found.l1 / 2)

    monkeypatch.setattr("sfumato.query.plan.grouping_sets.influence", halved)
    violated("SELECT COUNT(*) AS n FROM visits", loss=ONE, max_rows_per_group=2)


def test_an_answer_that_looks_at_data_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = CompiledQuery.draw

    def peeking(self: CompiledQuery, data: Any, entropy: sf.entropy.Entropy) -> Any:
        drawn = draw(self, data, entropy)
        more = int(data is database(None).held)
        return tuple(replace(one, numbers={tally: n + more for tally, n in one.numbers.items()}) for one in drawn)

    monkeypatch.setattr(CompiledQuery, "draw", peeking)
    found = violated("SELECT COUNT(*) AS n FROM visits", loss=ONE, max_rows_per_group=2)
    assert "beside what was randomized" in found.faults[0]


def test_interactive_examples_are_the_ones_that_are_asked() -> None:
    assert {example.name for example in EXAMPLES if example.build().interactive} == INTERACTIVE
