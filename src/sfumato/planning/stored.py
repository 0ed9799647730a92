"""Plans as plain data, and back: what a file of a plan holds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from dataclasses import fields
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from sfumato.accounting.codec import from_plain as read_record
from sfumato.accounting.codec import to_plain as plain_record
from sfumato.accounting.events import Event
from sfumato.accounting.losses.measures import Loss
from sfumato.accounting.relation import Relation
from sfumato.errors import BadArgument, SfumatoError, UnknownFormat
from sfumato.plain import parsed
from sfumato.planning.desk import Foretold
from sfumato.planning.forms import Forms
from sfumato.planning.record import Dropped, Plan, Step
from sfumato.planning.wishes import Target
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.keysets import KeySet

FORMAT, VERSION = "sfumato plan", 1

BOUNDS = ("max_groups", "max_rows_per_group", "max_rows", "max_matches")
"""Settings that are whole numbers."""


def to_plain(plan: Plan) -> dict[str, Any]:
    """Writes a plan as dictionaries, lists, texts and numbers; losses and events in the form of the accountant."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "title": plan.title,
        "protects": plan.protects,
        "codebook": plan.digest,
        "limit": plain_record(plan.limit),
        "relation": plan.relation.value,
        "exchanges": plan.exchanges,
        "delta": str(plan.delta),
        "steps": [_plain_step(step) for step in plan.steps],
        "dropped": [
            {
                **_texts(one, "name", "sql", "why"),
                "priority": one.priority,
                "price": one.price and plain_record(one.price),
            }
            for one in plan.dropped
        ],
        "factor": None if plan.factor is None else str(plan.factor),
        "left": plan.left and plain_record(plan.left),
        "beside": [[who, plain_record(loss)] for who, loss in plan.beside],
        "not_protected": list(plan.not_protected),
        "notes": list(plan.notes),
        "forms": None if plan.forms is None else plan.forms.to_plain(),
    }


def _texts(record: object, *names: str) -> dict[str, Any]:
    return {name: getattr(record, name) for name in names}


def _plain_step(step: Step) -> dict[str, Any]:
    return {
        **_texts(step, "name", "sql", "priority", "size", "guessed", "mechanism", "key"),
        "loss": plain_record(step.loss),
        "price": plain_record(step.price),
        "event": plain_record(step.event),
        "numbers": [[one.column, _number(one.value), _number(one.half_width), one.rank] for one in step.numbers],
        "targets": [[name, str(target.amount), target.relative] for name, target in step.targets],
        "confidence": str(step.confidence),
        "weight": str(step.weight),
        "share": str(step.share),
        "parameters": _plain_parameters(step),
        "settings": _plain_settings(step.settings),
    }


def _number(value: float | None) -> str | None:
    """A float as a text, from which the same float comes back: JSON in books and files holds none."""
    return None if value is None or not math.isfinite(value) else repr(float(value))


def _foretold(column: str, value: str | None, half_width: str | None, rank: bool) -> Foretold:  # noqa: FBT001  # stored
    near, wide = (None if one is None else float(one) for one in (value, half_width))
    return Foretold(column, near, wide, rank)


def _plain_parameters(step: Step) -> Any:
    given = step.parameters
    if isinstance(given, Mapping):
        return {str(name): _plain_value(value) for name, value in given.items()}
    return [_plain_value(value) for value in given]


def _plain_value(value: object) -> Any:
    match value:
        case None | bool() | int() | str():
            return value
        case Fraction() | float():
            return {"number": str(Fraction(value))}
        case datetime.datetime():
            return {"time": value.isoformat()}
        case datetime.date():
            return {"date": value.isoformat()}
    raise BadArgument("a value in a plan", "a truth value, a number, a text, a day or a time", type(value).__name__)


def _read_value(plain: Any) -> Any:
    match plain:
        case None | bool() | int() | str():
            return plain
        case {"number": str(text)}:
            return Fraction(text)
        case {"time": str(text)}:
            return datetime.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
    raise UnknownFormat("a plan holds a value of no known shape")


def _plain_settings(own: Settings) -> dict[str, Any]:
    keys = own.keys
    said = {
        **{name: getattr(own, name) for name in BOUNDS},
        "keys": None
        if keys is None
        else {"names": list(keys.names), "rows": [[_plain_value(value) for value in row] for row in keys]},
        "weights": [[name, str(weight)] for name, weight in own.weights],
        "noise": [list(one) for one in own.noise] if isinstance(own.noise, tuple) else own.noise,
    }
    return {name: value for name, value in said.items() if value not in (None, [])}


def _read_settings(plain: Mapping[str, Any]) -> Settings:
    keys, noise = plain.get("keys"), plain.get("noise")
    groups, each, rows, matches = (plain.get(name) for name in BOUNDS)
    return Settings.read(
        max_groups=groups,
        max_rows_per_group=each,
        max_rows=rows,
        max_matches=matches,
        keys=None
        if keys is None
        else KeySet.rows(keys["names"], [[_read_value(one) for one in row] for row in keys["rows"]]),
        weights={name: Fraction(weight) for name, weight in plain.get("weights", [])} or None,
        noise=dict(noise) if isinstance(noise, list) else noise,
    )


def from_json(given: str | Path) -> Plan:
    """Reads a plan from a file or from its JSON; refuses what is none."""
    text = given
    if isinstance(given, Path) or not given.lstrip().startswith("{"):
        try:
            text = Path(given).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            raise BadArgument("a plan", "a file that was saved as .json, or its text", str(given)) from None
    return from_plain(parsed(str(text)))


def from_plain(plain: object) -> Plan:
    """Reads what `to_plain` wrote; refuses every other format and version."""
    match plain:
        case {"format": form, "version": version} if form == FORMAT and version == VERSION:
            try:
                return _read(cast(dict[str, Any], plain))
            except (KeyError, TypeError, ValueError, AttributeError, SfumatoError) as refusal:
                raise UnknownFormat("a plan in it cannot be read") from refusal
    raise UnknownFormat(f"it is no {FORMAT} of version {VERSION}")


def _read(plain: Mapping[str, Any]) -> Plan:
    return Plan(
        title=plain["title"],
        protects=plain["protects"],
        digest=plain["codebook"],
        limit=_loss(plain["limit"]),
        relation=Relation(plain["relation"]),
        exchanges=bool(plain["exchanges"]),
        delta=Fraction(plain["delta"]),
        steps=tuple(_read_step(one) for one in plain["steps"]),
        dropped=tuple(
            Dropped(one["name"], one["sql"], one["price"] and _loss(one["price"]), one["priority"], one["why"])
            for one in plain["dropped"]
        ),
        factor=plain["factor"] and Fraction(plain["factor"]),
        left=plain["left"] and _loss(plain["left"]),
        beside=tuple((who, _loss(loss)) for who, loss in plain["beside"]),
        not_protected=tuple(plain["not_protected"]),
        notes=tuple(plain["notes"]),
        forms=plain["forms"] and Forms.from_plain(plain["forms"]),
    )


def _loss(plain: object) -> Loss:
    read = read_record(plain)
    if not isinstance(read, Loss):
        raise UnknownFormat("a plan holds something else where a loss should be")
    return read


def _read_step(plain: Mapping[str, Any]) -> Step:
    event, parameters = read_record(plain["event"]), plain["parameters"]
    if not isinstance(event, Event):
        raise UnknownFormat("a plan holds something else where an event should be")
    known = {part.name for part in fields(Step)} & {"name", "sql", "priority", "size", "guessed", "mechanism", "key"}
    return Step(
        **{name: plain[name] for name in known},
        loss=_loss(plain["loss"]),
        price=_loss(plain["price"]),
        event=event,
        numbers=tuple(_foretold(*one) for one in plain["numbers"]),
        targets=tuple((name, Target(Fraction(amount), share)) for name, amount, share in plain["targets"]),
        confidence=Fraction(plain["confidence"]),
        weight=Fraction(plain["weight"]),
        share=Fraction(plain["share"]),
        parameters={name: _read_value(one) for name, one in parameters.items()}
        if isinstance(parameters, dict)
        else tuple(_read_value(one) for one in parameters),
        settings=_read_settings(plain["settings"]),
    )
