"""Reports with the random bytes that they were drawn from: what every twin of the device module must reproduce.

``python -m tests.examples.local_vectors`` writes the golden file anew; old lines must not change, since devices in the
field have old code.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sfumato.local import device
from sfumato.local.published import listed_domain, published
from sfumato.local.values import Values

GOLDEN = Path(__file__).parents[1] / "unit" / "golden" / "local_vectors.json"


def of(order: int, prime: int, polynomial: int) -> dict[str, int]:
    """What a recipe says of its field."""
    return {"order": order, "prime": prime, "polynomial": polynomial}


TOLD = {"kind": "response", "cells": 300, "bits": 0, "truth": 1 << 52}
BITS = {"kind": "bits", "cells": 1, "bits": 9, "truth": 1 << 52, "lie": 1 << 50}
BOTH = {"kind": "one of", "cells": 301, "bits": 9, "parts": [TOLD, BITS], "weights": [1, 2]}
SIGN = {"kind": "sign", "cells": 14, "bits": 0, "truth": 3 << 51}
ROWS = {"kind": "rows", "cells": 40, "bits": 9, "rows": 40, "buckets": 8, "key": "words", "part": BITS}
PREFIXES = {"kind": "prefixes", "cells": 3 * 20 * 14, "bits": 0, "rows": 20, "buckets": 8, "key": "schl\u00fcssel"}
RECIPES: tuple[tuple[dict[str, Any], tuple[Any, ...]], ...] = (
    ({"kind": "response", "cells": 2, "bits": 0, "truth": 1 << 52}, (0, 1)),
    ({"kind": "response", "cells": 1000, "bits": 0, "truth": 15449939443803}, (0, 517, 999)),
    ({"kind": "response", "cells": 257, "bits": 0, "truth": 0}, (0, 256)),
    ({"kind": "response", "cells": 65537, "bits": 0, "truth": (1 << 53) - 1}, (0, 65536)),
    ({"kind": "bits", "cells": 1, "bits": 3, "truth": 1 << 52, "lie": 2422389846105049}, (0, 2)),
    ({"kind": "bits", "cells": 1, "bits": 64, "truth": 1 << 52, "lie": 1}, (0, 63)),
    ({"kind": "bits", "cells": 1, "bits": 100, "truth": 5606622107000000, "lie": (1 << 53) - 1}, (0, 99)),
    ({"kind": "hashed", "cells": 243, "bits": 0, "truth": (1 << 53) - 1, **of(3, 3, 3)}, (0, 3, 17)),
    ({"kind": "hashed", "cells": 16384, "bits": 0, "truth": (1 << 53) - 1, **of(4, 2, 7)}, (0, 3, 17)),
    ({"kind": "hashed", "cells": 6561, "bits": 0, "truth": (1 << 53) - 1, **of(9, 3, 10)}, (0, 3, 17)),
    (
        {"kind": "one of", "cells": 301, "bits": 9, "parts": [TOLD, BITS], "weights": [1, 2]},
        ([0, 8], [299, 0], [17, 3]),
    ),
    (
        {
            "kind": "directions",
            "cells": 40,
            "bits": 0,
            "directions": 8,
            "near": 3,
            "size": 3,
            "truth": (1 << 53) - 1,
            "key": 123456789012345,
        },
        ([[1.0, 0.5, -0.25], 1 << 53], [[0.0, 0.0, 0.0], 1 << 52], [[-0.1, 1.0, 0.7], 7 << 50]),
    ),
    (
        {"kind": "all of", "cells": 1, "bits": 300 + 301 + 301 * 9, "parts": [TOLD, BOTH]},
        ([0, [0, 8]], [299, [299, 0]]),
    ),
    (
        {"kind": "one true", "cells": 1, "bits": 309, "parts": [TOLD, BITS], "options": [300, 9], "weights": [1, 3]},
        ([0, 8], [299, 0], [17, 3]),
    ),
    ({"kind": "signs", "cells": 128, "bits": 0, "truth": (1 << 53) - 1}, (0, 1, 77, 127)),
    (
        {"kind": "pairs", "cells": 300, "bits": 0, "keys": 147, "most": 6, "between": ["-1.5", "1e+16"], "part": TOLD},
        ([], [[0, 0]], [[146, 1 << 53], [3, 1 << 51]], [[place, 1 << 52] for place in range(9)]),
    ),
    ({"kind": "subset", "cells": 1, "bits": 5, "truth": 1 << 52, "ones": 2}, (0, 4)),
    ({"kind": "subset", "cells": 1, "bits": 100, "truth": 1 << 51, "ones": 27}, (0, 64, 99)),
    ({"kind": "subset", "cells": 1, "bits": 600, "truth": (1 << 53) - 1, "ones": 1}, (5, 599)),
    ({"kind": "plane", "cells": 13, "bits": 0, "truth": 1 << 52, **of(3, 3, 3)}, (0, 2, 12)),
    ({"kind": "plane", "cells": 1365, "bits": 0, "truth": 1 << 52, **of(4, 2, 7)}, (0, 517, 1364)),
    ({"kind": "plane", "cells": 91, "bits": 0, "truth": 1, **of(9, 3, 10)}, (0, 7, 90)),
    ({"kind": "plane", "cells": 127, "bits": 0, "truth": 1, **of(2, 2, 2)}, (0, 126)),
    ({"kind": "hadamard", "cells": 1024, "bits": 0, "truth": 1 << 52}, (0, 517, 999)),
)
FLAGS = {"kind": "bits again", "cells": 1, "bits": 16, "truth": 3 << 51, "lie": 1 << 51}
WINDOWS = {"kind": "settled", "cells": 70, "bits": 16, "choices": 70, "view": "window", "of": FLAGS}
FILTERS = {**WINDOWS, "cells": 8, "choices": 8, "view": "filter", "hashes": 3, "key": "w\u00f6rter"}
BUCKETS = {"kind": "response", "cells": 4, "bits": 0, "truth": 1 << 52}
SEEDS = {"kind": "settled", "cells": 256, "bits": 0, "choices": 64, "view": "hashed", "of": BUCKETS, **of(4, 2, 7)}
NUMBER = {"kind": "number again", "cells": 256, "bits": 0, "options": 4, "truth": 1 << 52}
EITHER = {"kind": "one of", "cells": 301, "bits": 9, "parts": [TOLD, BITS], "weights": [1, 2]}
AGAIN: tuple[tuple[dict[str, Any], tuple[Any, ...]], ...] = (
    ({"kind": "same again", "cells": 9, "bits": 9}, ([8, 0], [0, 511])),
    ({"kind": "bits again", "cells": 9, "bits": 70, "truth": (1 << 53) - 1, "lie": 1}, ([8, 0], [0, 12345])),
    (NUMBER, ([0, 0], [255, 0])),
    (WINDOWS, (0, 37, 69)),
    (FILTERS, ("", "hello", "gr\u00fcn \U0001f600")),
    (SEEDS, (0, 3, 20)),
    ({"kind": "twice", "cells": 256, "bits": 0, "permanent": SEEDS, "instant": NUMBER}, (0, 3, 20)),
    ({"kind": "twice", "cells": 70, "bits": 16, "permanent": WINDOWS, "instant": {**FLAGS, "cells": 70}}, (0, 69)),
    ({"kind": "in turn", "cells": 903, "bits": 9, "turns": 3, "of": EITHER}, ([7, [3, 3]], [1 << 40, [0, 0]])),
    ({"kind": "tracked", "cells": 4, "bits": 8, "changes": 2, "truth": 3 << 51}, ([1], [0, 1, 1, 0, 1, 0, 0, 1])),
    (SIGN, (0, 5, 7)),
    (ROWS, ("", "hello", "gr\u00fcn \U0001f600 \ud800")),
    ({**PREFIXES, "lengths": [1, 2, 5], "part": SIGN}, ("a\n", "\U0001f600b\u00fc\n", "abcde")),
    ({"kind": "padded", "cells": 300, "bits": 0, "most": 3, "items": 297, "part": TOLD}, ([], [5, 7], list(range(9)))),
)
TIMES = 3
DOMAINS: tuple[tuple[Values, tuple[Any, ...]], ...] = (
    (Values(["red", "grün", "1", "\U0001f600"]), ("red", "grün", "1", "\U0001f600")),
    (Values([0, 1.5, True, "rest"], "rest"), (0, 1.5, True, "no such value", 7, False)),
    (Values(range(-3, 9, 3), 0), (-3, 6, 1, 9)),
)


class Stream:
    """Bytes that look random, the same for the same name; remembers what was taken."""

    def __init__(self, name: str) -> None:
        self.name, self.taken = name.encode(errors="surrogatepass"), b""

    def __call__(self, count: int) -> bytes:
        start, blocks = len(self.taken), (len(self.taken) + count) // 32 + 1
        whole = b"".join(hashlib.sha256(self.name + bytes([block])).digest() for block in range(blocks))
        self.taken += whole[start : start + count]
        return whole[start : start + count]


def vector(recipe: dict[str, Any], place: Any, name: str) -> dict[str, Any]:
    """One report by random bytes of a name."""
    stream = Stream(name)
    sent = device.message(recipe, place, octets=stream)
    return {"recipe": recipe, "place": place, "octets": stream.taken.hex(), "message": sent.hex()}


def made() -> Iterator[dict[str, Any]]:
    """All vectors: of recipes with places, and of published texts with values."""
    for number, (recipe, places) in enumerate(RECIPES):
        for place in places:
            for time in range(TIMES):
                yield vector(recipe, place, f"{number} {place} {time}")
    for number, (values, asked) in enumerate(DOMAINS):
        text = published({"kind": "response", "cells": len(values), "bits": 0, "truth": 1 << 52}, listed_domain(values))
        client = device.Client.read(text)
        for at, value in enumerate(asked):
            stream = Stream(f"client {number} {at}")
            sent = client.randomize(value, octets=stream)
            yield {"published": text, "value": value, "octets": stream.taken.hex(), "message": sent.hex()}
    for number, (recipe, places) in enumerate(AGAIN):
        for place in places:
            yield vector(recipe, place, f"again {number} {place}")


if __name__ == "__main__":
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(one) for one in made()) + "\n]\n", encoding="utf-8")
