"""Plans: exact, public descriptions of how a component was built, by which the same question is known again.

A plan is the space it begins with and the steps from there: which constructors, with which arguments. It holds only
what JSON holds, without floats, and it is to be read, not changed. Two components with equal plans, built by the same
version of sfumato, give the same distribution of outcomes on every data set and cost the same, so that an answer to one
is an answer to the other. The other way round nothing is promised. What cannot be described exactly (a function of the
user's, an object that sfumato does not know, a set, whose order is its own, NaN) has no plan, and neither has anything
built from it; nor has what goes on answering.

Numbers that Python takes for equal are written alike: 1, 1.0, Fraction(1). A float that is not the decimal it shows is
written as itself, since as a category 0.1 is another value than one tenth; where the library reads a `Number`, which is
the decimal, both are written as one tenth.

Components are frozen, and ``plan`` is no argument of theirs: what `dataclasses.replace` makes of one has no plan until
it is given one here. Constructors keep copies of the lists, dictionaries and arrays that they are given, so that no one
can change what a plan has described.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import math
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from types import FunctionType, NoneType
from typing import Any, ParamSpec, TypedDict, TypeVar, cast, get_args, get_type_hints

import numpy as np

from sfumato.errors import BadArgument
from sfumato.exact import Number, rational
from sfumato.plain import DEEPEST, NAMES, Form, Part, Plain, Rule, digits

LARGEST_POWER = 10**5
"""A decimal with a larger power of ten is not written out."""


SHORT = 1024
"""Whole numbers of up to this many bits are written without a look at their length."""


class Plan(TypedDict):
    """How something was built: the space it begins with (None while it waits for one), and the steps from there."""

    space: Plain
    steps: list[Plain]


class Described(ABC):
    """Something that may know how it was built."""

    @property
    @abstractmethod
    def plan(self) -> Plan | None:
        """How it was built; None where that cannot be said exactly."""


Parameters = ParamSpec("Parameters")
Made = TypeVar("Made", bound=Described)

_unplanned: ContextVar[bool] = ContextVar("_unplanned", default=False)


def constructor(function: Callable[Parameters, Made]) -> Callable[Parameters, Made]:
    """Lets what a function makes know its plan: the function's name and its arguments.

    The outermost constructor is described; what it calls inside is its own affair.
    """
    signature, name = inspect.signature(function), function.__qualname__
    call: Callable[..., Made] = function  # with copies of the arguments

    def step(values: tuple[object, ...], named: dict[str, object]) -> Plain:
        try:
            bound = signature.bind(*values, **named)
            bound.apply_defaults()
            numbers = number_arguments(function)
            arguments = ((key, _read(value) if key in numbers else value) for key, value in bound.arguments.items())
            return {"make": name, "with": {key: ARGUMENTS.write(value) for key, value in arguments}}
        except (BadArgument, TypeError):  # of the second kind the call itself will tell
            return None

    @functools.wraps(function)
    def make(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Made:
        if _unplanned.get():
            return function(*args, **kwargs)
        values = tuple([_owned(value, DEEPEST) for value in args])
        named = {key: _owned(value, DEEPEST) for key, value in kwargs.items()}
        described = step(values, named)
        with unplanned():
            component = call(*values, **named)
        return component if described is None else planned(component, extended(_beginning(component), described))

    return make


@functools.cache
def number_arguments(function: Callable[..., object]) -> frozenset[str]:
    """Names the arguments that take every `Number`: those that the library reads as the decimal they show.

    The annotations are resolved, so that it does not matter under which alias they are written.
    """
    kinds = get_args(Number)
    hints = {key: get_args(hint) for key, hint in get_type_hints(function).items() if key != "return"}
    return frozenset(key for key, taken in hints.items() if all(kind in taken for kind in kinds))


@contextmanager
def unplanned() -> Iterator[None]:
    """Lets nothing be described inside: what is built there is described by what surrounds it, or not at all."""
    token = _unplanned.set(True)
    try:
        yield
    finally:
        _unplanned.reset(token)


def planned(component: Made, plan: Plan | None) -> Made:
    """Copies a component with its plan; returns it as it is without one, or where it goes on answering."""
    if plan is None or getattr(component, "interactive", False) or _unplanned.get():
        return component
    copy = object.__new__(type(component))
    vars(copy).update(vars(component), plan=plan)
    return copy


def joined(first: Described, rest: Described) -> Plan | None:
    """The plan of two things in a row, of which the second begins where the first ends."""
    before, after = (None, None) if _unplanned.get() else (first.plan, rest.plan)
    if before is None or after is None:
        return None
    return {"space": before["space"], "steps": before["steps"] + after["steps"]}


def extended(plan: Plan | None, step: Plain) -> Plan | None:
    """A plan with one more step."""
    return None if plan is None or step is None else {"space": plan["space"], "steps": [*plan["steps"], step]}


def followed_by(function: object, name: str | None = None) -> Plain:
    """The step that applies a function to the outcome; None unless it is one of sfumato's own."""
    known = plan_of(function)
    return None if known is None else {"then": known, "name": plan_of(name)}


def plan_of(value: object) -> Plain:
    """Writes an argument of a constructor; None where it has no exact description (and for None itself).

    >>> plan_of((1, Fraction(3, 2), 1.5, "1"))
    {'tuple': ['1', '3/2', '3/2', {'text': '1'}]}
    >>> plan_of(0.1), plan_of(Fraction(1, 10)), plan_of(lambda x: x)
    ({'float': '0.1'}, '1/10', None)
    """
    try:
        return cast(Plain, ARGUMENTS.write(value))
    except BadArgument:
        return None


def record_of(value: object) -> Plain:
    """Writes one of sfumato's own records; None where a field has no exact description."""
    try:
        return _record(value)
    except BadArgument:
        return None


def _beginning(component: Described) -> Plan | None:
    source = getattr(component, "source", None)
    return source.plan if isinstance(source, Described) else {"space": None, "steps": []}


def _owned(value: Any, depth: int) -> Any:
    """Copies what can be changed from outside; to the depth to which arguments are described."""
    kind = type(value)
    if depth and kind in (list, tuple):
        return kind([_owned(part, depth - 1) for part in value])
    if depth and kind is dict:
        return {key: _owned(part, depth - 1) for key, part in value.items()}
    return value.copy() if kind is np.ndarray else value


def _read(value: object) -> object:
    """Reads a number as the library does where it takes a `Number`."""
    if not isinstance(value, float | str | Decimal | np.generic):
        return value
    try:
        return rational(cast(float, value))
    except BadArgument:  # infinity, or what was no number in the first place
        return value


def _opaque(value: object) -> BadArgument:
    return BadArgument("an argument", "one with an exact description", type(value).__name__)


def _described(value: object, part: Part) -> Plain:
    match value:
        case Described():
            if value.plan is None:
                raise _opaque(value)
            return {"plan": cast(Plain, value.plan)}
        case np.bool_() | np.integer() | np.str_():
            return cast(Plain, part(value.item()))
        case type():
            return {"type": _own_name(value)}
        case FunctionType():
            return {"function": _own_name(value)}
        case Enum():
            return {"member": f"{_own_name(type(value))}.{value.name}"}
    return _record(value)


def _record(value: object) -> Plain:
    """Writes a record by its class and fields, without what it only remembers."""
    kind: Any = type(value)
    name, stated = _stated(kind)
    return {"record": name, "fields": {part: FIXED.write(getattr(value, part)) for part in stated}}


@functools.lru_cache(maxsize=1024)
def _stated(kind: type) -> tuple[str, tuple[str, ...]]:
    """The name of a class of records, and of the fields that are written; worked out once for each class."""
    if not getattr(vars(kind).get("__dataclass_params__"), "frozen", False):
        raise BadArgument("an argument", "one with an exact description", kind.__name__)
    stated = tuple(part.name for part in fields(kind) if part.init or not part.name.startswith("_"))
    return _own_name(kind), stated


def _own_name(thing: type | FunctionType) -> str:
    """Names a class by what it is stored under, or a class or function by where it stands in sfumato."""
    if thing in (bool, float, int, str):
        return thing.__name__
    module, name = str(thing.__module__), thing.__qualname__
    if not module.startswith("sfumato.") or getattr(sys.modules.get(module), name, None) is not thing:
        raise _opaque(thing)
    return NAMES.get(cast(type, thing)) or f"{module}.{name}"


def _float(value: float, _: Part) -> Plain:
    number = float(value)
    if math.isnan(number):
        raise _opaque(value)
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    shown, negative_zero = Fraction(repr(number)), number == 0 and math.copysign(1, number) < 0
    return {"float": repr(number)} if negative_zero or shown != number else digits(shown)


def _decimal(value: Decimal, _: Part) -> Plain:
    negative_zero = value.is_zero() and value.is_signed()
    if not value.is_finite() or negative_zero or abs(value.adjusted()) > LARGEST_POWER:
        raise _opaque(value)
    return digits(Fraction(value))


def _pairs(value: dict[object, object], part: Part) -> Plain:
    return {"pairs": [[part(key), part(held)] for key, held in value.items()]}


def _set(value: frozenset[object], part: Part) -> Plain:
    return {"set": sorted(map(part, value), key=json.dumps)}


def _array(value: np.ndarray[Any, np.dtype[Any]], _: Part) -> Plain:
    """Writes an array by its type, its shape and the digest of its bytes."""
    if value.dtype.kind in "OV":
        raise _opaque(value)
    digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return {"array": value.dtype.str, "shape": list(value.shape), "sha256": digest}


VALUES: dict[type, Rule] = {
    NoneType: lambda value, _: None,
    bool: lambda value, _: value,
    int: lambda value, _: str(value) if value.bit_length() <= SHORT else digits(Fraction(value)),
    Fraction: lambda value, _: digits(value),
    float: _float,
    np.float64: _float,
    Decimal: _decimal,
    str: lambda value, _: {"text": value},
    bytes: lambda value, _: {"bytes": value.hex()},
    range: lambda value, _: {"range": [digits(Fraction(end)) for end in (value.start, value.stop, value.step)]},
    tuple: lambda value, part: {"tuple": list(map(part, value))},
    date: lambda value, _: {"date": value.isoformat()},
    datetime: lambda value, _: {"time": value.isoformat()},
}

ARGUMENTS = Form(
    "an argument",
    "one with an exact description",
    writers={**VALUES, list: lambda value, part: list(map(part, value)), dict: _pairs, np.ndarray: _array},
    readers={},
    other=_described,
)
"""How arguments are written. No sets: who is given one may read it in an order that is its own."""

FIXED = Form("a field", "one with an exact description", {**VALUES, frozenset: _set}, readers={}, other=_described)
"""How fields of records are written, where a set is a set. Nothing that can be changed: no constructor copied it."""
