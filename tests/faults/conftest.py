"""Places for books that are written very often."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")


@pytest.fixture
def quick_folder() -> Iterator[Path]:
    """Gives a folder in memory, where there is one: whoever is killed or races there need not wait for a disk."""
    place = MEMORY if MEMORY.is_dir() and os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="sfumato-", dir=place) as folder:
        yield Path(folder)
