"""`format('%I.%s', …)`, whose text says what becomes of its values: written out as one joined text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfumato.server.postgres.catalog.calls import called
from sfumato.server.postgres.catalog.casts import Numbers, cast
from sfumato.server.postgres.catalog.refusals import UNSUPPORTED, refused
from sfumato.server.postgres.catalog.scopes import Typed, quoted

PART = re.compile(r"%(?:(\d+)\$)?([sIL%])")
MOST_PARTS = 40
"""A text has no more parts: none of them is long, but all are joined before the whole is cut."""

FUNCTIONS = {"I": "quote_ident", "L": "quote_nullable"}


def formatted(numbers: Numbers, given: Sequence[Typed]) -> Typed:
    """Binds a call of `format` whose text stands in quotes."""
    text = given[0].text
    if text is None:
        raise refused(UNSUPPORTED, "format is answered with a text in quotes")
    parts, end, place = [], 0, 0
    for found in PART.finditer(text):
        parts.append(quoted(text[end : found.start()]))
        end = found.end()
        if found[2] == "%":
            parts.append("'%'")
            continue
        place = int(found[1]) if found[1] else place + 1
        if not 1 <= place < len(given):
            raise refused("22023", "too few arguments for format()")
        value = cast(numbers, given[place], "text")
        if found[2] == "s":
            parts.append(f"coalesce({value.sql}, '')")
        else:
            parts.append(called(numbers, FUNCTIONS[found[2]], [value]).sql)
        if len(parts) > MOST_PARTS:
            raise refused(UNSUPPORTED, f"format is answered with at most {MOST_PARTS // 2} values")
    parts.append(quoted(text[end:]))
    return Typed(f"left({' || '.join(parts)}, 10000)", "text", "format", 2)
