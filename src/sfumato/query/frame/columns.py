"""Expressions about columns, as people write them: ``t.minutes.clip(0, 90) / 60``, ``sf.col("minutes").mean()``.

What is about a value in each row, and what is a statistic of many rows, are both methods of an expression: there is
one way to write each, it completes in an editor, and the names ``sf.sum``, ``sf.mean``, ``sf.count`` … stay those of
the transformations. What has no expression to be a method of is a function: `count_rows`, `count_units`, `when`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NoReturn, TypeAlias, final

from sfumato.errors import BadArgument, NoTruthValue, did_you_mean
from sfumato.query.frame.aggregates import Aggregates
from sfumato.query.frame.drafts import Aggregate, Applied, Draft, Named, written
from sfumato.query.frame.values import Constant, Values
from sfumato.query.nodes.literals import literal
from sfumato.query.nodes.questions import Count, CountUnits, Statistic
from sfumato.query.nodes.relations import Fold

Given: TypeAlias = "Expr | Constant"
"""An expression, or a constant."""


@final
@dataclass(frozen=True, eq=False, repr=False)
class Expr(Values, Aggregates):
    """A value for each row, or a number released for each group, written in terms of columns.

    Comparisons give expressions: join them with ``&`` and ``|``, turn them round with ``~``.

    >>> (col("minutes") / 60 > 1.5) & ~col("site").is_null()
    (((col('minutes') / 60) > 1.5) & ~col('site').is_null())
    """

    draft: Draft
    name: str = ""
    """What it is called in an answer, where `alias` said so."""

    def alias(self, name: str) -> Expr:
        """Names it: `agg`, `select` and others then take it so: ``t.minutes.mean().alias("m")``."""
        if not isinstance(name, str) or not name:
            raise BadArgument("alias", "a name", name)
        return replace(self, name=name)

    def applied(self, operator: str, *others: Given) -> Expr:
        return Expr(Applied(operator, (self.draft, *(read(other).draft for other in others))))

    def aggregated(
        self,
        name: str,
        build: Callable[..., Statistic],
        *others: Expr,
        where: Expr | None = None,
        fold: Fold | None = None,
    ) -> Expr:
        operands = (self.draft, *(read(other).draft for other in others))
        return Expr(Aggregate(name, build, operands, _condition(where), fold))

    def __repr__(self) -> str:
        return written(self.draft) + (f".alias({self.name!r})" if self.name else "")

    def __getattr__(self, name: str) -> NoReturn:
        methods = [one for one in dir(type(self)) if not one.startswith("_")]
        near = did_you_mean(OTHER_WORDS.get(name, name), methods)
        hint = "" if name.startswith("_") else f".{INSTEAD.get(name, near)}"
        raise AttributeError(f"an expression has no method {name!r}{hint}")

    def __bool__(self) -> NoReturn:
        raise NoTruthValue(self)

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # NumPy's numbers then leave operators to us, also from the left

    def __add__(self, other: Given) -> Expr:
        return self.applied("add", other)

    def __radd__(self, other: Given) -> Expr:
        return read(other).applied("add", self)

    def __sub__(self, other: Given) -> Expr:
        return self.applied("sub", other)

    def __rsub__(self, other: Given) -> Expr:
        return read(other).applied("sub", self)

    def __mul__(self, other: Given) -> Expr:
        return self.applied("mul", other)

    def __rmul__(self, other: Given) -> Expr:
        return read(other).applied("mul", self)

    def __truediv__(self, other: Given) -> Expr:
        return self.applied("div", other)

    def __rtruediv__(self, other: Given) -> Expr:
        return read(other).applied("div", self)

    def __floordiv__(self, other: Given) -> Expr:
        """The quotient of whole numbers without its fraction, as in SQL: towards 0."""
        return self.applied("int_div", other)

    def __rfloordiv__(self, other: Given) -> Expr:
        return read(other).applied("int_div", self)

    def __mod__(self, other: Given) -> Expr:
        """The remainder, with the sign of the dividend as in SQL."""
        return self.applied("mod", other)

    def __rmod__(self, other: Given) -> Expr:
        return read(other).applied("mod", self)

    def __neg__(self) -> Expr:
        return self.applied("neg")

    def __eq__(self, other: Given) -> Expr:  # type: ignore[override]
        return self.applied("eq", other)

    def __ne__(self, other: Given) -> Expr:  # type: ignore[override]
        return self.applied("ne", other)

    def __lt__(self, other: Given) -> Expr:
        return self.applied("lt", other)

    def __le__(self, other: Given) -> Expr:
        return self.applied("le", other)

    def __gt__(self, other: Given) -> Expr:
        return self.applied("gt", other)

    def __ge__(self, other: Given) -> Expr:
        return self.applied("ge", other)

    def __and__(self, other: Given) -> Expr:
        return self.applied("and", other)

    def __rand__(self, other: Given) -> Expr:
        return read(other).applied("and", self)

    def __or__(self, other: Given) -> Expr:
        return self.applied("or", other)

    def __ror__(self, other: Given) -> Expr:
        return read(other).applied("or", self)

    def __invert__(self) -> Expr:
        return self.applied("not")


OTHER_WORDS = {
    **dict.fromkeys(("nunique", "count_distinct", "approx_n_unique"), "n_unique"),
    **dict.fromkeys(("stddev", "standard_deviation", "stdev"), "std"),
    **dict.fromkeys(("clamp", "limit"), "clip"),
    **dict.fromkeys(("isin", "in_"), "is_in"),
    **dict.fromkeys(("isna", "isnull", "is_nan"), "is_null"),
    **dict.fromkeys(("fillna", "coalesce"), "fill_null"),
    **dict.fromkeys(("avg", "average"), "mean"),
    **dict.fromkeys(("cov", "covar"), "covariance"),
    **dict.fromkeys(("astype", "to_integer"), "to_int"),
    "is_between": "between",
    "pow": "power",
    "log": "ln",
    "to_uppercase": "upper",
    "to_lowercase": "lower",
    "corr": "correlation",
    "strip": "trim",
    "value_counts": "top_values",
}
"""What other libraries call methods that are here under another name."""


INSTEAD = {
    **dict.fromkeys(
        ("dt", "str"), " What follows it stands on a column itself: t.day.month(), t.name.starts_with('A')."
    ),
    "cast": " Write to_int(), to_float(), to_text(), to_bool(), to_date() or to_time().",
    "is_not_null": " Write ~t.minutes.is_null().",
    "over": " It would put rows of several people next to each other: write group_by(…).agg(…).",
    **dict.fromkeys(("release", "explain"), " A question is asked of a table: t.agg(t.minutes.mean()).release(…)."),
}
"""What to write in place of methods that columns of other libraries have."""


def read(given: Given) -> Expr:
    """Passes an expression on, and reads anything else as a constant."""
    return given if isinstance(given, Expr) else Expr(literal(given))


def _condition(where: Expr | None) -> Draft | None:
    if where is not None and not isinstance(where, Expr):
        raise BadArgument("where", "a condition, such as t.minutes > 0", where)
    return None if where is None else where.draft


def col(name: str) -> Expr:
    """Refers to a column by name, in whatever table it is used on.

    >>> col("minutes").clip(0, 90).mean()
    col('minutes').clip(0, 90).mean()
    """
    if not isinstance(name, str):
        raise BadArgument("col", "the name of a column", name)
    return Expr(Named(name))


def name_of(given: Expr) -> str:
    """The name of an expression: its alias, or else that of the column it begins with; of counts, ``count``."""
    draft = given.draft
    while not given.name:
        match draft:
            case Named(name):
                return name
            case Applied(parts=(first, *_)) | Aggregate(operands=(first, *_)):
                draft = first
            case Aggregate():
                return "count"
            case _:
                raise BadArgument("an expression without a column in it", "given a name, as in one=sf.lit(1)", given)
    return given.name


def lit(value: Constant) -> Expr:
    """Makes a constant; beside a column there is no need to say so."""
    return read(value)


def count_rows(*, where: Expr | None = None) -> Expr:
    """Counts rows, or those for which a condition is true."""
    return Expr(Aggregate("count_rows", Count, (), _condition(where), Fold.COUNT))


def count_units(*, where: Expr | None = None) -> Expr:
    """Counts the units (people, say) that have a row, or one for which a condition is true."""
    return Expr(Aggregate("count_units", CountUnits, (), _condition(where)))


def when(condition: Expr) -> When:
    """Begins a choice: the first value with a condition that is true.

    >>> when(col("age") < 18).then("minor").when(col("age") < 65).then("adult").otherwise("senior")
    when((col('age') < 18)).then('minor').when((col('age') < 65)).then('adult').otherwise('senior')
    """
    return When((), read(condition))


@final
@dataclass(frozen=True, eq=False)
class When:
    """A choice that waits for the value of its last condition."""

    before: tuple[Expr, ...]
    condition: Expr

    def then(self, value: Given) -> Then:
        """Says what to give where the condition is true."""
        return Then((*self.before, self.condition, read(value)))


@final
@dataclass(frozen=True, eq=False)
class Then:
    """A choice that waits for a further condition, or for the value of all other cases."""

    steps: tuple[Expr, ...]

    def when(self, condition: Expr) -> When:
        """Adds a condition, which counts where none before it is true."""
        return When(self.steps, read(condition))

    def otherwise(self, value: Given) -> Expr:
        """Says what to give in all other cases; None for nothing."""
        first, *others = self.steps
        return first.applied("case", *others, value)
