"""Refusals: what SQL has and this language has not, by name, with what to write instead."""

from __future__ import annotations

import re

from sqlglot import exp

from sfumato.errors import QueryRefused, did_you_mean

OTHER_ROWS = "it would put rows of several people next to each other. Aggregate with GROUP BY instead"
NOT_A_ROW = "its value is not a function of the row. Give the value as a parameter"
ABOUT_ALL = (
    "each row would be compared with an exact number about everybody. Ask for that first, and write its answer in"
)
SUBQUERY = "a query inside an expression is not answered. JOIN the table, or write a literal list"
BY_ITSELF = "it may stand in WHERE by itself, beside others with AND. Ask about each branch of an OR by itself"
SHOWS_VALUES = "it would show values of single rows. Use COUNT, SUM, AVG, QUANTILE, HISTOGRAM or TOP_K"
ONE_ROW = "it shows the value of one row, which is somebody's own. Write MODE(x), or GROUP BY x where it has one value"
FARTHEST = "it shows the row of whoever is farthest out. Write MAX(y), or AVG(y) with GROUP BY x"

NODES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", OTHER_ROWS),
    exp.Subquery: ("a scalar subquery", ABOUT_ALL),
    exp.Select: ("a scalar subquery", ABOUT_ALL),
    exp.Exists: ("EXISTS inside an expression", BY_ITSELF),
    exp.Rand: ("RANDOM", NOT_A_ROW),
    exp.Uuid: ("UUID", NOT_A_ROW),
    exp.CurrentDate: ("CURRENT_DATE", NOT_A_ROW),
    exp.CurrentTime: ("CURRENT_TIME", NOT_A_ROW),
    exp.CurrentTimestamp: ("CURRENT_TIMESTAMP", NOT_A_ROW),
    exp.Localtime: ("LOCALTIME", NOT_A_ROW),
    exp.Localtimestamp: ("LOCALTIMESTAMP", NOT_A_ROW),
    exp.Interval: ("INTERVAL", "add it to a day or a time, as in day + INTERVAL 3 DAY"),
    exp.Glob: ("GLOB", "write LIKE, with % and _, or REGEXP_MATCHES"),
    exp.StrToTime: ("STRPTIME", "say in the codebook how the column is written (format), and it is read so"),
    exp.ToChar: ("TO_CHAR", "write STRFTIME(day, '%Y-%m')"),
    exp.DateBin: ("TIME_BUCKET", "write DATE_TRUNC('hour', t)"),
    exp.Array: ("a list", "only HISTOGRAM and QUANTILE take one"),
    exp.Tuple: ("a tuple", "compare its parts one by one, with AND"),
    exp.Var: ("ALL", "write the columns"),
    exp.Order: ("ORDER BY inside an aggregate", "the order of rows changes nothing. Leave it out"),
    exp.Star: ("*", "name a column; COUNT(*) counts rows"),
    exp.Columns: ("COLUMNS", "name each column"),
    exp.Lambda: ("a function of one's own", "write the expression itself"),
    exp.Struct: ("{…}", "values are plain. For one from outside, write :name and bind it"),
    exp.AtTimeZone: ("AT TIME ZONE", "times are read in UTC"),
    exp.Collate: ("COLLATE", "texts are compared by code points. Use LOWER"),
    exp.IgnoreNulls: ("IGNORE NULLS", "missing values are passed over anyway; leave it out"),
    exp.ArrayAgg: ("ARRAY_AGG", SHOWS_VALUES),
    exp.GroupConcat: ("STRING_AGG", SHOWS_VALUES),
    exp.AnyValue: ("ANY_VALUE", ONE_ROW),
    exp.First: ("FIRST", ONE_ROW),
    exp.Last: ("LAST", ONE_ROW),
    exp.ArgMax: ("ARG_MAX", FARTHEST),
    exp.ArgMin: ("ARG_MIN", FARTHEST),
    exp.LogicalAnd: ("BOOL_AND", "write COUNT_IF(NOT x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)"),
    exp.LogicalOr: ("BOOL_OR", "write COUNT_IF(x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)"),
    exp.Grouping: ("GROUPING", "keys that a total is over are NULL in its row"),
    exp.GroupingId: ("GROUPING_ID", "keys that a total is over are NULL in its row"),
}
"""Expressions that are refused, by what they are called and what to do instead."""

FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("now", "today", "get_current_time", "get_current_timestamp", "nextval"), NOT_A_ROW),
    "date_format": "write STRFTIME(day, '%Y-%m')",
    "age": "in what unit? Write DATE_DIFF('year', birth, day)",
    **dict.fromkeys(("first_value", "last_value", "arbitrary"), ONE_ROW),
    "product": "one row can multiply it by anything. Write GEOMETRIC_MEAN(x), or SUM(LN(x))",
    "every": "write COUNT_IF(NOT x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)",
    "approx_top_count": "write TOP_K(x, 3); with counts, GROUP BY x ORDER BY COUNT(*) DESC LIMIT 3",
    **dict.fromkeys(("getenv", "current_setting", "query", "query_table"), "it leaves the data set. Use columns"),
}
"""Functions that are refused by their names."""

PARTS: dict[str, tuple[str, str]] = {
    "distinct": ("SELECT DISTINCT", "it shows the values of rows. Write GROUP BY, with COUNT(*)"),
    "limit": ("LIMIT in an inner query", "which rows come first depends on other people. Leave it out"),
    "count": ("a further operand", "it takes one"),
    "expressions": ("a further operand", "it takes one"),
    "qualify": ("QUALIFY", OTHER_ROWS),
    "windows": ("WINDOW", OTHER_ROWS),
    "offset": ("OFFSET", "what is skipped has been paid for. Leave it out and skip rows of the answer"),
    "sample": ("TABLESAMPLE", "a sample by the engine has no stated probability. Leave it out"),
    "pivots": ("PIVOT", "group by both columns, and pivot the answer"),
    "laterals": ("LATERAL", SUBQUERY),
    "into": ("INTO", "nothing is ever written"),
    "locks": ("FOR UPDATE", "nothing is ever written"),
    "joins": ("a join in parentheses", "write the joins one after another, or as an inner SELECT"),
    "columns": ("a list of columns after an alias", "name columns with AS inside the query"),
    "recursive": ("WITH RECURSIVE", "only a fixed number of steps can be bounded. Write each step as a CTE"),
    "query": ("IN (SELECT …) inside an expression", BY_ITSELF),
    "unnest": ("UNNEST", "write IN (a, b, …)"),
    "limit_options": ("LIMIT with PERCENT or TIES", "write LIMIT and a number of rows"),
    "symmetric": ("BETWEEN SYMMETRIC", "write the lower bound first"),
    "by_name": ("UNION BY NAME", "select the columns in one order"),
    "except_": ("* EXCLUDE", "name the columns"),
    "replace": ("* REPLACE", "name the columns"),
    "materialized": ("MATERIALIZED", "leave it out"),
    "totals": ("WITH TOTALS", "write GROUP BY ROLLUP (…)"),
    "rollup": ("WITH ROLLUP", "write GROUP BY ROLLUP (…)"),
    "cube": ("WITH CUBE", "write GROUP BY CUBE (…)"),
}
"""Parts of clauses that are refused, by the parser's names for them."""

# What the parser notes for itself; it says nothing that somebody wrote.
NOTES = frozenset({"typed", "safe", "big_int", "nested", "_type", "date_part_boundary", "value_constructor", "negate"})


def refused(what: str, why: str) -> QueryRefused:
    """The refusal of something by its name, to be raised."""
    return QueryRefused(f"{what} is refused: {why}.")


def unknown(node: exp.Expr, known: str) -> QueryRefused:
    """The refusal of an expression that is not known; it says which functions are."""
    if isinstance(node, exp.IgnoreNulls) and type(node.this) in NODES:  # the parser puts it around ANY_VALUE
        node = node.this
    if type(node) in NODES:
        return refused(*NODES[type(node)])
    name = node.name if isinstance(node, exp.Anonymous) else ""
    if name.lower() in FUNCTIONS:
        return refused(name.upper(), FUNCTIONS[name.lower()])
    if isinstance(node, exp.Dot | exp.Bracket):
        return refused("looking into a value", "values are plain. Name a column")
    if isinstance(node, exp.Func):
        shown = (name or node.sql_name()).upper()[:40]
        near = did_you_mean(shown, re.findall("[A-Z][A-Z_0-9]+", known))
        return refused(shown, f"it is no function that is known here.{near} Known are {known}")
    return refused(type(node).__name__.upper(), "it is no part of the language that is answered")


def only(node: exp.Expr, *names: str) -> None:
    """Refuses a node with parts other than some: what is not looked at would be passed over in silence."""
    for name, value in node.args.items():
        if value and name not in names and name not in NOTES:
            raise refused(*PARTS.get(name, (name.strip("_").upper().replace("_", " "), "it is not known here")))
