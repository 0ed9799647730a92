"""The only fold over events: what a whole plan costs, of one kind of loss.

Rows of the tables answer for one use; nothing but this file knows about repetition, sequences and partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeVar

from sfumato.accounting import amplify, leaf_losses
from sfumato.accounting.amplify.bands import sampled_bands
from sfumato.accounting.amplify.exchange import drawn_under, exchange, one_sample
from sfumato.accounting.convert.convert import convert, routes
from sfumato.accounting.events import (
    Allocated,
    Event,
    GaussianMixture,
    Mixture,
    Parallel,
    Repeat,
    RepeatAndSelect,
    Sampled,
    SampledFactorization,
    Sampling,
    Shuffled,
    ShuffledProtocol,
    Stated,
)
from sfumato.accounting.events import Sequence as InSequence
from sfumato.accounting.facts import repeat_and_select, selected_profile
from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.accounting.losses.pld import PLD
from sfumato.accounting.mixtures import USUAL, mixture_loss
from sfumato.accounting.relation import Relation
from sfumato.accounting.renyi import selected_curves
from sfumato.accounting.tables import ALLOCATORS, AMPLIFIERS, LEAVES, SELECTORS, SHUFFLERS, Row, Total
from sfumato.errors import BadArgument, NoProvenRoute
from sfumato.guarantee import guarantee

ROWS = (leaf_losses, repeat_and_select, selected_profile, selected_curves, amplify)
"""The modules that fill the tables; named here so that every row is on file before the first question."""

DEEPEST = 64
"""Events may lie this deep inside each other; sequences and repetitions at the top of a plan do not count."""

MOST_PARTS = 10_000_000
"""A plan may have this many parts written out; a `Repeat` counts its event once."""

L = TypeVar("L", bound=Loss)


def total(event: Event, kind: type[L], *, relation: Relation | None = None) -> L:
    """What a plan costs: the loss of everything in it, composed.

    ``relation`` says which data sets are neighbours; only events with parts on different units need it.

    >>> from sfumato.accounting.events import Laplace
    >>> from sfumato.accounting.losses.measures import Pure
    >>> total(Repeat(Laplace(scale=10), 3), Pure)
    Pure(epsilon=0.3)
    """
    if not isinstance(event, Event):
        raise BadArgument("event", "an event such as sf.events.Gaussian(scale=1)", event)
    if not (isinstance(kind, type) and issubclass(kind, Loss)):
        raise BadArgument("kind", "a kind of loss such as sf.Pure or sf.ZCDP", kind)
    if relation is not None and not isinstance(relation, Relation):
        raise BadArgument("relation", "sf.accounting.Relation.ADD_REMOVE, CHANGE_ONE or ZERO_OUT", relation)
    _check_size(event)
    return _fold(event, kind, relation)


def _fold(event: Event, kind: type[L], relation: Relation | None) -> L:
    return sequence_loss([(_once(part, kind, relation), count) for part, count in _flattened(event).items()], kind)


def _flattened(event: Event) -> dict[Event, int]:
    """What runs on the same data, each distinct event with how often; without recursion, and in order."""
    counts: dict[Event, int] = {}
    waiting: list[tuple[Event, int]] = [(event, 1)]
    while waiting:
        part, count = waiting.pop()
        match part:
            case InSequence(parts=parts):
                waiting.extend((inner, count) for inner in reversed(parts))
            case Repeat(event=inner, times=times):
                if times:
                    waiting.append((inner, count * times))
            case _:
                counts[part] = counts.get(part, 0) + count
    return counts


@guarantee(
    claim="the losses, each composed with itself as often as it is used, composed",
    proof="proofs/plan_loss.md#sequence",
    reviewed="5e8cbf2a9138",
)
def sequence_loss(uses: Sequence[tuple[L, int]], kind: type[L]) -> L:
    """Composes losses, each used a number of times; two by two, so that long sums stay balanced."""
    losses = [loss.times(count) for loss, count in uses]
    while len(losses) > 1:
        pairs = zip(losses[::2], losses[1::2], strict=False)
        losses = [one.then(other) for one, other in pairs] + losses[len(losses) // 2 * 2 :]
    return losses[0] if losses else kind.nothing()


def _once(event: Event, kind: type[L], relation: Relation | None) -> L:
    match event:
        case Stated(loss=loss):
            return stated_loss(loss, relation, kind) if isinstance(loss, kind) else convert(loss, kind)
        case Parallel(parts=parts):
            return _parallel(event, kind, _needed(relation, event)) if parts else kind.nothing()
        case Mixture(parts=parts, weights=weights):
            drawn = {part: weight for part, weight in _weighed(parts, weights).items() if weight}
            return mixture_loss([(_fold(part, kind, relation), weight) for part, weight in drawn.items()], kind)
        case Sampled(event=Mixture() as draw, sampling=sampling):
            return _once(drawn_first(draw, sampling), kind, relation)
        case GaussianMixture() if _needed(relation, event) is Relation.CHANGE_ONE:
            return exchange(event, lambda present: _looked_up(present, kind, Relation.ADD_REMOVE))
        case SampledFactorization():
            return _fold(sampled_bands(event), kind, relation)
    return _looked_up(event, kind, relation)


@guarantee(
    claim="a draw among mechanisms on one sample is a draw among samples, each with its own mechanism",
    proof="proofs/plan_loss.md#mixture",
    reviewed="5caff78e97dc",
)
def drawn_first(draw: Mixture, sampling: Sampling) -> Mixture:
    """The same plan with the draw made before the sample."""
    return Mixture(*(Sampled(part, sampling) for part in draw.parts), weights=draw.weights)


def _weighed(parts: Sequence[Event], weights: Sequence[Fraction]) -> dict[Event, Fraction]:
    """Each different part, with the weight of all that are equal to it."""
    total_weights: dict[Event, Fraction] = {}
    for part, weight in zip(parts, weights, strict=True):
        total_weights[part] = total_weights.get(part, Fraction(0)) + weight
    return total_weights


@guarantee(
    claim="the loss itself; of a distribution whose sides differ both ways round, unless units are added, removed or "
    "blanked",
    proof="proofs/plan_loss.md#stated",
    reviewed="fa0d55575c70",
)
def stated_loss(loss: L, relation: Relation | None, kind: type[L]) -> L:
    """A stated loss as it may be met: an exchange may go either way, each time anew."""
    if isinstance(loss, PLD) and relation not in (Relation.ADD_REMOVE, Relation.ZERO_OUT):
        return _of_kind(PLD.widest([loss, loss.turned()]), kind)
    return loss


def _looked_up(event: Event, kind: type[L], relation: Relation | None) -> L:
    """Asks the table: the row of this kind if there is one that applies, else the best of what other rows imply."""
    rows, use = _rows_for(event, relation)
    refused: NoProvenRoute | None = None
    if kind in rows:
        try:
            return _of_kind(use(rows[kind], kind), kind)
        except NoProvenRoute as refusal:
            refused = refusal
    losses: list[L] = []
    for other in rows:
        if other is not kind and _implies(other, kind):
            try:
                losses.append(convert(use(rows[other], other), kind))
            except NoProvenRoute as refusal:
                refused = refused or refusal
    if losses:
        return _tightest(losses)
    names = ", ".join(sorted(other.__name__ for other in rows)) or "none"
    raise NoProvenRoute(
        f"no theorem on file gives the {kind.__name__} loss of this {type(event).__name__} (kinds on file: {names}). "
        + (str(refused) if refused else "Ask for one of those, or state a loss you can prove: sf.events.Stated.")
    ) from refused


@lru_cache(maxsize=512)
def _implies(stronger: type[Loss], kind: type[Loss]) -> bool:
    """Tells whether one kind of loss gives another without choosing a δ: only then is its row worth asking."""
    return any(
        all(not step.only and (step.target is not Approx or step.source is Pure) for step in route)
        for route in routes(stronger, kind)
    )


def _rows_for(
    event: Event, relation: Relation | None
) -> tuple[Mapping[type[Loss], Row], Callable[[Row, type[Loss]], Loss]]:
    """The rows for one event, by kind of loss, and how a row is asked."""

    def inner(kind: type[Loss], held_to: Relation | None) -> Total:
        return lambda part: _fold(part, kind, held_to)

    match event:
        case Sampled():
            part, sampling = (once := one_sample(event)).event, once.sampling
            whole = drawn_under(sampling, _needed(relation, event))
            rows = {kind: row for (filed, kind), row in AMPLIFIERS.items() if filed is type(sampling)}
            return rows, lambda row, kind: row(part, sampling, whole, inner(kind, Relation.ADD_REMOVE))
        case Allocated():
            whole = _needed(relation, event)
            return ALLOCATORS, lambda row, kind: row(event, whole, inner(kind, Relation.ADD_REMOVE))
        case Shuffled(event=part, reports=reports):
            whole = _needed(relation, event)
            return SHUFFLERS, lambda row, kind: row(part, reports, whole, inner(kind, Relation.CHANGE_ONE))
        case ShuffledProtocol(event=part, reports=reports, hiding=hiding):
            whole = _needed(relation, event)
            return SHUFFLERS, lambda row, kind: row(part, reports, whole, inner(kind, Relation.CHANGE_ONE), hiding)
        case RepeatAndSelect(event=part, runs=runs):
            rows = {kind: row for (filed, kind), row in SELECTORS.items() if filed is type(runs)}
            return rows, lambda row, kind: row(part, runs, inner(kind, relation))
    return {kind: row for (filed, kind), row in LEAVES.items() if filed is type(event)}, lambda row, kind: row(event)


def _parallel(event: Parallel, kind: type[L], relation: Relation) -> L:
    if relation is not Relation.CHANGE_ONE:
        return parallel_loss(_costs(event, kind, relation), event.overlap, kind)
    present = _costs(event, kind, Relation.ADD_REMOVE)
    return exchange_loss(present, _costs(event, kind, Relation.CHANGE_ONE), event.overlap, kind)


def _costs(event: Parallel, kind: type[L], relation: Relation) -> list[L]:
    """The loss of each part; of equal parts only as many as one unit can touch, the rest change nothing."""
    costs: list[L] = []
    for part, count in Counter(event.parts).items():
        costs += [_fold(part, kind, relation)] * min(count, 2 * event.overlap)
    return costs


@guarantee(
    claim="one unit is in at most `overlap` parts: no composition of that many of the parts exceeds this",
    proof="proofs/plan_loss.md#parallel",
    reviewed="75b2cde88324",
)
def parallel_loss(losses: Sequence[L], overlap: int, kind: type[L]) -> L:
    """The loss of parts on a partition when one unit is added or removed."""
    return kind.widest(losses, count=overlap)


@guarantee(
    claim="an exchanged unit is replaced in m of its parts and leaves or enters at most 2 (overlap - m) others",
    proof="proofs/plan_loss.md#parallel-change-one",
    reviewed="08411740a6f7",
)
def exchange_loss(present: Sequence[L], replaced: Sequence[L], overlap: int, kind: type[L]) -> L:
    """The loss of parts on a partition when one unit is exchanged for another."""
    if present == replaced:
        return kind.widest(present, count=min(2 * overlap, len(present)))
    ways: list[L] = []
    for shared in range(min(overlap, len(present)) + 1):
        moved = min(2 * (overlap - shared), len(present))
        parts = [kind.widest(replaced, count=shared)] if shared else []
        parts += [kind.widest(present, count=moved)] if moved else []
        ways.append(sequence_loss([(part, 1) for part in parts], kind))
    return kind.widest(ways, count=1)


def _needed(relation: Relation | None, event: Event) -> Relation:
    if relation is None:
        known = "sf.accounting.Relation.ADD_REMOVE, CHANGE_ONE or ZERO_OUT"
        raise BadArgument("relation", f"given, for {type(event).__name__} costs differ: {known}", None)
    return relation


def _of_kind(loss: Loss, kind: type[L]) -> L:
    if not isinstance(loss, kind):
        raise BadArgument("what a row of the tables gives", kind.__name__, type(loss).__name__)
    return loss


def _tightest(losses: Sequence[L]) -> L:
    """The least of several losses that all hold; of distributions the one that looks least at a usual δ."""
    if len(losses) > 1 and isinstance(losses[0], PLD):
        prices = [loss.epsilon(USUAL, tolerance=0.01).upper for loss in losses if isinstance(loss, PLD)]
        return losses[prices.index(min(prices))]
    best = losses[0]
    for loss in losses[1:]:
        try:
            best = loss if loss.within(best) else best
        except NoProvenRoute:  # two curves that cross: either holds
            continue
    return best


def parts_of(event: Event) -> tuple[Event, ...]:
    """The events directly inside an event; none for a basic one.

    >>> from sfumato.accounting.events import Laplace
    >>> parts_of(Repeat(Laplace(2), 3))
    (Laplace(scale=Fraction(2, 1), shift=Fraction(1, 1)),)
    """
    match event:
        case InSequence() | Parallel() | Mixture():
            return event.parts
        case Repeat() | Sampled() | Allocated() | Shuffled() | ShuffledProtocol() | RepeatAndSelect():
            return (event.event,)
    return ()


def _check_size(event: Event) -> None:
    """Refuses plans nested so deep, or written out so long, that walking them would not end well."""
    waiting, seen = [(event, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        seen += 1
        if depth > DEEPEST:
            raise BadArgument("the event", f"nested at most {DEEPEST} deep", f"more than {DEEPEST} levels")
        if seen > MOST_PARTS:
            raise BadArgument("the event", f"of at most {MOST_PARTS} parts; use sf.events.Repeat", "more")
        step = 1 if depth or not isinstance(part, InSequence | Repeat) else 0
        waiting.extend((inner, depth + step) for inner in parts_of(part))
