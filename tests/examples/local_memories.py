"""Devices with a memory over time: what every twin of the device module must send and save.

``python -m tests.examples.local_memories`` writes the golden file anew; old lives must not change, since devices in the
field have old memories.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.examples.local_vectors import Stream

import sfumato as sf
from sfumato.local import Response, Tracked, Values, Windowed, device, loloha, memoised, rappor
from sfumato.local.protocol import LocalProtocol

GOLDEN = Path(__file__).parents[1] / "unit" / "golden" / "local_memories.json"
YES = Values(["yes", "no"])
LIVES: dict[str, tuple[LocalProtocol[Any], list[Any]]] = {
    "response": (memoised(Response(YES, sf.Pure(2)), report=1), ["yes", "yes", "no", "yes"]),
    "hashing": (loloha(range(50), lifetime=2, report=1, buckets=4), [7, 7, 49, 0, 7]),
    "window": (sf.local.dbitflip(range(9), bits=3, lifetime=1), [0, 0, 5, 8, 0]),
    "texts": (rappor(lifetime=4, report=2, cohorts=4), ["grün", "grün", "\U0001f600", "", "grün"]),
    "turns": (Windowed(Response(YES, sf.Pure(1)), 2), [[step, "no"] for step in (0, 1, 1, 2, 3, 10, 11)]),
    "changes": (Tracked(8, 2, sf.Pure(1)), [[0], [0, 1], [0, 1], [0, 1, 1, 0], [0, 1, 1, 0, 1, 1, 1, 1]]),
}


def lived(name: str) -> dict[str, Any]:
    """One device that is restarted before every report."""
    protocol, values = LIVES[name]
    client, stream, sent = device.Client.read(protocol.publish()), Stream(name), []
    saved = [device.Memory().text]
    for value in values:
        memory = device.Memory.read(saved[-1], save=saved.append)
        message = client.randomize(value, octets=stream, memory=memory)
        sent.append(None if message is None else message.hex())
    return {
        "published": protocol.publish(),
        "values": values,
        "octets": stream.taken.hex(),
        "sent": sent,
        "saved": saved[-1],
        "saves": len(saved) - 1,
    }


if __name__ == "__main__":
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(lived(name)) for name in LIVES) + "\n]\n", encoding="utf-8")
