"""Makes sure, in every run against a copy of sfumato, that the copy is what is imported."""

from __future__ import annotations

import os
from importlib.util import find_spec

import pytest


def pytest_configure() -> None:
    """Ends the run where another sfumato stands before the copy on the path."""
    folder, found = os.environ["PYTHONPATH"], find_spec("sfumato")
    if found is None or found.origin is None or os.path.dirname(os.path.dirname(found.origin)) != folder:
        raise pytest.UsageError(f"sfumato is imported from {found and found.origin}, and not from {folder}")
