"""Made-up visits to a hospital: most patients come a few times a month, a few come up to 22 times."""

from __future__ import annotations

import numpy as np

from sfumato.datasets.making import MadeUp, Maker, check_least

PRINTED = (
    ("Brittany Robinson", "Family Medicine", 99),
    ("Steven Patrick", "Oncology", 57),
    ("Steven Patrick", "Cardiology", 74),
    ("Steven Patrick", "Pulmonology", 54),
    ("Steven Patrick", "Ophthalmology", 91),
    ("Steven Patrick", "Dermatology", 66),
    ("Steven Patrick", "Ophthalmology", 68),
    ("Steven Patrick", "Nephrology", 80),
    ("Nicole Rogers", "Cardiology", 117),
    ("Nicole Rogers", "Oncology", 71),
    ("Nicole Rogers", "Neurology", 50),
    ("Nicole Rogers", "Otolaryngology", 18),
    ("Nicole Rogers", "Allergy and Immunology", 29),
    ("Dr. Sean Gonzalez", "Pulmonology", 47),
    ("Judith Berry", "Urology", 98),
    ("Judith Berry", "Otolaryngology", 103),
    ("Judith Berry", "Emergency Medicine", 119),
    ("Cynthia Mejia MD", "Psychiatry", 97),
    ("Cynthia Mejia MD", "Gastroenterology", 52),
    ("Cynthia Mejia MD", "Gastroenterology", 96),
)
"""The visits of the first six patients: Cowan, Shoemate, Pereira 2024, Hands-On Differential Privacy, Table 7-5."""

SPECIALTIES = tuple(sorted({specialty for _, specialty, _ in PRINTED}))
FIRST_SIX = len({patient for patient, _, _ in PRINTED})
MOST, FEW = 22, 5
SHARE_OF_FEW = 0.85
"""How many patients have at most five visits."""


def hospital_visits(*, patients: int = 3000, seed: int = 0) -> MadeUp:
    """Makes up a month of visits (patient, specialty, minutes); the first six patients have those that the book prints.

    The seventh patient has 22 visits, nobody has more, and 85 in 100 have at most five.

    >>> made = hospital_visits(patients=6)
    >>> len(made), made.columns["patient"][0].item()
    (20, 'Brittany Robinson')
    """
    check_least(FIRST_SIX, patients=patients)
    maker, others = Maker.seeded("hospital visits", seed), patients - FIRST_SIX
    few = 1 + maker.pick([3, 3, 2, 1, 1], others)
    many = FEW + 1 + ((MOST - FEW) * maker.fractions(others) * maker.fractions(others)).astype(np.int64)
    times = np.where(maker.fractions(others) < SHARE_OF_FEW, few, many)
    times[:1] = MOST
    rows = int(times.sum())
    names = np.array([f"Patient {number:05}" for number in range(FIRST_SIX + 1, patients + 1)], dtype=str)
    patient, specialty, minutes = (np.array(column) for column in zip(*PRINTED, strict=True))
    columns = {
        "patient": np.concatenate([patient, np.repeat(names, times)]),
        "specialty": np.concatenate([specialty, np.array(SPECIALTIES)[maker.below(len(SPECIALTIES), rows)]]),
        "minutes": np.concatenate([minutes, 15 + maker.below(105, rows)]),
    }
    return MadeUp("visits", columns, "hospital")
