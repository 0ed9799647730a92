"""Dividing: which parts a level releases, and the weight of each when a loss is divided among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from sfumato.errors import BadArgument
from sfumato.query.cells import Tally, Units
from sfumato.query.levels import Level
from sfumato.query.parts import Choice, Part, priced_as_one
from sfumato.query.questions import Question, Statistic, statistics_in
from sfumato.query.recipes import Recipe
from sfumato.query.settings import Settings
from sfumato.query.sharing import instead
from sfumato.query.specials import Special


def choice_of(level: Level, apart: int) -> tuple[Choice, Fraction]:
    """Gives what choosing the keys of a level takes: how one unit's count in a key, and its keys, are bounded."""
    spread = level.placed.spread
    if isinstance(level.chooser, Units):
        return Choice(keys=max(1, int(spread.parts)), rows=1, apart=apart), Fraction(1)
    return Choice(keys=1, rows=max(1, int(spread.rows)), apart=apart), Fraction(1)


def parts_of(level: Level, apart: int) -> list[Part]:
    """Gives what is released of a level: noisy numbers first."""
    return [
        *(priced_as_one([level.influence(one) for one in members], apart) for members in level.sets),
        *(run.special for run in level.runs),
    ]


def weights_of(
    question: Question, made: Mapping[Statistic, Recipe], level: Level, settings: Settings
) -> list[Fraction]:
    """Gives the weight of each part: alike, or where columns have weights, what the columns it serves make of them."""
    specials = [run.special for run in level.runs]
    parts: list[Tally | Special] = [*level.tallies, *specials]
    if not settings.weights:
        return [Fraction(1)] * (len(level.sets) + len(specials))
    given, known = dict(settings.weights), {name for name, _ in question.columns}
    if unknown := sorted(set(given) - known):
        raise BadArgument("weights", f"for columns of the answer: {', '.join(sorted(known))}", unknown[0])
    found = dict.fromkeys(parts, Fraction(0))
    for name, column in question.columns:
        serving = [part for one in statistics_in(column) for part in _serving(one, made, level)]
        used = [part for part in serving if part in found]
        for part in used:
            found[part] += given.get(name, Fraction(1)) / len(used)
    sets = [max(found[tally] for tally in members) for members in level.sets]  # each is paid as the heaviest is
    return [weight or Fraction(1) for weight in (*sets, *(found[special] for special in specials))]


def recipes_at(level: Level, made: Mapping[Statistic, Recipe]) -> Mapping[Statistic, Recipe]:
    """Gives recipes of the tallies that are bought at a level."""
    standing = dict(level.standing)
    return {one: instead(recipe, standing) for one, recipe in made.items()} if standing else made


def _serving(one: Statistic, made: Mapping[Statistic, Recipe], level: Level) -> Sequence[Tally | Special]:
    """Gives what a statistic is made of, or found by."""
    if one in made:
        return made[one].tallies
    return [run.special for run in level.runs if run.special.serves(one)]
