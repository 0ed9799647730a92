"""Made-up logs of asylum: each person has one home country, and at most one record in a year."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.making import MadeUp, Maker, check_least

COUNTRIES = ("Afghanistan", "Burundi", "Cameroon", "El Salvador", "Eritrea", "Iraq", "Myanmar", "Syria", "Ukraine")
WEIGHTS = (9, 1, 2, 3, 4, 5, 2, 8, 6)
FIRST_YEAR, YEARS, LONGEST = 2016, 10, 4


def asylum(*, people: int = 5000, seed: int = 0) -> MadeUp:
    """Makes up records (person_id, country, year): one for each year, up to four in a row, that somebody had asylum.

    It is the case for bounds by grouping: one group by country, one row in each year (Cowan, Shoemate, Pereira 2024,
    Hands-On Differential Privacy, chapter 6).

    >>> sorted(asylum(people=10).columns)
    ['country', 'person_id', 'year']
    """
    check_least(1, people=people)
    maker = Maker.seeded("asylum", seed)
    stay = 1 + maker.pick([4, 3, 2, 1], people)
    first = FIRST_YEAR + (maker.fractions(people) * (YEARS + 1 - stay)).astype(np.int64)
    country = maker.pick(WEIGHTS, people)
    later = np.arange(stay.sum()) - np.repeat(np.cumsum(stay) - stay, stay)
    columns = {
        "person_id": np.repeat(np.arange(1, people + 1), stay),
        "country": np.array(COUNTRIES)[np.repeat(country, stay)],
        "year": np.repeat(first, stay) + later,
    }
    return MadeUp("records", columns, "asylum")
