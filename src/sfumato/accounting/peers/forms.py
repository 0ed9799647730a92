"""The forms in which dp_accounting's events come: objects, named tuples, dictionaries, JSON. Needs nothing of it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from typing import Any, final

from sfumato.errors import MissingExtra, NoProvenRoute, UnknownFormat

MODULE = "dp_accounting.dp_event"

FIELDS: dict[str, tuple[str, ...]] = {
    "NoOpDpEvent": (),
    "NonPrivateDpEvent": (),
    "UnsupportedDpEvent": (),
    "RandomizedResponseDpEvent": ("noise_parameter", "num_buckets"),
    "EpsilonDeltaDpEvent": ("epsilon", "delta"),
    "GaussianDpEvent": ("noise_multiplier",),
    "LaplaceDpEvent": ("noise_multiplier",),
    "DiscreteLaplaceDpEvent": ("noise_parameter", "sensitivity"),
    "DiscreteGaussianDpEvent": ("sigma", "sensitivity", "dimension"),
    "SelfComposedDpEvent": ("event", "count"),
    "ComposedDpEvent": ("events",),
    "PoissonSampledDpEvent": ("sampling_probability", "event"),
    "SampledWithReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SampledWithoutReplacementDpEvent": ("source_dataset_size", "sample_size", "event"),
    "SingleEpochTreeAggregationDpEvent": ("noise_multiplier", "step_counts"),
    "RepeatAndSelectDpEvent": ("event", "mean", "shape"),
    "MixtureOfGaussiansDpEvent": ("standard_deviation", "sensitivities", "sampling_probs"),
    "ZCDpEvent": ("rho", "xi"),
    "ExponentialMechanismDpEvent": ("epsilon",),
    "PermuteAndFlipDpEvent": ("epsilon",),
    "TruncatedSubsampledGaussianDpEvent": (
        "dataset_size",
        "sampling_probability",
        "truncated_batch_size",
        "noise_multiplier",
    ),
}
"""Every class of events that dp_accounting has (0.7, August 2026), and its fields in their order."""

LATER: dict[str, dict[str, Any]] = {
    "DiscreteGaussianDpEvent": {"sensitivity": 1, "dimension": None},
    "ZCDpEvent": {"xi": 0},
}
"""Fields that may be left out, and what they then are."""

DEEPEST = 64
"""Events may lie this deep inside each other."""


@final
@dataclass(frozen=True)
class Foreign:
    """One of their events: the name of its class and its fields, events inside it not yet read."""

    name: str
    fields: Mapping[str, Any]


def opened(value: object) -> Foreign:
    """Reads the outermost event of any of its forms; refuses classes and fields that are not known."""
    if isinstance(value, Foreign):
        return value
    if isinstance(value, str):
        return opened(_parsed(value))
    module, name, said = _described(value)
    if module.rpartition(".")[2] != "dp_event" or name not in FIELDS:
        raise UnknownFormat("it is no event of dp_accounting's dp_event, or one of a class that is not known here")
    fields = {**LATER.get(name, {}), **said}
    if fields.keys() != set(FIELDS[name]):
        raise UnknownFormat(f"a {name} has the fields {', '.join(FIELDS[name]) or '(none)'} and no others")
    return Foreign(name, fields)


def _described(value: object) -> tuple[str, str, dict[str, Any]]:
    """The module, the class and the fields of an object, a named tuple, a dictionary or a list."""
    if isinstance(value, Mapping):
        said = dict(value)
        return _text(said.pop("module_name", MODULE)), _text(said.pop("class_name", "")), said
    if hasattr(value, "_fields") and hasattr(value, "class_name"):
        said = {name: getattr(value, name) for name in value._fields}
        return _text(said.pop("module_name", "")), _text(said.pop("class_name")), said
    if isinstance(value, list | tuple):  # what `json.dumps` makes of a named tuple
        module, name, *rest = [*value, "", ""] if len(value) < 2 else value
        names = FIELDS.get(_text(name), ())
        return _text(module), _text(name), dict(zip(names, rest, strict=False)) if len(rest) <= len(names) else {"": 0}
    kind = type(value)
    return kind.__module__, kind.__name__, {name: getattr(value, name, None) for name in FIELDS.get(kind.__name__, ())}


def _text(value: object) -> str:
    return value.decode() if isinstance(value, bytes) else value if isinstance(value, str) else ""


def _parsed(text: str) -> object:
    """Reads JSON, numbers as the decimals that are written."""
    try:
        return json.loads(text, parse_float=Decimal, parse_constant=float)
    except (ValueError, RecursionError):
        raise UnknownFormat("it is no JSON, or nested too deep") from None


def plain(event: Foreign) -> dict[str, Any]:
    """An event as dictionaries, lists and numbers, of which JSON is made."""
    return {
        "module_name": MODULE,
        "class_name": event.name,
        **{key: _plain(part) for key, part in event.fields.items()},
    }


def _plain(part: Any) -> Any:
    if isinstance(part, Foreign):
        return plain(part)
    return [_plain(each) for each in part] if isinstance(part, list) else part


def built(event: Foreign) -> Any:
    """An event as the object that dp_accounting has for it."""
    try:
        module = import_module(MODULE)
    except ImportError:
        raise MissingExtra("events of dp_accounting", package="dp-accounting") from None
    kind = getattr(module, event.name, None)
    if kind is None:
        raise NoProvenRoute(f"the dp_accounting that is installed has no {event.name}: install a newer one.")
    return kind(**{key: _built(part) for key, part in event.fields.items()})


def _built(part: Any) -> Any:
    if isinstance(part, Foreign):
        return built(part)
    return [_built(each) for each in part] if isinstance(part, list) else part


def is_infinite(value: object) -> bool:
    """Tells whether a number stands for infinity, in any of the forms."""
    return isinstance(value, float | Decimal) and value == math.inf
