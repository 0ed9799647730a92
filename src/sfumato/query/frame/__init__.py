"""The data-frame front end: questions written in Python, which become the same nodes as those written in SQL."""

from sfumato.query.frame.columns import Expr, col, count_rows, count_units, lit, when
from sfumato.query.frame.queries import Asker, Grouped, Query
from sfumato.query.frame.table import Frame

__all__ = ["Asker", "Expr", "Frame", "Grouped", "Query", "col", "count_rows", "count_units", "lit", "when"]
