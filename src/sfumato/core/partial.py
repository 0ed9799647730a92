"""Chaining: the one glue between spaces, transformations, measurements and post-processing functions."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Generic, NoReturn, TypeVar, final, overload

from sfumato.core.domains import Data
from sfumato.core.measurement import Measurement
from sfumato.core.plan import Described, Plan, extended, followed_by, joined, planned, unplanned
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.core.unscaled import Unscaled
from sfumato.errors import CannotJoin, NotChainable
from sfumato.guarantee import guarantee
from sfumato.release.record import Release

Build = TypeVar("Build", Transformation, Measurement)
Next = TypeVar("Next", Transformation, Measurement)


@final
@dataclass(frozen=True, eq=False)
class Partial(Described, Generic[Build]):
    """Waits for its input space: ``space >> partial`` or ``transformation >> partial`` supplies it.

    ``plan`` is how it was built (see `core.plan`).
    """

    name: str
    build: Callable[[Space], Build]
    plan: Plan | None = field(default=None, init=False, repr=False)

    @overload
    def __rshift__(self, following: Partial[Next]) -> Partial[Next]: ...
    @overload
    def __rshift__(self, following: Unscaled) -> Unscaled: ...
    @overload
    def __rshift__(self, following: Callable[[Data], Data]) -> Partial[Measurement]: ...

    def __rshift__(self, following: object) -> object:
        """Joins two waiting components into one, or adds a function of the outcome."""
        if isinstance(following, Unscaled):
            return following.begun(self)
        if not callable(following):
            _refuse(following)
        name = following.name if isinstance(following, Partial) else "function"
        # Which of the two kinds comes out is known to the overloads above, and to `_follow` when it runs.
        both = Partial[Any](f"{self.name} >> {name}", lambda space: _follow(self.build(space), following))
        if isinstance(following, Partial):
            return planned(both, joined(self, following))
        return both if isinstance(following, Described) else planned(both, extended(self.plan, followed_by(following)))

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotChainable(
            f"{self.name} does not know yet what it works on. Put a space or a transformation on its left: "
            f"space >> {self.name} gives something that can be called on data."
        )

    def __repr__(self) -> str:
        return f"{self.name} (waiting for an input space)"


def begin(space: Space, following: object) -> Transformation | Measurement | Unscaled:
    """Puts a space before a component (see `start`), or before a chain whose noise waits for its scale."""
    return following.begun(space) if isinstance(following, Unscaled) else start(space, following)


def start(space: Space, following: object) -> Transformation | Measurement:
    """Completes a component with its input space; refuses what cannot begin there."""
    match following:
        case Partial():
            with unplanned() if following.plan is not None else nullcontext():
                built: Transformation | Measurement = following.build(space)
            _joins(space, built.source)
            return planned(built, joined(space, following))
        case Transformation() | Measurement():
            _joins(space, following.source)
            return following
        case _:
            return _refuse(following)


def join(first: Transformation, following: object) -> Transformation | Measurement | Unscaled:
    """Joins a transformation and what comes after it (see `chain`), and their plans."""
    if isinstance(following, Unscaled):
        return following.begun(first)
    with unplanned():
        both = chain(first, following)
    if isinstance(following, Partial) or (isinstance(following, Described) and _begins(following, first.target)):
        return planned(both, joined(first, following))
    return both


def _begins(following: Described, space: Space) -> bool:
    """Tells whether the plan of what is built already begins with the very space that it is now given.

    Spaces join where Python takes them for equal, and to Python 1 and True are equal categories.
    """
    known = space.plan
    return known is not None and following.plan is not None and following.plan["space"] == known["space"]


@guarantee(
    claim="d ↦ second(first(d)), where the space between is the same",
    proof="proofs/framework.md#chaining",
    reviewed="2430459ef67c",
)
def chain(first: Transformation, following: object) -> Transformation | Measurement:
    """Joins a transformation and what comes after it, from the same space in which the first one ends."""
    second = start(first.target, following)
    if isinstance(second, Measurement):
        return second.after(first)
    return Transformation(
        source=first.source,
        target=second.target,
        function=lambda data, entropy: second.function(first.function(data, entropy), entropy),
        stability_map=lambda d_in: second.stability_map(first.stability_map(d_in)),
        steps=first.steps + second.steps,
        proofs=tuple(dict.fromkeys(first.proofs + second.proofs)),
        claims=first.claims + second.claims,
        randomized=first.randomized or second.randomized,
    )


@guarantee(
    claim="a function of the outcome keeps the map", proof="proofs/framework.md#postprocessing", reviewed="f9352faed5f0"
)
def finish(measurement: Measurement, following: object) -> Measurement:
    """Adds post-processing to a measurement."""
    if isinstance(following, Transformation | Measurement | Partial | Unscaled | Space | Release):
        raise NotChainable(
            "a measurement has been made already: what follows can only be a plain function of its outcome. "
            "A second look at the data is a second measurement and has its own price."
        )
    if not callable(following):
        return _refuse(following)
    return measurement.then(following)


def _follow(first: Transformation | Measurement, following: object) -> Transformation | Measurement | Unscaled:
    return finish(first, following) if isinstance(first, Measurement) else join(first, following)


def _joins(gives: Space, takes: Space) -> None:
    if gives.domain != takes.domain:
        raise CannotJoin(gives.domain, takes.domain, "the domain")
    if gives.metric != takes.metric:
        raise CannotJoin(gives.metric, takes.metric, "the metric")


def _refuse(following: object) -> NoReturn:
    if isinstance(following, Unscaled):
        raise following.unsolved()
    if isinstance(following, Release):
        raise NotChainable(
            "a release is the record of what left: nothing in a chain, and nothing to look at data with."
        )
    if callable(following) and str(getattr(following, "__module__", "")).startswith("sfumato."):
        name = getattr(following, "__name__", type(following).__name__)
        raise NotChainable(f"{name} makes a component when it is called: write {name}(…) in the chain.")
    if callable(following):
        raise NotChainable(
            "a plain function may only follow a measurement. Before one, sfumato must know how far the function can "
            "move neighbours apart: use map_rows(…) for a function of one row, or sf.transformation(…) with a claim."
        )
    raise NotChainable(f"{type(following).__name__} is neither a component nor a function: it cannot stand in a chain.")
