"""What somebody wants to know: a question, how near its numbers must come, and how much it matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TypeAlias, final

from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, probability, rational
from sfumato.query.build.settings import CONFIDENCE, NoiseChoice, Settings
from sfumato.query.frame.queries import Query
from sfumato.query.nodes.keysets import KeySet

Parameters: TypeAlias = Sequence[object] | Mapping[str, object]
"""Values for the placeholders of a question, in order or by name."""

Within: TypeAlias = Number | Mapping[str, Number]
"""Half of an error bar: for all numbers, or by the names of columns; a text such as "5 %" is a share of the number."""


@final
@dataclass(frozen=True)
class Target:
    """How near a number must come: by an absolute half-width, or by a share of the number itself."""

    amount: Fraction
    relative: bool = False

    @staticmethod
    def read(given: Number, name: str) -> Target:
        """Reads a number, or a share in percent.

        >>> Target.read("5 %", "n"), Target.read(50, "n")
        (Target(amount=Fraction(1, 20), relative=True), Target(amount=Fraction(50, 1), relative=False))
        """
        if isinstance(given, str) and given.strip().endswith("%"):
            return Target(positive(given.strip().removesuffix("%").strip(), name) / 100, relative=True)
        return Target(positive(given, name))

    def width(self, value: float | None) -> float | None:
        """The half-width that is allowed beside a value; None where that is not known."""
        if not self.relative:
            return float(self.amount)
        return None if not value else abs(value) * float(self.amount)

    def __str__(self) -> str:
        amount = float(100 * self.amount if self.relative else self.amount)
        return f"± {amount:g} %" if self.relative else f"± {amount:g}"


@final
@dataclass(frozen=True)
class Wanted:
    """A statistic that is wanted. Make one with `wanted`, which reads what people write."""

    question: str | Query
    name: str = ""
    within: tuple[tuple[str, Target], ...] = ()
    confidence: Fraction = CONFIDENCE
    priority: int = 1
    weight: Fraction = Fraction(1)
    size: int | None = None
    about: tuple[tuple[str, Fraction], ...] = ()
    unit: str = ""
    parameters: Parameters = ()
    settings: Settings = field(default_factory=Settings)

    def target(self, column: str) -> Target | None:
        """How near a column must come; None where nothing is asked of it."""
        named = dict(self.within)
        return named.get(column, named.get(""))

    def named(self, name: str) -> Wanted:
        """The same statistic under a name."""
        return replace(self, name=name)


def wanted(
    question: str | Query,
    *,
    name: str = "",
    within: Within | None = None,
    confidence: Number = CONFIDENCE,
    priority: int = 1,
    weight: Number | None = None,
    size: int | None = None,
    about: Number | Mapping[str, Number] | None = None,
    unit: str = "",
    parameters: Parameters = (),
    max_groups: int | None = None,
    max_rows_per_group: int | None = None,
    max_rows: int | None = None,
    max_matches: int | None = None,
    keys: KeySet | None = None,
    weights: Mapping[str, Number] | None = None,
    noise: NoiseChoice | None = None,
) -> Wanted:
    """States a statistic for `plan`: the question in SQL or as a frame, and how near it must come.

    ``within`` is half of the error bar at the ``confidence``: a number, a share of the statistic ("5 %"), or one of
    these by column; left out, the statistic gets a share of what is left. ``priority`` is 1 for what matters most: what
    comes later is dropped first. ``weight`` says how much its errors count when a limit is shared out, 1/priority where
    nothing is said. ``size`` is about how many rows a group has, by public knowledge; relative errors and those of
    means hang on it. ``about`` is about what the numbers are, such as a mean of other years (or by column): a share of
    a mean or a sum is taken of that, and else of the middle of what is possible. ``unit`` is who must be protected,
    where somebody wants to be sure. The rest is as in `Session.sql`.

    >>> wanted("SELECT COUNT(*) AS n FROM visits", within=50, priority=2).weight
    Fraction(1, 2)
    """
    if not isinstance(question, str | Query):
        must = "a text in SQL, or a frame such as t.group_by('day').agg(n=sf.count_rows())"
        raise BadArgument("question", must, type(question).__name__)
    first = integer(priority, "priority", least=1)
    targets = within if isinstance(within, Mapping) else {} if within is None else {"": within}
    guesses = about if isinstance(about, Mapping) else {} if about is None else {"": about}
    settings = Settings.read(
        max_groups=max_groups,
        max_rows_per_group=max_rows_per_group,
        max_rows=max_rows,
        max_matches=max_matches,
        keys=keys,
        weights=weights,
        noise=noise,
        confidence=confidence,
    )
    return Wanted(
        question,
        name=" ".join(str(name).split()),
        within=tuple((str(one), Target.read(width, "within")) for one, width in targets.items()),
        confidence=_below_one(confidence),
        priority=first,
        weight=Fraction(1, first) if weight is None else positive(weight, "weight"),
        size=None if size is None else integer(size, "size", least=1),
        about=tuple((str(one), rational(guess, "about")) for one, guess in guesses.items()),
        unit=unit,
        parameters=parameters,
        settings=settings,
    )


def _below_one(confidence: Number) -> Fraction:
    sure = probability(confidence, "confidence")
    if not 0 < sure < 1:
        raise BadArgument("confidence", "above 0 and below 1", confidence)
    return sure


def read_wanted(given: object) -> tuple[Wanted, ...]:
    """Reads a list of wanted statistics, each a text, a frame or made by `wanted`; names are made to differ."""
    if isinstance(given, str | Query | Wanted) or not isinstance(given, Sequence) or not given:
        raise BadArgument("the statistics", "a list of one or more: texts in SQL, frames, sf.wanted(…)", given)
    read = [one if isinstance(one, Wanted) else wanted(one) for one in given]
    names = [one.name for one in read if one.name]
    if len(set(names)) < len(names):
        raise BadArgument("the names of statistics", "different from each other", names)
    return tuple(read)
