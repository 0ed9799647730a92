"""Lists: statistics that are several cells of one group: the bins of a histogram, the most frequent values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import final

import numpy as np

from sfumato.accounting.facts import loss_of
from sfumato.accounting.facts.selection import TopSelection
from sfumato.accounting.losses.concentrated import GDP
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.core.grouped_distance import GroupedDistance
from sfumato.core.metrics import Range
from sfumato.entropy import Entropy
from sfumato.errors import QueryRefused
from sfumato.exact import up
from sfumato.guarantee import guarantee
from sfumato.mechanisms.gridding import nearest_floats
from sfumato.noise.selection import top_k_indices
from sfumato.query.answer.error_bars import width_of
from sfumato.query.answer.words import expression_words, mechanism_words, noise_words
from sfumato.query.nodes.expressions import Expression, Literal
from sfumato.query.nodes.kinds import Kind, Value
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.operators import call
from sfumato.query.nodes.operators.released import Released
from sfumato.query.nodes.questions import Histogram, Statistic, TopValues
from sfumato.query.plan.decomposition import step_of
from sfumato.query.plan.engine_plan import Rows
from sfumato.query.plan.grouping_sets import noised
from sfumato.query.plan.parts import NoisyCells, PricedCells
from sfumato.query.plan.selection_statistics import (
    Choosing,
    ChosenAt,
    Counts,
    SelectionMechanism,
    Special,
    SpecialAt,
    whole_places,
)
from sfumato.query.plan.sensitivity import influence
from sfumato.release.vectors import Array, Vector
from sfumato.transforms.score_moves import mode_moves


@final
@dataclass(frozen=True)
class Binned(SelectionMechanism):
    """Counts rows between edges: every bin of every group gets noise, as if bins were groups.

    Where units are scaled down, ``bits`` say in how many steps each row counts: a bin is bounded as its count would be.
    """

    of: Histogram
    bits: int = 0

    @property
    def counted(self) -> Rows:
        return Rows(bits=self.bits)

    @property
    def bin(self) -> Expression:
        """The number of the bin; missing for numbers outside the edges."""
        first, *inner, last = (literal(edge) for edge in self.of.edges)
        nowhere = Literal(None, Kind.INT)
        cases: list[Expression] = [call("lt", self.of.of, first), nowhere]
        for place, edge in enumerate(inner):
            cases += [call("lt", self.of.of, edge), literal(place)]
        return call("case", *cases, call("le", self.of.of, last), literal(len(inner)), nowhere)

    def places(self, values: Sequence[Value]) -> Array:
        return whole_places(values, 0, len(self.of.edges) - 1)

    def priced(self, special: Special, share: Pure | ZCDP) -> BinnedAt:
        return BinnedAt(special, self.of, self._noisy(special).priced(share))

    def width(self, special: Special, share: float, *, gaussian: bool) -> float:
        return self._noisy(special).width(share, gaussian=gaussian)

    def _noisy(self, special: Special) -> NoisyCells:
        return NoisyCells(influence(self.counted, special.spread), special.d_in)


@final
@dataclass(frozen=True)
class BinnedAt(SpecialAt):
    """A histogram with the noise that every bin gets."""

    special: Special
    of: Histogram
    part: PricedCells

    def over(self, spread: GroupedDistance) -> BinnedAt:
        return replace(self, part=self.part.over(spread))

    def loss(self, distance: int) -> Pure | ZCDP:
        return self.part.loss(distance)

    def gaussian_loss(self, distance: int) -> GDP | None:
        return self.part.gaussian_loss(distance)

    def draw(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        many = len(self.of.edges) - 1
        noisy = noised(counts.dense(many).ravel(), self.part, entropy).reshape(len(counts), many)
        return tuple(noisy[:, place] for place in range(many))

    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        width, step = width_of(self.part.noise, confidence), self._step
        by_bin = zip(self.special.statistics, drawn, strict=True)
        if step == 1:
            return {statistic: Vector.near(numbers, width, whole=True) for statistic, numbers in by_bin}
        return {
            statistic: Vector.near(nearest_floats(numbers, step), up(width * step)).rounded()
            for statistic, numbers in by_bin
        }

    @property
    def _step(self) -> Fraction:
        return step_of(self.special.way.counted)

    def error(self, confidence: Fraction) -> str:
        return f"± {up(width_of(self.part.noise, confidence) * self._step):.6g}"

    @property
    def proofs(self) -> tuple[str, ...]:
        return ("proofs/query_specials.md#histograms",)

    @property
    def mechanism(self) -> str:
        return mechanism_words(self.part.noise)

    @property
    def words(self) -> tuple[str, str]:
        edges = ", ".join(f"{low:g} to {high:g}" for low, high in list(pairwise(self.of.edges))[:3])
        more = ", …" if len(self.of.edges) > 4 else ""
        return f"rows with {expression_words(self.of.of)} {edges}{more}", noise_words(
            self.part.noise, self.special.way.counted
        )


@final
@dataclass(frozen=True)
class Top(Choosing):
    """Chooses the most frequent of ``values``: of all public ones that rows can have by the question's conditions."""

    of: TopValues
    values: tuple[Value, ...]

    def __post_init__(self) -> None:
        if not self.values:
            name = expression_words(self.of.of)
            raise QueryRefused(
                f"the values of {name} are not public, and the most frequent of unknown values would show "
                "somebody's own. List them in the codebook (categories: […]), or group by it with a δ: "
                f"SELECT {name}, COUNT(*) … GROUP BY {name} ORDER BY 2 DESC LIMIT {self.of.most}, at "
                "loss=sf.Approx(ε, δ)."
            )
        if self.of.most > len(self.values):
            raise QueryRefused(
                f"{expression_words(self.of.of)} can have {len(self.values)} public values here: ask for that many at "
                f"most, not {self.of.most}."
            )

    @property
    def bin(self) -> Expression:
        return self.of.of

    def places(self, values: Sequence[Value]) -> Array:
        known = {value: place for place, value in enumerate(self.values)}
        plain = values.tolist() if isinstance(values, np.ndarray) else values
        return np.fromiter((known.get(value, -1) for value in plain), dtype=np.int64, count=len(plain))

    def one_row(self, measure: type[Loss], temperature: Fraction) -> Loss:
        return top_loss(self.of.most, temperature, measure)

    def priced(self, special: Special, share: Pure | ZCDP) -> TopAt:
        return TopAt(special, self, type(share), self.temperature(special, share))


@guarantee(
    claim="that of so many ranked choices when the range of the counts is 1",
    proof="proofs/query_specials.md#top",
    reviewed="69cfaac8d4b4",
)
def top_loss(count: int, temperature: Fraction, measure: type[Loss]) -> Loss:
    """The loss of choosing values by their counts when one row is added to, or removed from, its group."""
    return loss_of(TopSelection(count, temperature), measure, mode_moves(Range()).added)


@final
@dataclass(frozen=True)
class TopAt(ChosenAt):
    """The most frequent values, with the temperature at which they are chosen."""

    special: Special
    way: Top
    measure: type[Loss]
    temperature: Fraction

    def chosen(self, counts: Counts, entropy: Entropy) -> tuple[Array, ...]:
        most, many = self.way.of.most, len(self.way.values)
        ranked = np.empty((len(counts), most), dtype=np.int64)
        for group, (bins, rows) in enumerate(counts):
            scores = np.zeros(many, dtype=np.int64)
            scores[bins] = rows
            ranked[group] = top_k_indices(scores, k=most, unit=1 / self.temperature, entropy=entropy)
        return tuple(ranked[:, place] for place in range(most))

    def released(self, drawn: Sequence[Array], confidence: Fraction) -> dict[Statistic, Released]:
        values = np.empty(len(self.way.values), dtype=object)
        values[:] = self.way.values
        return {statistic: values[places] for statistic, places in zip(self.special.statistics, drawn, strict=True)}

    @property
    def proofs(self) -> tuple[str, ...]:
        return ("proofs/query_specials.md#top", "proofs/query_specials.md#units")

    @property
    def words(self) -> tuple[str, str]:
        how = f"exponential, temperature {up(self.temperature):.6g}, among {len(self.way.values)} values"
        return f"{self.way.of.most} most frequent {expression_words(self.way.of.of)}", how
