"""Names of columns of the answer that nobody named: what is done, and the first column that it is done to."""

from __future__ import annotations

from sqlglot import exp

from sfumato.query.sql.options import PER_GROUP, PER_ROW

WORDS: dict[type[exp.Expr], str] = {
    exp.Avg: "avg",
    exp.CountIf: "count",
    exp.VariancePop: "variance",
    exp.StddevSamp: "stddev",
    exp.StddevPop: "stddev",
    exp.CovarSamp: "covar",
    exp.CovarPop: "covar",
    exp.ApproxQuantile: "quantile",
    exp.PercentileCont: "quantile",
    exp.PercentileDisc: "quantile",
    exp.ApproxQuantiles: "quantile",
    exp.ApproxDistinct: "count",
    exp.ApproxTopK: "top",
    exp.TimestampTrunc: "date_trunc",
    exp.DateTrunc: "date_trunc",
}
"""What columns of the answer are called that nobody named, where it is not the name of the function."""


def usual_name(node: exp.Expr) -> str:
    """Makes up a readable name for a column of the answer: what is done, and the first column that it is done to."""
    match node:
        case exp.Column():
            return node.name
        case exp.Filter() | exp.Paren() | exp.WithinGroup():
            inner = usual_name(node.this)
            ordered = node.find(exp.Ordered) if isinstance(node, exp.WithinGroup) else None
            return inner if ordered is None else _joined(inner, ordered)
        case exp.Anonymous(expressions=[inner, _, _]) if node.name.lower() in (PER_GROUP, PER_ROW):
            return usual_name(inner)
        case exp.Anonymous():
            return _joined(node.name.lower(), node)
        case exp.Func() if not isinstance(node, exp.Case | exp.Cast | exp.And | exp.Or):
            return _joined(WORDS.get(type(node)) or node.sql_name().lower(), node)
    return "value"


def _joined(word: str, node: exp.Expr) -> str:
    column = node.find(exp.Column)
    return word if column is None else f"{word}_{column.name}"
