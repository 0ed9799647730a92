"""Regular expressions: only those that every engine reads alike are taken, and each of those compiles and agrees."""

from __future__ import annotations

import re

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.reference.values import regular

from sfumato.errors import QueryRefused
from sfumato.query.nodes.operators.patterns import LARGEST, Shape, quoted, shape_of

KNOWN = [
    ("", Shape(0, True, 0)),
    ("abc", Shape(3, False, 0)),
    ("a|b", Shape(3, False, 0)),
    ("a|", Shape(2, True, 0)),
    ("(a)(?:b)([c-e])", Shape(6, False, 2)),
    ("^$", Shape(2, True, 0)),
    (r"\bfoo\b", Shape(5, False, 0)),
    ("[^a-z0-9_-]+", Shape(2, False, 0)),
    (r"[\d\s.]*", Shape(2, True, 0)),
    ("a{2}b{0,3}c{1,}", Shape(10, False, 0)),
    (".*?", Shape(2, True, 0)),
    ("(?i)x", Shape(1, False, 0)),
    ("(?is).", Shape(1, False, 0)),
    (r"\.\*\\\t", Shape(4, False, 0)),
]


@pytest.mark.parametrize(("pattern", "shape"), KNOWN)
def test_what_is_known_of_a_pattern(pattern: str, shape: Shape) -> None:
    assert shape_of(pattern) == shape


REFUSED = [
    ("(a", "never closed"),
    ("a)", "never opened"),
    ("a(?:)", "a group is empty"),
    ("[a", "ends too early"),
    ("[]a]", "empty"),
    ("[z-a]", "to a later one"),
    ("[[:alpha:]]", "inside a class"),
    (r"[\w-z]", "to a later one"),
    ("*a", "where a letter should"),
    ("a**", "a repetition is repeated"),
    ("a++", "a repetition is repeated"),
    ("(a*)*", "may match nothing is repeated"),
    ("^*", "may match nothing is repeated"),
    ("a{,3}", "braces hold"),
    ("a{3,2}", "below the first"),
    ("a{1000}", "at most three digits"),
    ("a{x}", "braces hold"),
    ("((a{99}){99})", "more than 1000 letters"),
    ("(" * 30 + "a" + ")" * 30, "nested more than 20 deep"),
    ("(" * 1000, "nested more than 20 deep"),
    ("(?=a)", r"only \(\?:…\) is known"),
    ("(?P<n>a)", r"only \(\?:…\) is known"),
    (r"\pL", r"\\p is not known"),
    (r"(a)\1", r"\\1 is not known"),
    ("a\\", "ends too early"),
    ("a\0b", "none to see"),
    ("\\é", "needs none"),
]


@pytest.mark.parametrize(("pattern", "why"), REFUSED)
def test_other_patterns_are_refused_before_any_row_is_seen(pattern: str, why: str) -> None:
    with pytest.raises(QueryRefused, match=why):
        shape_of(pattern)


PIECES = [
    *"ab-^$.|()[]{}*+?\\,0129ds:i ",
    "(?:",
    "(?i)",
    "\\d",
    "\\s",
    "\\b",
    "[a-c]",
    "[^b]",
    "{2}",
    "{0,2}",
    "é",
    "\n",
]
TEXTS = ["", "a", "ab", "aab-b", "b a1\n", "\n", "é2", "cab 12"]


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_whatever_is_taken_compiles_and_means_the_same_in_duckdb_and_in_the_reference(pattern: str) -> None:
    try:
        shape = shape_of(pattern)
    except QueryRefused:
        return
    assert shape.size <= LARGEST
    python = regular(pattern)
    assert python.groups == shape.groups
    assert (python.fullmatch("") is not None) <= shape.empty
    ask = (
        "SELECT regexp_extract(t, $1, 0), regexp_matches(t, $1), regexp_full_match(t, $1) FROM (SELECT unnest($2) AS t)"
    )
    for text, answer in zip(TEXTS, duckdb.execute(ask, [pattern, TEXTS]).fetchall(), strict=True):
        found = python.search(text)
        assert answer == ("" if found is None else found[0], found is not None, python.fullmatch(text) is not None)


@given(st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S")), max_size=12))
def test_a_quoted_text_matches_itself_alone(text: str) -> None:
    pattern = quoted(text)
    assert shape_of(pattern).groups == 0
    assert re.fullmatch(pattern, text) and regular(pattern).fullmatch(text + "x") is None
