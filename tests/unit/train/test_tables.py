"""Training on a table of a session: rows are read under the permit of the run, and nowhere else."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import sfumato as sf
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument, RunFailed, SfumatoError
from sfumato.learn.columns import known_column
from sfumato.query.plan.owned_rows import is_owned, owned_rows_of_tables
from sfumato.train import Private, private
from sfumato.train.rows import Encoding

ROWS: dict[str, list[Any]] = {
    "id": ["ada", "ada", "bo", "cy", "cy", "cy", "di", "ed"],
    "x": [0.0, 1.0, 0.5, 0.25, 0.75, None, 2.0, 0.1],
    "k": ["u", "v", "u", "v", "w", "u", "u", "v"],
    "y": ["no", "yes", "yes", "no", "no", "yes", "maybe", "yes"],
}
FACTS: dict[str, Any] = {"between": {"x": (0, 1)}, "categories": {"k": ["u", "v"], "y": ["no", "yes"]}}


def session_on(rows: dict[str, list[Any]], limit: Any = None) -> Any:
    data = sf.Dataset(rows, unit="id", version="1", **FACTS)
    return data.session(limit=sf.ZCDP(100) if limit is None else limit, ledger="memory:")


def without(person: str) -> dict[str, list[Any]]:
    kept = [place for place, one in enumerate(ROWS["id"]) if one != person]
    return {name: [column[place] for place in kept] for name, column in ROWS.items()}


def seen(rows: dict[str, list[Any]], most: int) -> Any:
    """What a mechanism is given of the rows, with their owners; and how far units move it."""
    session = session_on(rows)
    table = session.table()
    entries = [known_column(name, table.relation).entry(table.relation) for name in ("x", "k", "y")]  # type: ignore[union-attr]
    begin = owned_rows_of_tables(table.relation, entries, table.asker.opened, max_rows=most)
    run = session.start(sf.events.Gaussian(1), loss=sf.ZCDP("1/2"), key="look", claim=sf.claim("a test looks"))
    return run.step(lambda data, entropy: begin.function(data, entropy)), begin


@pytest.mark.parametrize("most", [1, 5])
def test_removing_a_person_removes_one_owner_and_changes_no_other_row(most: int) -> None:
    whole, begin = seen(ROWS, most)
    assert is_owned(whole) and begin.map(1) == 1 and begin.map(2) == 2
    assert max(whole["owner"].count(one) for one in whole["owner"]) == min(most, 2)
    for person in sorted(set(ROWS["id"])):
        part, _ = seen(without(person), most)
        assert begin.target.distance(whole, part) == (person != "di")  # who is of no class that was stated


def test_rows_become_numbers_by_what_is_public_and_what_does_not_fit_is_left_out() -> None:
    whole, _ = seen(ROWS, 5)
    units = Encoding((0, 2), 2, 5).units(whole)
    assert units.count == 4  # di is of no class that was stated; of cy's rows one lacks x, one is of no known k
    inputs, labels = units._take(np.arange(5))
    rows = {(*np.round(row, 5), label) for row, label in zip(inputs.tolist(), labels.tolist(), strict=True)}
    assert rows == {(-1, 1, 0, 0), (1, 0, 1, 1), (0, 1, 0, 1), (-0.5, 0, 1, 0), (-0.8, 0, 1, 1)}


def started(on: Any, model: nn.Module | None = None, **changed: Any) -> Private:
    given = {
        "features": ["x", "k"], "label": "y", "max_rows": 2, "size": 5, "loss": sf.ZCDP(2),
        "batches": sf.train.PoissonBatches(1, 4, 5), "key": "run", **changed,
    }  # fmt: skip
    return private(nn.Linear(3, 2) if model is None else model, on.table(), **given)


def test_a_training_on_a_table_is_charged_first_and_hands_no_row_out() -> None:
    session = session_on(ROWS)
    training = started(session, session=session)
    assert session.spent == sf.ZCDP(2) and training.taken == 0
    with pytest.raises(BadArgument, match="never leave it"):
        next(training.batches())
    before = [each.detach().clone() for each in training.model.parameters()]
    assert training.fit(nn.CrossEntropyLoss()).taken == 4
    assert all(not torch.equal(one, other) for one, other in zip(before, training.model.parameters(), strict=True))
    release = training.release()
    assert release.charged and release.loss == sf.ZCDP(2) and release.unit == "a person"
    assert "look at each row by itself" in str(release) and "a person" in str(training)
    with pytest.raises(SfumatoError):
        started(session, key="run", noise_multiplier=5, loss=None)


def reachable(start: object) -> list[Tensor]:
    """The tensors that attributes of an object lead to, as far as vars and containers go."""
    known, waiting, tensors = set(), [start], []
    while waiting:
        one = waiting.pop()
        if id(one) in known or isinstance(one, type):
            continue
        known.add(id(one))
        if isinstance(one, Tensor):
            tensors.append(one)
        held = list(vars(one).values()) if hasattr(one, "__dict__") else []
        held += (
            list(one.values()) if isinstance(one, dict) else list(one) if isinstance(one, list | tuple | set) else []
        )
        held += [cell.cell_contents for cell in getattr(one, "__closure__", None) or ()]
        waiting += held
    return tensors


def test_no_attribute_of_a_training_leads_to_rows_also_after_it_broke_off() -> None:
    class Breaking(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner, self.calls = nn.Linear(3, 2), 0

        def forward(self, rows: Tensor) -> Tensor:
            if len(rows) > 3:
                self.calls += 1
                if self.calls == 3:
                    raise KeyError("secret")
            return self.inner(rows)  # type: ignore[no-any-return]

    session = session_on(ROWS)
    training = started(session, Breaking())
    with pytest.raises(RunFailed) as failed:
        training.fit(nn.CrossEntropyLoss())
    assert "secret" not in str(failed.value) and training.taken == 3 and session.spent == sf.ZCDP(2)
    gc.collect()
    held = [each for each in reachable(training) if each.dim() == 2 and each.shape[1] == 3]
    assert all(isinstance(each, nn.Parameter) or each.shape[0] == 2 for each in held)
    with pytest.raises(AttributeError):  # who does not hold the tables is not given what was read of them
        training._units.opened(object(), ReplayEntropy(1), lambda many: many)  # type: ignore[union-attr]


def test_a_training_on_a_table_goes_on_under_its_key() -> None:
    session = session_on(ROWS)
    training, calls = started(session), []

    def stopping(outputs: Tensor, labels: Tensor) -> Tensor:
        calls.append(len(labels))
        if len(calls) == 5:  # two are tries on made-up rows
            raise KeyboardInterrupt
        return nn.functional.cross_entropy(outputs, labels, reduction="none")

    with pytest.raises(KeyboardInterrupt):
        training.fit(stopping)
    again = started(session)
    assert again.taken == 3 and session.spent == sf.ZCDP(2)
    assert again.fit(nn.CrossEntropyLoss()).taken == 4
    assert again.release().loss == sf.ZCDP(2)


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no features": ({"features": None}, "features and label"),
    "one name": ({"features": "x"}, "features and label"),
    "no label": ({"label": None}, "features and label"),
    "an unknown column": ({"features": ["z"]}, "z"),
    "the id": ({"features": ["id"]}, "bounds or categories"),
    "no size": ({"size": None, "batches": None, "batch": 2, "steps": 3}, "size"),
    "no key": ({"key": None}, "key"),
    "people": ({"people": [1]}, "the codebook says"),
    "rows of each": ({"max_rows": 0}, "max_rows"),
    "other widths": ({"model": nn.Linear(2, 2)}, r"\(3,\) numbers"),
    "too few outputs": ({"model": nn.Sequential(nn.Linear(3, 3), nn.Flatten(0))}, "rows first"),
    "another session": ({"session": session_on(ROWS)}, "the one that the table is of"),
    "a replay": ({"entropy": ReplayEntropy(1)}, "no ledger takes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_A3_021_what_cannot_be_trained_on_a_table_costs_nothing(name: str) -> None:
    session = session_on(ROWS)
    changed, word = REFUSED[name]
    with pytest.raises(SfumatoError, match=word):
        started(session, **changed)
    assert session.spent == sf.ZCDP(0)


def test_a_label_with_more_classes_than_outputs_and_units_of_unnamed_rows_are_refused() -> None:
    three = {**ROWS, "y": ["no", "yes", "maybe"] * 2 + ["no", "yes"]}
    data = sf.Dataset(three, unit="id", between={"x": (0, 1)}, categories={"k": ["u"], "y": ["no", "yes", "maybe"]})
    session = data.session(limit=sf.ZCDP(9), ledger="memory:")
    with pytest.raises(BadArgument, match="within 0 to 1"):
        started(session, nn.Linear(2, 2))
    rows = {"x": [0.5] * 4, "k": ["u"] * 4, "y": ["no"] * 4}
    loose = sf.Dataset(rows, unit=sf.Unit("a person", sf.AddRemove(), bound=2), **FACTS)
    with pytest.raises(BadArgument, match="names all rows"):
        started(loose.session(limit=sf.ZCDP(9), ledger="memory:"))
