"""The device module stands alone, and its twin in JavaScript sends the same bytes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.examples import local_vectors
from tests.unit.local.javascript import in_javascript

import sfumato as sf
from sfumato.errors import BadArgument
from sfumato.local import Response, UnaryEncoding, Values, device

GOLDEN: list[dict[str, Any]] = json.loads(local_vectors.GOLDEN.read_text(encoding="utf-8"))
PUBLISHED = Response(Values(["a", "b"]), sf.Pure(1)).publish()


def changed(**entries: Any) -> str:
    return json.dumps({**json.loads(PUBLISHED), **entries})


KIND = {"kind": "constructor", "cells": 2, "bits": 0, "truth": 1}
UNEVEN = {"kind": "response", "cells": 3, "bits": 0, "truth": 1}
WRONG: dict[str, tuple[str, Any, str]] = {
    "format": (changed(format=2), "a", "this device reads format 1 of what a protocol publishes, and no other"),
    "no object": ("[]", "a", "this device reads format 1 of what a protocol publishes, and no other"),
    "kind": (
        changed(recipe=KIND, tag=device.tag(KIND).hex()),
        "a",
        f"this device knows recipes of the kinds {', '.join(sorted(device.KINDS))}, not ",
    ),
    "tag": (changed(tag="0100000000"), "a", "the tag is not that of the recipe: it was changed on its way, or misread"),
    "recipe": (
        changed(recipe={**json.loads(PUBLISHED)["recipe"], "truth": 1 << 53}),
        "a",
        "the tag is not that of the recipe: it was changed on its way, or misread",
    ),
    "domain": (
        changed(domain=None),
        "a",
        "the protocol publishes no domain that this device knows: prepare its input and call message()",
    ),
    "length": (
        changed(recipe=UNEVEN, tag=device.tag(UNEVEN).hex()),
        "a",
        "the list of values does not have the length that the recipe states",
    ),
    "value": (PUBLISHED, "c", "the value must be one of those that the protocol lists"),
    "list": (PUBLISHED, ["a"], "the value must be one of those that the protocol lists"),
    "place": (PUBLISHED, 0, "the value must be one of those that the protocol lists"),
}


def test_python_makes_the_golden_messages() -> None:
    assert list(local_vectors.made()) == GOLDEN


def test_every_kind_has_vectors() -> None:
    assert {one["recipe"]["kind"] for one in GOLDEN if "recipe" in one} == set(device.KINDS)


def test_javascript_makes_the_golden_messages() -> None:
    answers = in_javascript(GOLDEN, [])["made"]
    assert answers == [{"message": one["message"], "taken": len(one["octets"]) // 2} for one in GOLDEN]


TEXTS = ("", "hello", "grün", "\U0001f600", "\ud800", '"\\\n\x00\x7f', "x" * 200)


def test_both_languages_hash_texts_alike() -> None:
    asked = [
        {"key": key, "row": row, "text": text, "buckets": buckets}
        for key in ("words", "schl\u00fcssel")
        for row, buckets in ((0, 2), (3, 1 << 10), (1 << 40, 1 << 32))
        for text in TEXTS
    ]
    assert in_javascript([], [], asked)["buckets"] == [device.text_bucket(**one) for one in asked]


def test_javascript_refuses_what_python_refuses() -> None:
    refusals = in_javascript([], [{"published": text, "value": value} for text, value, _ in WRONG.values()])["refusals"]
    for refusal, (name, (_, _, says)) in zip(refusals, WRONG.items(), strict=True):
        assert refusal is not None and refusal.startswith(says), name


@pytest.mark.parametrize("name", WRONG)
def test_python_refuses(name: str) -> None:
    text, value, says = WRONG[name]
    with pytest.raises(ValueError) as refused:
        device.Client.read(text).randomize(value, octets=bytes)
    assert str(refused.value).startswith(says)


@pytest.mark.parametrize(
    "protocol", [Response(Values(range(5)), sf.Pure(2)), UnaryEncoding.optimized(Values(["abc", "x"]), sf.Pure(1))]
)
def test_a_client_sends_what_the_protocol_sends(protocol: Any) -> None:
    client = device.Client.read(protocol.publish())
    for value in protocol.values.listed:
        sent = client.randomize(value, octets=local_vectors.Stream("same"))
        assert sent == device.message(protocol.recipe(), protocol.input_of(value), octets=local_vectors.Stream("same"))
        assert protocol.tally([sent]).users == 1


@pytest.mark.parametrize("value", [(1, 2), 1 << 53, float("inf"), b"a"])
def test_values_without_a_twin_in_javascript_are_not_published(value: Any) -> None:
    with pytest.raises(BadArgument) as refused:
        Response(Values(["a", value]), sf.Pure(1)).publish()
    assert str(refused.value) == (
        "a value that is published must be a text, true or false, or a number that JavaScript has too (whole ones "
        "below 2^53); got something else."
    )


def test_the_device_module_needs_no_other_package(tmp_path: Path) -> None:
    asks = (
        "import sys, os\n{}\nfound = {{'numpy', 'cryptography', 'flint'}} & set(sys.modules)\nassert not found, found"
    )
    inside = asks.format("import sfumato.local.device")
    ran = subprocess.run([sys.executable, "-c", inside], capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    shutil.copytree(Path(str(device.__file__)).parent, tmp_path / "device")
    alone = "import device\nprint(device.Client.read(sys.argv[1]).randomize('b', octets=os.urandom).hex())"
    ran = subprocess.run(
        [
            sys.executable,
            "-I",
            "-S",
            "-c",
            f"import sys\nsys.path.insert(0, sys.argv[2])\n{asks.format(alone)}",
            PUBLISHED,
            str(tmp_path),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert bytes.fromhex(ran.stdout)[:-1] == bytes.fromhex(json.loads(PUBLISHED)["tag"])
