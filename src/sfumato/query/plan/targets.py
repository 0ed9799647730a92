"""Targets: noise for a question that says how near its numbers must come; it costs what that takes, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from sfumato.accounting.losses.concentrated import COMMON_KINDS, GDP
from sfumato.accounting.losses.measures import ZCDP, Loss, Pure
from sfumato.accounting.plans.search import greatest
from sfumato.errors import BadArgument, QueryRefused
from sfumato.noise.discrete_gaussian import DiscreteGaussian
from sfumato.noise.discrete_laplace import DiscreteLaplace
from sfumato.noise.distribution import Noise
from sfumato.query.build.settings import Settings, Target
from sfumato.query.nodes.questions import Question, Statistic, StatisticValue, statistics_in
from sfumato.query.plan.decomposition import Recipe, step_of
from sfumato.query.plan.engine_plan import ExactAggregate
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.parts import ExclusiveAt, Priced, PricedCells
from sfumato.query.plan.pricing import Pricing


def aimed(
    question: Question,
    made: Mapping[Statistic, Recipe],
    levels: Sequence[Level],
    settings: Settings,
    limit: type[Loss],
) -> Pricing:
    """Puts on every number the most noise that its target allows; Gaussian where the limit is in ZCDP or GDP."""
    if any(level.chooser is not None for level in levels):
        raise QueryRefused(
            "how near numbers come can be asked for where keys are public: list them (keys=…), or say what to pay, "
            "loss=sf.Approx(ε, δ)."
        )
    targets = _targets(question, made, settings)
    gaussian = limit in (ZCDP, GDP)
    parts: list[Priced] = []
    for level in levels:
        for members in level.sets:
            aims = [(tally, _of_all(level, tally, targets)) for tally in members]
            noises = [(tally, _noise(aim, step_of(tally), gaussian=gaussian)) for tally, aim in aims]
            bought = tuple(PricedCells(level.influence(tally), noise) for tally, noise in noises)
            parts.append(bought[0] if len(bought) == 1 else ExclusiveAt(bought))
    kind = limit if limit in COMMON_KINDS else Pure
    return Pricing(tuple(parts), (), kind, Fraction(0))


def _of_all(level: Level, tally: ExactAggregate, targets: Mapping[ExactAggregate, list[Target]]) -> list[Target]:
    """The targets of a tally and of all that it stands for at a level."""
    named = (tally, *(other for other, stands in level.standing if stands == tally))
    return [target for one in named for target in targets.get(one, ())]


def _targets(
    question: Question, made: Mapping[Statistic, Recipe], settings: Settings
) -> dict[ExactAggregate, list[Target]]:
    """The targets of each tally; refuses columns that are not one noisy number."""
    by_tally: dict[ExactAggregate, list[Target]] = {}
    _check_names(question, settings)
    for name, column in question.columns:
        if not any(True for _ in statistics_in(column)):
            continue
        target = dict(settings.accuracy).get(name) if isinstance(settings.accuracy, tuple) else settings.accuracy
        if target is None:
            raise QueryRefused(f"accuracy says nothing of {name}: give a half-width and a confidence for each column.")
        tallies = made[column.statistic].tallies if isinstance(column, StatisticValue) else ()
        if len(tallies) != 1:
            raise QueryRefused(
                f"how near {name} comes hangs on the data, so it cannot be asked for: it is made of several noisy "
                "numbers. Ask for its parts (counts and sums), or say what to pay, loss=…"
            )
        by_tally.setdefault(tallies[0], []).append(target)
    if any(tally not in by_tally for one in question.statistics for tally in made[one].tallies):
        raise QueryRefused(
            "HAVING and ORDER BY look at a number that is not in the answer, so accuracy says nothing of it: put it "
            "into the answer, or say what to pay, loss=…"
        )
    return by_tally


def _check_names(question: Question, settings: Settings) -> None:
    known = {name for name, _ in question.columns}
    named = dict(settings.accuracy) if isinstance(settings.accuracy, tuple) else {}
    if unknown := sorted(set(named) - known):
        raise BadArgument("accuracy", f"for columns of the answer: {', '.join(sorted(known))}", unknown[0])


def _noise(targets: Sequence[Target], step: Fraction, *, gaussian: bool) -> Noise:
    """The most noise that meets every target."""
    noises = [most_noise(one.half_width / step, one.confidence, gaussian=gaussian) for one in targets]
    return min(noises, key=lambda noise: noise.scale)


@lru_cache(maxsize=256)
def most_noise(width: Fraction, confidence: Fraction, *, gaussian: bool) -> DiscreteGaussian | DiscreteLaplace:
    """The noise with the greatest scale that keeps its error bar within a width, in steps; refuses widths below 1."""
    make = DiscreteGaussian if gaussian else DiscreteLaplace
    if width < 1:
        raise QueryRefused("a half-width of less than one step of the grid cannot be kept: ask for more.")
    return make(greatest(lambda scale: make(scale).half_width(confidence) <= width))
