"""Sweeps over ε, recipes and preprocessing: how long each takes, how far off it is, and whether it collapsed.

On made-up rows of a schema's shape it costs nothing and may be shown; on rows that one holds it is for the holder's
eyes; on a table of a session every run is paid for, and it is refused unless that is said.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from sfumato.accounting.losses.measures import Approx, Loss, Pure
from sfumato.entropy import Entropy, system
from sfumato.errors import BadArgument
from sfumato.exact import Number, integer, positive, probability
from sfumato.learn.prepared import Prepared
from sfumato.learn.significance.draws import normals
from sfumato.query.frame import Frame
from sfumato.release.progress import Progress, reporting
from sfumato.release.render.document import Document, Table
from sfumato.synth.asking import spendable_of
from sfumato.synth.collapse import collapse
from sfumato.synth.comparing import marginal_errors
from sfumato.synth.counting import Rows
from sfumato.synth.evaluation import held_rows
from sfumato.synth.holder import Basis, Judgement
from sfumato.synth.reducing import bought_reduction
from sfumato.synth.schema import Schema
from sfumato.synth.synthesizer import Synthesizer
from sfumato.synth.synthetic import Synthetic

if TYPE_CHECKING:
    from sfumato.charts.canvas import Chart

Recipes: TypeAlias = Mapping[str, Callable[[Loss], Synthesizer]]
"""Recipes by name, each made of a loss: ``{"MST": lambda loss: MST(loss=loss)}``."""

EPSILONS = (Fraction(1, 100), Fraction(1, 10), Fraction(1), Fraction(10))

SHARE = Fraction(1, 5)
"""The part of the loss that preprocessing gets, where it needs any."""

TOGETHER = 0.8
"""How strongly columns of made-up rows hang together: each is a mix of one number of the row and one of its own."""


@final
@dataclass(frozen=True)
class SweepPoint:
    """One run: a recipe at an ε after a preprocessing, how long it took, and how far off columns and pairs are.

    ``keys`` is how many keys columns were reduced to, None where they were not; ``share`` the part of ε that this cost.
    ``megabytes`` is the most that the fit held at a time, where that was asked for. On a session, errors are the upper
    ends of what the noise alone says of measured tables.
    """

    recipe: str
    epsilon: float
    keys: int | None
    share: float
    seconds: float
    columns: float
    pairs: float
    collapsed: bool
    megabytes: float | None = None


@final
@dataclass(frozen=True, eq=False, repr=False)
class SynthesisSweep(Judgement):
    """Runs side by side; ``complete`` is false where somebody broke it off."""

    points: tuple[SweepPoint, ...]
    basis: Basis
    complete: bool = True

    def document(self) -> Document:
        """All runs, for any form."""
        head = ("recipe", "ε", "keys", "share for keys", "fit, s", "MB", "columns off by", "pairs off by", "collapsed")
        rows = tuple(
            (
                one.recipe,
                f"{one.epsilon:g}",
                "all" if one.keys is None else f"≤ {one.keys}",
                f"{one.share:g}",
                f"{one.seconds:.3g}",
                "" if one.megabytes is None else f"{one.megabytes:.3g}",
                f"{one.columns:.3g}",
                f"{one.pairs:.3g}",
                "yes" if one.collapsed else "no",
            )
            for one in self.points
        )
        table = Table(rows, head, "Total variation, in the mean", right=frozenset({1, 3, 4, 5, 6, 7}))
        said = f"{len(self.points)} runs" + ("" if self.complete else ", broken off")
        return Document("Sweep", said, f"against {self.basis.value}", self.basis.marks, tables=(table,))

    def plot(self) -> Chart:
        """Draws the error of pairs against ε, for each recipe and preprocessing."""
        from sfumato.charts.synthetic import errors_by_epsilon

        points = [(_named(one), one.epsilon, one.pairs) for one in self.points]
        said = [f"Mean total variation of all pairs of columns, against {self.basis.value}", *self.basis.marks]
        return errors_by_epsilon(points, said=said)


def sweep(
    table: object,
    schema: Schema,
    recipes: Recipes | Sequence[type[Synthesizer]],
    *,
    epsilons: Sequence[Number] = EPSILONS,
    delta: Number | None = None,
    keys: Sequence[int | None] = (None,),
    share: Number = SHARE,
    runs: int = 1,
    memory: bool = False,
    charge: bool = False,
    max_rows: int | None = None,
    key: str | None = None,
    entropy: Entropy | None = None,
    progress: Progress | None = None,
) -> SynthesisSweep:
    """Fits every recipe at every ε, with every number of keys, and says how long it took and how far off it is.

    Takes:      rows that one holds, a table of a session (every run is paid for: only with ``charge=True``), or
                `made_up_rows` of a schema; ``keys``, to how many keys columns are reduced first (None: not at all), for
                the ``share`` of ε; ``runs`` of each, whose mean is told; ``memory``, to measure it in a run of its own
    Gives:      a `SynthesisSweep`, which prints and plots itself; what is done, where it is broken off (Ctrl-C)
    """
    made, held = _recipes(recipes), table.frame if isinstance(table, Prepared) else table
    if isinstance(held, Frame) and not charge:
        must = "True: every run of a sweep on a session is paid for; try it on made_up_rows first, which costs nothing"
        raise BadArgument("charge", must, charge)
    part, many = probability(share, "share"), integer(runs, "runs", least=1)
    if not 0 < part < 1:
        raise BadArgument("share", "between 0 and 1: the part of the loss for keys", share)
    losses = [(float(positive(one, "an ε of a sweep")), _loss(one, delta)) for one in epsilons]
    grid = [(name, epsilon, loss, few) for name in made for few in keys for epsilon, loss in losses]
    trial = _Trial(held, schema, part, max_rows, key, memory and not isinstance(held, Frame), entropy or system())
    points: list[SweepPoint] = []
    with reporting(progress, "sweeping") as tell:
        try:
            for place, (name, epsilon, loss, few) in enumerate(grid):
                each = [trial.run(made[name], name, epsilon, loss, few, time) for time in range(many)]
                points.append(_mean(each))
                tell(place + 1, len(grid))
        except KeyboardInterrupt:
            if not points:
                raise
    return SynthesisSweep(tuple(points), trial.basis, complete=len(points) == len(grid))


@final
@dataclass(frozen=True, eq=False)
class MadeUp:
    """Made-up rows: nobody's, so that what is found out about them may be shown."""

    rows: Any


def made_up_rows(schema: Schema, rows: int, *, entropy: Entropy | None = None) -> MadeUp:
    """Rows of a schema's shape that are nobody's: columns hang together by one hidden number of each row.

    They tell how long a fit takes and how errors fall with ε on a table of this shape; not what the real one is like.
    """
    source, many = entropy or system(), integer(rows, "rows", least=1)
    hidden = normals((many,), source)
    columns = []
    for size in schema.domain.sizes:
        mixed = TOGETHER * hidden + np.sqrt(1 - TOGETHER**2) * normals((many,), source)
        places = np.argsort(np.argsort(mixed)) / many  # ranks, spread over codes of which early ones are commoner
        columns.append(np.minimum((places**1.5 * size).astype(np.int64), size - 1))
    return MadeUp(schema.decode(np.stack(columns, axis=1), source))


@final
@dataclass(frozen=True, eq=False)
class _Trial:
    """How one run of a sweep is made and looked at."""

    table: object
    schema: Schema
    share: Fraction
    max_rows: int | None
    key: str | None
    memory: bool
    entropy: Entropy

    @property
    def basis(self) -> Basis:
        if isinstance(self.table, Frame):
            return Basis.PAID
        return Basis.MADE_UP if isinstance(self.table, MadeUp) else Basis.HELD

    def run(
        self, recipe: Callable[[Loss], Synthesizer], name: str, epsilon: float, loss: Loss, few: int | None, time: int
    ) -> SweepPoint:
        """Fits once, and compares."""
        label = None if self.key is None else f"{self.key} {name} {epsilon:g} {few} {time}"
        began = _now()
        fitted = self._fitted(recipe, loss, few, label)
        seconds = _now() - began
        columns, pairs, collapsed = self._errors(fitted)
        part = float(self.share) if few is not None else 0.0
        point = SweepPoint(name, epsilon, few, part, seconds, columns, pairs, collapsed)
        if not self.memory:
            return point
        tracemalloc.start()
        try:
            self._fitted(recipe, loss, few, label)
            return replace(point, megabytes=tracemalloc.get_traced_memory()[1] / 1e6)
        finally:
            tracemalloc.stop()

    def _fitted(
        self, recipe: Callable[[Loss], Synthesizer], loss: Loss, few: int | None, label: str | None
    ) -> Synthetic:
        table = self.table.rows if isinstance(self.table, MadeUp) else self.table
        paid: dict[str, Any] = {"entropy": self.entropy}
        if isinstance(table, Frame):
            paid = {"max_rows": self.max_rows, "key": label}
        if few is None:
            return recipe(loss).fit(table, schema=self.schema, **paid)
        whole = spendable_of(loss)
        bought = bought_reduction(table, self.schema, loss=whole.scaled(self.share), most=few, **paid)
        return recipe(whole.scaled(1 - self.share)).fit(table, schema=bought.schema, **paid)

    def _errors(self, fitted: Synthetic) -> tuple[float, float, bool]:
        """Errors of columns and of pairs, by the codes before they were reduced, and whether rows collapsed."""
        drawn = self.schema.encode(fitted.sample_arrow(entropy=self.entropy))
        made = Rows(self.schema.domain, np.maximum(drawn, 0))
        if isinstance(self.table, Frame):
            known = fitted.report(entropy=self.entropy).errors
            high = float("nan") if known is None else known.mean[1]
            return high, high, collapse(made).collapsed
        rows = self.table.rows if isinstance(self.table, MadeUp) else self.table
        real = held_rows(self.schema, rows, "table")
        one = marginal_errors(real, made, ways=1, basis=self.basis).mean
        shares = {name: real.marginal((name,)) / real.total for name in self.schema.domain.names}
        return one, marginal_errors(real, made, basis=self.basis).mean, collapse(made, shares=shares).collapsed


def _now() -> float:
    return time.perf_counter()


def _loss(epsilon: Number, delta: Number | None) -> Loss:
    return Pure(epsilon) if delta is None else Approx(epsilon, delta)


def _recipes(recipes: Recipes | Sequence[type[Synthesizer]]) -> dict[str, Callable[[Loss], Synthesizer]]:
    """Recipes by name; of a list of methods, each with nothing but its loss."""
    if isinstance(recipes, Mapping):
        made = dict(recipes)
    else:
        made = {kind.__name__: _with_loss(kind) for kind in recipes}
    if not made:
        raise BadArgument("recipes", "at least one", 0)
    return made


def _with_loss(kind: type[Synthesizer]) -> Callable[[Loss], Synthesizer]:
    def recipe(loss: Loss) -> Synthesizer:
        return kind(loss=loss)  # type: ignore[call-arg]

    return recipe


def _mean(points: Sequence[SweepPoint]) -> SweepPoint:
    """The mean of several runs; collapsed if any was."""
    seconds, columns, pairs = np.mean([(one.seconds, one.columns, one.pairs) for one in points], axis=0).tolist()
    held = max((one.megabytes for one in points if one.megabytes is not None), default=None)
    collapsed = any(one.collapsed for one in points)
    return replace(points[0], seconds=seconds, columns=columns, pairs=pairs, collapsed=collapsed, megabytes=held)


def _named(point: SweepPoint) -> str:
    return point.recipe if point.keys is None else f"{point.recipe}, ≤ {point.keys} keys"
