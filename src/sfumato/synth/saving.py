"""Synthetic data on disk: JSON that anybody can read, and from which the same model comes back. Loading runs no code.

Version 1: the method, the codes of the columns, the model, what was measured, the loss, and the release with its
receipt. Nothing in it is data but what was released, or was public before, so that the file may be published.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sfumato.accounting.codec import from_plain, to_plain
from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, SfumatoError, UnknownFormat
from sfumato.plain import Plain, without_header
from sfumato.query.nodes.kinds import Kind
from sfumato.release.codec import release_from_plain, release_to_plain
from sfumato.release.values import read_value, stored_value
from sfumato.synth.columns import BinnedColumn, CodedColumn, ListedColumn
from sfumato.synth.graph.measured import Measured
from sfumato.synth.graph.model import Model
from sfumato.synth.reducing import ReducedColumn
from sfumato.synth.schema import Schema
from sfumato.synth.synthetic import Synthetic

FORMAT, VERSION = "sfumato/synthetic", 1

MODELS: Mapping[str, str] = {
    "BayesianNetwork": "sfumato.synth.bayesian_network",
    "GraphicalModel": "sfumato.synth.graph.graphical",
    "LocalModel": "sfumato.synth.graph.local",
    "Mixture": "sfumato.synth.graph.mixture",
    "WeightedRows": "sfumato.synth.graph.reweighted",
    "NetworkModel": "sfumato.synth.neural.network_model",
}
"""The models that can be saved, by the names under which they are saved for ever, and where each is.

Such a model has ``plain()``, lists and numbers that JSON keeps, and ``from_plain``.
"""


def save(synthetic: Synthetic, path: str | Path) -> None:
    """Saves synthetic data: the model, not rows of it."""
    text = json.dumps(synthetic_to_plain(synthetic), ensure_ascii=False, allow_nan=False)
    Path(path).write_text(text, encoding="utf-8")


def load(path: str | Path) -> Synthetic:
    """Loads synthetic data that was saved; refuses every format, version or word that it does not know."""
    try:
        plain = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError:
        raise UnknownFormat("it is no JSON") from None
    return synthetic_from_plain(plain)


def synthetic_to_plain(synthetic: Synthetic) -> dict[str, Any]:
    """Writes synthetic data as dictionaries, lists, texts and numbers."""
    model, name = synthetic.model, type(synthetic.model).__name__
    if MODELS.get(name) != type(model).__module__:
        raise BadArgument("a model to save", f"one of {', '.join(MODELS)}: this one lives in memory only", name)
    release = synthetic.release
    return {
        "format": FORMAT,
        "version": VERSION,
        "method": synthetic.method,
        "columns": [_plain_column(one) for one in synthetic.schema.columns],
        "zeros": [[list(columns), stored_value(cells)] for columns, cells in synthetic.schema.zeros.items()],
        "model": {"kind": name, "of": model.plain()},  # type: ignore[attr-defined]  # those of MODELS have it
        "measured": [_plain_measured(one) for one in synthetic.measured],
        "loss": to_plain(synthetic.loss),
        "unit": synthetic.unit,
        "release": None if release is None else release_to_plain(release),
        "notes": list(synthetic.notes),
        "bought": [release_to_plain(one) for one in synthetic.bought],
        "spent": [[what, to_plain(loss)] for what, loss in synthetic.spent],
    }


def synthetic_from_plain(plain: object) -> Synthetic:
    """Reads what `synthetic_to_plain` wrote."""
    held = without_header(plain, FORMAT, VERSION)
    try:
        return _read(held)
    except UnknownFormat:
        raise
    except (SfumatoError, KeyError, TypeError, ValueError, AttributeError):
        raise UnknownFormat("something in it is missing, or is not what it should be") from None


FIELDS = frozenset(
    {"method", "columns", "zeros", "model", "measured", "loss", "unit", "release", "notes", "bought", "spent"}
)


def _read(held: Mapping[str, Any]) -> Synthetic:
    if set(held) != FIELDS:
        raise UnknownFormat("it is no synthetic data, or has fields that are not known here")
    zeros = {tuple(_text(one) for one in columns): read_value(cells) for columns, cells in held["zeros"]}
    schema = Schema(tuple(_column(one) for one in held["columns"]), zeros)
    if any(cells.shape != schema.domain.shape(columns) for columns, cells in zeros.items()):
        raise UnknownFormat("what cannot occur in it is of another shape than its columns")
    model = _model(held["model"])
    measured = tuple(_measured(one) for one in held["measured"])
    for one in measured:
        one.check(schema.domain)
    if model.domain != schema.domain:
        raise UnknownFormat("its model has other columns than its codes")
    return Synthetic(
        _text(held["method"]),
        schema,
        model,
        measured,
        _loss(held["loss"]),
        _text(held["unit"]),
        None if held["release"] is None else release_from_plain(held["release"]),
        tuple(_text(note) for note in held["notes"]),
        tuple((_text(what), _loss(loss)) for what, loss in held["spent"]),
        tuple(release_from_plain(one) for one in held["bought"]),
    )


def _plain_column(column: CodedColumn) -> dict[str, Plain]:
    said: dict[str, Plain] = {"name": column.name, "kind": column.kind.value, "may_miss": column.may_miss}
    match column:
        case ListedColumn(values=values, other=other):
            return {**said, "values": [stored_value(one) for one in values], "other": other}
        case BinnedColumn(edges=edges):
            return {**said, "edges": [stored_value(one) for one in edges]}
        case ReducedColumn(inner=inner, groups=groups, weights=weights):
            return {
                **said,
                "inner": _plain_column(inner),
                "groups": list(groups),
                "weights": [stored_value(one) for one in weights],
            }
    raise BadArgument("a column to save", "one of listed values or of bins, or a reduced one", type(column).__name__)


def _column(plain: Mapping[str, Any]) -> CodedColumn:
    match dict(plain):
        case {"name": str(name), "kind": kind, "may_miss": bool(missing), "values": list(values), "other": bool(other)}:
            return ListedColumn(name, Kind(kind), tuple(read_value(one) for one in values), missing, other)
        case {"name": str(name), "kind": kind, "may_miss": bool(missing), "edges": list(edges)}:
            return BinnedColumn(name, Kind(kind), tuple(read_value(one) for one in edges), missing)
        case {"inner": dict(inner), "groups": list(groups), "weights": list(weights)}:
            return _reduced_column(_column(inner), groups, [read_value(one) for one in weights])
    raise UnknownFormat("a column in it has codes of a form that is not known")


def _reduced_column(inner: CodedColumn, groups: list[Any], weights: list[Any]) -> CodedColumn:
    whole = all(isinstance(one, int) and one >= 0 for one in groups) and len(groups) == len(weights) == inner.size
    if (
        not whole
        or set(groups) != set(range(max(groups) + 1))
        or not all(isinstance(one, int | float) for one in weights)
    ):
        raise UnknownFormat("a column in it has groups of codes that do not fit")
    return ReducedColumn(inner.name, inner.kind, inner, tuple(groups), tuple(map(float, weights)))


def _plain_measured(measured: Measured) -> dict[str, Plain]:
    queries = None if measured.queries is None else stored_value(measured.queries)
    return {
        "columns": list(measured.columns),
        "counts": stored_value(measured.counts),
        "deviation": stored_value(measured.deviation),
        "queries": queries,
    }


def _measured(plain: Mapping[str, Any]) -> Measured:
    queries, counts = plain["queries"], read_value(plain["counts"])
    if not isinstance(counts, np.ndarray):
        raise UnknownFormat("what was measured is no table")
    columns, deviation = tuple(_text(one) for one in plain["columns"]), read_value(plain["deviation"])
    return Measured(columns, counts, deviation, None if queries is None else read_value(queries))


def _model(plain: Mapping[str, Any]) -> Model:
    if set(plain) != {"kind", "of"} or plain["kind"] not in MODELS:
        raise UnknownFormat("its model is of a kind that is not known here")
    model: Model = getattr(import_module(MODELS[plain["kind"]]), plain["kind"]).from_plain(plain["of"])
    return model


def _loss(plain: object) -> Loss:
    loss = from_plain(plain)
    if not isinstance(loss, Loss):
        raise UnknownFormat("what stands for its loss is none")
    return loss


def _text(plain: object) -> str:
    if not isinstance(plain, str):
        raise UnknownFormat("what should be a text in it is none")
    return plain
