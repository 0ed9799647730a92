from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.postgres.ports import OpenPort, opened
from tests.unit.server.world import World


@pytest.fixture(scope="session")
def port(shared: World) -> Iterator[OpenPort]:
    """The PostgreSQL port of the shared service, on loopback."""
    with opened(shared) as made:
        yield made
