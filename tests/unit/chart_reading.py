"""Reads what a chart shows out of its JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def parts(specification: object) -> Iterator[dict[str, Any]]:
    """Every object inside a chart's JSON."""
    if isinstance(specification, dict):
        yield specification
        for value in specification.values():
            yield from parts(value)
    elif isinstance(specification, list):
        for value in specification:
            yield from parts(value)


def tables(chart: Any) -> dict[str, list[dict[str, Any]]]:
    """The rows of every named table of a chart."""
    specification = chart.to_dict()
    found = {part["name"]: part["values"] for part in parts(specification) if {"name", "values"} <= part.keys()}
    return found | specification.get("datasets", {})


def headline(chart: Any) -> str:
    """The title and the sentences below it."""
    title = chart.to_dict()["title"]
    return " ".join([title["text"], *title.get("subtitle", [])])
