"""Spaces: a domain with a metric on it. What transformations map between and mechanisms consume."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, final, overload

from sfumato.core.domains import (
    BOOLEANS,
    Atom,
    Bounds,
    Categories,
    Data,
    Domain,
    Floats,
    Frame,
    Integers,
    Matrix,
    Texts,
    Vector,
)
from sfumato.core.grouped_distance import AnyDistance
from sfumato.core.metrics import Absolute, AddRemove, ChangeOne, Discrete, Metric, VectorMetric
from sfumato.core.plan import Described, Plan, record_of
from sfumato.core.steps import step_of, to_steps
from sfumato.errors import BadArgument, Several, SpaceMismatch
from sfumato.exact import Number

if TYPE_CHECKING:
    from sfumato.core.measurement import Measurement
    from sfumato.core.partial import Build, Partial
    from sfumato.core.transformation import Transformation
    from sfumato.core.unscaled import Unscaled


@final
@dataclass(frozen=True, repr=False)
class Space(Described):
    """A domain and a metric that is defined on it; checked once, here."""

    domain: Domain
    metric: Metric

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain) or not isinstance(self.metric, Metric):
            raise BadArgument("a space", "a domain and a metric", Several(type(self.domain), type(self.metric)))
        why = self.metric.misfit(self.domain)
        if why is not None:
            raise SpaceMismatch(self.domain, self.metric, why)

    @cached_property
    def plan(self) -> Plan | None:
        """Its description; None where a part of it is the caller's own."""
        described = record_of(self)
        return None if described is None else {"space": described, "steps": []}

    @property
    def closest(self) -> int:
        """How far apart neighbours are: 1, or 2 where rows of a public number are added and removed."""
        return 2 if isinstance(self.metric, AddRemove) and getattr(self.domain, "size", None) is not None else 1

    def distance(self, left: Data, right: Data) -> AnyDistance:
        """How far apart two members are, in the unit of their values; they may be written either way (`core.steps`)."""
        apart = self.metric.distance(to_steps(self.domain, left), to_steps(self.domain, right))
        if isinstance(self.metric, Absolute | VectorMetric):
            return apart if apart == float("inf") else apart * step_of(self.domain)
        return apart

    @overload
    def __rshift__(self, following: Transformation) -> Transformation: ...
    @overload
    def __rshift__(self, following: Measurement) -> Measurement: ...
    @overload
    def __rshift__(self, following: Partial[Build]) -> Build: ...
    @overload
    def __rshift__(self, following: Unscaled) -> Unscaled: ...

    def __rshift__(self, following: object) -> object:
        from sfumato.core.partial import begin

        return begin(self, following)

    def __str__(self) -> str:
        return f"{self.domain} under {self.metric}"

    def __repr__(self) -> str:
        return f"Space({self})"


Kind = type | Atom | Sequence[object]
"""How a person names a kind of value: ``float``, ``int``, ``bool``, ``str``, a list of categories, or a domain."""


def atom(kind: Kind, *, between: tuple[Number, Number] | None = None) -> Atom:
    """Reads a kind of value, with bounds for numbers."""
    bounds = None if between is None else Bounds.read(between)
    if kind is float:
        return Floats(bounds)
    if kind is int:
        return Integers(bounds)
    if bounds is not None:
        raise BadArgument("between", "given for float or int only", between)
    if kind is bool:
        return BOOLEANS
    if kind is str:
        return Texts()
    if isinstance(kind, Atom):
        return kind
    if isinstance(kind, Sequence) and not isinstance(kind, str):
        return Categories(tuple(kind))
    raise BadArgument("the kind of value", "float, int, bool, str, a list of categories or a domain", kind)


def vector(
    kind: Kind,
    *,
    between: tuple[Number, Number] | None = None,
    size: int | None = None,
    least: int = 0,
    metric: Metric | None = None,
) -> Space:
    """Declares a column of values, one row to each unit of privacy.

    Where the size is public, neighbours change one row; where it is not, they add or remove one. ``metric`` overrides
    that.

    >>> str(vector(float, size=25))
    '25 floats under the change-one distance'
    >>> str(vector(int, between=(0, 5)))
    'any number of integers in [0, 5] under the add/remove distance'
    """
    return Space(Vector(atom(kind, between=between), size, least), metric or _default_metric(size))


def matrix(
    columns: int,
    *,
    between: tuple[Number, Number] | None = None,
    size: int | None = None,
    metric: Metric | None = None,
) -> Space:
    """Declares rows of floats with a public number of columns."""
    bounds = None if between is None else Bounds.read(between)
    return Space(Matrix(columns, Floats(bounds), size=size), metric or _default_metric(size))


def frame(columns: Mapping[str, Kind], *, size: int | None = None, metric: Metric | None = None) -> Space:
    """Declares a table by the names and kinds of its columns.

    >>> str(frame({"age": int, "sex": ["f", "m"]}))
    "any number of rows of (age: integers, sex: {'f', 'm'}) under the add/remove distance"
    """
    if not isinstance(columns, Mapping):
        raise BadArgument("columns", "a mapping from names to kinds", columns)
    return Space(
        Frame(tuple((name, atom(kind)) for name, kind in columns.items()), size), metric or _default_metric(size)
    )


def scalar(kind: Kind, *, between: tuple[Number, Number] | None = None, metric: Metric | None = None) -> Space:
    """Declares a single value: a number under the absolute distance, anything else under the discrete distance."""
    domain = atom(kind, between=between)
    usual: Metric = Absolute() if isinstance(domain, Floats | Integers) else Discrete()
    return Space(domain, metric or usual)


def _default_metric(size: int | None) -> Metric:
    return AddRemove() if size is None else ChangeOne()
