"""Made-up visits: few people who come all the time, and many who come once."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.making import MadeUp, Maker, check_least, shares

FIRST_DAY, DAYS = np.datetime64("2026-02-01", "D"), 28
LONGEST = 240.0


def visits(*, rows: int = 100_000, people: int = 10_000, groups: int = 50, seed: int = 0) -> MadeUp:
    """Makes up visits of people to sites (user_id, site, day, minutes), in an order that says nothing.

    How often somebody comes follows Zipf's law: the k-th of the people has a share of rows in proportion to 1/k. Sites
    are unequal too, less so (1/√k), and people stay longer at sites with greater numbers.

    >>> made = visits(rows=1000, people=100, groups=5)
    >>> {name: str(column.dtype) for name, column in made.columns.items()}
    {'user_id': 'int64', 'site': 'int64', 'day': 'datetime64[D]', 'minutes': 'float64'}
    """
    check_least(1, rows=rows, people=people, groups=groups)
    maker = Maker.seeded("visits", seed)
    user = np.repeat(np.arange(1, people + 1), shares(rows, 1 / np.arange(1, people + 1)))[maker.order(rows)]
    site = 1 + maker.pick(1 / np.sqrt(np.arange(1, groups + 1)), rows)
    stay = maker.fractions(rows) * maker.fractions(rows) * (0.5 + site / (2 * groups))
    columns = {
        "user_id": user,
        "site": site,
        "day": FIRST_DAY + maker.below(DAYS, rows),
        "minutes": np.floor(stay * LONGEST * 4) / 4,
    }
    return MadeUp("visits", columns, "visits")
