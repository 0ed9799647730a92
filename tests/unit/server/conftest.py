from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.server.live import Live, listening
from tests.unit.server.world import World, register, world_in


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service for tests that leave no traces in each other's way: the visits, and a share for ada and ben."""
    with world_in(tmp_path_factory.mktemp("service")) as world:
        register(world)
        world.grant("ada")
        world.grant("ben")
        yield world


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A service of one's own, with the visits and a share for ada."""
    with world_in(tmp_path_factory.mktemp("service")) as made:
        register(made)
        made.grant("ada")
        yield made


@pytest.fixture(scope="session")
def live(shared: World) -> Iterator[Live]:
    """The shared service, on a real port."""
    with listening(shared) as made:
        yield made
