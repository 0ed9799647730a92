"""Made-up browser logs of a company, in which one employee goes on leave and the monthly counts show it."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.making import MadeUp, Maker

EMPLOYEES = 1234
ON_LEAVE = 867
"""Who is away from November on."""

MONTHS = ("2020-08", "2020-09", "2020-10", "2020-11", "2020-12")
COUNTS = {
    "bank.com": (32465, 32687, 32495, 32406, 32879),
    "games.com": (346, 398, 412, 32, 41),
    "mail.com": (70567, 73640, 72857, 71948, 71954),
    "social.com": (2305, 1726, 2126, 0, 0),
}
"""Visits in each month: Cowan, Shoemate, Pereira 2024, Hands-On Differential Privacy, Table 7-2."""

OTHERS = 32
"""Visits to games.com in a month that are not of the one who goes on leave."""


def browser_logs(*, seed: int = 0) -> MadeUp:
    """Makes up 531,284 visits (employee_id, domain, date, hour); each domain has as many in a month as the book prints.

    Employee 867 makes all visits to social.com and most of those to games.com, then goes on leave in November.

    >>> made = browser_logs()
    >>> int((made.columns["domain"] == "games.com").sum())
    1229
    """
    maker = Maker.seeded("browser logs", seed)
    cells = [(domain, place, count) for domain, row in COUNTS.items() for place, count in enumerate(row)]
    counts = np.array([count for _, _, count in cells])
    rows = int(counts.sum())
    cell = np.repeat(np.arange(len(cells)), counts)
    within = np.arange(rows) - np.repeat(np.cumsum(counts) - counts, counts)
    domain = np.array([domain for domain, _, _ in cells])[cell]
    month = np.array([place for _, place, _ in cells])[cell]
    starts = np.array([*MONTHS, "2021-01"], dtype="datetime64[M]").astype("datetime64[D]")
    lengths = np.diff(starts).astype(np.int64)
    day = starts[month] + (maker.fractions(rows) * lengths[month]).astype(np.int64)
    away = (month < 3) & ((domain == "social.com") | ((domain == "games.com") & (within >= OTHERS)))
    employee = 1 + maker.below(EMPLOYEES - 1, rows)
    employee += employee >= ON_LEAVE  # all the others, so that nobody else is 867
    employee = np.where(away, ON_LEAVE, employee)
    order = np.argsort(day, kind="stable")
    columns = {"employee_id": employee, "domain": domain, "date": day, "hour": maker.below(24, rows)}
    return MadeUp("logs", {name: column[order] for name, column in columns.items()}, "browser_logs")
