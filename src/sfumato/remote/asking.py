"""Questions as they are sent: what is said besides one, in the names and forms that a service reads."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.errors import BadArgument, QueryRefused
from sfumato.query.build.settings import CONFIDENCE, Settings, Target
from sfumato.query.nodes.keysets import KeySet

NO_FORM = "a remote session sends it in no form yet: ask it where the data is"


def sent(text: str, parameters: Sequence[object] | Mapping[str, object], settings: Settings) -> dict[str, Any]:
    """A question and what is said besides it, as JSON."""
    if settings.losses:
        raise QueryRefused(f"losses for several kinds of units are stated here, and {NO_FORM}.")
    said: dict[str, Any] = {"sql": text}
    if parameters:
        said["parameters"] = (
            {str(name): _value(value) for name, value in parameters.items()}
            if isinstance(parameters, Mapping)
            else [_value(value) for value in parameters]
        )
    if settings.loss is not None:
        said |= loss_sent(settings.loss)
    if settings.accuracy is not None:
        said["accuracy"] = (
            _target(settings.accuracy)
            if isinstance(settings.accuracy, Target)
            else {name: _target(one) for name, one in settings.accuracy}
        )
    for name in ("max_groups", "max_rows_per_group", "max_rows", "max_matches"):
        if getattr(settings, name) is not None:
            said[name] = getattr(settings, name)
    if settings.keys is not None:
        said["keys"] = _keys(settings.keys)
    if settings.weights:
        said["weights"] = {name: str(weight) for name, weight in settings.weights}
    if settings.noise is not None:
        said["noise"] = settings.noise if isinstance(settings.noise, str) else dict(settings.noise)
    if settings.confidence != CONFIDENCE:
        said["confidence"] = str(settings.confidence)
    return said


def loss_sent(loss: Loss) -> dict[str, str]:
    """A loss by its numbers, exactly."""
    match loss:
        case Pure():
            return {"epsilon": _exactly(loss.epsilon)}
        case Approx():
            return {"epsilon": _exactly(loss.epsilon), "delta": _exactly(loss.delta)}
        case ZCDP():
            return {"rho": _exactly(loss.rho)}
        case GDP():
            return {"mu": _exactly(loss.mu)}
    raise QueryRefused(f"a loss of the kind {type(loss).__name__} is stated here, and {NO_FORM}.")


def _exactly(number: object) -> str:
    if isinstance(number, Fraction | int):
        return str(number)
    raise BadArgument("a loss", "finite, to be sent", number)


def _target(target: Target) -> list[str]:
    return [str(target.half_width), str(target.confidence)]


def _keys(keys: KeySet) -> dict[str, Any]:
    return {"columns": list(keys.names), "rows": [[_value(value) for value in row] for row in keys]}


def _value(value: object) -> Any:
    """A value as JSON has it; days and times as ISO texts."""
    match value:
        case None | bool() | int() | str() | float():
            return value
        case datetime.date():
            return value.isoformat()
    raise BadArgument("a value that is sent", "a text, a number, true or false, a day or a time", value)
