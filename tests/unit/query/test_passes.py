"""Every pass of the compiler, by pairs: a question, with settings after a bar, and what the pass makes of its plan.

The pairs of a pass are in a file of its name, in `passes`. What is shown is what that pass fills in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Any

import pytest
from tests.examples.sql import catalog, question, shown
from tests.reference.planning import Blind

import sfumato as sf
from sfumato.errors import QueryRefused
from sfumato.query.answer.spelled import end_text
from sfumato.query.answer.words import expression_words, tally_words
from sfumato.query.build.settings import Settings
from sfumato.query.nodes.expressions import Expression
from sfumato.query.nodes.relations import Relation
from sfumato.query.plan.compile import PASSES
from sfumato.query.plan.engine_plan import ExactAggregate, Rows
from sfumato.query.plan.grouping_sets import Level
from sfumato.query.plan.infer_bounds import bounds_inferred
from sfumato.query.plan.open_tables import OpenTables
from sfumato.query.plan.query_plan import GroupingSet, QueryPlan

FOLDER = Path(__file__).parent / "passes"
NAMES = [step.__name__ for step in PASSES]


class Planning(Blind):
    """Plans, and says that a row matches two rows of every public table."""

    def matches(self, relation: Relation, keys: tuple[Expression, ...]) -> int:  # type: ignore[override]
        return 2


def cases() -> Iterator[tuple[str, str, str]]:
    for path in sorted(FOLDER.glob("*.txt")):
        lines = path.read_text().splitlines()
        yield from ((path.stem, text, told[4:]) for text, told in pairwise(lines) if told.startswith("    "))


def begun(text: str) -> QueryPlan:
    """Gives the plan of a question before any pass; settings are Python, and the loss is 1 where nothing is said."""
    sql, _, said = text.partition(" | ")
    settings: Mapping[str, Any] = eval(f"dict({said})", {"sf": sf})
    settings = settings if "accuracy" in settings else {"loss": sf.Approx(1, "1e-6"), **settings}
    asked = question(sql)
    return QueryPlan(asked, asked, Settings.read(**settings), OpenTables(Planning(), catalog()), sf.Approx)


def after(name: str, text: str) -> str:
    """Runs the passes up to one, and says what it made, or why it refused."""
    plan = begun(text)
    for step in takewhile(lambda step: step.__name__ != name, PASSES):
        plan = step(plan)
    try:
        return told(name, PASSES[NAMES.index(name)](plan))
    except (QueryRefused, sf.errors.BadArgument) as refused:
        return f"refused: {refused}"


def told(name: str, plan: QueryPlan) -> str:
    match name:
        case "check_settings":
            return "keys " + ("-" if plan.settings.keys is None else " ".join(plan.settings.keys.names))
        case "read_facts":
            return f"rows {plan.reach.rows}, kept {plan.kept.rows}"
        case "infer_bounds":
            found = dict(bounds_inferred(plan.question))
            return ", ".join(f"{name} {' to '.join(map(end, ends))}" for name, ends in found.items()) or "(nothing)"
        case "decompose":
            recipes = plan.recipes.items()
            return "; ".join(f"{shown(one)} of {', '.join(map(number, recipe.tallies))}" for one, recipe in recipes)
        case "find_keys":
            return "; ".join(map(grouped, plan.sets))
        case "bound_units":
            return "; ".join(map(bounded, plan.levels))
        case "find_selections":
            runs = [run for level in plan.levels for run in level.runs]
            found = [f"{len(run.special.statistics)} by {expression_words(run.special.way.bin)}" for run in runs]
            return "; ".join(found) or "none"
        case "price":
            assert plan.pricing is not None
            return f"{len(plan.pricing.parts)} parts, {len(plan.pricing.selections)} choices: {plan.pricing.loss(1)}"
    return "; ".join((shown(plan.question), *map(str, plan.cuts)))


def end(value: Any) -> str:
    return end_text(value) if isinstance(value, Fraction) else str(value)


def number(tally: ExactAggregate) -> str:
    steps = 2**tally.bits if isinstance(tally, Rows) else 1
    return tally_words(tally) if steps == 1 else f"{tally_words(tally)} in steps of 1/{steps}"


def grouped(one: GroupingSet) -> str:
    if one.summed or not one.places:
        return "sums of the finest" if one.summed else "one group"
    keys = "to be chosen" if one.public is None else f"{len(one.public)} public"
    return f"keys {' '.join(map(str, one.places))}, {keys}"


def bounded(level: Level) -> str:
    spread, bound = level.placed.spread, level.cells.bound
    moved = f"moves {spread.parts} groups, {spread.rows} rows, {spread.largest} in one"
    chosen = "" if level.chooser is None else f", chosen by {tally_words(level.chooser)}"
    return f"{moved}; keeps groups {bound.groups}, rows {bound.rows}{chosen}; noise on {len(level.tallies)}"


@pytest.mark.parametrize(("name", "text", "result"), list(cases()))
def test_a_pass_makes_of_a_plan_what_it_says(name: str, text: str, result: str) -> None:
    assert after(name, text) == result


def test_every_pass_has_pairs_and_says_what_holds_before_and_after() -> None:
    seen = [name for name, _, _ in cases()]
    assert set(seen) == set(NAMES) and all(seen.count(name) >= 2 for name in NAMES)
    for step in PASSES:
        assert step.__doc__ is not None and step.__doc__.startswith("Before: ") and " After: " in step.__doc__
        assert step.__module__.endswith(f".{step.__name__}"), "a pass is in a file of its own name"
