"""Who is who: names of people, the same wherever rows are put together by them."""

from __future__ import annotations

import numpy as np


def names_of(people: object) -> list[bytes]:
    """The name of each row's person; empty where it is missing.

    Names that read alike are one: 1, 1.0 and "1" are the same person. To take two for one costs no privacy; to take one
    for two would.

    >>> names_of([1, 1.0, "1", None])
    [b'1', b'1', b'1', b'']
    """
    listed = people.tolist() if hasattr(people, "tolist") else list(people)  # type: ignore[call-overload]
    return [_text(value).encode("utf-8", "surrogatepass") for value in listed]


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return "" if value is None or value != value else str(value)
