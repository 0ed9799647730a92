"""What every protocol keeps: messages read back, shards that add up, forgeries refused, one law in two languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.examples.local_protocols import EXAMPLES, SMALL
from tests.examples.local_vectors import Stream
from tests.unit.local.javascript import in_javascript

import sfumato.local
from sfumato.accounting.losses.measures import Pure
from sfumato.entropy import ReplayEntropy
from sfumato.errors import BadArgument
from sfumato.local import device
from sfumato.local.protocol import LocalProtocol
from sfumato.local.reports import Rejected
from sfumato.local.response import Response
from sfumato.local.values import Values

PEOPLE = 120


def final_protocols(base: type) -> Iterator[type]:
    """All protocols of the package that can be made."""
    for made in base.__subclasses__():
        yield from final_protocols(made)
        if getattr(made, "__final__", False) and made.__module__.startswith("sfumato."):
            yield made


def test_every_protocol_has_an_example() -> None:
    for name in sfumato.local.__all__:
        getattr(sfumato.local, name)
    shown = {type(example.build()) for example in EXAMPLES.values()}
    assert set(final_protocols(LocalProtocol)) - shown == set()


def sent(name: str) -> tuple[LocalProtocol[Any], list[Any]]:
    example = EXAMPLES[name]
    return example.build(), [example.values[at % len(example.values)] for at in range(PEOPLE)]


@pytest.mark.parametrize("name", SMALL)
def test_messages_shards_and_arrays_have_the_same_sums(name: str) -> None:
    protocol, values = sent(name)
    reports = protocol.randomize_many(EXAMPLES[name].column(values), entropy=ReplayEntropy(1))
    messages = reports.messages()
    assert {len(one) for one in messages} == {device.HEAD + protocol.layout.size}
    shards = protocol.tally(messages[:50]) + protocol.tally(messages[50:]).add([])
    whole = protocol.tally(reports)
    assert shards.users == whole.users == PEOPLE and shards.rejected == Rejected()
    assert np.array_equal(shards.sums, whole.sums)
    protocol.aggregate(messages), protocol.aggregate([])


@pytest.mark.parametrize("name", SMALL)
def test_messages_of_single_devices_are_counted_and_foreign_ones_are_not(name: str) -> None:
    protocol, values = sent(name)
    messages = [protocol.randomize(value, entropy=ReplayEntropy(at)) for at, value in enumerate(values)]
    assert protocol.tally(messages).users == PEOPLE
    one = messages[0]
    wrong = [one[:-1], one + b"x", b"", b"\x02" + one[1:], one[:1] + b"1234" + one[5:], b"another", b"\x02"]
    refused = protocol.tally([*messages, *wrong])
    assert refused.users == PEOPLE and refused.rejected == Rejected(truncated=3, foreign=4)
    other = next(EXAMPLES[one].build() for one in SMALL if one != name)
    with pytest.raises(BadArgument, match="the same"):
        other.aggregate(messages)


@pytest.mark.parametrize("name", EXAMPLES)
def test_recipes_survive_their_way_as_text(name: str) -> None:
    protocol = EXAMPLES[name].build()
    read = json.loads(json.dumps(protocol.recipe()))
    assert read == protocol.recipe() and device.tag(read) == protocol.head
    assert json.loads(protocol.publish())["tag"] == protocol.head.hex()


@pytest.mark.parametrize("name", SMALL)
def test_what_is_published_is_enough_for_a_device(name: str) -> None:
    """A device that reads a value by the published domain sends what the protocol sends."""
    example, protocol = EXAMPLES[name], EXAMPLES[name].build()
    client = device.Client.read(protocol.publish())
    for value in example.values:
        sent = client.randomize(value, octets=Stream("same"))
        assert sent == device.message(protocol.recipe(), protocol.input_of(value), octets=Stream("same"))


def test_javascript_sends_what_python_sends() -> None:
    vectors = []
    for name in EXAMPLES:
        protocol = EXAMPLES[name].build()
        for value in EXAMPLES[name].values[:4]:
            given, stream = protocol.input_of(value), Stream(f"{name} {value}")
            message = device.message(protocol.recipe(), given, octets=stream)
            vectors.append(
                {"recipe": protocol.recipe(), "place": given, "octets": stream.taken.hex(), "message": message.hex()}
            )
            shown = list(value) if isinstance(value, tuple) else value
            vectors.append({**vectors[-1], "recipe": None, "published": protocol.publish(), "value": shown})
    answers = in_javascript(vectors, [])["made"]
    assert answers == [{"message": one["message"], "taken": len(one["octets"]) // 2} for one in vectors]


def test_reports_on_other_values_are_of_another_protocol() -> None:
    """Both send a place below 2: to count the one as the other would name people's answers wrongly."""
    words, numbers = (Response(Values(values), Pure(1)) for values in (["yes", "no"], range(2)))
    tuples, others = (Response(Values([(1, place), (2, place)]), Pure(1)) for place in (1, 2))
    assert len({one.head for one in (words, numbers, tuples, others)}) == 4
    with pytest.raises(BadArgument, match="the same"):
        words.aggregate([numbers.randomize(0)])
