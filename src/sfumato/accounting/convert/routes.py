"""The table of conversions between kinds of loss, and the search for the tightest proven way through it.

`convert` fills the table, one row for each theorem. Every row goes from a stronger promise to a weaker one, or between
equals; what no row reaches is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias, TypeVar, final

from sfumato.accounting.losses.measures import Approx, Loss
from sfumato.accounting.losses.pld import PLD
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.guarantee import GUARANTEES

Kind: TypeAlias = type[Loss]
"""A kind of loss."""

Conversion: TypeAlias = Callable[..., Loss]
"""Takes a loss and the δ that is asked for (or none); gives a loss of another kind, or raises `NoProvenRoute`."""

F = TypeVar("F", bound=Conversion)


@final
@dataclass(frozen=True, eq=False)
class Step:
    """One row of the table: a theorem by which one kind of loss implies another.

    ``lossless``: the new loss implies the old one again, but for rounding. ``tight``: no theorem can give a smaller
    loss of the new kind from the old one alone (so a lossless step is tight). ``at_delta``: the step needs a δ, for the
    old loss has an ε for each. ``only`` says for which losses the step exists, if not all.
    """

    source: Kind
    target: Kind
    theorem: str
    proof: str
    lossless: bool
    tight: bool
    at_delta: bool
    only: str
    apply: Conversion = field(repr=False, compare=False)

    def __str__(self) -> str:
        arrow = f"{self.source.__name__} → {self.target.__name__}"
        return f"{arrow} ({'lossless' if self.lossless else 'lossy'}): {self.theorem}"


@final
@dataclass(frozen=True)
class Route:
    """A way from one loss to another: the theorems in order, and the loss before, between and after them."""

    steps: tuple[Step, ...]
    losses: tuple[Loss, ...]

    @property
    def loss(self) -> Loss:
        """The loss at the end."""
        return self.losses[-1]

    @property
    def lossless(self) -> bool:
        """Tells whether the last loss still implies the first."""
        return all(step.lossless for step in self.steps)

    @property
    def tight(self) -> bool:
        """Tells whether no theorem can do better: only the last step may lose something, and it is tight."""
        return all(step.lossless for step in self.steps[:-1]) and all(step.tight for step in self.steps[-1:])

    def __str__(self) -> str:
        lines = [str(self.losses[0])]
        for step, loss in zip(self.steps, self.losses[1:], strict=True):
            lines.append(f"⇒ {loss}  [{'lossless' if step.lossless else 'lossy'}; {step.theorem}; {step.proof}]")
        return "\n".join(lines)


@final
@dataclass(frozen=True)
class StrengthGraph:
    """The order of strength between kinds of loss: an arrow points from each promise to one that it implies."""

    kinds: tuple[Kind, ...]
    steps: tuple[Step, ...]

    def implies(self, strong: Kind, weak: Kind) -> bool:
        """Tells whether every loss of one kind implies some loss of the other."""
        return strong is weak or any(True for _ in _paths(strong, weak, self.steps, (strong,)))


CONVERSIONS: dict[Kind, dict[Kind, Step]] = {}
"""Every conversion on file, by source and target; filled at import."""


def converts(
    source: Kind,
    target: Kind,
    *,
    theorem: str,
    lossless: bool = False,
    tight: bool = False,
    at_delta: bool = False,
    only: str = "",
) -> Callable[[F], F]:
    """Files a theorem in the table. The function must carry a `guarantee`, which names the proof."""

    def file(function: F) -> F:
        name = f"{function.__module__}.{function.__qualname__}"
        if name not in GUARANTEES or target in CONVERSIONS.get(source, {}):
            raise BadArgument("a conversion", "a function with a guarantee, filed once for its two kinds", name)
        proof = GUARANTEES[name].proof
        row = Step(source, target, theorem, proof, lossless, lossless or tight, at_delta, only, function)
        CONVERSIONS.setdefault(source, {})[target] = row
        return function

    return file


def routes(source: Kind, target: Kind) -> tuple[tuple[Step, ...], ...]:
    """Every way from one kind to another that visits no kind twice, short ways first; none where it is refused.

    Steps that exist for some losses only (``step.only``) are included.
    """
    rows = tuple(step for row in CONVERSIONS.values() for step in row.values() if step.source is not step.target)
    return _sorted_paths(_kind(source), _kind(target), rows)


@lru_cache(maxsize=256)
def _sorted_paths(source: Kind, target: Kind, rows: tuple[Step, ...]) -> tuple[tuple[Step, ...], ...]:
    return tuple(sorted(_paths(source, target, rows, (source,)), key=len))


def strength_graph() -> StrengthGraph:
    """Which kind of loss implies which, as far as theorems are on file and hold for every loss of the kind."""
    steps = tuple(
        step for row in CONVERSIONS.values() for step in row.values() if not step.only and step.source != step.target
    )
    return StrengthGraph(tuple(dict.fromkeys(kind for step in steps for kind in (step.source, step.target))), steps)


def _paths(source: Kind, target: Kind, rows: tuple[Step, ...], seen: tuple[Kind, ...]) -> Iterator[tuple[Step, ...]]:
    for step in rows:
        if step.source is source and step.target not in seen:
            if step.target is target:
                yield (step,)
            else:
                for rest in _paths(step.target, target, rows, (*seen, step.target)):
                    yield (step, *rest)


def tightest_route(loss: Loss, kind: Kind, *, delta: Fraction | None = None) -> Route:
    """Finds the way to another kind of loss that ends with the least loss; raises `NoProvenRoute` where there is none.

    Every way is tried until one is known to be the best there can be. Of two ends that cannot be compared the one found
    first stays.
    """
    if type(loss) is kind:
        return _settled(loss, delta)
    walk, best = _Walk(loss, delta), None
    for way in _ways(type(loss), kind, delta):
        route = walk.along(way)
        if route is not None and (best is None or _improves(route.loss, best.loss)):
            best = route
    if best is None:
        raise _refused(loss, kind, walk)
    return best


def _ways(source: Kind, kind: Kind, delta: Fraction | None) -> tuple[tuple[Step, ...], ...]:
    """The ways between two kinds, likely best and cheapest first.

    Lossless ways come before those that lose something at their last step and tightly, and those before all others. Of
    equals, ways through distributions, which are worked out numerically, come last, and short ways first.
    """
    return _ranked(routes(source, kind), at_delta=delta is not None)


@lru_cache(maxsize=256)
def _ranked(ways: tuple[tuple[Step, ...], ...], *, at_delta: bool) -> tuple[tuple[Step, ...], ...]:
    def rank(way: tuple[Step, ...]) -> tuple[bool, bool, bool, int]:
        lossless, tight = _bare(way).lossless, _bare(way).tight
        return not lossless, not tight, any(step.source is PLD for step in way), len(way)

    return tuple(sorted((way for way in ways if at_delta or not any(step.at_delta for step in way)), key=rank))


def _bare(steps: tuple[Step, ...]) -> Route:
    return Route(steps, ())


@final
class _Walk:
    """Goes along ways from one loss; what two ways have in common is worked out once."""

    def __init__(self, loss: Loss, delta: Fraction | None) -> None:
        self.delta, self.refusals = delta, list[NoProvenRoute]()
        self.reached: dict[tuple[Step, ...], Loss | None] = {(): loss}
        self.settled: set[tuple[Step, ...]] = set()

    def along(self, way: tuple[Step, ...]) -> Route | None:
        """The route along a way; nothing where a step is refused or a tight way on from some step is known."""
        losses = []
        for place in range(len(way) + 1):
            loss = None if way[:place] in self.settled else self._at(way[:place])
            if loss is None:
                return None
            losses.append(loss)
        end = _settled(losses[-1], self.delta)
        steps = (*way, *end.steps)
        self.settled |= {way[:place] for place in range(len(way)) if _bare(steps[place:]).tight}
        return Route(steps, (*losses, *end.losses[1:]))

    def _at(self, way: tuple[Step, ...]) -> Loss | None:
        """The loss at the end of a way of which all but the last step has been gone."""
        if way not in self.reached:
            before = self.reached[way[:-1]]
            try:
                self.reached[way] = None if before is None else way[-1].apply(before, self.delta)
            except NoProvenRoute as refusal:
                self.refusals.append(refusal)
                self.reached[way] = None
        return self.reached[way]


def _settled(loss: Loss, delta: Fraction | None) -> Route:
    """Ends a way: at the δ that was asked for, where the kind has a step from one δ to another."""
    step = CONVERSIONS.get(type(loss), {}).get(type(loss))
    moved = loss if step is None else step.apply(loss, delta)
    return Route((), (loss,)) if step is None or moved == loss else Route((step,), (loss, moved))


def _improves(new: Loss, old: Loss) -> bool:
    try:
        return new.within(old) and not old.within(new)
    except NoProvenRoute:  # two curves that cross: either holds
        return False


def _refused(loss: Loss, kind: Kind, walk: _Walk) -> NoProvenRoute:
    graph, source, refusals = strength_graph(), type(loss), walk.refusals
    if graph.implies(source, kind) and walk.delta is not None and refusals:
        return refusals[0]
    if graph.implies(source, kind):
        return NoProvenRoute(
            f"{source.__name__} gives one ε for each δ. Choose the δ: sf.convert(loss, sf.Approx, delta=1e-6)"
            + ("." if kind is Approx else f", and convert that to {kind.__name__}.")
        )
    weaker = [other.__name__ for other in graph.kinds if other is not source and graph.implies(source, other)]
    stronger = [other.__name__ for other in graph.kinds if other is not kind and graph.implies(other, kind)]
    return NoProvenRoute(
        f"no theorem leads from {source.__name__} to {kind.__name__}. "
        + "".join(f"{refusal} " for refusal in refusals[:1])
        + f"Conversions go from a stronger promise to a weaker one: {source.__name__} implies "
        f"{', '.join(weaker) or 'no other kind'}; {kind.__name__} follows from {', '.join(stronger) or 'no other'}. "
        f"Account for the mechanisms as {kind.__name__} from the start, or ask for a kind that follows."
    )


def _kind(value: object) -> Kind:
    if not (isinstance(value, type) and issubclass(value, Loss)):
        raise BadArgument("the kind of loss", "a class such as sf.Pure or sf.ZCDP", value)
    return value
