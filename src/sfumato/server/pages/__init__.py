"""Pages for people. `router` is what the app includes: routes that answer with HTML."""

from __future__ import annotations

from fastapi import APIRouter


def router() -> APIRouter:
    """The routes of all pages."""
    return APIRouter(include_in_schema=False)
