"""One's own shares, as one gauge: that of the share that pays."""

from __future__ import annotations

from collections.abc import Sequence

from sfumato.server.pages.views.amounts import Gauge, gauge_of
from sfumato.service.analysts import Share


def paying_share(shares: Sequence[Share]) -> Share | None:
    """The share that pays: the newest that is open, or the newest; None where there is none."""
    return next((one for one in reversed(shares) if not one.closed), shares[-1] if shares else None)


def gauge_of_shares(shares: Sequence[Share]) -> Gauge | None:
    """The gauge of the share that pays."""
    share = paying_share(shares)
    return None if share is None else gauge_of(share.limit, share.spent, share.left)
