"""Prices a plan: divides a loss among the parts that each level releases, by weights, or aims at an accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sfumato.errors import BadArgument
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.questions import Statistic, statistics_in
from sfumato.query.plan.decomposition import Recipe
from sfumato.query.plan.engine_plan import ExactAggregate, Total, Units
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.parts import Choice, Part, priced_as_one
from sfumato.query.plan.pricing import LAPLACE, priced
from sfumato.query.plan.query_plan import QueryPlan
from sfumato.query.plan.selection_statistics import Special
from sfumato.query.plan.sharing import instead
from sfumato.query.plan.targets import aimed
from sfumato.query.plan.unify_statistics import unified


def price(plan: QueryPlan) -> QueryPlan:
    """Before: levels with bounded units. After: noise for every number, and what all of it costs."""
    settings, levels, made = plan.settings, plan.levels, plan.recipes
    if settings.loss is None:
        return replace(plan, pricing=aimed(plan.question, made, levels, settings, plan.limit))
    columns = unified(plan.asked).columns if settings.weights else ()
    weights = [one for level in levels for one in weights_of(columns, recipes_at(level, made), level, settings)]
    parts = [part for level in levels for part in parts_of(level, plan.d_in)]
    choices = [choice_of(level, plan.d_in) for level in levels if level.chooser is not None]
    noise: str | list[str] | None = settings.noise if not isinstance(settings.noise, tuple) else None
    if isinstance(settings.noise, tuple):
        noise = [kind for level in levels for kind in noises_of(level, dict(settings.noise))]
    pricing = priced(parts, weights, settings.loss, choices=choices, noise=noise, d_in=plan.d_in)
    return replace(plan, pricing=pricing)


def choice_of(level: Level, d_in: int) -> tuple[Choice, Fraction]:
    """What choosing the keys of a level takes: bounds on one unit's keys and its count in each, and the weight."""
    spread = level.placed.spread
    if isinstance(level.chooser, Units):
        return Choice(keys=max(1, int(spread.parts)), rows=1, d_in=d_in), Fraction(1)
    return Choice(keys=1, rows=max(1, int(spread.rows)), d_in=d_in), Fraction(1)


def parts_of(level: Level, d_in: int) -> list[Part]:
    """What is released of a level: noisy numbers first, then specials."""
    return [
        *(priced_as_one([level.influence(one) for one in members], d_in) for members in level.sets),
        *(run.special for run in level.runs),
    ]


def weights_of(
    columns: Sequence[tuple[str, Expression]], made: Mapping[Statistic, Recipe], level: Level, settings: Settings
) -> list[Fraction]:
    """The weight of each part: all equal, or where columns have weights, what the columns it serves make of them.

    ``columns`` are those of the answer as it was asked for, where a list is one.
    """
    specials = [run.special for run in level.runs]
    parts: list[ExactAggregate | Special] = [*level.tallies, *specials]
    if not settings.weights:
        return [Fraction(1)] * (len(level.sets) + len(specials))
    given, known = dict(settings.weights), {name for name, _ in columns}
    if unknown := sorted(set(given) - known):
        raise BadArgument("weights", f"for columns of the answer: {', '.join(sorted(known))}", unknown[0])
    weight_of = dict.fromkeys(parts, Fraction(0))
    for name, column in columns:
        serving = [part for one in statistics_in(column) for part in _serving(one, made, level)]
        used = [part for part in serving if part in weight_of]
        for part in used:
            weight_of[part] += given.get(name, Fraction(1)) / len(used)
    sets = [max(weight_of[tally] for tally in members) for members in level.sets]  # each is paid as the heaviest is
    return [weight or Fraction(1) for weight in (*sets, *(weight_of[special] for special in specials))]


def noises_of(level: Level, chosen: Mapping[str, str]) -> list[str]:
    """The noise of each part by what it is, a count or a sum: Laplace noise where nothing is said."""
    kinds = [{"sum" if isinstance(one, Total) else "count" for one in members} for members in level.sets]
    if any(len({chosen.get(kind, LAPLACE) for kind in members}) > 1 for members in kinds):
        raise BadArgument("noise", "the same for counts and sums that are paid for as one", "several")
    return [*(chosen.get(min(members), LAPLACE) for members in kinds), *(LAPLACE for _ in level.runs)]


def recipes_at(level: Level, made: Mapping[Statistic, Recipe]) -> Mapping[Statistic, Recipe]:
    """Rewrites recipes in the tallies that are bought at a level."""
    standing = dict(level.standing)
    return {one: instead(recipe, standing) for one, recipe in made.items()} if standing else made


def _serving(one: Statistic, made: Mapping[Statistic, Recipe], level: Level) -> Sequence[ExactAggregate | Special]:
    """The tallies that a statistic is made of, or the specials that find it."""
    if one in made:
        return made[one].tallies
    return [run.special for run in level.runs if run.special.serves(one)]
