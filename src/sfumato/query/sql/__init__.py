"""SQL as a front end: text in, typed nodes out. What is not known is refused by name, never passed on to an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfumato.errors import MissingExtra

if TYPE_CHECKING:
    from sfumato.query.nodes.catalog import Catalog
    from sfumato.query.sql.parameters import Given
    from sfumato.query.sql.reading import Statement


def read_sql(text: str, catalog: Catalog, parameters: Given = ()) -> Statement:
    """Reads one SELECT as a question (or as rows of public tables), with values for its parameters.

    Values stand for ? or $1, $2, … in order, or for $name or :name by name. Nothing of the text reaches an engine.
    """
    try:
        from sfumato.query.sql.reading import read
    except ModuleNotFoundError:
        raise MissingExtra("asking in SQL", "sql") from None
    return read(text, catalog, parameters)
