"""How hard hypothesis tries: a little at a desk, more before a merge, most at night.

`pytest` alone uses "desk", `make test` and CI use "ci", `make test-all` uses "nightly".
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

NIGHTLY, CI, DESK = 300, 30, 20
"""Examples of a test that states no number of its own."""


def register() -> None:
    """Makes the profiles known. Deadlines measure the machine, not the law: there are none."""
    calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("desk", max_examples=DESK, deadline=None)
    # What fails in CI must fail again at a desk.
    settings.register_profile("ci", calm, max_examples=CI, derandomize=True)
    # At night examples are new each time: a failure prints how to get it back.
    settings.register_profile("nightly", calm, max_examples=NIGHTLY, print_blob=True)


def examples(number: int) -> int:
    """Gives the share of a test's own number of examples that the profile in force tries.

    All of them at night. Otherwise the share that the profile has of the nightly examples, but not fewer than are tried
    at a desk of a test without a number, if there are so many.

    >>> examples(10)
    10
    """
    usual = settings().max_examples
    return number if usual >= NIGHTLY else max(min(number, DESK), number * usual // NIGHTLY)
