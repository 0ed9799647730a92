"""What stands around finished answers: which SQL that may be, and the text that the throw-away engine runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from sfumato.errors import QueryRefused
from sfumato.query.nodes.relations import Relation
from sfumato.query.nodes.worked_out import HIDDEN, Finished, WorkedOut
from sfumato.query.sql.parameters import Parameters
from sfumato.query.sql.refusals import refused, unknown
from sfumato.query.sql.syntax import QUERIES, aliased
from sfumato.query.sql.text import LANGUAGE
from sfumato.query.sql.usual_names import usual_name


def words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


SHAPES = words("""
    Alias All And Any Between Boolean CTE Case Cast Column Cube DataType DataTypeParam Distinct Exists Filter
    From Group GroupingSets Having Identifier If IgnoreNulls In Interval Is Join Limit Literal Not Null Offset
    Or Order Ordered Paren Qualify RespectNulls Rollup Select Star Subquery Table TableAlias TryCast Tuple
    Values Var Where Window WindowSpec With WithinGroup Union Intersect Except Add Sub Mul Div IntDiv Mod Neg
    DPipe EQ NEQ GT GTE LT LTE NullSafeEQ NullSafeNEQ Like ILike SimilarTo
""")
"""The parts of SQL that have a meaning over any table, by the parser's names for them."""

KNOWN = words("""
    Abs Acos AnyValue ArgMax ArgMin Asin Atan Avg Cbrt Ceil Coalesce Concat ConcatWs Contains Corr Cos Count
    CountIf CovarPop CovarSamp CumeDist DateAdd DateDiff DateSub DateTrunc Day DayOfMonth DayOfWeek DayOfYear
    Dayname Degrees DenseRank EndsWith Exp Extract First FirstValue Floor Greatest GroupConcat Grouping Hour
    IsNan Lag Last LastDay LastValue Lead Least Left Length Ln Log LogicalAnd LogicalOr Lower Max Median Min
    Minute Mode Month Monthname NthValue Ntile Nullif Pad PercentRank PercentileCont PercentileDisc Pi Pow
    Quantile Quarter Radians Rank RegexpLike Replace Reverse Right Round RowNumber Second Sign Sin SplitPart
    Sqrt StartsWith Stddev StddevPop StddevSamp StrPosition Substring Sum Tan TimeToStr TimestampTrunc Trim
    Trunc Upper Variance VariancePop Week WeekOfYear Year
""")
"""The functions that may be applied to released numbers and public values, by the parser's names for them."""


def worked_out(
    tree: exp.Expr, parameters: Parameters, answers: Sequence[Finished], tables: Mapping[str, Relation]
) -> WorkedOut:
    """Checks what stands around finished answers and public tables, and writes it down."""
    if not answers and not tables and tree.find(exp.Values) is None:
        raise QueryRefused("there is no FROM: say which table is asked.")
    tree = bound(tree, parameters)
    checked(tree)
    own = [name for one in answers for name, _ in one.question.columns]
    if any(name.startswith(HIDDEN) for name in (*own, *(node.name for node in tree.find_all(exp.Identifier)))):
        raise refused(f"a name that begins with {HIDDEN}", "the ends of error bars are called so. Give another name")
    named(tree)
    used = {table.name for table in tree.find_all(exp.Table)}
    kept = tuple((name, relation) for name, relation in tables.items() if name in used)
    return WorkedOut(text_of(tree), runnable(tree), tuple(answers), kept)


def checked(tree: exp.Expr) -> None:
    """Refuses what is not known: functions that read files, look at the clock or draw at random are none of these."""
    for node in tree.walk():
        name = type(node).__name__
        if name in SHAPES or name in KNOWN:
            continue
        raise unknown(node, f"the functions of SQL for numbers, texts, days and windows, such as {', '.join(SHOWN)}")
    for table in tree.find_all(exp.Table):
        if not isinstance(table.this, exp.Identifier):
            raise refused(
                "a function or a parameter in FROM", "only tables of the codebook are asked. Name one of them"
            )
    for node in tree.find_all(*DOMAINS):
        depth, above = 0, node.parent
        while above is not None:
            depth, above = depth + (type(above) in DOMAINS), above.parent
        if depth > DEEPEST:
            raise refused(f"more than {DEEPEST} roots and logarithms in one another", "name one in an inner query")


SHOWN = (
    "ABS",
    "AVG",
    "COALESCE",
    "COUNT",
    "DATE_TRUNC",
    "GREATEST",
    "LAG",
    "MAX",
    "RANK",
    "ROUND",
    "ROW_NUMBER",
    "SUM",
)


def bound(tree: exp.Expr, parameters: Parameters) -> exp.Expr:
    """Puts the values of parameters in their places, as literals of the tree."""
    for place in list(tree.find_all(exp.Placeholder)):
        value = exp.convert(parameters.literal(place).value)
        if place is tree:
            return value
        place.replace(value)
    return tree


def named(query: exp.Expr) -> None:
    """Names every column of a query, and of the queries in it, as an answer would."""
    for select in query.find_all(exp.Select):
        taken = {node.alias_or_name.casefold() for node in select.expressions if node.alias_or_name}
        for node in list(select.expressions):
            if isinstance(node, exp.Alias | exp.Column | exp.Star):
                continue
            inner = node.this if isinstance(node, exp.Window) else node
            name = usual_name(inner) if not isinstance(inner, QUERIES) else "value"
            chosen, number = name, 2
            while chosen.casefold() in taken:
                chosen, number = f"{name}_{number}", number + 1
            taken.add(chosen.casefold())
            node.replace(aliased(node.copy(), chosen))


def text_of(tree: exp.Expr) -> str:
    """Writes a query as people read it."""
    return tree.sql(dialect=LANGUAGE, comments=False)


def runnable(tree: exp.Expr) -> str:
    """Writes a query for the engine such that no number makes it fail: what has no value is missing."""
    return tree.transform(_total).sql(dialect=LANGUAGE, comments=False)


def _total(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.Literal() if not node.is_string and "." in node.name and "e" not in node.name.lower():
            return exp.Literal(this=f"{node.name}e0", is_string=False)  # a float, as everywhere here, and no decimal
        case exp.Cast() if not isinstance(node, exp.TryCast):
            return exp.TryCast(**node.args)
    within = DOMAINS.get(type(node))
    argument = None if within is None else node.expression or node.this if isinstance(node, exp.Log) else node.this
    if within is not None and argument is not None and not isinstance(argument, exp.Case):
        guarded = exp.Case(ifs=[exp.If(this=within(argument), true=argument.copy())])
        argument.replace(guarded)
    return node


def _above(least: int, *, strictly: bool) -> Callable[[exp.Expr], exp.Expr]:
    kind = exp.GT if strictly else exp.GTE
    return lambda one: kind(this=exp.paren(one.copy()), expression=exp.Literal.number(least))


def _between(one: exp.Expr) -> exp.Expr:
    ends = exp.Literal.number(-1), exp.Literal.number(1)
    return exp.Between(this=exp.paren(one.copy()), low=ends[0], high=ends[1])


DEEPEST = 3
"""How many functions with a domain may stand in one another: what they are of is written twice for each."""

DOMAINS: dict[type[exp.Expr], Callable[[exp.Expr], exp.Expr]] = {
    exp.Sqrt: _above(0, strictly=False),
    exp.Ln: _above(0, strictly=True),
    exp.Log: _above(0, strictly=True),
    exp.Acos: _between,
    exp.Asin: _between,
}
"""Where functions have a value, of those that fail elsewhere."""
