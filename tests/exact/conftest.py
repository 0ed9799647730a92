"""What holds for the tests that ask for it by a mark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sfumato.exact import BITS, precision


@pytest.fixture(autouse=True)
def sharp_balls(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs a test that is marked so with the precision of balls that the library has inside, or with that of the mark.

    Others run as users do: a function that forgets to ask for its own precision shows there.
    """
    mark = request.node.get_closest_marker("sharp_balls")
    if mark is None:
        yield
        return
    with precision(*(mark.args or (BITS,))):
        yield
