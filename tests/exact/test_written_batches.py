"""Rows that are drawn in batches are the rows of the collected answer: the same steps, and the same rows where one
source of bits draws both. Nothing of a batch but its own cells decides what comes of it.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar, final

import numpy as np
import pyarrow as pa
import pytest
from tests.reference.planning import Fixed, catalog_of, planned

import sfumato as sf
from sfumato.core.random_step import RandomStep
from sfumato.entropy import Entropy, ReplayEntropy, SystemEntropy, system
from sfumato.query.engines import protocol
from sfumato.query.engines.protocol import in_batches
from sfumato.query.plan.compiled_query import CompiledQuery
from sfumato.query.plan.engine_plan import Computed
from sfumato.query.plan.open_tables import Unlocked
from sfumato.query.plan.spreading import Finish, check_spread

SAID = {"source": "a test"}
CATALOG = catalog_of(
    {
        "codebook": 1,
        "title": "Groups",
        "unit": {"protects": "a person", "id": "u"},
        "tables": {
            "t": {
                "columns": {
                    "u": {"type": "int"},
                    "f": {"type": "str"},
                    "x": {"type": "int", "between": [-4, 6], "nullable": False, **SAID},
                }
            }
        },
    }
)
GROUPS = 60
SURE = Fraction(95, 100)
QUESTIONS = {
    "counts": ("SELECT f, COUNT(*) AS n FROM t GROUP BY f", [40, 40]),
    "people alone": ("SELECT f, COUNT(DISTINCT u) AS n FROM t GROUP BY f", [40]),
    "a mean": ("SELECT f, COUNT(*) AS n, AVG(x) AS m FROM t GROUP BY f", None),
    "a ratio": ("SELECT f, SUM(x) / COUNT(*) AS r FROM t GROUP BY f", None),
    "a condition": ("SELECT f, COUNT(*) AS n FROM t GROUP BY f HAVING COUNT(*) > 40 AND f <> 'key 3'", [40, 40]),
    "words": ("SELECT f, CASE WHEN COUNT(*) > 40 THEN 'many' ELSE 'few' END AS w FROM t GROUP BY f", [40, 40]),
}
NAMED = pytest.mark.parametrize("name", sorted(QUESTIONS))


def asked(name: str) -> tuple[CompiledQuery, Fixed]:
    """Plans a question, and opens an engine that gives every group the same numbers for it."""
    text, numbers = QUESTIONS[name]
    ready = planned(text, CATALOG, limit=sf.Approx, loss=sf.Approx(3, "1e-3"), max_groups=2, max_rows_per_group=2)
    tallies = ready.levels[0].cells.tallies
    return ready, Fixed(GROUPS, [40] * len(tallies) if numbers is None else numbers[: len(tallies)])


def finish_of(ready: CompiledQuery, entropy: Entropy) -> Finish:
    return Finish(ready.columns_at[0], SURE, entropy)


def rows(ready: CompiledQuery, engine: Fixed, entropy: Entropy) -> pa.Table:
    """The rows that are written, batch by batch."""
    finish, cells = finish_of(ready, entropy), engine.run(ready.levels[0].cells)
    return pa.Table.from_batches(map(finish, in_batches(cells)), finish.schema)


def same(written: pa.Table, collected: pa.Table) -> bool:
    """Tells whether columns hold the same; of an answer those of which nothing is known are left out."""
    return all(written[name].to_pylist() == collected[name].to_pylist() for name in collected.column_names)


@NAMED
def test_one_batch_is_the_collected_answer(name: str) -> None:
    """The same bits make the same rows: so the same code runs, with the same law for every outcome."""
    ready, engine = asked(name)
    for seed in range(5):
        drawn = ready.draw(Unlocked(engine, CATALOG), ReplayEntropy(seed))
        collected = ready.answer(drawn, SURE).to_arrow(intervals=True)
        written = rows(ready, engine, ReplayEntropy(seed))
        assert 0 < len(collected) <= GROUPS
        assert same(written, collected) and len(written) == len(collected)


Outcome = TypeVar("Outcome")


@final
class Noting(Entropy):
    """Writes down each random step: how it is randomized, and what goes in."""

    def __init__(self, seed: int) -> None:
        self._source, self.steps = ReplayEntropy(seed), list[RandomStep]()

    @property
    def replayable(self) -> bool:
        return True

    @property
    def drawn(self) -> int:
        return self._source.drawn

    def octets(self, count: int) -> bytes:
        return self._source.octets(count)

    def perform(self, act: object, draw: Callable[[], Outcome]) -> Outcome:
        assert isinstance(act, RandomStep)
        self.steps.append(act)
        return draw()


def by_key(computed: Computed, changed: dict[int, int]) -> Computed:
    """Cells with other numbers in some groups."""
    numbers = tuple(cells.copy() for cells in computed.numbers)
    for place, number in changed.items():
        for cells in numbers:
            cells[place] = number
    return replace(computed, numbers=numbers)


def exact_in(steps: list[RandomStep]) -> Iterator[tuple[object, int]]:
    """What goes into steps, group by group: how it is randomized, and the number."""
    for step in steps:
        numbers = step.exact[1] if isinstance(step.exact, tuple) else step.exact
        yield from ((step.how, int(number)) for number in numbers)


@NAMED
@pytest.mark.parametrize("size", [1, 7, GROUPS])
def test_the_steps_of_all_batches_are_those_of_the_collected_answer(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every number gets the noise that it gets in the collected answer, once, whichever batch it is in."""
    monkeypatch.setattr(protocol, "BATCH", size)
    ready, engine = asked(name)
    collected, batched = Noting(1), Noting(2)
    ready.draw(Unlocked(engine, CATALOG), collected)
    rows(ready, engine, batched)
    chosen = {how for how, _ in exact_in(collected.steps)}
    assert chosen == {how for how, _ in exact_in(batched.steps)}
    choice = next(step.how for step in collected.steps if step.how[0] == "choice of keys")  # type: ignore[index]
    for how in chosen:
        ours, theirs = ([one for one in exact_in(noting.steps) if one[0] == how] for noting in (batched, collected))
        assert ours == theirs if how == choice else set(ours) == set(theirs)  # which keys are shown is drawn anew


def test_another_group_changes_nothing_about_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes of the first batch is the same, whatever stands in the second one, or if there is none."""
    monkeypatch.setattr(protocol, "BATCH", GROUPS // 2)
    ready, engine = asked("a mean")
    cells = engine.run(ready.levels[0].cells)
    others = by_key(cells, {GROUPS - 1: 10**6, GROUPS - 2: 0})
    firsts = []
    for computed in (cells, others):
        finish = finish_of(ready, ReplayEntropy(3))
        firsts.append([finish(batch) for batch in in_batches(computed)])
    assert firsts[0][0].equals(firsts[1][0]) and not firsts[0][1].equals(firsts[1][1])


def test_a_copy_of_what_is_sent_elsewhere_draws_other_bits() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    ready, engine = asked("counts")
    finish = finish_of(ready, system())
    sent = cloudpickle.dumps(finish)
    copies = [pickle.loads(sent) for _ in range(2)]
    assert all(type(copy.entropy) is SystemEntropy and copy.entropy is not finish.entropy for copy in copies)
    cells = engine.run(ready.levels[0].cells)
    shown = {tuple(one(cells)["n"].to_pylist()) for one in (finish, *copies, *copies)}
    assert len(shown) == 5  # of some 50 noisy counts each


def test_what_can_be_replayed_is_not_sent_anywhere() -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    with pytest.raises(TypeError):
        cloudpickle.dumps(finish_of(asked("counts")[0], ReplayEntropy(1)))


def test_types_of_columns_follow_from_the_question_alone() -> None:
    """No groups, no groups that are shown, and numbers that 64 bits do not hold: the same columns."""
    ready, engine = asked("counts")
    finish = finish_of(ready, ReplayEntropy(1))
    assert finish.schema.names == ["f", "n", "n_low", "n_high"]
    assert [str(kind) for kind in finish.schema.types] == ["string", "int64", "double", "double"]
    cells = engine.run(ready.levels[0].cells)
    few = by_key(cells, dict.fromkeys(range(GROUPS), 0))
    assert finish(few).schema == finish.schema and len(finish(few)) == 0
    wide = Computed(tuple(np.array([2**80] * 3, dtype=object) for _ in cells.numbers), keys=(["a", "b", None],))
    batch = finish(wide)
    assert batch["n"].to_pylist() == [2**63 - 1] * 3 and batch["f"].to_pylist() == ["a", "b", None]
    assert batch["n_low"].to_pylist() == pytest.approx([2.0**80] * 3)


def test_keys_of_arrow_are_as_good_as_values() -> None:
    ready, engine = asked("counts")
    cells = engine.run(ready.levels[0].cells)
    arrow = replace(cells, keys=(pa.array(cells.keys[0]),))
    ours, theirs = (finish_of(ready, ReplayEntropy(5))(one) for one in (arrow, cells))
    assert ours.equals(theirs)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT f, COUNT(*) AS n FROM t GROUP BY f ORDER BY n", "ORDER BY"),
        ("SELECT f, COUNT(*) AS n FROM t GROUP BY f LIMIT 3", "LIMIT"),
        ("SELECT f, MEDIAN(x) AS m FROM t GROUP BY f", "quantile"),
    ],
)
def test_what_looks_at_all_groups_is_refused(text: str, why: str) -> None:
    bounds: dict[str, Any] = {"loss": sf.Approx(3, "1e-3"), "max_groups": 2, "max_rows_per_group": 2}
    with pytest.raises(sf.errors.QueryRefused, match=why):
        check_spread(planned(text, CATALOG, limit=sf.Approx, **bounds))
