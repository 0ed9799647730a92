"""Candidates for a model, as one measurement: every run fits and scores one, and only the best of them is released.

Either all candidates run once, and all are paid for; or runs draw candidates, as many times as a secret number says,
which costs about as much as three runs, however many candidates there are (proofs/repeat_and_select.md#all, #wrapper).
The way that leaves more of the loss for each run is taken: which one it is depends on public facts alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np

from sfumato.accounting.convert.convert import convert
from sfumato.accounting.convert.renyi import zcdp_rho
from sfumato.accounting.events import Runs
from sfumato.accounting.losses.measures import ZCDP, Approx, Loss, Pure
from sfumato.accounting.losses.renyi import Renyi
from sfumato.accounting.plans.search import about, greatest
from sfumato.combinators.analysis import analysis
from sfumato.combinators.best_of import best_of, selected_loss
from sfumato.combinators.converted import convert_measure
from sfumato.combinators.interaction import adaptive_composition
from sfumato.combinators.tuning import FEW, best_of_all, law_of_runs, random_candidate
from sfumato.core.domains import Floats as FloatAtoms
from sfumato.core.domains import Matrix
from sfumato.core.measurement import Measurement
from sfumato.core.queryable import Queryable
from sfumato.core.space import Space
from sfumato.core.transformation import Transformation
from sfumato.entropy import Entropy
from sfumato.errors import BadArgument, CannotCalibrate
from sfumato.exact import up
from sfumato.learn.columns import Floats, Made
from sfumato.learn.estimator import PrivateEstimator
from sfumato.learn.ranking import Ranking, number_of_rows, ranking_of, ranking_parts
from sfumato.learn.sources import Asked, Fit, Held, Source
from sfumato.stats.shares import Spendable
from sfumato.transforms.rowwise import rowwise

SCORING = 0.2
"""The part of what a run may spend that its score gets, where nothing is said."""

WORTH_IT = 2.0
"""Candidates are drawn where noise then has so many times less variance: one that is not drawn cannot win."""


@final
@dataclass(frozen=True)
class Way:
    """How candidates are joined: what every run may spend, and by which law they are drawn, if they are."""

    candidates: int
    each: Spendable
    runs: Runs | None = None

    @property
    def precision(self) -> float:
        """One over the variance of the noise on a count that a run could buy."""
        return float(self.each.rho) * 2 if isinstance(self.each, ZCDP) else float(self.each.epsilon) ** 2 / 2

    def __str__(self) -> str:
        if self.runs is None:
            how = f"all {self.candidates} candidates run, and all are paid for" if self.candidates > 1 else "one runs"
        else:
            mean = f"{1 / float(getattr(self.runs, 'stop', 1)):.0f} in the mean"
            how = f"a secret number of runs, {mean}, each draws one of {self.candidates} candidates"
        return f"{how}; each run may spend {self.each}"


def best_way(loss: Loss, candidates: int, runs: int | None) -> Way:
    """The way to join candidates that leaves most for each run; drawn, where a mean number of runs is asked for."""
    law = law_of_runs(candidates, runs)
    listed = [Way(candidates, each) for each in shares_of(loss, candidates)]
    drawn = [Way(candidates, each, law) for each in drawn_shares(loss, law)] if runs or candidates > FEW else []
    if runs:
        return max(drawn, key=lambda way: way.precision)
    kept = max(listed, key=lambda way: way.precision)
    best = max([kept, *drawn], key=lambda way: way.precision)
    return best if best.precision > WORTH_IT * kept.precision else kept


def shares_of(loss: Loss, candidates: int) -> list[Spendable]:
    """What each of some candidates may spend, where all of them run."""
    share = Fraction(1, candidates)
    match loss:
        case Pure() | ZCDP():
            return [loss.scaled(share)]
        case Approx() if loss.delta:
            rho = ZCDP(zcdp_rho(loss.epsilon, delta=loss.delta))
            return [Pure(loss.epsilon).scaled(share), rho.scaled(share)]
        case Approx():
            return [Pure(loss.epsilon).scaled(share)]
    raise BadArgument("the loss of a search", "Pure, ZCDP or Approx, such as sf.Pure(1)", loss)


@lru_cache(maxsize=64)
def drawn_shares(loss: Loss, law: Runs) -> tuple[Spendable, ...]:
    """What each run may spend, where runs draw candidates: the most that the best of them keeps within a loss."""
    match loss:
        case Pure():
            return (Pure(_most(lambda each: up(convert(selected_loss(Pure(each), law), Pure).epsilon), loss.epsilon)),)
        case ZCDP():

            def rho(each: Fraction) -> float:
                return up(convert(selected_loss(Pure(each), law), ZCDP).rho)

            return (Pure(_most(rho, loss.rho)),)
        case Approx() if loss.delta:

            def epsilon(each: Fraction) -> float:
                curve = selected_loss(convert(ZCDP(each), Renyi), law)
                return up(convert(curve, Approx, delta=loss.delta).epsilon)

            return (*drawn_shares(Pure(loss.epsilon), law), ZCDP(_most(epsilon, loss.epsilon)))
        case Approx():
            return drawn_shares(Pure(loss.epsilon), law)
    raise BadArgument("the loss of a search", "Pure, ZCDP or Approx, such as sf.Pure(1)", loss)


def _most(price: Callable[[Fraction], float], limit: Any) -> Fraction:
    """The most that a run may spend, to 1 part in 10⁴, at a price that rises with it."""
    asked = float(limit)
    near = about(lambda each: math.log(asked / price(Fraction(each))), start=asked / 3)
    if near is None:
        return greatest(lambda each: price(each) <= limit)
    spent = Fraction(near)
    while price(spent) > limit:
        spent *= Fraction(9999, 10000)
    return spent.limit_denominator(10**12) if price(spent.limit_denominator(10**12)) <= limit else spent


@final
@dataclass(frozen=True, eq=False)
class Candidate:
    """A model to try, where its rows come from, and how it is fitted and scored for what one run may spend."""

    model: PrivateEstimator
    source: Source
    fit: Fit
    parts: tuple[Spendable, Spendable]
    """What the fit may spend, and the score."""

    @staticmethod
    def planned(model: PrivateEstimator, source: Source, each: Spendable, share: Fraction) -> Candidate:
        """Plans the fit of a model, which is tried on no rows first: what cannot run at all is refused unpaid."""
        parts = each.scaled(1 - share), each.scaled(share)
        empty = Held(source.columns, tuple(np.array([]) for _ in source.columns))
        model.release_ = model._fit(empty, parts[0]).run(parts[0])
        model._alone(np.zeros((1, len(model.columns_))))
        return Candidate(model, source, model._fit(source, parts[0]), parts)

    def measurement(self, start: Start) -> Measurement:
        """One run: the model is fitted, and then scored; the outcome is (rank, (score, deviation, model))."""

        def run(ask: Queryable, entropy: Entropy) -> tuple[float, tuple[float, float, Any]]:
            released = ask(first)
            self.fit.take(released)
            planned = self._ranking(for_sum)
            total = ask(start(self.source, _in(planned.measurement, kind)))
            rank, score, deviation = planned.read(float(total[0]), float(ask(rows)[0]))
            return rank, (score, deviation, released)

        kind, (for_sum, for_rows) = type(self.parts[0]), ranking_parts(self.parts[1])
        first = start(self.fit.source, _in(self.fit.measurement, kind))
        rows = start(self.source, _in(number_of_rows(self.source, for_rows), kind))
        slices = self.parts[0], for_sum, for_rows
        asked = first.source >> adaptive_composition(slices, d_in=self.source.unit)
        return analysis(asked, run, name=f"{type(self.model).__name__}, fitted and scored")

    def _ranking(self, loss: Spendable) -> Ranking:
        target, source = self.model.target_, self.source
        if target is None:
            raise BadArgument("a model to score", "one that predicts a target", type(self.model).__name__)
        line = self.model._line(source.frame.relation) if isinstance(source, Asked) else None
        return ranking_of(source, target, self.model._alone, loss, line=line)


Start = Callable[[Source, Measurement], Measurement]
"""Puts a measurement of one source behind what all candidates begin with."""


def _in(measurement: Measurement, kind: type[Loss]) -> Measurement:
    return measurement if measurement.measure is kind else convert_measure(measurement, kind)


def joined(candidates: Sequence[Candidate], way: Way, loss: Loss) -> tuple[Source, Measurement]:
    """All candidates as one measurement of one source, of which the best comes out: (rank, (place, outcome))."""
    whole, start = _together(candidates)
    runs = [one.measurement(start) for one in candidates]
    space = runs[0].source
    if way.runs is None:
        made = space >> best_of_all(runs)
    else:
        kind = Renyi if isinstance(way.each, ZCDP) else Pure
        made = space >> best_of(random_candidate([_in(one, kind) for one in runs]), runs=way.runs)
    if made.measure is not type(loss):
        delta = loss.delta if isinstance(loss, Approx) and loss.delta and made.measure is not Pure else None
        made = convert_measure(made, type(loss), delta=delta)
    if not made.check(whole.unit, loss):
        raise CannotCalibrate(f"the candidates together cost {made.map(whole.unit)}, which is more than {loss}.")
    return whole, made


def _together(candidates: Sequence[Candidate]) -> tuple[Source, Start]:
    """What all candidates begin with: the tables; or, of arrays, a matrix of all columns that any of them looks at."""
    first = candidates[0].source
    if not isinstance(first, Held):
        return first, lambda _, measurement: measurement
    places: dict[tuple[Any, int], int] = {}
    columns: list[Made] = []
    values: list[object] = []
    for one in candidates:
        for source in (one.source, one.fit.source):
            if not isinstance(source, Held):
                raise TypeError(source)
            for column, held in zip(source.columns, source.values, strict=True):
                if (column, id(held)) not in places:
                    places[column, id(held)] = len(columns)
                    columns.append(column)
                    values.append(held)
    whole = replace(first, columns=tuple(columns), values=tuple(values))

    def start(source: Source, measurement: Measurement) -> Measurement:
        if not isinstance(source, Held):
            raise TypeError(source)
        pairs = zip(source.columns, source.values, strict=True)
        return chosen_columns(whole.space, [places[column, id(held)] for column, held in pairs]) >> measurement

    return whole, start


def chosen_columns(space: Space, places: Sequence[int]) -> Transformation:
    """Some columns of a matrix: a function of each row."""

    def pick(rows: Floats) -> Floats:
        return rows[:, list(places)]

    return rowwise(space, Matrix(len(places), FloatAtoms()), pick, f"{len(places)} of the columns")
