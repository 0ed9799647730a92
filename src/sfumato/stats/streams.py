"""Streams that are watched: a private running total after every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import final

import numpy as np

from sfumato.accounting.facts import IntegerNoise, loss_of, noise_within
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.branches import InteractiveLaw, Recorder
from sfumato.core.domains import Data, Integers, Stream, Vector, column
from sfumato.core.law import ProductLaw, ShiftedLaw
from sfumato.core.measurement import Measurement
from sfumato.core.metrics import L1, L2, Absolute, Metric
from sfumato.core.partial import Partial
from sfumato.core.plan import constructor
from sfumato.core.queryable import Queryable
from sfumato.core.random_step import RandomStep
from sfumato.core.space import Space
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, Exhausted
from sfumato.exact import Distance, Number, integer, root, up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import exact_add, nearest_float, nearest_floats
from sfumato.mechanisms.prefix_sums import BinaryTree, PrefixSums, SquareRoot, prefix_sums
from sfumato.release.record import How
from sfumato.stats.shares import spendable
from sfumato.transforms.distances import times
from sfumato.transforms.streams import member, reader

PROOF = "proofs/running_counts.md#loss"

METHODS = {"tree": BinaryTree, "square root": SquareRoot}

MOST_STEPS = 1 << 24
"""The most steps: their noise is drawn in advance."""


@guarantee(
    claim="increments d_in apart in L1 have entries at most d_in · (largest column sum) apart in L1, and d_in · root "
    "of (largest column sum of squares) in L2",
    proof=PROOF,
    reviewed="024eeeb7d09a",
)
def entries_distance(d_in: Distance, *, columns: tuple[int, int], kind: type[Loss]) -> Distance:
    """How far apart the entries of neighbours are: in L1 for Laplace noise, in L2 for Gaussian."""
    return times(d_in, columns[0]) if kind is Pure else times(d_in, root(columns[1]))


@final
@dataclass(frozen=True)
class CountingPlan:
    """The public facts of running totals: how increments are measured, and with which noise."""

    element: Integers
    sums: PrefixSums
    noise: IntegerNoise
    kind: type[Loss]

    @property
    def most(self) -> int | None:
        """The largest magnitude of an increment, in steps, where bounds are public."""
        bounds = self.element.between
        return None if bounds is None else math.ceil(bounds.magnitude / self.element.step)

    def loss(self, d_in: Distance) -> Loss:
        """The loss between increments at a distance."""
        if d_in == math.inf:
            return self.kind(math.inf)  # type: ignore[call-arg]  # Pure and ZCDP take one number
        shift = entries_distance(times(d_in, 1 / self.element.step), columns=self.sums.columns, kind=self.kind)
        return self.at(shift)

    def act(self, entries: Data) -> RandomStep:
        """The random step that adds the noise to entries."""
        norm: Metric = L1() if self.kind is Pure else L2()
        return RandomStep(("running counts", self), entries, norm.distance, self.at)

    def at(self, shift: Distance) -> Loss:
        """What entries cost that are ``shift`` apart."""
        return loss_of(self.noise, self.kind, shift)

    def value(self, noisy: list[int]) -> list[float]:
        """Converts noisy entries to floats, in the unit of the increments."""
        return [nearest_float(entry, self.element.step) for entry in noisy]


@constructor
def running_counts(
    *, loss: Pure | ZCDP, steps: int | None = None, method: str = "best", d_in: Number = 1
) -> Partial[Measurement]:
    """Releases the running total of increments after every step, however many steps a unit contributes to.

    ``method`` is "tree" (binary tree), "square root" (of the matrix of running totals), or the one of less variance.
    Under ZCDP that is the square root, under Pure as a rule the tree.

    Takes:      a vector of whole increments under the L1 distance, such as count_by(days) gives, or a stream of them
                under L1 and the number of ``steps``; the loss to keep at ``d_in``
    Gives:      the running totals, as floats; for a stream, a queryable that gives the next one at each call
    Guarantee:  ``loss`` at ``d_in``, for whole streams, also where later increments depend on earlier answers
                (proofs/running_counts.md#loss, #adaptive)
    Cost:       some µs a step at once; in a stream one pass over the past (square root; ten times faster where the
                bounds of increments are public), or log steps (tree)

    >>> from sfumato.core.space import vector
    >>> (vector(int, size=365, metric=L1()) >> running_counts(loss=ZCDP(0.125))).map(1)
    ZCDP(rho=0.125)
    """
    spendable(loss, "running_counts")
    if method != "best" and method not in METHODS:
        raise BadArgument("method", "'best', 'tree' or 'square root'", method)

    def build(space: Space) -> Measurement:
        element, length, streamed = _increments(space, steps)
        near = times(space.metric.read(d_in), 1 / element.step)
        if not 0 < near < math.inf:
            raise BadArgument("d_in", "more than 0 and finite", d_in)
        sums = _chosen(method, length, type(loss))
        shift = entries_distance(near, columns=sums.columns, kind=type(loss))
        plan = CountingPlan(element, sums, noise_within(loss, shift), type(loss))
        return stream_totals(space, plan) if streamed else _at_once(space, plan)

    return Partial(f"running_counts({loss})", build)


def _increments(space: Space, steps: int | None) -> tuple[Integers, int, bool]:
    domain, stated = space.domain, None if steps is None else integer(steps, "steps", least=1)
    size: int | None
    match domain:
        case Vector(element=Integers() as element, size=int() as size) if isinstance(space.metric, L1):
            if stated is not None and stated != size:
                raise BadArgument("steps", f"left out, or the length of the vector, {size}", steps)
        case Stream(element=Integers() as element) if isinstance(space.metric, L1):
            size = stated
        case _:
            wanted = "a vector or a stream of whole increments under the L1 distance"
            raise BadArgument("what running_counts() works on", wanted, str(space))
    if size is None or not 1 <= size <= MOST_STEPS:
        raise BadArgument("steps", f"given, from 1 to {MOST_STEPS}", size)
    return element, size, isinstance(domain, Stream)


def _chosen(method: str, steps: int, kind: type[Loss]) -> PrefixSums:
    if method != "best":
        return prefix_sums(METHODS[method], steps)
    known = [prefix_sums(method_class, steps) for method_class in METHODS.values()]
    return min(known, key=lambda sums: relative_variance(sums, kind).mean())


def relative_variance(sums: PrefixSums, kind: type[Loss]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The variance of every running total where that of a single noisy count is 1 at the same loss."""
    absolute, squares = sums.columns
    return sums.spread() * (float(absolute) ** 2 if kind is Pure else float(squares))


def _how(plan: CountingPlan) -> How:
    names = {kind: name for name, kind in METHODS.items()}
    scale = f"{up(plan.noise.scale * plan.element.step / plan.sums.unit):.6g}"
    return How(
        "running counts",
        (("method", names[type(plan.sums)]), ("steps", str(plan.sums.length)), ("scale", scale)),
        proofs=(PROOF,),
    )


def noisy_entries(space: Space, plan: CountingPlan) -> Measurement:
    """Builds the measurement of all entries at once, before running totals are read off."""

    def draw(data: Data, entropy: Entropy) -> Data:
        entries = plan.sums.entries(column(data, plan.element))
        return entropy.perform(
            plan.act(entries), lambda: exact_add(entries, plan.noise.samples(plan.sums.size, entropy))
        )

    def law(data: Data) -> ProductLaw:
        exact = plan.sums.entries(column(data, plan.element))
        return ProductLaw(tuple(ShiftedLaw(plan.noise, int(entry)) for entry in exact))

    return Measurement(space, plan.kind, draw, plan.loss, _how(plan), law)


def _at_once(space: Space, plan: CountingPlan) -> Measurement:
    def totals(noisy: Data) -> Data:
        return plan.sums.totals(nearest_floats(noisy, plan.element.step))

    return noisy_entries(space, plan).then(totals, name="running totals")


def stream_totals(space: Space, plan: CountingPlan) -> Measurement:
    """Builds the measurement of a stream, with an outcome that answers step by step."""
    entry = Measurement(
        Space(Integers(), Absolute()),
        plan.kind,
        lambda data, entropy: int(data) + plan.noise.sample(entropy),
        plan.at,
        How("one entry", proofs=(PROOF,)),
        lambda data: ShiftedLaw(plan.noise, int(data)),
    )

    def function(stream: Data, entropy: Entropy) -> Queryable:
        opening = plan.act([])
        drawn: Iterator[Data] = iter(entropy.perform(opening, lambda: plan.noise.samples(plan.sums.size, entropy)))

        def noisy(exact: int) -> int:
            return entropy.perform(opening.answer(exact), lambda: exact + int(next(drawn)))

        return Queryable(_answering(plan, stream, noisy))

    def opened(stream: Data) -> Callable[[Recorder], Callable[[Data], Data]]:
        return lambda recorder: _answering(plan, stream, lambda exact: int(recorder.run(entry, exact)))

    return Measurement(
        space,
        plan.kind,
        function,
        plan.loss,
        _how(plan),
        law=lambda stream: InteractiveLaw(opened(stream)),
        interactive=True,
    )


def _answering(plan: CountingPlan, stream: Data, noisy: Callable[[int], int]) -> Callable[[Data], float]:
    following, add, total = reader(stream), plan.sums.adding(plan.most), plan.sums.totalling()
    left = plan.sums.length

    def answer(query: Data) -> float:
        nonlocal left
        if left == 0:
            raise Exhausted("all the steps that were paid for have been given. More steps are a new measurement.")
        increment = int(member(following(query), plan.element))
        left -= 1
        return total(plan.value([noisy(entry) for entry in add(increment)]))

    return answer
