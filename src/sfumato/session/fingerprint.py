"""Versions of data: whether a question is asked of the same data again, told without telling anything of the data.

A version is a keyed digest. Its key stays beside the ledger and never leaves with the book, so that whoever reads the
book can see that two questions were asked of the same data, and cannot try out what the data was.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sfumato.core.domains import Data
from sfumato.errors import BadArgument

SHORT = 32
"""The number of hexadecimal digits that name a version."""


def version_of(data: Data, key: bytes) -> str:
    """The keyed digest of data: arrays, columns of arrays, lists of numbers and texts."""
    digest = hmac.new(key, digestmod="sha256")
    for piece in _pieces(data):
        digest.update(len(piece).to_bytes(8, "big"))
        digest.update(piece)
    return digest.hexdigest()[:SHORT]


def _pieces(data: Data) -> Iterator[bytes]:
    match data:
        case np.ndarray() if data.dtype != object:
            yield f"array {data.dtype.str} {data.shape}".encode()
            yield np.ascontiguousarray(data).tobytes()
        case np.ndarray():
            yield from _pieces(data.tolist())
        case np.generic():
            yield from _pieces(np.asarray(data))
        case Mapping():
            yield f"columns {len(data)}".encode()
            for name, column in data.items():
                yield from _pieces(name)
                yield from _pieces(column)
        case int() if not isinstance(data, bool):
            yield f"int {data:x}".encode()
        case bool() | float() | str() | bytes() | None:
            yield f"{type(data).__name__} {data!r}".encode("utf-8", "surrogatepass")
        case Sequence():
            kinds = {type(entry).__name__ for entry in data}
            yield f"{type(data).__name__} {len(data)} {kinds.pop() if len(kinds) == 1 else ''}".encode()
            if all(type(entry) is int for entry in data):
                yield " ".join(format(entry, "x") for entry in data).encode()
            elif all(type(entry) in (float, str, bool) for entry in data):
                yield json.dumps(list(data)).encode()
            else:
                for entry in data:
                    yield from _pieces(entry)
        case _ if hasattr(data, "to_numpy") and hasattr(data, "columns"):
            yield from _pieces({str(name): np.asarray(data[name]) for name in data.columns})
        case _ if hasattr(data, "__array__"):
            yield from _pieces(np.asarray(data))
        case _:
            must = "given as a label, such as version='2026-11': no digest is known for this kind of data"
            raise BadArgument("version", must, type(data).__name__)
