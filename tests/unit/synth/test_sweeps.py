"""Sweeps: errors fall as ε grows, fewer keys take less memory, interruptions keep what is done, sessions are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.unit.chart_reading import headline, tables

import sfumato as sf
from sfumato import synth
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.synth.schema import Schema, schema_of_rows, schema_of_table
from sfumato.synth.sweeps import SynthesisSweep, made_up_rows, sweep

KNOWN: dict[str, Any] = {"categories": {name: [f"{name}{code}" for code in range(12)] for name in "abcd"}}


def people(rows: int = 3000) -> pl.DataFrame:
    rng = np.random.default_rng(4)
    first = rng.geometric(0.35, rows).clip(1, 12) - 1
    columns = {"a": first}
    for name in "bcd":
        columns[name] = np.where(rng.random(rows) < 0.7, first, rng.integers(0, 12, rows))
    return pl.DataFrame({name: [f"{name}{code}" for code in codes] for name, codes in columns.items()})


def schema() -> Schema:
    return schema_of_rows(people(), **KNOWN)


def test_A3_048_errors_fall_as_epsilon_grows_and_fewer_keys_are_smaller() -> None:
    found = sweep(
        people(),
        schema(),
        [synth.Independent, synth.MST],
        delta=1e-9,
        keys=(None, 4),
        memory=True,
        entropy=ReplayEntropy(1),
    )
    assert found.complete and len(found.points) == 16
    assert not found.private and "for the holder's eyes: not private" in repr(found)
    runs = {(one.recipe, one.keys): [] for one in found.points}
    for one in found.points:
        runs[one.recipe, one.keys].append(one)
    for points in runs.values():
        assert [one.epsilon for one in points] == [0.01, 0.1, 1, 10]
        assert points[0].pairs > points[2].pairs and points[1].pairs > 0.98 * points[3].pairs
        assert points[0].columns > points[3].columns
        assert all(one.seconds > 0 and one.megabytes is not None for one in points)
        assert not points[3].collapsed
    most = {run: max(one.megabytes for one in points) for run, points in runs.items()}
    assert most["MST", 4] < most["MST", None]
    assert {one.share for one in runs["MST", 4]} == {0.2} and {one.share for one in runs["MST", None]} == {0.0}
    assert runs["MST", None][3].pairs < runs["Independent", None][3].pairs
    text = found.to_text()
    assert "≤ 4" in text and "collapsed" in text


def test_made_up_rows_cost_nothing_and_may_be_shown() -> None:
    rows = made_up_rows(schema(), 500, entropy=ReplayEntropy(2))
    found = sweep(rows, schema(), {"one": lambda loss: synth.Independent(loss=loss)}, epsilons=[1, 4], runs=2)
    assert found.private and "holder" not in found.to_text()
    drawn = tables(found.plot())["errors"]
    assert [row["x"] for row in drawn] == [1, 4] and "made-up rows" in headline(found.plot())


def test_a_sweep_that_is_broken_off_keeps_what_is_done() -> None:
    rows = made_up_rows(schema(), 100, entropy=ReplayEntropy(3))

    def stop(done: int, of: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    found = sweep(rows, schema(), [synth.Independent], epsilons=[1, 2, 3], progress=stop)
    assert not found.complete and len(found.points) == 2 and "broken off" in found.to_text()


def test_a_session_is_charged_for_every_run_and_only_if_that_is_said() -> None:
    frame = people(300).with_row_index("id")
    data = sf.Dataset(frame, unit="id", **KNOWN)
    session = data.session(limit=sf.Pure(10), ledger="memory:")
    whole = schema_of_table(session.table())
    with pytest.raises(BadArgument, match="made_up_rows"):
        sweep(session.table(), whole, [synth.Independent])
    assert session.spent == sf.Pure(0)
    found = sweep(
        session.table(), whole, [synth.Independent], epsilons=[1, 2], keys=(None, 4), charge=True, max_rows=1, key="s"
    )
    assert isinstance(found, SynthesisSweep) and found.private
    assert session.spent == sf.Pure(6)
    assert all(0 < one.pairs < 10 for one in found.points)


@pytest.mark.parametrize("wrong", [{"recipes": []}, {"epsilons": [0]}, {"share": 1}, {"runs": 0}])
def test_bad_input_is_refused(wrong: dict[str, Any]) -> None:
    given = {"recipes": [synth.Independent], **wrong}
    with pytest.raises(BadArgument):
        sweep(made_up_rows(schema(), 10), schema(), given.pop("recipes"), **given)
