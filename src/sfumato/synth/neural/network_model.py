"""What a game ends with: a generator from which rows are drawn, as many as anybody likes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import final

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
from sfumato.synth.neural.generator import Settings, made_of, with_weights
from sfumato.synth.neural.heads import Codes

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
    settings: Settings
    weights: NDArray[np.float32]
    total: float
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
        for _ in range(TRIES if wanted else 0):
            wrong = np.flatnonzero(np.any([made[:, place] != codes for place, codes in wanted.items()], axis=0))
            if not len(wrong):
                break
            made[wrong] = self._made(len(wrong), {place: codes[wrong] for place, codes in wanted.items()}, entropy)
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
