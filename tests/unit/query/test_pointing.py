"""Which part of a question a refusal speaks of."""

from __future__ import annotations

import pytest

from sfumato.query.sql.pointing import places_of


@pytest.mark.parametrize(
    ("text", "refusal", "parts"),
    [
        ("SELECT ARRAY_AGG(site) FROM v", "ARRAY_AGG is refused: it would show values.", ["ARRAY_AGG"]),
        ("SELECT array_agg(a), Array_Agg(b) FROM v", "ARRAY_AGG is refused: no.", ["array_agg", "Array_Agg"]),
        ("SELECT COUNT(DISTINCT *) FROM v", "COUNT(DISTINCT *) is refused: name the columns.", ["COUNT(DISTINCT *)"]),
        ("SELECT SUM(foo)\nFROM v WHERE x = 'foo'", "there is no column 'foo'; there are: x.", ["foo"]),
        ("SELECT 'foo' FROM v", "there is no column 'foo'; there are: x.", []),
        ("SELECT COUNT(*\nFROM v", "the text cannot be read: line 2, column 1: expected ) near 'FROM'.", ["FROM"]),
        ("SELECT x", "the text cannot be read: line 9, column 1: did not expect 'x'.", []),
        ("SELECT x", "the text cannot be read: line 1, column 999999: did not expect 'x'.", []),
        ("SELECT 'open", "RANDOM is refused: no.", []),
        ("SELECT x -- RANDOM\nFROM v", "RANDOM is refused: no.", []),
        ("SELECT x FROM v", "a person could have any number of rows here.", []),
        ("SELECT 😀, RANDOM() FROM v", "RANDOM is refused: no.", ["RANDOM"]),
        ("", "'' is refused: no.", []),
    ],
)
def test_places_are_those_of_the_words_that_a_refusal_names(text: str, refusal: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in places_of(text, refusal)] == parts
