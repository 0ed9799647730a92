"""Synthetic data on disk: the same model comes back, for ever; other files are refused."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, UnknownFormat
from sfumato.query.nodes.kinds import Kind
from sfumato.synth import MST, RAP, PrivBayes, Synthetic, reduced
from sfumato.synth.columns import BinnedColumn, ListedColumn
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.graphical import GraphicalModel
from sfumato.synth.graph.measured import Measured
from sfumato.synth.saving import synthetic_from_plain, synthetic_to_plain
from sfumato.synth.schema import Schema

GOLDEN = Path(__file__).parent.parent / "golden" / "synthetic.json"


def example() -> Synthetic:
    """Small synthetic data with every kind of column, of numbers that were made up."""
    schema = Schema(
        (
            ListedColumn("sex", Kind.TEXT, ("f", "m"), may_miss=False, other=True),
            BinnedColumn("pay", Kind.FLOAT, (0, 0.5, 10), may_miss=True),
            BinnedColumn("day", Kind.DATE, (datetime.date(2026, 1, 1), datetime.date(2026, 2, 1)), may_miss=False),
        ),
        {("sex", "pay"): np.array([[False] * 3, [False, True, False], [False] * 3])},
    )
    domain = Domain(("sex", "pay", "day"), (3, 3, 1))
    table = np.array([[0.0, -1.5, 0.25], [1.0, -np.inf, 0.0], [0.5, 0.1, -0.75]])
    model = GraphicalModel(domain, 120.5, {("sex", "pay"): table})
    measured = (Measured(("sex",), np.array([60.0, 41.0, -2.0]), 2.5),)
    return Synthetic(
        "MST",
        schema,
        model,
        measured,
        sf.ZCDP("1/10"),
        "a person",
        None,
        ("made up",),
        (("tables", sf.ZCDP("1/10")),),
    )


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    data = {"person": list(range(40)), "a": ["x", "y"] * 20, "b": [one % 5 for one in range(40)]}
    facts: dict[str, Any] = {"categories": {"a": ["x", "y"]}, "between": {"b": (0, 4)}}
    session = sf.Dataset(data, unit="person", version="1", **facts).session(limit=sf.ZCDP(1), ledger="memory:")
    made = MST(loss=sf.ZCDP(0.5)).fit(session.table(), max_rows=1)
    made.save(tmp_path / "made.json")
    again = sf.synth.load(tmp_path / "made.json")
    assert again.schema == made.schema and again.loss == made.loss and again.unit == made.unit
    assert again.release is not None and made.release is not None and again.release.receipt == made.release.receipt
    assert (again.method, again.notes, again.spent) == (made.method, made.notes, made.spent)
    for mine, theirs in zip(made.measured, again.measured, strict=True):
        np.testing.assert_array_equal(mine.counts, theirs.counts)
        assert (mine.columns, mine.deviation) == (theirs.columns, theirs.deviation)
    mine, theirs = (one.sample(50, entropy=ReplayEntropy(1)) for one in (made, again))
    assert mine.equals(theirs)
    assert str(made) == str(again)


def test_what_was_bought_and_networks_come_back(tmp_path: Path) -> None:
    rows = pl.DataFrame({"person": range(800), "sex": ["f", "m"] * 400, "ill": ["flu", "cold", "flu", "gout"] * 200})
    lists = {"sex": ["f", "m"]}
    session = sf.Dataset(rows, unit="person", categories=lists).session(limit=sf.Approx(6, 1e-5), ledger="memory:")
    made = MST(epsilon=4, delta=1e-6).fit(session.table(), max_rows=1, buy=["ill"])
    held = PrivBayes(epsilon=1).fit(rows.drop("person"), categories={**lists, "ill": ["flu", "cold", "gout"]})
    grouped = MST(epsilon=1).fit(rows.drop("person"), schema=reduced(held.schema, most=3).schema)
    wide = RAP(epsilon=1).fit(rows.drop("person"), schema=held.schema)
    for number, one in enumerate((made, held, grouped, wide)):
        one.save(tmp_path / f"{number}.json")
        again = sf.synth.load(tmp_path / f"{number}.json")
        assert again.schema == one.schema and [each.loss for each in again.bought] == [each.loss for each in one.bought]
        mine, theirs = (each.sample(50, entropy=ReplayEntropy(1)) for each in (one, again))
        assert mine.equals(theirs)
    assert len(made.bought) == 1


def test_files_of_version_1_are_read_for_ever() -> None:
    plain = synthetic_to_plain(example())
    assert plain == json.loads(GOLDEN.read_text(encoding="utf-8"))
    read = synthetic_from_plain(json.loads(GOLDEN.read_text(encoding="utf-8")))
    assert synthetic_to_plain(read) == plain
    np.testing.assert_array_equal(read.marginal(["sex", "pay"]), example().marginal(["sex", "pay"]))


BROKEN = [
    {"format": "sfumato/model"},
    {"version": 2},
    {"loss": 3},
    {"loss": None},
    {"columns": []},
    {"columns": [{"name": "a"}]},
    {"model": {"kind": "os.system", "of": {}}},
    {"model": {"kind": "GraphicalModel", "of": {"names": ["a"], "sizes": [2], "total": 1, "potentials": []}}},
    {"measured": [{"columns": ["sex"], "counts": 3, "deviation": 1, "queries": None}]},
    {"measured": 5},
    {"zeros": [[["sex"], {"array": ["|b1", [2], [True, False]]}]]},
    {"notes": [4]},
    {"release": {"format": "sfumato/release"}},
    {"more": 1},
]


@pytest.mark.parametrize("change", BROKEN, ids=str)
def test_other_files_are_refused(change: dict[str, Any]) -> None:
    plain = {**synthetic_to_plain(example()), **change}
    with pytest.raises(UnknownFormat):
        synthetic_from_plain(plain)


def test_a_file_that_is_cut_off_or_no_json_is_refused(tmp_path: Path) -> None:
    example().save(tmp_path / "whole.json")
    text = (tmp_path / "whole.json").read_text(encoding="utf-8")
    (tmp_path / "cut.json").write_text(text[:-40], encoding="utf-8")
    with pytest.raises(UnknownFormat, match="no JSON"):
        sf.synth.load(tmp_path / "cut.json")
    plain = json.loads(text)
    del plain["unit"]
    with pytest.raises(UnknownFormat):
        synthetic_from_plain(plain)


def test_a_model_without_a_stored_form_is_refused() -> None:
    class Other:
        domain = Domain(("a",), (2,))
        total = 1.0

    schema = Schema((ListedColumn("a", Kind.INT, (0, 1), may_miss=False),))
    one = Synthetic("another", schema, Other(), (), sf.Pure(1), "a row")  # type: ignore[arg-type]
    with pytest.raises(BadArgument, match="a model to save"):
        synthetic_to_plain(one)
