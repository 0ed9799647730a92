"""How matrices of floats are multiplied, and by how much what comes out may be off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from torch import Tensor

HALF = (torch.float16, torch.bfloat16)
"""Numbers with few digits: products of two of them are exact at single precision, where they are added up."""


@final
@dataclass(frozen=True)
class Rounding:
    """Relative errors: of a factor before it is multiplied, and of a sum for each term that is added."""

    factor: float
    term: float


def rounding(rows: Tensor, *, convolved: bool = False) -> Rounding:
    """How numbers such as these are rounded where they are multiplied and added up, with a scale put on before."""
    if rows.dtype == torch.float64:
        return Rounding(2.0**-50 if convolved else 2.0**-53, 2.0**-52)
    if rows.dtype in HALF:
        return Rounding(float(torch.finfo(rows.dtype).eps) / 2, 2.0**-23)
    short = torch.backends.cudnn.allow_tf32 if convolved else torch.backends.cuda.matmul.allow_tf32
    if rows.is_cuda and short:
        return Rounding(2.0**-11, 2.0**-23)
    return Rounding(2.0**-20 if convolved else 2.0**-24, 2.0**-23)  # ways to convolve with fewer products lose digits


def product(left: Tensor, right: Tensor) -> Tensor:
    """The product of two batches of matrices, added up and given at single precision at least."""
    if left.dtype not in HALF:
        return left @ right
    if left.is_cuda and left.dim() == 3:
        return torch.bmm(left, right, out_dtype=torch.float32)
    if left.is_cuda and left.dim() == 2:
        return torch.mm(left, right, out_dtype=torch.float32)
    return left.float() @ right.float()


def rounded_down(weights: Tensor, kind: torch.dtype) -> Tensor:
    """Positive weights as numbers of another kind, none of which is larger than it was."""
    if weights.dtype == kind:
        return weights
    near = weights.to(kind)
    return torch.where(near.to(weights.dtype) > weights, near * (1 - torch.finfo(kind).eps), near)


def norms(rows: Tensor) -> Tensor:
    """The norm of each unit's part, of all its numbers, at single precision at least."""
    wide = torch.float64 if rows.dtype == torch.float64 else torch.float32
    return torch.linalg.vector_norm(rows.flatten(1), dim=1, dtype=wide)


def scaled_by(weights: Tensor, rows: Tensor) -> Tensor:
    """Rows, each unit's by its weight; a unit may have several rows."""
    each = rounded_down(weights, rows.dtype)
    if len(rows) != len(each):
        each = each.repeat_interleave(len(rows) // len(each))
    return rows * each.view(-1, *[1] * (rows.dim() - 1))
