"""Losses of rows for models whose own loss is an average: of sequences the mean over a row's own tokens, never more."""

from __future__ import annotations

from torch import Tensor, nn

from sfumato.errors import BadArgument

IGNORED = -100
"""The label that stands for none, as in torch."""


def sequence_losses(outputs: Tensor, labels: Tensor, *, shifted: bool = False, smoothing: float = 0.0) -> Tensor:
    """The mean loss over the labelled tokens of each row; 0 of a row without any.

    ``outputs`` are (rows, tokens, words); ``shifted`` compares each with the label of the next token, as models of
    language do. Labels that are no word count as none: an error would tell of them.

    >>> import torch
    >>> sequence_losses(torch.zeros(2, 3, 4), torch.tensor([[1, 2, -100], [-100, -100, -100]]))
    tensor([1.3863, 0.0000])
    """
    if shifted:
        outputs, labels = outputs[:, :-1], labels[:, 1:]
    known = (labels >= 0) & (labels < outputs.shape[-1])
    wanted = labels.masked_fill(~known, 0).long()
    each = nn.functional.cross_entropy(
        outputs.flatten(0, 1).float(), wanted.flatten(), reduction="none", label_smoothing=smoothing
    )
    lost = each.view(wanted.shape).masked_fill(~known, 0.0)
    return lost.sum(dim=1) / known.sum(dim=1).clamp(min=1)


def losses_of_rows(outputs: Tensor, labels: Tensor, *, shifted: bool = False, smoothing: float = 0.0) -> Tensor:
    """The loss of each row, by the shapes of outputs and labels.

    Classes of rows, classes of tokens, several yes or no (labels that are floats, one for each output) and numbers
    (floats beside one output) have one each; for others, write a loss of your own.
    """
    if outputs.dim() == 3 and labels.dim() == 2 and not labels.is_floating_point():
        return sequence_losses(outputs, labels, shifted=shifted, smoothing=smoothing)
    if outputs.dim() == 2 and labels.dim() == 1 and not labels.is_floating_point():
        return sequence_losses(outputs[:, None], labels[:, None], smoothing=smoothing)
    if labels.is_floating_point() and outputs.dim() == 2 and outputs.shape[1] == 1:
        return nn.functional.mse_loss(outputs[:, 0].float(), labels.reshape(len(outputs)).float(), reduction="none")
    if labels.is_floating_point() and outputs.dim() == 2 and outputs.shape == labels.shape:
        return nn.functional.binary_cross_entropy_with_logits(outputs, labels, reduction="none").mean(dim=1)
    must = "of rows, tokens, several answers or one number; for others, give a loss of rows: row_loss=…"
    raise BadArgument("outputs and labels", must, f"shapes {tuple(outputs.shape)} and {tuple(labels.shape)}")
