"""Refusals: what SQL has and this language has not, by name, with what to write instead."""

from __future__ import annotations

from sqlglot import exp

from sfumato.errors import QueryRefused

OTHER_ROWS = "it would put rows of several people next to each other. Aggregate with GROUP BY instead"
NOT_A_ROW = "its value is not a function of the row. Give the value as a parameter"
SUBQUERY = "a query inside an expression is not answered. JOIN the table, or write a literal list"
BY_ITSELF = "it may stand in WHERE by itself, beside others with AND. Ask about each branch of an OR by itself"
PATTERN = "only LIKE is answered, with % and _. Write LIKE, or compare parts with SUBSTRING"
SHOWS_VALUES = "it would show values of single rows. Use COUNT, SUM, AVG, QUANTILE, HISTOGRAM or TOP_K"

NODES: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Window: ("OVER", OTHER_ROWS),
    exp.Subquery: ("a scalar subquery", SUBQUERY),
    exp.Select: ("a scalar subquery", SUBQUERY),
    exp.Exists: ("EXISTS inside an expression", BY_ITSELF),
    exp.Rand: ("RANDOM", NOT_A_ROW),
    exp.Uuid: ("UUID", NOT_A_ROW),
    exp.CurrentDate: ("CURRENT_DATE", NOT_A_ROW),
    exp.CurrentTime: ("CURRENT_TIME", NOT_A_ROW),
    exp.CurrentTimestamp: ("CURRENT_TIMESTAMP", NOT_A_ROW),
    exp.Localtime: ("LOCALTIME", NOT_A_ROW),
    exp.Localtimestamp: ("LOCALTIMESTAMP", NOT_A_ROW),
    exp.ILike: ("ILIKE", "case matters here. Write LOWER(x) LIKE 'pattern'"),
    exp.Escape: ("ESCAPE", "patterns have no escapes. Compare with =, or use SUBSTRING"),
    exp.RegexpLike: ("a regular expression", PATTERN),
    exp.SimilarTo: ("SIMILAR TO", PATTERN),
    exp.NullSafeEQ: ("IS NOT DISTINCT FROM", "write x = y OR (x IS NULL AND y IS NULL)"),
    exp.NullSafeNEQ: ("IS DISTINCT FROM", "write x <> y, and IS NULL where missing values count"),
    exp.IntDiv: ("//", "engines disagree on how it rounds. Write FLOOR(x / y)"),
    exp.Interval: ("INTERVAL", "compute with DATE_DIFF('day', a, b), or compare with a constant date"),
    exp.DateAdd: ("adding to a date", "compute with DATE_DIFF('day', a, b), or compare with a constant date"),
    exp.Array: ("a list", "only HISTOGRAM and QUANTILE take one"),
    exp.Tuple: ("a tuple", "compare its parts one by one, with AND"),
    exp.Var: ("ALL", "write the columns"),
    exp.Order: ("ORDER BY inside an aggregate", "the order of rows changes nothing. Leave it out"),
    exp.Star: ("*", "name a column; COUNT(*) counts rows"),
    exp.Columns: ("COLUMNS", "name each column"),
    exp.Lambda: ("a function of one's own", "write the expression itself"),
    exp.TimeToStr: ("STRFTIME", "group by DATE_TRUNC('month', day) or EXTRACT(…), and write dates in the answer"),
    exp.Struct: ("{…}", "values are plain. For one from outside, write :name and bind it"),
    exp.AtTimeZone: ("AT TIME ZONE", "times are read in UTC"),
    exp.Collate: ("COLLATE", "texts are compared by code points. Use LOWER"),
    exp.IgnoreNulls: ("IGNORE NULLS", "missing values are passed over anyway; leave it out"),
    exp.Mode: ("MODE", "write TOP_K(x, 1)"),
    exp.ApproxDistinct: ("APPROX_COUNT_DISTINCT", "write COUNT(DISTINCT x)"),
    exp.ArrayAgg: ("ARRAY_AGG", SHOWS_VALUES),
    exp.GroupConcat: ("STRING_AGG", SHOWS_VALUES),
    exp.AnyValue: ("ANY_VALUE", SHOWS_VALUES),
    exp.First: ("FIRST", SHOWS_VALUES),
    exp.Last: ("LAST", SHOWS_VALUES),
    exp.ArgMax: ("ARG_MAX", SHOWS_VALUES),
    exp.ArgMin: ("ARG_MIN", SHOWS_VALUES),
    exp.LogicalAnd: ("BOOL_AND", "write COUNT_IF(NOT x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)"),
    exp.LogicalOr: ("BOOL_OR", "write COUNT_IF(x), or AVG(CASE WHEN x THEN 1 ELSE 0 END)"),
    exp.Grouping: ("GROUPING", "keys that a total is over are NULL in its row"),
    exp.GroupingId: ("GROUPING_ID", "keys that a total is over are NULL in its row"),
}
"""Expressions that are refused, by what they are called and what to do instead."""

FUNCTIONS: dict[str, str] = {
    **dict.fromkeys(("now", "today", "get_current_time", "get_current_timestamp", "nextval"), NOT_A_ROW),
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
    "decimals": ("rounding up or down to decimals", "write FLOOR(x * 10) / 10"),
    "position": ("trimming one side", "TRIM(x) takes spaces off both ends"),
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
        return refused(shown, f"it is no function that is known here. Known are {known}")
    return refused(type(node).__name__.upper(), "it is no part of the language that is answered")


def only(node: exp.Expr, *names: str) -> None:
    """Refuses a node with parts other than some: what is not looked at would be passed over in silence."""
    for name, value in node.args.items():
        if value and name not in names and name not in NOTES:
            raise refused(*PARTS.get(name, (name.strip("_").upper().replace("_", " "), "it is not known here")))
