"""Which method suits a use, from public facts alone: columns, rows, loss, and what the data is wanted for.

No data is seen and nothing is spent. The rules are stated with each choice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod, sqrt
from typing import Literal, TypeAlias, final

from sfumato.accounting.losses.measures import Loss, Pure
from sfumato.accounting.losses.stated import stated_loss
from sfumato.errors import BadArgument, did_you_mean
from sfumato.exact import Number, integer
from sfumato.release.render.displayed import Displayed
from sfumato.release.render.document import Document, Table
from sfumato.synth.asking import spendable_of
from sfumato.synth.graph.domain import Domain
from sfumato.synth.schema import USUAL_BINS, Schema
from sfumato.synth.workloads import Clique, Workload, read_workload

ColumnFacts: TypeAlias = "Mapping[str, int | Literal['number']]"
"""How many values each column has; "number" for one of numbers, which is put into bins."""

FEW_CELLS = 20_000
"""A table of so few cells in all can be held as a whole."""

WIDE, VERY_WIDE = 40, 150
"""From so many columns on, choosing among all pairs again and again takes long; from the second on, pairs do too."""

FEW_TABLES = 12
"""A workload of so few tables is asked for with less noise by itself."""

DROWNED = 0.5
"""Where noise alone moves more than this share of the rows of a usual pair, pairs are not worth their loss."""


@final
class Scenario(Enum):
    """What synthetic data is wanted for."""

    MICRODATA = "microdata sharing"
    WIDER_ACCESS = "wider access"
    EXPLORATION = "exploration"
    EYES_OFF_LEARNING = "eyes-off learning"

    @property
    def words(self) -> str:
        """What the use needs, and what to hand out with the data."""
        return NEEDS[self]


NEEDS = {
    Scenario.MICRODATA: (
        "Rows are handed out for uses that nobody knows yet: keep as many pairs right as the loss allows, and publish "
        "the report with them."
    ),
    Scenario.WIDER_ACCESS: (
        "People who may not see the real table learn what is in it: columns, types and values must be right, and "
        "findings are checked on the real table by a private query before they are used."
    ),
    Scenario.EXPLORATION: (
        "A small part of the limit buys a first look (marginals, correlations, regressions, plans for later on): "
        "keep the rest for the queries that it leads to."
    ),
    Scenario.EYES_OFF_LEARNING: (
        "Models are tuned and features chosen without a look at the real table: tables with the target matter most; "
        "the final model is trained or tested privately on the real one."
    ),
}


@final
@dataclass(frozen=True)
class Choice:
    """A method, by its name in `sfumato.synth`, with reasons for and against it."""

    method: str
    reasons: tuple[str, ...]
    against: tuple[str, ...] = ()


@final
@dataclass(frozen=True, eq=False, repr=False)
class SynthesisAdvice(Displayed):
    """Methods that suit a use, the best first.

    ``workload`` are the tables that matter for it; ``noise`` is about how large a share of the rows of a usual pair
    noise would move, where rows and loss are known.
    """

    scenario: Scenario
    choices: tuple[Choice, ...]
    notes: tuple[str, ...] = ()
    workload: Mapping[Clique, float] | None = None
    noise: float | None = None

    @property
    def method(self) -> str:
        """The name of the method that is recommended, in `sfumato.synth`."""
        return self.choices[0].method

    def document(self) -> Document:
        """The choices with their reasons, for any form."""
        rows = tuple((one.method, " ".join(one.reasons), " ".join(one.against)) for one in self.choices)
        tables = [Table(rows, ("method", "because", "but"))]
        notes = [("use", self.scenario.words), *(("note", note) for note in self.notes)]
        if self.noise is not None:
            notes.append(("noise", f"It would move about {self.noise:.1%} of the rows of a usual pair of columns."))
        tables.append(Table(tuple(notes), (), "Besides"))
        return Document("Advice", f"{self.method} for {self.scenario.value}", tables=tuple(tables))


def advise(
    columns: ColumnFacts | Schema | Domain,
    *,
    rows: int | None = None,
    loss: Loss | None = None,
    epsilon: Number | None = None,
    delta: Number | None = None,
    scenario: Scenario | str = Scenario.MICRODATA,
    workload: Workload | None = None,
    target: str | None = None,
    institutions: int = 1,
) -> SynthesisAdvice:
    """Recommends a method for columns, a size, a loss and a use; no data is seen.

    Takes:      ``columns``, a schema or how many values each has ("number" for numbers); ``rows`` and ``loss``, where
                known, to tell whether pairs can be afforded; a ``workload`` where it is known which tables matter;
                ``target``, the column that models are to learn; ``institutions``, more than 1 where rows may not leave
                the place where each is held
    Gives:      a `SynthesisAdvice`, which prints itself; its ``method`` is a name in `sfumato.synth`

    >>> from sfumato.accounting.losses.measures import ZCDP
    >>> advise({"sex": 2, "age": 9, "income": 5}, rows=30_000, loss=ZCDP("0.05")).method
    'AIM'
    """
    sizes, numbers = _facts(columns)
    use = _scenario(scenario)
    domain = Domain(tuple(sizes), tuple(sizes.values()))
    tables = None if workload is None else read_workload(workload, domain)
    if target is not None:
        if target not in sizes:
            raise BadArgument("target", f"one of the columns.{did_you_mean(target, sizes)}", target)
        tables = tables or {domain.sorted((target, name)): 1.0 for name in sizes if name != target} or None
    paid = stated_loss(loss, epsilon, delta)
    noise = None if rows is None or paid is None else noise_of_pairs(sizes, integer(rows, "rows", least=1), paid)
    apart = integer(institutions, "institutions", least=1) > 1
    choices = _choices(sizes, numbers, tables, noise, apart=apart)
    return SynthesisAdvice(use, tuple(choices), tuple(_notes(sizes, numbers, workload, noise)), tables, noise)


def noise_of_pairs(sizes: Mapping[str, int], rows: int, loss: Loss) -> float:
    """About how large a share of rows noise moves in a pair of columns of usual size, in a tree of pairs.

    Most of the loss buys as many pairs as there are columns, less one; of c cells with noise of deviation σ each, half
    the sum of |noise| is about 0.4 c σ.
    """
    spend, pairs = spendable_of(loss), max(1, len(sizes) - 1)
    part = float(spend.amounts[0]) * 0.8
    deviation = sqrt(2) * pairs / part if isinstance(spend, Pure) else sqrt(pairs / (2 * part))
    usual = sorted(sizes.values())[len(sizes) // 2]
    return 0.4 * usual**2 * deviation / rows


def _choices(
    sizes: Mapping[str, int],
    numbers: Sequence[str],
    tables: Mapping[Clique, float] | None,
    noise: float | None,
    *,
    apart: bool,
) -> list[Choice]:
    """All methods that suit, the best first."""
    many, cells = len(sizes), prod(sizes.values())
    suited = []
    if apart:
        suited.append(PATE)
    if noise is not None and noise > DROWNED:
        suited.append(INDEPENDENT)
    if many >= VERY_WIDE:
        suited += [VERY_WIDE_ONE, BAYES, TREE]
    elif many >= WIDE:
        suited += [TREE, BAYES, VERY_WIDE_ONE]
    elif cells <= FEW_CELLS and not numbers:
        suited += [ADAPTIVE_WORKLOAD if tables else ADAPTIVE, WHOLE, TREE]
    else:
        suited += [ADAPTIVE_WORKLOAD if tables else ADAPTIVE, TREE, BAYES]
    if numbers:
        suited.append(NEURAL)
    return suited


PATE = Choice(
    "PATECTGAN",
    ("Rows may not leave the places that hold them: each trains a teacher of its own, and only noisy votes leave.",),
    ("Marginal methods do better wherever counts may be added up across places.",),
)
INDEPENDENT = Choice(
    "Independent",
    ("At this loss noise would drown every pair of columns; single columns can still be had.",),
    ("Nothing that columns have to do with each other is kept; more loss, more rows or fewer values would help.",),
)
ADAPTIVE = Choice(
    "AIM",
    ("It measures the tables that its model fits worst, and spends as it learns: the least error on pairs.",),
    ("Slower than MST.",),
)
ADAPTIVE_WORKLOAD = Choice(
    "AIM",
    ("The tables that matter are known: it measures those that help them most.",),
    ("What is outside of the workload is kept less well.",),
)
WHOLE = Choice(
    "MWEM",
    ("Few columns of few values: the whole table fits in memory and is updated at once.",),
    ("AIM needs less noise for the same tables.",),
)
TREE = Choice(
    "MST",
    ("One tree of pairs, chosen once and measured once: fast, also with many columns.",),
    ("Pairs outside of the tree are guesses.",),
)
BAYES = Choice(
    "PrivBayes",
    ("Many columns: each depends on few others, in a network that is chosen privately.",),
    ("Choosing the network costs; MST does so for less.",),
)
VERY_WIDE_ONE = Choice(
    "RAP",
    ("So many columns that no graph of pairs can be fitted exactly: rows are fitted to the answers.",),
    ("It is approximate, and slow at first.",),
)
NEURAL = Choice(
    "DPCTGAN",
    ("Numbers and categories mixed: a network sees how near numbers are to each other.",),
    ("On tables, methods that measure marginals do better: take it to compare.",),
)


def _notes(
    sizes: Mapping[str, int], numbers: Sequence[str], workload: Workload | None, noise: float | None
) -> list[str]:
    notes = []
    if workload is not None and not isinstance(workload, int) and len(workload) <= FEW_TABLES:
        notes.append(
            f"Only {len(workload)} tables are wanted: asked as queries, each with its error bar, they need no model. "
            "Synthesise where uses are not known beforehand."
        )
    if numbers:
        notes.append(f"Numbers are put into bins by stated or bought edges: {', '.join(numbers[:12])}.")
    large = [name for name, size in sizes.items() if size > 100]
    if large:
        notes.append(f'Many values: reduce to the commonest and "other" first: {", ".join(large[:12])}.')
    if noise is not None and 0.1 < noise <= DROWNED:
        notes.append("Fewer bins or values, more rows or more loss would bring pairs above the noise.")
    return notes


def _facts(columns: ColumnFacts | Schema | Domain) -> tuple[dict[str, int], list[str]]:
    """How many codes each column has, and which are numbers."""
    if isinstance(columns, Schema):
        numbers = [one.name for one in columns.columns if hasattr(one, "edges")]
        return dict(zip(columns.domain.names, columns.domain.sizes, strict=True)), numbers
    if isinstance(columns, Domain):
        return dict(zip(columns.names, columns.sizes, strict=True)), []
    if not isinstance(columns, Mapping) or not columns:
        raise BadArgument(
            "columns", "a schema, or how many values each column has: {'sex': 2, 'age': 'number'}", columns
        )
    numbers = [str(name) for name, size in columns.items() if size == "number"]
    sizes = {
        str(name): USUAL_BINS if size == "number" else integer(size, f"the values of {name}", least=1)
        for name, size in columns.items()
    }
    return sizes, numbers


def _scenario(scenario: Scenario | str) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    for one in Scenario:
        if scenario in (one.value, one.name.lower()):
            return one
    raise BadArgument("scenario", "one of " + ", ".join(repr(one.value) for one in Scenario), scenario)
