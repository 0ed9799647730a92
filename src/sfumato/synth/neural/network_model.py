"""What a game ends with: a generator from which rows are drawn, as many as anybody likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from functools import cached_property
from typing import Any, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sfumato.entropy import Entropy, ReplayEntropy
from sfumato.errors import BadArgument, Several
from sfumato.exact import integer
from sfumato.noise.uniform import below_many
from sfumato.synth.graph.domain import Domain
from sfumato.synth.graph.model import Codes as ModelCodes
from sfumato.synth.graph.model import Given
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.generator import NetworkSettings, made_of, with_weights
from sfumato.synth.neural.heads import Codes, Head, Heads
from sfumato.synth.neural.modes import Mode
from sfumato.synth.zeros import Zeros

AT_ONCE = 8192
"""How many rows are made at once."""

LOOKED_AT = 50_000
"""Marginals are those of so many rows."""

TRIES = 20
"""How often a row is made anew until it has the values that were asked for."""


@final
@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A generator, the conditions it knows and its weights: all of it private already, so that rows cost nothing.

    ``total`` is how many rows the table has, as far as anybody may know. A network has no marginals that could be
    read off it: `marginal` counts made-up rows, always the same ones for one ``seed``.
    """

    domain: Domain
    conditions: Conditions
    settings: NetworkSettings
    weights: NDArray[np.float32]
    total: float
    zeros: Zeros = field(default_factory=dict)
    """Combinations of codes that no row can have: rows with one are made anew."""
    seed: bytes = b"marginals"

    @cached_property
    def _network(self) -> nn.Module:
        return with_weights(self.conditions, self.settings, self.weights)

    def sample(self, rows: int, entropy: Entropy, given: Given | None = None) -> ModelCodes:
        """Draws rows of codes; with ``given``, codes that each row is to have, others go with them as far as learnt.

        A generator that knows conditions is asked for one of the values; rows with other values than given are made
        anew, and after some tries get them written in: their other values then are as likely as without.
        """
        many = integer(rows, "rows", least=0)
        wanted = self._read(given or {}, many)
        made = self._made(many, wanted, entropy)
        for _ in range(TRIES if wanted or self.zeros else 0):
            wrong = np.flatnonzero(self._wrong(made, wanted))
            if not len(wrong):
                break
            made[wrong] = self._made(len(wrong), {place: codes[wrong] for place, codes in wanted.items()}, entropy)
        impossible = self._wrong(made, {})
        if impossible.any() and not impossible.all():  # after all these tries: others stand for them
            others = np.flatnonzero(~impossible)
            turn = below_many(len(others), count=int(impossible.sum()), entropy=entropy)
            made[impossible] = made[others[turn]]
        for place, codes in wanted.items():
            made[:, place] = codes
        return made.astype(np.min_scalar_type(max(self.domain.sizes) - 1))

    def marginal(self, columns: Sequence[str]) -> NDArray[np.float64]:
        """The expected counts of some columns, as they are in made-up rows, scaled to the total."""
        places, shape = self.domain.axes(columns), self.domain.shape(columns)
        if not places:
            return np.array(self.total)
        flat = np.ravel_multi_index(tuple(self._looked_at[:, place] for place in places), shape)
        counts = np.bincount(flat, minlength=int(np.prod(shape))).reshape(shape)
        return np.asarray(counts * (self.total / len(self._looked_at)))

    @cached_property
    def _looked_at(self) -> Codes:
        return self.sample(LOOKED_AT, ReplayEntropy(self.seed)).astype(np.int64)

    def plain(self) -> dict[str, Any]:
        """All of it as lists, texts and numbers."""
        heads = [[one.name, one.size, one.ordered, [astuple(mode) for mode in one.modes]] for one in self._heads]
        return {
            "heads": heads,
            "asked": list(self.conditions.columns),
            "counts": [counts.tolist() for counts in self.conditions.counts],
            "settings": asdict(self.settings),
            "weights": self.weights.tolist(),
            "total": self.total,
            "zeros": [[list(columns), never.tolist()] for columns, never in self.zeros.items()],
        }

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> NetworkModel:
        """Reads what `plain` wrote."""
        heads = Heads.of(
            [
                Head(str(name), integer(size, "size"), integer(ordered, "ordered"), tuple(Mode(*one) for one in modes))
                for name, size, ordered, modes in plain["heads"]
            ]
        )
        counts = tuple(np.asarray(one, dtype=np.float64) for one in plain["counts"])
        conditions = Conditions(heads, tuple(plain["asked"]), counts)
        domain = Domain(tuple(one.name for one in heads.columns), tuple(one.size for one in heads.columns))
        zeros = {tuple(columns): np.asarray(never, dtype=np.bool_) for columns, never in plain["zeros"]}
        weights = np.asarray(plain["weights"], dtype=np.float32)
        made = NetworkModel(domain, conditions, NetworkSettings(**plain["settings"]), weights, plain["total"], zeros)
        made.sample(1, ReplayEntropy(0))  # refused here, where weights do not fit
        return made

    @property
    def _heads(self) -> tuple[Head, ...]:
        return self.conditions.heads.columns

    def _wrong(self, made: Codes, wanted: Mapping[int, Codes]) -> NDArray[np.bool_]:
        """Which rows have other values than are wanted, or cannot be."""
        wrong = np.zeros(len(made), dtype=np.bool_)
        for place, codes in wanted.items():
            wrong |= made[:, place] != codes
        for columns, never in self.zeros.items():
            wrong |= never[tuple(made[:, place] for place in self.domain.axes(columns))]
        return wrong

    def _read(self, given: Given, rows: int) -> dict[int, Codes]:
        wanted = {}
        for name, codes in given.items():
            place = self.domain.axes([name])[0]
            held = np.broadcast_to(np.asarray(codes, dtype=np.int64), (rows,)) if np.ndim(codes) == 0 else codes
            if np.shape(held) != (rows,):
                raise BadArgument("given", "a code for each row, or one for all", Several(np.shape(held), rows))
            wanted[place] = np.clip(np.asarray(held, dtype=np.int64), 0, self.domain.sizes[place] - 1)
        return wanted

    def _made(self, rows: int, wanted: Mapping[int, Codes], entropy: Entropy) -> Codes:
        parts = [np.zeros((0, len(self.domain.sizes)), dtype=np.int64)]
        for start in range(0, rows, AT_ONCE):
            many = min(AT_ONCE, rows - start)
            now = {place: codes[start : start + many] for place, codes in wanted.items()}
            with torch.no_grad():
                asked = self._asked(many, now, entropy)
                made, _ = made_of(self._network, self.conditions, self.settings, asked, entropy)
            parts.append(self.conditions.heads.decoded(made))
        return np.concatenate(parts)

    def _asked(self, rows: int, wanted: Mapping[int, Codes], entropy: Entropy) -> Tensor:
        """Conditions for rows: one of the values that are wanted, or, of none, one that is drawn."""
        known = [place for place in wanted if place in self.conditions.columns]
        if not known:
            return self.conditions.drawn(rows, entropy, training=False)[0]
        turn = below_many(len(known), count=rows, entropy=entropy)
        which = np.array([self.conditions.columns.index(place) for place in known])[turn]
        values = np.stack([wanted[place] for place in known])[turn, np.arange(rows)]
        return self.conditions.inputs(which, values)
