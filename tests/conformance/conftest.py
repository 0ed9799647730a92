"""Runs the tests of engines once for each engine that there is."""

from __future__ import annotations

import pytest
from tests.examples.engines import ENGINES, SLOW, Opening


PARAMETERS = [pytest.param(name, marks=[pytest.mark.nightly] * (name in SLOW)) for name in ENGINES]


@pytest.fixture(params=PARAMETERS, scope="session")
def opening(request: pytest.FixtureRequest) -> Opening:
    """Opens tables in one of the engines."""
    return ENGINES[request.param]
