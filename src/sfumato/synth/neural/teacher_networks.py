"""Teacher discriminators, each with units of its own: of what they learn nothing leaves but noisy counts of votes."""

from __future__ import annotations

from typing import NoReturn, final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from sfumato.entropy import Entropy
from sfumato.errors import BadArgument
from sfumato.guarantee import guarantee
from sfumato.synth.neural.coded_rows import Opened
from sfumato.synth.neural.conditions import Conditions
from sfumato.synth.neural.private_game import real_inputs
from sfumato.synth.neural.randomness import uniforms
from sfumato.train.pate.parts import KEY, names_of, teacher_of

WIDE = 32
"""How wide the one inner layer of a teacher is: each has few rows."""

TAKEN = 32
"""How many of its rows a teacher looks at in a step."""

RATE = 5e-3
"""At which rate teachers learn."""


@guarantee(
    claim="every row is with one teacher, all rows of a unit with the same one, and nobody moves for another",
    proof="proofs/neural_synthesis.md#votes",
    reviewed="3ac2975f8b2f",
)
def parts_of(opened: Opened, teachers: int, entropy: Entropy) -> list[NDArray[np.int64]]:
    """The places of the rows of each teacher."""
    of = teacher_of(names_of(opened.people, len(opened.codes)), teachers, entropy.octets(KEY))
    return [np.flatnonzero(of == teacher) for teacher in range(teachers)]


@final
class TeacherNetworks:
    """All teachers side by side: weights of their own, rows of their own, and one optimizer that mixes nothing.

    What a teacher becomes is a function of its own rows, of made-up rows and of randomness, and of no other's rows:
    losses are added up over teachers, and each has a part in its own weights alone.
    """

    def __init__(
        self, opened: Opened, parts: list[NDArray[np.int64]], conditions: Conditions, entropy: Entropy
    ) -> None:
        self._opened, self._parts, self._conditions, self._entropy = opened, parts, conditions, entropy
        many, wide = len(parts), conditions.heads.width + conditions.width
        first, last = (uniforms(shape, entropy).float() * 2 - 1 for shape in ((many, wide, WIDE), (many, WIDE, 1)))
        self._weights = [
            nn.Parameter(first / wide**0.5),
            nn.Parameter(torch.zeros(many, 1, WIDE)),
            nn.Parameter(last / WIDE**0.5),
            nn.Parameter(torch.zeros(many, 1, 1)),
        ]
        self._optimizer = torch.optim.Adam(self._weights, lr=RATE, betas=(0.5, 0.9))

    def learn(self, made_up: Tensor) -> None:
        """Takes one step: each teacher looks at some of its own rows, and at made-up ones that all look at."""
        rows, counts = self._drawn()
        told = self._said(rows)
        invented = self._said(made_up.expand(len(self._parts), *made_up.shape))
        lost = (counts * nn.functional.softplus(-told)).mean(dim=1).sum() + nn.functional.softplus(invented).mean(
            1
        ).sum()
        self._optimizer.zero_grad(set_to_none=True)
        lost.backward()
        self._optimizer.step()

    @guarantee(
        claim="one vote of each teacher on each row, for 0 or for 1, whatever a teacher has become",
        proof="proofs/neural_synthesis.md#votes",
        reviewed="8f928c10e251",
    )
    def votes(self, made_up: Tensor) -> NDArray[np.int64]:
        """How many teachers take each row for made up, and how many for real."""
        with torch.no_grad():
            said = self._said(made_up.expand(len(self._parts), *made_up.shape))
        real = (said > 0).sum(dim=0).numpy().astype(np.int64)
        return np.stack([len(self._parts) - real, real], axis=1)

    def _drawn(self) -> tuple[Tensor, Tensor]:
        """Rows of each teacher, drawn with repeats, and how much each counts: nothing where it has none."""
        shares = uniforms((len(self._parts), TAKEN), self._entropy).numpy()
        places = np.zeros((len(self._parts), TAKEN), dtype=np.int64)
        for teacher, own in enumerate(self._parts):
            if len(own):
                places[teacher] = own[np.minimum((shares[teacher] * len(own)).astype(np.int64), len(own) - 1)]
        there = torch.tensor([[float(len(own) > 0)] for own in self._parts])
        if not len(self._opened.codes):
            wide = self._conditions.heads.width + self._conditions.width
            return torch.zeros(len(self._parts), TAKEN, wide), there.expand(-1, TAKEN)
        inputs, counts = real_inputs(self._opened.codes[places.ravel()], self._conditions, self._entropy)
        shape = (len(self._parts), TAKEN)
        return inputs.view(*shape, -1) * there[:, :, None], counts.view(shape) * there

    def _said(self, rows: Tensor) -> Tensor:
        first, first_bias, last, last_bias = self._weights
        inner = nn.functional.leaky_relu(torch.baddbmm(first_bias, rows, first), 0.2)
        return torch.baddbmm(last_bias, inner, last)[:, :, 0]

    def __reduce__(self) -> NoReturn:
        raise BadArgument("teachers", "kept where they are: a copy would carry them away", "to be copied or pickled")
