"""RAP: tables at once or by rounds, on rows that are held and behind a ledger, and what is refused before payment."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, ClaimRequired
from sfumato.synth.asking import held_questions
from sfumato.synth.graph.domain import Domain
from sfumato.synth.independent import Independent
from sfumato.synth.rap import RAP
from sfumato.synth.rounds import mean_noise, noise_of_all

KEYS = {"a": [0, 1, 2, 3], "b": [0, 1, 2, 3], "c": [0, 1, 2], "d": [0, 1], "e": [0]}


def people(rows=4000, seed=7):
    """Made-up rows: b follows a nine times in ten, c is like b or drawn anew, d depends on a, e is always the same."""
    draw = np.random.default_rng(seed)
    a = draw.integers(0, 4, rows)
    b = np.where(draw.random(rows) < 0.9, a, draw.integers(0, 4, rows))
    c = np.where(draw.random(rows) < 0.5, b % 3, draw.integers(0, 3, rows))
    d = np.where(draw.random(rows) < 0.7, a % 2, draw.integers(0, 2, rows))
    return pl.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": np.zeros(rows, int)})


def apart(made, data, columns):
    """Total variation between what a model expects of columns and what rows have."""
    expected = made.marginal(columns)
    counts = np.zeros_like(expected)
    np.add.at(counts, tuple(data[name].to_numpy() for name in columns), 1)
    return 0.5 * np.abs(expected / expected.sum() - counts / len(data)).sum()


def mean_apart(made, data):
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d"), ("a", "e")]
    return np.mean([apart(made, data, pair) for pair in pairs])


def spent(made):
    return sum((one.amounts[0] for _, one in made.spent), Fraction(0))


@pytest.mark.parametrize(
    ("loss", "settings"),
    [
        (sf.ZCDP(0.05), {}),
        (sf.ZCDP(0.05), {"adaptive": True}),
        (sf.Pure(1), {"rounds": 2}),
        (sf.Pure(1), {"adaptive": False}),
        (sf.Approx(1, 1e-9), {}),
    ],
    ids=str,
)
def test_the_whole_loss_is_spent_and_no_more_and_beats_independent_columns(loss, settings):
    data = people()
    made = RAP(loss=loss, **settings).fit(data, categories=KEYS, entropy=ReplayEntropy(1))
    alone = Independent(loss=loss).fit(data, categories=KEYS, entropy=ReplayEntropy(1))
    whole = sf.ZCDP if not isinstance(loss, sf.Pure) else sf.Pure
    assert all(isinstance(one, whole) for _, one in made.spent)
    assert spent(made) == spent(alone)
    assert mean_apart(made, data) < 0.7 * mean_apart(alone, data)
    assert abs(made.rows - 4000) < 400


def test_rows_come_with_the_values_of_the_columns():
    made = RAP(loss=sf.ZCDP(1)).fit(people(), categories=KEYS, entropy=ReplayEntropy(1))
    rows = made.sample(1000, entropy=ReplayEntropy(2))
    assert rows.shape == (1000, 5)
    assert (rows["a"] == rows["b"]).mean() > 0.8
    given = made.sample(100, given={"a": 2}, entropy=ReplayEntropy(2))
    assert given["a"].to_list() == [2] * 100
    assert (given["b"] == 2).mean() > 0.8


def test_the_way_is_chosen_by_how_noisy_all_tables_would_be():
    few, many = people(200), people(20_000)
    few_made, many_made = (
        RAP(loss=sf.ZCDP(0.001)).fit(one, categories=KEYS, entropy=ReplayEntropy(1)) for one in (few, many)
    )
    assert "rounds" in few_made.notes[0]
    assert "at once" in many_made.notes[0]
    # Where the number of rows is public, nothing is spent to find it out.
    stated = RAP(loss=sf.ZCDP(0.001)).fit(many, categories=KEYS, rows=20_000, entropy=ReplayEntropy(1))
    assert [what for what, _ in stated.spent] == ["tables"]
    assert stated.rows == 20_000


def test_the_noise_of_all_tables_is_that_of_one_times_their_number_or_its_root():
    domain = Domain(("a", "b", "c"), (4, 4, 4))
    workload = {("a", "b"): 1.0, ("a", "c"): 1.0, ("b", "c"): 1.0}
    for loss, growth in ((sf.ZCDP(0.5), np.sqrt(3)), (sf.Pure(1), 3)):
        questions = held_questions(np.zeros((5, 3), int), domain, loss, rows=5, entropy=ReplayEntropy(1))
        [table, *_] = questions.noisy(list(workload), loss.scaled(Fraction(1, 2)))
        half = held_questions(np.zeros((5, 3), int), domain, loss.scaled(Fraction(1, 2)), rows=5, entropy=None)
        expected = mean_noise(loss) * table.deviation * 16 / 2
        assert np.isclose(noise_of_all(half, workload), expected, rtol=0.02)
        assert np.isclose(table.deviation, growth * half.deviation(half.loss), rtol=0.02)


def test_a_workload_of_ones_own_is_what_is_measured():
    made = RAP(loss=sf.ZCDP(1), workload=[("b", "a"), ("a", "c", "d"), ("e",)], adaptive=False).fit(
        people(), categories=KEYS, entropy=ReplayEntropy(1)
    )
    assert {one.columns for one in made.measured} == {("a", "b"), ("a", "c", "d"), ("e",)}
    assert apart(made, people(), ("a", "c", "d")) < 0.05
    triples = RAP(loss=sf.ZCDP(1), workload=3, adaptive=False).fit(people(), categories=KEYS, entropy=ReplayEntropy(1))
    assert {len(one.columns) for one in triples.measured} == {3}
    assert apart(triples, people(), ("a", "b", "c")) < 0.08


@pytest.mark.parametrize(
    "settings",
    [
        {"workload": [("a", "z")]},
        {"workload": []},
        {"workload": 0},
        {"components": 0},
        {"rounds": 0},
        {"adaptive": "yes"},
        {"adaptive": False, "rounds": 3},
    ],
    ids=str,
)
def test_what_cannot_be_is_refused(settings):
    with pytest.raises(BadArgument):
        RAP(loss=sf.ZCDP(1), **settings).fit(people(), categories=KEYS)


@pytest.mark.parametrize("settings", [{}, {"adaptive": True}], ids=str)
@pytest.mark.parametrize("rows", [0, 1])
def test_no_rows_and_one_row_and_one_column_give_a_model(settings, rows):
    made = RAP(loss=sf.ZCDP(0.1), **settings).fit(people()[:rows], categories=KEYS, entropy=ReplayEntropy(1))
    assert made.sample(5).shape == (5, 5)
    alone = RAP(loss=sf.ZCDP(0.1), **settings).fit(people().select("a"), categories={"a": KEYS["a"]})
    assert alone.sample(5).shape == (5, 1)
    assert spent(alone) == Fraction(1, 10)


def test_public_rows_help_where_they_are_alike_and_are_left_where_not():
    data, like = people(), people(seed=8)
    unlike = pl.DataFrame({name: np.resize(np.array(values), 4000) for name, values in KEYS.items()})
    claim = sf.claim("published by the office of statistics")
    loss = sf.ZCDP(0.001)
    plain, with_like, with_unlike = (
        RAP(loss=loss, public=public, claim=claim, adaptive=False).fit(data, categories=KEYS, entropy=ReplayEntropy(3))
        for public in (None, like, unlike)
    )
    assert mean_apart(with_like, data) < 0.6 * mean_apart(plain, data)
    assert mean_apart(with_unlike, data) < 1.3 * mean_apart(plain, data)
    with pytest.raises(ClaimRequired, match="public"):
        RAP(loss=loss, public=like).fit(data, categories=KEYS)


def visits(people_rows=700):
    data = people(3 * people_rows)
    return data.with_columns(id=pl.Series(np.arange(3 * people_rows) % people_rows))


@pytest.mark.parametrize("settings", [{}, {"adaptive": True}], ids=str)
def test_a_session_is_charged_the_loss_once_and_a_run_with_its_key_is_free(settings):
    opened = sf.Dataset(visits(), unit="id", categories=KEYS)
    session = opened.session(limit=sf.ZCDP(2), ledger="memory:")
    recipe = RAP(loss=sf.ZCDP(1), **settings)
    made = recipe.fit(session.table(), max_rows=3, key="a mixture")
    assert session.spent == sf.ZCDP(1)
    assert spent(made) == 1
    assert made.release is not None
    again = recipe.fit(session.table(), max_rows=3, key="a mixture")
    assert session.spent == sf.ZCDP(1)
    assert np.array_equal(again.model.shares, made.model.shares)
    with pytest.raises(BadArgument):
        RAP(loss=sf.ZCDP(1), workload=[("a", "z")]).fit(session.table(), max_rows=3)
    assert session.spent == sf.ZCDP(1)


def test_the_claim_that_rows_are_public_is_in_the_release():
    session = sf.Dataset(visits(), unit="id", categories=KEYS).session(limit=sf.ZCDP(2), ledger="memory:")
    with pytest.raises(ClaimRequired):
        RAP(loss=sf.ZCDP(1), public=people()).fit(session.table(), max_rows=3)
    assert session.spent == sf.ZCDP(0)
    recipe = RAP(loss=sf.ZCDP(1), public=people(), claim=sf.claim("published by the office of statistics"))
    made = recipe.fit(session.table(), max_rows=3)
    assert "published by the office of statistics" in [one.text for one in made.release.how.claims]
