"""From the text that the SQL back end writes to the text of a database: what only few of them understand is replaced.

Templates are in the words of the database already. What is left is the structure of statements: filters of aggregates,
named windows, where missing values are sorted, conditions as values. `sqlglot` reads all that and writes it again, and
says so where it cannot.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError, UnsupportedError
from sqlglot.transforms import eliminate_window_clause, move_ctes_to_top_level

from sfumato.errors import QueryRefused
from sfumato.query.engines.elsewhere.database import Database

CONDITIONS = (exp.Predicate, exp.And, exp.Or, exp.Not, exp.Exists)
"""What is true or false, and no value in some databases."""


def translated(text: str, database: Database) -> str:
    """A statement in the words of a database, laid out to be read."""
    try:
        tree = sqlglot.parse_one(text, read=database.language)
        for step in _steps(database):
            tree = step(tree)
        return tree.sql(database.language, pretty=True, unsupported_level=ErrorLevel.RAISE) + (
            f"\n{database.ending}" if database.ending else ""
        )
    except (SqlglotError, UnsupportedError):
        pass
    raise QueryRefused(f"a part of this question cannot be said in {database.title}.")


def _steps(database: Database) -> list[Callable[[exp.Expr], exp.Expr]]:
    steps: list[Callable[[exp.Expr], exp.Expr]] = [_windows_in_place, _filters_as_cases]
    steps.append(lambda tree: _starts(tree, database))
    if database.bare_nulls:
        steps.append(_missing_values_in_order)
    if database.flat:
        steps.append(move_ctes_to_top_level)
    if database.bits:
        steps += [_big_counts, _conditions_as_values]
    return steps


def _windows_in_place(tree: exp.Expr) -> exp.Expr:
    """Writes named windows where they are used."""
    for select in tree.find_all(exp.Select):
        eliminate_window_clause(select)
    return tree


def _filters_as_cases(tree: exp.Expr) -> exp.Expr:
    """COUNT(x) FILTER (WHERE c) counts x where c is true."""
    for found in list(tree.find_all(exp.Filter)):
        condition, aggregate = found.expression.this, found.this
        of = aggregate.this
        inner = of.expressions[0] if isinstance(of, exp.Distinct) else of
        one = exp.Literal.number(1) if isinstance(inner, exp.Star) else inner
        chosen = exp.Case().when(condition.copy(), one.copy())
        if isinstance(of, exp.Distinct):
            of.set("expressions", [chosen])
        else:
            aggregate.set("this", chosen)
        found.replace(aggregate)
    return tree


def _missing_values_in_order(tree: exp.Expr) -> exp.Expr:
    """Sorts by whether a value is missing first, where that cannot be said otherwise."""
    for order in list(tree.find_all(exp.Order)):
        made = []
        for one in order.expressions:
            first = bool(one.args.get("nulls_first"))
            missing = exp.Case().when(one.this.copy().is_(exp.null()), exp.Literal.number(0 if first else 1))
            missing = missing.else_(exp.Literal.number(1 if first else 0))
            down = bool(one.args.get("desc"))  # to all of these databases missing values are the least, by themselves
            kept = exp.Ordered(this=one.this.copy(), desc=down, nulls_first=not down)
            made += [exp.Ordered(this=missing, desc=False, nulls_first=True), kept]
        order.set("expressions", made)
    return tree


def _big_counts(tree: exp.Expr) -> exp.Expr:
    """Counts in 64 bits, where counts have 32 by themselves."""
    for count in tree.find_all(exp.Count):
        count.set("big_int", True)
    return tree


def _conditions_as_values(tree: exp.Expr) -> exp.Expr:
    """Makes values of conditions where a value must stand, and conditions of values where one of those must."""
    for found in list(tree.find_all(exp.Boolean)):
        found.replace(exp.Literal.number(int(found.this)))
    for found in reversed(list(tree.find_all(exp.Expr))):
        if not isinstance(found, (*CONDITIONS, exp.Paren)) and _is_asked(found):
            found.replace(exp.EQ(this=found.copy(), expression=exp.Literal.number(1)))
    for found in reversed(list(tree.find_all(*CONDITIONS))):
        if not _is_asked(found):
            one, none = exp.Literal.number(1), exp.Literal.number(0)
            chosen = exp.Case().when(found.copy(), one).when(exp.not_(found.copy()), none)
            found.replace(exp.cast(chosen, "BIT", dialect="tsql"))
    return tree


def _is_asked(found: exp.Expr) -> bool:
    """Tells whether something stands where a condition must."""
    parent = found.parent
    while isinstance(parent, exp.Paren):
        found, parent = parent, parent.parent
    match parent:
        case exp.And() | exp.Or() | exp.Not() | exp.Where() | exp.Having():
            return True
        case exp.Join():
            return found.arg_key == "on"
        case exp.If():
            return found.arg_key == "this"
    return False


def _starts(tree: exp.Expr, database: Database) -> exp.Expr:
    """Writes where stretches of time start as the database does; the word for the stretch is a constant."""
    for found in list(tree.find_all(exp.Anonymous)):
        if found.name.lower() == "start_of":
            when, word = found.expressions
            stretch = word.this.name  # of a cast of a constant
            if stretch not in database.starts:
                raise QueryRefused(f"the start of the {stretch} is not written for {database.title}.")
            made = database.starts[stretch].format(when.sql(database.language))
            found.replace(sqlglot.parse_one(made, read=database.language))
    return tree
