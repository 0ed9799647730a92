"""Reading: a SELECT as a question, as rows of public tables, or inside another one as a relation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.build.prune import pruned
from sfumato.query.build.question import build_question, statistic_value
from sfumato.query.build.relation import kept, owner_of, per_unit, selected, unused
from sfumato.query.nodes.catalog import Catalog
from sfumato.query.nodes.expressions import Column, Expression
from sfumato.query.nodes.fields import optional, renamed
from sfumato.query.nodes.questions import (
    Order,
    Question,
    Statistic,
    StatisticValue,
    statistics_in,
)
from sfumato.query.nodes.relations import Relation
from sfumato.query.nodes.worked_out import WorkedOut
from sfumato.query.plan.infer_bounds import bounded_statistic, bounds_by_conditions
from sfumato.query.sql.aggregates import PerGroup
from sfumato.query.sql.blocks import Block, block, keyed
from sfumato.query.sql.contributions import summed_by_unit
from sfumato.query.sql.finished import ROWS_LEAVE, Splitter, State, is_by_rows, only_table
from sfumato.query.sql.listing import Facts, facts_of
from sfumato.query.sql.options import Options
from sfumato.query.sql.outer import worked_out
from sfumato.query.sql.parameters import Given, Parameters
from sfumato.query.sql.refusals import PARTS, only, refused
from sfumato.query.sql.scopes import Scope
from sfumato.query.sql.tables import Tables
from sfumato.query.sql.text import TOO_DEEP, parse
from sfumato.query.sql.within import folded_statistic, is_window


@final
@dataclass(frozen=True)
class Statement:
    """What a text asks: a question, rows of public tables, what is worked out from several of these, or public facts.

    With ``explain`` it asks what that would cost. A question with something in it that no rule for released numbers
    works out is also there as what works it out.
    """

    explain: bool
    options: Options
    question: Question | None = None
    rows: Relation | None = None
    worked: WorkedOut | None = None
    facts: Facts | None = None


def read(text: str, catalog: Catalog, parameters: Given = ()) -> Statement:
    """Reads one SELECT; see `sfumato.query.sql.read_sql`."""
    parsed = parse(text)
    statement = Statement(parsed.explain, Options.read(parsed.options).by_group(parsed.tree))
    try:
        bound = Parameters.read(parameters, parsed.tree)
        return _read(parsed.tree, Tables(catalog, bound, _relation, {}), statement)
    except RecursionError:
        raise QueryRefused(TOO_DEEP) from None


def _read(tree: exp.Expr, tables: Tables, statement: Statement) -> Statement:
    """Reads a whole text: as one question or as public rows where it is just that, else as what is worked out."""
    if isinstance(tree, exp.Show | exp.Describe | exp.Command):
        return replace(statement, facts=facts_of(tree, tables.catalog))
    if not isinstance(tree, exp.Query):
        raise QueryRefused("the text is no SELECT, and only questions are answered.")
    while isinstance(tree, exp.Subquery) and not any(value for name, value in tree.args.items() if name != "this"):
        tree = tree.this
    splitter = Splitter(tree.copy(), tables, _asked)
    if splitter.whole is State.ROWS:
        raise refused(*ROWS_LEAVE)
    if splitter.whole is State.PUBLIC and is_by_rows(tree):
        rows = _asked(tree, tables)
        return replace(statement, rows=rows) if isinstance(rows, Relation) else statement
    outer = splitter.split()
    answers = list(splitter.answers.values())
    for one in answers:
        statement.options.check_unit(one.question.source)
    if len(answers) == 1 and not answers[0].keys_only and only_table(outer) == answers[0].name:
        return replace(statement, question=answers[0].question)
    worked = worked_out(outer, tables.parameters, answers, splitter.tables)
    return replace(statement, question=splitter.question, worked=worked)


def _asked(select: exp.Expr, outer: Tables) -> Question | Relation:
    tables = outer.with_names(select)
    read = summed_by_unit(block(select, tables, _checked))
    source = read.scope.relation
    if read.keys is None and not source.private:
        return pruned(_by_rows(read), {item.name for item in read.items}, spare=False)
    keys = read.keys or ()
    everywhere = set.intersection(*map(set, read.sets))
    replaced: dict[Expression, Expression] = {
        made: renamed(name, made) if place in everywhere else optional(renamed(name, made))
        for place, (name, made) in enumerate(keys)
    }
    replaced |= {one: one for one in _statistics(read)}
    return build_question(
        source,
        keys,
        [(item.name, keyed(item.made, replaced)) for item in read.items],
        sets=read.sets,
        having=None if read.having is None else keyed(read.having, replaced),
        order=[Order(keyed(made, replaced), descending) for made, descending in read.order],
        limit=read.limit,
    )


def _checked(statistic: Statistic, scope: Scope) -> StatisticValue:
    """Makes the value of a statistic, which is checked."""
    if isinstance(statistic, PerGroup):
        statistic_value(statistic.of, scope.relation)
        return StatisticValue(statistic)
    return statistic_value(statistic, scope.relation)


def _by_rows(read: Block) -> Relation:
    """The relation that a block makes row by row; refuses HAVING."""
    if read.having is not None:
        raise refused("HAVING without an aggregate", "write WHERE")
    return selected(read.scope.relation, [(item.name, item.made) for item in read.items])


def _statistics(read: Block) -> list[StatisticValue]:
    """What stands for the statistics of a block, each once."""
    made = [*(item.made for item in read.items), *(() if read.having is None else (read.having,))]
    made += [one for one, _ in read.order]
    return [StatisticValue(one) for one in dict.fromkeys(statistic for one in made for statistic in statistics_in(one))]


def _relation(select: exp.Expr, tables: Tables) -> Relation:
    """Reads an inner SELECT as a relation: made row by row, or summed up within each unit."""
    if (distinct := select.args.get("distinct")) is not None:
        only(distinct)
        every = select.copy()
        every.set("distinct", None)
        return _different(_relation(every, tables))
    if select.args.get("limit"):
        raise refused(*PARTS["limit"])
    if select.args.get("order"):  # of rows that are asked about further, the order changes nothing
        select = select.copy()
        select.set("order", None)
    read = block(select, tables, lambda statistic, _: StatisticValue(statistic))
    if read.keys is None:
        return _by_rows(read)
    _check_within_units(read)
    taken: set[str] = set()
    by = [(unused(name, taken), made) for name, made in read.keys]
    known = bounds_by_conditions(read.scope.relation)
    folds = {
        one: folded_statistic(
            bounded_statistic(one.statistic, known),
            unused(next((i.name for i in read.items if i.made == one), "fold"), taken),
        )
        for one in _statistics(read)
    }
    made = per_unit(read.scope.relation, by, list(folds.values()))
    replaced: dict[Expression, Expression] = {key: renamed(name, key) for name, key in by}
    replaced |= {one: fold.column for one, fold in folds.items()}
    kept_rows = made if read.having is None else kept(made, keyed(read.having, replaced))
    return selected(kept_rows, [(item.name, keyed(item.made, replaced)) for item in read.items])


def _different(relation: Relation) -> Relation:
    """Leaves out rows of a unit that are like others of it."""
    owner, columns = owner_of(relation), [(column.name, column) for column in relation.fields]
    held = {column.unit for _, column in columns}
    if owner is not None and (0 not in held or (owner.window is not None and 1 not in held)):
        instead = "Add the id to its columns, or write COUNT(DISTINCT x)"
        raise refused("SELECT DISTINCT in an inner query", f"it would compare rows of several people. {instead}")
    return per_unit(relation, columns, [])


def _check_within_units(read: Block) -> None:
    """Checks that an inner aggregate is over the rows of one unit at a time."""
    source, keys = read.scope.relation, [made for _, made in read.keys or ()]
    owner = owner_of(source)
    if len(read.sets) > 1:
        raise refused("a grouping set in an inner query", "only the whole question has them")
    if owner is None:  # public rows may be summed up anyhow
        return
    if not any(isinstance(key, Column) and key.unit == 0 for key in keys):
        name = owner.id or "the id"
        raise refused(
            "an aggregate in an inner query that does not GROUP BY the id",
            f"it mixes people before noise. Add {name} to its GROUP BY, or aggregate in the whole question only",
        )
    if owner.window is not None and not any(is_window(key, owner) for key in keys):
        column, every = owner.window
        raise refused(
            "an aggregate over all the time of one id",
            f"the unit is an id in one {every}. Add DATE_TRUNC('{every}', {column}) to the inner GROUP BY",
        )
