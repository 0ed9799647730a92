"""The records that leave: how something was made, and what was released."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import cache
from importlib.metadata import version
from numbers import Real
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Loss
from sfumato.errors import BadArgument, NotChainable
from sfumato.exact import Number
from sfumato.noise.distribution import Noise
from sfumato.release.claim import Claim
from sfumato.release.render.displayed import Displayed

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from sfumato.charts.canvas import Chart
    from sfumato.release.answer import Answer
    from sfumato.release.estimate import Estimate
    from sfumato.release.interval import Interval
    from sfumato.release.render.document import Document
    from sfumato.release.table import ReleaseTable

Value: TypeAlias = Any
"""What was released: a number, an array, a table; whatever the mechanism gives."""


class Failure(Enum):
    """What happens in the rare case that a δ allows for."""

    NONE = "the stated loss always holds"
    GRACEFUL = "beyond δ the loss grows slowly"
    DISTINGUISHING = "with probability up to δ an outcome may tell neighbours apart with certainty"


class Cutting(Enum):
    """What a cut leaves out, or changes, before any noise."""

    UNUSABLE = "rows that cannot be used"
    UNITS = "what one unit has beyond a bound"
    VALUES = "values beyond their bounds"
    ROWS = "rows that are not asked about"
    GROUPS = "groups that are not answered"


UNCOVERED = frozenset({Cutting.UNUSABLE, Cutting.UNITS, Cutting.VALUES})
"""Cuts that the answer was not asked to make: what they cost is an error that no error bar holds."""


@final
@dataclass(frozen=True)
class Cut:
    """Something that may leave out, move or scale down a part of the data before noise is added, and who said so."""

    cutting: Cutting
    what: str
    source: str

    def __str__(self) -> str:
        return f"{self.what} ({self.source})"


@final
@dataclass(frozen=True)
class How:
    """Describes how a release is made; public facts only, safe to print anywhere.

    ``asked`` is the question, in words that decide it: of a query its SELECT in normal form. ``cuts`` are all that may
    drop or change some of the data on the way; ``steps`` change nothing, or say what they do themselves.
    """

    mechanism: str
    parameters: tuple[tuple[str, str], ...] = ()
    steps: tuple[str, ...] = ()
    postprocessing: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    proofs: tuple[str, ...] = ()
    failure: Failure = Failure.NONE
    asked: str = ""
    cuts: tuple[Cut, ...] = ()

    @property
    def uncovered(self) -> str:
        """Says what error bars do not cover; nothing, where nothing is cut but what was asked to be."""
        if any(cut.cutting in UNCOVERED for cut in self.cuts):
            return "error bars cover the noise, not what was cut"
        if self.steps and not self.asked:
            return "error bars cover the noise, not what the steps before it changed"
        return ""

    def after(self, steps: tuple[str, ...], claims: tuple[Claim, ...], proofs: tuple[str, ...]) -> How:
        """Puts the steps of a transformation in front."""
        return replace(
            self,
            steps=steps + self.steps,
            claims=claims + self.claims,
            proofs=tuple(dict.fromkeys(proofs + self.proofs)),
        )

    def then(self, name: str) -> How:
        """Adds a post-processing step."""
        return replace(self, postprocessing=(*self.postprocessing, name))

    @property
    def made(self) -> str:
        """How it is made, on one line: the steps, the mechanism, and what follows."""
        parameters = ", ".join(f"{name} {value}" for name, value in self.parameters)
        several = f"{self.mechanism}: {parameters}" if self.asked else f"{self.mechanism}({parameters})"
        mechanism = several if parameters else self.mechanism
        return " → ".join((*self.steps, mechanism, *self.postprocessing))

    def __str__(self) -> str:
        parts = (self.asked, *(f"cut: {cut}" for cut in self.cuts), self.made)
        return " → ".join(part for part in parts if part)


@final
@dataclass(frozen=True)
class Fact:
    """A public fact that a release rests on, such as a bound, and where it comes from."""

    what: str
    source: str

    def __str__(self) -> str:
        return f"{self.what} ({self.source})"


@final
@dataclass(frozen=True)
class Noised:
    """The noise on each coordinate of an exact value: whole numbers of steps, independent of the rest.

    ``rounding`` is how far the value was moved before, at most; ``offset`` is a public number of steps added on top.
    """

    noise: Noise
    step: Fraction
    coordinates: int = 1
    rounding: Fraction = Fraction(0)
    offset: int = 0


@final
@dataclass(frozen=True)
class Receipt:
    """The entry of a ledger that paid for a release: which one, its digest, and the account it was charged to."""

    entry: int
    digest: str
    account: str
    time: str

    def __str__(self) -> str:
        return f"entry {self.entry} of {self.account}, {self.time}, {self.digest[:12]}…"


@cache
def made_by() -> str:
    """Names the program and its version."""
    return f"sfumato {version('sfumato')}"


INSTEAD = {
    **dict.fromkeys(("df", "frame", "to_frame", "to_dataframe"), ": write to_pandas()"),
    **dict.fromkeys(("to_csv", "to_excel"), ": write to_pandas(intervals=True), which has it"),
    **dict.fromkeys(("to_dict", "to_list", "values", "columns"), ": what was released is its value"),
    **dict.fromkeys(("epsilon", "cost"), ": what it cost is its loss"),
    **dict.fromkeys(("error", "std", "stderr", "confidence_interval"), ": how far off it may be says interval()"),
}
"""What to write in place of what answers of other libraries have."""


@final
@dataclass(frozen=True, eq=False)
class Release(Displayed):
    """What leaves: the value, its error bar, its price, who is protected, and how it was made.

    ``half_width`` is the error of the mechanism at the stated confidence (None where there is no such statement): the
    released value is within it of the exact one with at least that probability. It says nothing about clamping or
    sampling. ``noise`` is what was added, where the value is an exact one with noise on it. ``receipt`` is the entry of
    the ledger that paid; without one the release is uncharged. ``others`` are units of other kinds that are protected
    too, each with its own loss.
    """

    value: Value
    loss: Loss
    unit: str
    how: How
    half_width: Value = None
    confidence: Fraction = Fraction(95, 100)
    replayable: bool = False
    adjacency: str = ""
    noise: Noised | None = None
    data: str = ""
    facts: tuple[Fact, ...] = ()
    receipt: Receipt | None = None
    version: str = field(default_factory=made_by)
    others: tuple[tuple[str, Loss], ...] = ()

    if not TYPE_CHECKING:  # type checkers go on finding what is not there

        def __getattr__(self, name: str) -> NoReturn:
            raise AttributeError(f"a release has no {name!r}{INSTEAD.get(name, '')}")

    @property
    def charged(self) -> bool:
        return self.receipt is not None

    def interval(
        self, confidence: Number | None = None
    ) -> Interval | list[Interval] | dict[str, list[Interval | None]] | None:
        """Where the exact value is, with a confidence: for a vector one interval an entry, which hold together.

        For an answer that is a table they are given by the name of the column, and each holds by itself; a cell without
        an answer has None. Without ``confidence`` it is the stated one. None where nothing is known about the error
        at that confidence.
        """
        from sfumato.release.interval import interval_of

        return interval_of(self, confidence)

    def estimate(self) -> Estimate | list[Estimate]:
        """The value, or every entry of it, as a number to compute with: results keep right intervals."""
        from sfumato.release.estimate import estimate_of

        return estimate_of(self)

    def __str__(self) -> str:
        from sfumato.release.render.text import short_text

        return short_text(self)

    __repr__ = __str__

    def __float__(self) -> float:
        """The released number, where it is one."""
        from sfumato.release.answer import Answer

        value = self.value.only() if isinstance(self.value, Answer) else self.value
        number = value.item() if isinstance(value, np.generic | np.ndarray) and value.size == 1 else value
        if isinstance(number, bool) or not isinstance(number, Real):
            raise BadArgument("a release as a number", "of one number; read others at release.value", type(value))
        return float(number)

    def __format__(self, spec: str) -> str:
        """The number as a format says, ``f"{release:.1f}"``; without one, all that `print` shows."""
        return format(float(self), spec) if spec else str(self)

    def _is_no_number(self, _: object) -> NoReturn:
        raise NotChainable(
            "a release is a record, whose number has an error bar. Compare and compute with release.estimate(), whose "
            "results keep right intervals, or with float(release), which has none."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _is_no_number
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _is_no_number

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise NotChainable(
            "a release is the record of what left, and cannot be asked. Where its value goes on answering, ask that: "
            "release.value(query)."
        )

    def document(self) -> Document:
        """Everything that the release says, for any form; `print` shows less."""
        from sfumato.release.render.sheet import sheet

        return sheet(self)

    def to_latex(self) -> str:
        """Writes LaTeX; it needs the package booktabs."""
        return self._rendered("latex")

    def to_json(self) -> str:
        """Writes a flat JSON object for readers, complete."""
        return self._rendered("json")

    def to_pandas(self, *, intervals: bool = False) -> pandas.DataFrame:
        """Converts an answer that is a table to a data frame of pandas; ``intervals`` adds n_low and n_high to n."""
        return self._answer().to_pandas(intervals=intervals)

    def to_polars(self, *, intervals: bool = False) -> polars.DataFrame:
        """Converts an answer that is a table to a data frame of Polars; ``intervals`` adds n_low and n_high to n."""
        return self._answer().to_polars(intervals=intervals)

    def to_arrow(self, *, intervals: bool = False) -> pyarrow.Table:
        """Converts an answer that is a table to a table of Arrow; ``intervals`` adds n_low and n_high to n."""
        return self._answer().to_arrow(intervals=intervals)

    def _answer(self) -> Answer:
        from sfumato.release.answer import Answer

        if not isinstance(self.value, Answer):
            must = "an answer that is a table, as queries give; read other values at release.value"
            raise BadArgument("a released value as a data frame", must, type(self.value).__name__)
        return self.value

    def plot(self, **options: Any) -> Chart:
        """Draws the values with their error bars: see `charts.release`, which takes the options."""
        from sfumato.charts.one_release import release

        return release(self, **options)

    def table(self, *, scope: str = "None", url: str = "None", delta: Number | None = None) -> ReleaseTable:
        """Makes the release table of this release alone."""
        from sfumato.release.table import ReleaseTable

        return ReleaseTable.of([self], scope=scope, url=url, delta=delta)
