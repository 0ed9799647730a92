"""One house for each test that asks for one; memory alone, unless a test wants more."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.unit.service.houses import Clock, opened

import sfumato as sf
from sfumato.service.house import House


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def house(tmp_path: Path, clock: Clock) -> Iterator[House]:
    made = opened(tmp_path, clock, share=sf.Pure("0.5"))
    yield made
    made.close()
