"""Sweeps over settings of a training: what each costs, for nothing; and how good it is, on public rows or paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, final

from sfumato.accounting.losses.bracket import Bracket
from sfumato.accounting.plans.account import account
from sfumato.combinators.best_of import FAILED
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, digits_up, integer, rational
from sfumato.release.record import How, Release
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.train.candidates import Candidate, Given, Make, Trials, listed, planned
from sfumato.train.paying import Payer
from sfumato.train.plain import plainly_trained
from sfumato.train.plan import TrainingPlan
from sfumato.train.scoring import NoisyScore, ScoreFunction, accuracy, public_score
from sfumato.train.searching import PROOFS, Search
from sfumato.train.trainer import LossFunction
from sfumato.train.units import Units

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

WHAT = "several private trainings, and a score of each"

PRIVATE_ONLY = ("noise_multiplier", "clip")
"""Settings that training without privacy has not."""

PLAN: Given = {"batch": None, "epochs": None, "steps": None, "clip": 1.0}
"""Settings of a plan, and what they are where a grid does not say."""


@final
@dataclass(frozen=True)
class Point:
    """One setting of a sweep: what a training under it costs, and how good it is, where that was tried.

    ``gap`` is how much better training without privacy is; it is known of public rows only.
    """

    settings: Given
    epsilon: Bracket
    score: float | None = None
    gap: float | None = None


@final
@dataclass(frozen=True, eq=False)
class Sweep(Displayed):
    """Settings beside what they cost and how good they are; ``release`` is what was paid, where private rows scored."""

    points: tuple[Point, ...]
    delta: Fraction
    of: str
    """Of which rows the scores are, in words."""
    release: Release | None = None

    def document(self) -> Document:
        """The table of all settings, for any form."""
        names = list(self.points[0].settings)
        seen = [name for name in ("score", "gap") if any(getattr(each, name) is not None for each in self.points)]
        head = (*names, "ε", *seen)
        rows = tuple(_cells(each, names, seen) for each in self.points)
        paid = "" if self.release is None else f"; {self.release.loss} for all of them"
        aside = f"each at δ = {float(self.delta):g}{f', scores of {self.of}' if self.of else ''}{paid}"
        table = Table(rows, head, right=frozenset(range(len(head))))
        return Document("Sweep", f"{len(rows)} settings", aside, tables=(table,))

    def plot(self) -> Chart:
        """Draws ε against the score; against the noise multiplier where nothing was scored."""
        from sfumato.charts.training import sweep_chart

        rows = [(each.settings, float(each.epsilon), each.score, each.gap) for each in self.points]
        return sweep_chart(rows, delta=float(self.delta), of=self.of)


def sweep(
    grid: object,
    *,
    delta: Number,
    size: int | None = None,
    make: Make | None = None,
    loss_function: LossFunction | None = None,
    public: tuple[object, object] | None = None,
    data: object = None,
    score: ScoreFunction = accuracy,
    score_deviation: Number = Fraction(1, 100),
    largest: int | None = None,
    session: Payer | None = None,
    key: str | None = None,
    entropy: Entropy | None = None,
) -> Sweep:
    """What training costs under many settings, by accounting alone; and how good it is, where rows are given.

    Takes:      a grid, or a list, of settings: ``noise_multiplier``, ``batch``, ``epochs`` or ``steps``, ``clip``, and
                what ``make`` takes; a ``delta``; the ``size`` of the data; to score, ``make`` and ``loss_function`` as
                for `tune`, and either ``public=(rows to train on, rows to score)``, both public, or ``data``, private
    Gives:      a `Sweep`, which prints and plots itself
    Guarantee:  on private rows, all trainings and their noisy scores are paid for together, before any of them runs
                (proofs/tuning.md#tuning); the gap to training without privacy is for public rows only

    >>> costs = sweep({"noise_multiplier": [1, 2], "batch": [100], "steps": [10]}, delta=1e-5, size=1000)
    >>> [round(float(point.epsilon), 2) for point in costs.points]
    [2.85, 0.8]
    """
    if public is not None and data is not None:
        raise BadArgument("public or data", "given, one of them", "both")
    rows = Units(public[0]) if public is not None else None if data is None else Units(data)
    told = integer(size if size is not None or rows is None else rows.count, "size", least=1)
    asked, read = rational(delta, "delta"), listed(grid)
    plans = [_plan(given, told, session) for given in read]
    known: dict[Any, Bracket] = {}
    for plan in plans:
        if plan.event() not in known:
            known[plan.event()] = plan.account(delta=asked).epsilon
    points = [Point(given, known[plan.event()]) for given, plan in zip(read, plans, strict=True)]
    if rows is None:
        return Sweep(tuple(points), asked, "")
    if make is None or loss_function is None:
        raise BadArgument("make and loss_function", "given where rows are: they say what is trained", None)
    tried = tuple(Candidate(given, make, loss_function, plan, largest) for given, plan in zip(read, plans, strict=True))
    for each in tried:
        each.tried(rows.example(), score)
    drawn = system() if entropy is None else entropy
    if public is not None:
        return Sweep(_on_public_rows(points, tried, rows, Units(public[1]), score, drawn), asked, "public rows")
    noisy = NoisyScore(score, rational(score_deviation, "score_deviation"), told)
    trials = Trials(tried, noisy, None, plans[0].relation, rows)
    return _paid(points, trials, Search(rows, None, asked, None, None, session, key, drawn), asked)


def _plan(given: Given, size: int, session: Payer | None) -> TrainingPlan:
    if "noise_multiplier" not in given:
        raise BadArgument("grid", "one with a noise_multiplier: a sweep says what noise costs", ", ".join(given))
    return planned({**PLAN, **given}, size, session)


def _on_public_rows(
    points: Sequence[Point],
    tried: Sequence[Candidate],
    rows: Units,
    held: Units,
    score: ScoreFunction,
    entropy: Entropy,
) -> tuple[Point, ...]:
    """Trains on public rows under every setting, and without privacy under each that differs for that."""
    plain: dict[Any, Fraction] = {}
    scored = []
    for point, each in zip(points, tried, strict=True):
        without = tuple((name, str(value)) for name, value in each.given.items() if name not in PRIVATE_ONLY)
        if without not in plain:
            plain[without] = public_score(plainly_trained(each, rows, entropy), held, score)
        reached = public_score(each.trained(rows, entropy), held, score)
        scored.append(replace(point, score=float(reached), gap=float(plain[without] - reached)))
    return tuple(scored)


def _paid(points: Sequence[Point], trials: Trials, search: Search, delta: Fraction) -> Sweep:
    """Trains and scores under all settings on private rows, once all of it is paid for."""
    if search.session is not None and not search.key:
        raise BadArgument("key", "a name of this sweep: it is charged once for a key", search.key)
    together = trials.everything()
    event = together.event_at(1)
    loss = account(event, delta=delta, relation=trials.relation).loss
    run, outcomes = search.ran(lambda entropy: together.function(search.units, entropy), event, loss, WHAT)
    scores = [None if outcome == FAILED else float(outcome[0]) for outcome in outcomes]
    value = {f"score {place}": score for place, score in enumerate(scores, start=1)}
    how = How(WHAT, (("event", str(event)),), proofs=PROOFS)
    release = search.kept(run, value, loss, how, trials.relation)
    scored = (replace(point, score=score) for point, score in zip(points, scores, strict=True))
    return Sweep(tuple(scored), delta, "private rows, with noise", release)


def _cells(point: Point, names: Sequence[str], seen: Sequence[str]) -> tuple[str, ...]:
    told = (_said(point.settings[name]) for name in names)
    return *told, digits_up(point.epsilon.upper), *(_said(getattr(point, name)) for name in seen)


def _said(value: object) -> str:
    return "" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
