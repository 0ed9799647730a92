"""Entries of the registry of deployments: numbers from losses, in the columns that others use."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from tests.examples.releases import HOSTILE, linkedin, one_number, several

import sfumato as sf
from sfumato.release.context import ContextRecord
from sfumato.release.registry import COLUMNS, FURTHER, RegistryEntry, find_entries, to_csv
from sfumato.release.render.csv import harmless


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_the_public_table_is_complete() -> None:
    found = sf.datasets.deployments()
    assert len(found) == 41
    assert len({entry.name for entry in found}) == 41
    assert all(entry.source.startswith("https://") for entry in found)
    stated = [entry.number("epsilon") for entry in found if entry.number("epsilon") is not None]
    assert len(stated) == 27 and min(stated) == Fraction("0.01") and max(stated) == Fraction("34.9")
    [flex] = [entry for entry in found if entry.name == "FLEX"]
    assert flex.number("delta") is None  # a formula, no number


def test_columns_are_those_of_the_public_table() -> None:
    names = (
        "name,curator,published,region,sector,product,variant,unit,parameters,model,releases,mechanisms,source,status"
    )
    assert ",".join(COLUMNS) == names


def test_an_entry_of_the_hiring_reports_agrees_with_the_public_one() -> None:
    [public] = [entry for entry in sf.datasets.deployments() if entry.name == "LinkedIn Hiring Reports"]
    own = RegistryEntry.of(
        linkedin(), name=public.name, curator="LinkedIn", period="three months", limit=sf.Approx(5, 1e-9)
    )
    assert own.parameters == public.parameters == "epsilon=4.8; delta=4e-10"
    assert own.variant == public.variant and own.curator == public.curator
    assert (own.releases, own.mechanisms, own.model, own.status) == ("Many releases", "Laplace", "Central", "Draft")
    assert own.loss_each == "ε = 1.2, δ = 1e-10"
    assert own.rate == "ε = 4.8, δ = 4e-10 in three months"
    assert own.limit == "ε = 5, δ = 1e-09"


@pytest.mark.parametrize(
    ("loss", "variant", "parameters"),
    [
        (sf.Pure("0.2"), "Pure DP", "epsilon=0.2"),
        (sf.ZCDP("2.63"), "Zero-concentrated DP", "rho=2.63"),
        (sf.GDP(1), "Gaussian DP", "mu=1"),
        (sf.Pure(Fraction(1, 3)), "Pure DP", "epsilon=0.333334"),
    ],
)
def test_each_kind_of_loss_has_its_words(loss: sf.Loss, variant: str, parameters: str) -> None:
    entry = RegistryEntry.of([replace(one_number(), loss=loss)], name="x")
    assert (entry.variant, entry.parameters, entry.releases) == (variant, parameters, "One release")


def test_json_and_csv_hold_all_facts() -> None:
    entry = RegistryEntry.of([several()], name="trips", use_cases="planning of lines", justification="as others do")
    record = json.loads(entry.to_json())
    assert list(record) == [*COLUMNS, *FURTHER] and record["use_cases"] == "planning of lines"
    assert read(entry.to_csv()) == [record]
    assert len(read(to_csv([entry, *sf.datasets.deployments()]))) == 42


def test_P3_112_entries_are_found_by_facts_and_by_the_five_fields_of_a_flow() -> None:
    flow = ContextRecord("a member", "LinkedIn", "the public", "hires by employer", "published each quarter")
    own = RegistryEntry.of(linkedin(), name="reports", curator="LinkedIn").with_flow(flow)
    assert (own.data_subject, own.transmission_principle) == ("a member", "published each quarter")
    entries = [own, *sf.datasets.deployments()]
    assert find_entries(entries, recipient="PUBLIC", information_type="hires") == [own]
    assert find_entries(entries, recipient="the public", data_subject="a patient") == []
    census = find_entries(entries, curator="census")
    assert len(census) == 7 and {entry.curator for entry in census} == {"U.S. Census Bureau"}
    assert find_entries(entries) == entries
    for wrong in ({"colour": "red"}, {"curator": " "}, {"curator": 3}):
        with pytest.raises(sf.errors.BadArgument):
            find_entries(entries, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", HOSTILE)
def test_spreadsheets_run_nothing(text: str) -> None:
    entry = RegistryEntry.of([one_number()], name=text, curator=text, justification=text)
    [row] = read(entry.to_csv())
    assert all(not cell.lstrip().startswith(("=", "+", "-", "@")) for cell in row.values())
    assert "<" not in entry.to_json()


def test_numbers_stay_numbers() -> None:
    assert [harmless(cell) for cell in ("-4", "+1.5e-3", "-", "", "- 4", "＝1")] == [
        "-4",
        "+1.5e-3",
        "'-",
        "",
        "'- 4",
        "'＝1",
    ]
