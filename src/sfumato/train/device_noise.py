"""Normal numbers that are made where a model is: the cipher of the one source of randomness, written in tensors.

The noise for a large model is gigabytes of random bits a step, more than a processor makes in the time of a step on an
accelerator. So a key of 256 bits is drawn from the source of randomness for every step, and the stream of ChaCha20
(RFC 8439) under it is worked out on the device, every block by itself.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sfumato.entropy import Entropy

CONSTANTS = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574)
"""The words "expand 32-byte k" (RFC 8439, section 2.3)."""

COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))

AT_ONCE = 1 << 22
"""How many blocks of the stream are made at once, for 16 numbers each."""


def normals(count: int, deviation: float, entropy: Entropy, device: torch.device) -> Tensor:
    """Draws independent normal numbers of a deviation on a device: pairs from a radius of 40 bits, an angle of 24."""
    key = torch.from_numpy(np.frombuffer(entropy.octets(32), dtype="<i4").copy()).to(device)
    blocks = -(-count // 16)
    pieces = max(-(-blocks // AT_ONCE), 1)
    each = -(-blocks // pieces)
    made = torch.empty(pieces, 16 * each, device=device)
    wide = torch.tensor(-2.0 * deviation * deviation, device=device, dtype=torch.float64)
    for place, piece in enumerate(made):
        first = torch.tensor(place * each, device=device, dtype=torch.int32)
        piece.copy_(_written(device.type)(key, first, each, wide))
    return made.flatten()[:count]


@cache
def _written(kind: str) -> Any:
    """The function as it is, or compiled into one kernel where that pays."""
    return torch.compile(_normals, dynamic=False) if kind == "cuda" else _normals


def _normals(key: Tensor, first: Tensor, blocks: int, wide: Tensor) -> Tensor:
    words = stream(key, first, blocks)
    ends, turns = torch.stack(words[:8]), torch.stack(words[8:])
    bits = ((ends.long() & 0xFFFFFFFF) << 8) | (turns & 0xFF).long()
    away = (bits.double().add(0.5).mul(2.0**-40).log() * wide).sqrt().float()
    angle = (turns >> 8).float().mul(math.pi / 2**23)
    return torch.cat([away * angle.cos(), away * angle.sin()]).flatten()


def stream(key: Tensor, first: Tensor, blocks: int) -> list[Tensor]:
    """Blocks of ChaCha20 under a key of eight words, from a number on: the sixteen words of each."""
    counter = torch.arange(blocks, device=key.device, dtype=torch.int32) + first
    begin = [torch.full_like(counter, _signed(word)) for word in CONSTANTS]
    begin += [key[place].expand_as(counter) for place in range(8)]
    begin += [counter, *[torch.zeros_like(counter)] * 3]
    state = list(begin)
    for _ in range(10):
        for places in (*COLUMNS, *DIAGONALS):
            _quarter(state, *places)
    return [word + start for word, start in zip(state, begin, strict=True)]


def _quarter(state: list[Tensor], a: int, b: int, c: int, d: int) -> None:
    """One quarter round."""
    for one, other, rest, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        state[one] = state[one] + state[other]
        state[rest] = _rotated(state[rest] ^ state[one], turn)


def _rotated(word: Tensor, places: int) -> Tensor:
    return (word << places) | ((word >> (32 - places)) & ((1 << places) - 1))


def _signed(word: int) -> int:
    return word - (1 << 32) if word >> 31 else word
