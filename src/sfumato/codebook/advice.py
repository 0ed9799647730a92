"""Advice on δ, which only makes sense beside the public number of people."""

from __future__ import annotations

from sfumato.accounting.meaning.guidance import delta_warning
from sfumato.errors import BadArgument
from sfumato.exact import Number
from sfumato.release.claim import Claim


def check_delta(delta: Number, *, size: int, claim: Claim | None = None) -> None:
    """Refuses a δ of 1/size or more, unless somebody vouches for it; the size must be public, or privately estimated.

    >>> check_delta(1e-6, size=649)
    """
    warning = delta_warning(delta, size=size)
    if warning is not None and not isinstance(claim, Claim):
        wanted = f"below 1/{size}, or vouched for with claim=sf.claim('why it may be so large'). {warning}"
        raise BadArgument("delta", wanted.removesuffix("."), delta)
