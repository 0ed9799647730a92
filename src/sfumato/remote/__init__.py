"""A session on data that somebody else holds: questions go to a service, real releases come back."""

from __future__ import annotations

from sfumato.remote.session import RemoteSession, connect

__all__ = ["RemoteSession", "connect"]
