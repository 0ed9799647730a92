"""The command ``sfumato compile``: the exact cells of a question in the SQL of a database, for people who look."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sfumato.cli.exits import misused
from sfumato.cli.parsing import keys_of, parameters_of, text_of
from sfumato.cli.query import Book, Keys, MaxGroups, MaxMatches, MaxRows, MaxRowsPerGroup, Parameter, Sql, Unit
from sfumato.codebook.book import Codebook
from sfumato.codebook.entries import comma_list
from sfumato.query.engines.elsewhere.compiling import compile_sql, dialects
from sfumato.session.open_data import Person

Dialect = Annotated[str, typer.Option("--dialect", "-d", help=f"For which database: {comma_list(dialects())}.")]
Public = Annotated[list[str] | None, typer.Option("--table", help="NAME=FILE, for each public table: plans need it.")]


def compile_question(
    sql: Sql,
    *,
    dialect: Dialect,
    codebook: Book = None,
    unit: Unit = None,
    table: Public = None,
    max_groups: MaxGroups = None,
    max_rows_per_group: MaxRowsPerGroup = None,
    max_rows: MaxRows = None,
    max_matches: MaxMatches = None,
    keys: Keys = None,
    parameter: Parameter = None,
) -> None:
    """Shows a question in the SQL of a database, without any noise: to be looked at, not to be published.

    Opens no private data, asks nothing, charges nothing: a codebook is enough.
    """
    if codebook is None:
        misused("there is no codebook, so nobody knows who is protected and what is public: give --codebook FILE.")
    book = Codebook.read(codebook)
    text = compile_sql(
        text_of(sql),
        book if unit is None else Person(unit).told(book),
        dialect=dialect,
        parameters=parameters_of(parameter or ()),
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        max_rows=max_rows,
        max_matches=max_matches,
        keys=keys_of(keys or ()),
        public=dict(_named(one) for one in table or ()),
    )
    sys.stdout.write(text + "\n")


def _named(given: str) -> tuple[str, str]:
    name, sign, path = given.partition("=")
    if not sign or not path:
        misused(f"--table takes the name of a public table and its file, as in --table sites=sites.csv; got {given!r}.")
    return name, path
