"""What happened: releases that were called anonymous and were not, and how many people a few attributes tell apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True)
class FailedAnonymisation:
    """A release that was meant to hide who is in it, what was done to it, and what came of it."""

    name: str
    year: int
    released: str
    protection: str
    attack: str
    outcome: str
    source: str


FAILED_ANONYMISATIONS = (
    FailedAnonymisation(
        name="Massachusetts Group Insurance Commission",
        year=1997,
        released="hospital visits of state employees, with birth date, sex and ZIP code",
        protection="column removal",
        attack="linkage",
        outcome="the governor's record was found with the voter list of Cambridge: 6 people had his birth date, 3 of "
        "them were men, 1 lived in his ZIP code",
        source="Sweeney 2002, k-Anonymity: A Model for Protecting Privacy, IJUFKS 10(5), 557-570",
    ),
    FailedAnonymisation(
        name="AOL search logs",
        year=2006,
        released="20 million queries of more than 650,000 users over 3 months",
        protection="column removal",
        attack="linkage",
        outcome="several users were named from what they had searched for; a class action was settled in 2013",
        source="Barbaro and Zeller 2006, A Face Is Exposed for AOL Searcher No. 4417749, The New York Times",
    ),
    FailedAnonymisation(
        name="Netflix Prize",
        year=2006,
        released="film ratings of subscribers, with dates",
        protection="column removal, random sampling",
        attack="linkage",
        outcome="subscribers were found with ratings that they had published elsewhere",
        source="Narayanan and Shmatikov 2006, How To Break Anonymity of the Netflix Prize Dataset, arXiv cs/0610105",
    ),
    FailedAnonymisation(
        name="US census of 2010",
        year=2010,
        released="tables of counts at many levels of geography",
        protection="aggregates only, swapping",
        attack="reconstruction, then linkage",
        outcome="the bureau's own attack confirmed the identity of 52 million people",
        source="Cowan, Shoemate, Pereira 2024, Hands-On Differential Privacy, chapter 11; "
        "Abowd 2021, Supplemental Declaration, Alabama v. US Department of Commerce",
    ),
    FailedAnonymisation(
        name="Mobile phone traces",
        year=2013,
        released="places and hours of the calls of 1.5 million people, studied, not published",
        protection="column removal, rounding",
        attack="uniqueness",
        outcome="4 points in space and time tell 95 % of the people apart",
        source="de Montjoye, Hidalgo, Verleysen, Blondel 2013, Unique in the Crowd, Scientific Reports 3, 1376",
    ),
)
"""Releases that were called anonymous; facts only, each with its source."""


@final
@dataclass(frozen=True)
class UniquenessEstimate:
    """What a study estimates: the share of a population that is alone with its attributes."""

    share: float
    attributes: tuple[str, ...]
    population: str
    source: str

    def __str__(self) -> str:
        return f"{self.share:.0%} of {self.population} by {', '.join(self.attributes)} (estimate: {self.source})"


UNIQUENESS_ESTIMATES = (
    UniquenessEstimate(
        0.87,
        ("birth date", "sex", "ZIP code"),
        "the US population of 1990",
        "Sweeney 2000, Simple Demographics Often Identify People Uniquely",
    ),
    UniquenessEstimate(
        0.63,
        ("birth date", "sex", "ZIP code"),
        "the US population of 2000",
        "Golle 2006, Revisiting the Uniqueness of Simple Demographics in the US Population, WPES",
    ),
    UniquenessEstimate(
        0.44,
        ("census block", "age", "sex"),
        "the US population of 2010",
        "Abowd 2021, Supplemental Declaration, Alabama v. US Department of Commerce",
    ),
)
"""Estimates that disagree on the same attributes: the method and the census differ."""
