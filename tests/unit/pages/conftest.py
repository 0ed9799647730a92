from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.pages.site import Site, site_in


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The pages of a world that all tests share: what a test adds to it must not be in another's way."""
    with site_in(tmp_path_factory.mktemp("pages")) as made:
        yield made
