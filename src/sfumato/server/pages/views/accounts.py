"""One's own account on a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from sfumato.service.accounts import Account, VisitLine


@final
@dataclass(frozen=True)
class AccountView:
    """The page of one's own account."""

    name: str
    roles: str
    has_password: bool
    visits: tuple[VisitLine, ...]
    errors: Mapping[str, str]
    change: str = "/account/password"
    end: str = "/account/visits/end"
    sign_out: str = "/account/sign-out"
    tokens: str = "/tokens"


def account_view(account: Account, roles: str, errors: Mapping[str, str]) -> AccountView:
    """Makes the page."""
    return AccountView(account.name, roles, account.has_password, account.visits, errors)
