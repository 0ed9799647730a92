"""What devices remember: kept over restarts, in both languages alike; refused where it is broken or another's."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.examples.local_memories import GOLDEN, LIVES, YES, lived
from tests.unit.local.javascript import JAVASCRIPT

import sfumato as sf
from sfumato.local import Response, Values, device, memoised


def in_javascript(lives: list[dict[str, Any]], wrong: list[dict[str, Any]]) -> dict[str, Any]:
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        pytest.skip("needs node (scripts/debian-packages)")
    given = json.dumps({"device": str(JAVASCRIPT), "lives": lives, "wrong": wrong})
    script = str(Path(__file__).with_name("memory_vectors.mjs"))
    ran = subprocess.run([node, script], input=given, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def test_lives_are_the_golden_ones() -> None:
    """Devices in the field have old memories: what they hold and send must not change."""
    assert [lived(name) for name in LIVES] == json.loads(GOLDEN.read_text(encoding="utf-8"))


def test_javascript_lives_as_python_does() -> None:
    lives = json.loads(GOLDEN.read_text(encoding="utf-8"))
    for answer, life in zip(in_javascript(lives, [])["lived"], lives, strict=True):
        assert answer["sent"] == life["sent"] and answer["saved"] == life["saved"]
        assert answer["saves"] == life["saves"] and answer["taken"] == len(life["octets"]) // 2


def test_every_kind_that_remembers_has_a_life() -> None:
    assert {protocol.recipe()["kind"] for protocol, _ in LIVES.values()} == set(device.REMEMBERING)


def test_a_permanent_report_is_drawn_once_and_a_message_anew() -> None:
    protocol = memoised(Response(Values(range(1000)), sf.Pure(8)), report=4)
    client, memory = device.Client.read(protocol.publish()), device.Memory()
    sent = [client.randomize(3, octets=os.urandom, memory=memory) for _ in range(200)]
    assert len(json.loads(memory.text)["kept"]) == 1 and len(set(sent)) > 1
    client.randomize(4, octets=os.urandom, memory=memory)
    assert len(json.loads(memory.text)["kept"]) == 2


def test_a_report_that_cannot_be_saved_does_not_leave() -> None:
    def full(text: str) -> None:
        raise OSError("no room")

    saved: list[str] = []
    for save in (full, saved.append):
        memory = device.Memory(save=save)
        client = device.Client.read(LIVES["response"][0].publish())
        for _ in range(2):
            if save is full:
                with pytest.raises(OSError, match="no room"):
                    client.randomize("yes", octets=os.urandom, memory=memory)
            else:
                client.randomize("yes", octets=os.urandom, memory=memory)
    assert len(saved) == 1, "what was saved is not saved again"


def test_a_memory_in_a_file_survives_and_is_replaced_whole(tmp_path: Path) -> None:
    client, file = device.Client.read(LIVES["hashing"][0].publish()), tmp_path / "memory.json"
    for _ in range(3):
        client.randomize(7, octets=os.urandom, memory=device.Memory.at(file))
        assert len(json.loads(file.read_text())["kept"]) == 2
    assert list(tmp_path.iterdir()) == [file]
    file.write_text(file.read_text()[:-7])
    with pytest.raises(ValueError, match="no whole JSON text"):
        device.Memory.at(file)
    file.write_text("")
    with pytest.raises(ValueError, match="no whole JSON text"):
        device.Memory.at(file)


def test_a_new_second_stage_keeps_the_permanent_reports() -> None:
    old, new = (memoised(Response(YES, sf.Pure(2)), report=report) for report in ("0.5", 1))
    memory = device.Memory()
    for protocol in (old, new):
        device.Client.read(protocol.publish()).randomize("yes", octets=os.urandom, memory=memory)
        assert len(json.loads(memory.text)["kept"]) == 1


def signed(**entries: Any) -> str:
    """A memory that somebody wrote with the right digits at its end."""
    stated = {**json.loads(lived("response")["saved"]), **entries}
    plain = json.dumps([1, stated["of"], stated["kept"]], sort_keys=True, separators=(",", ":"))
    return json.dumps({**stated, "check": hashlib.sha256(plain.encode()).hexdigest()[:16]})


SAVED = lived("response")["saved"]
BROKEN = "this memory cannot be trusted ({}). Restore it as it was saved."
CHANGED = BROKEN.format("its content is not what was saved")
WRONG: dict[str, tuple[str, str, list[Any], str]] = {
    "truncated": ("response", SAVED[:-1], ["yes"], BROKEN.format("it is no whole JSON text")),
    "empty": ("response", "", ["yes"], BROKEN.format("it is no whole JSON text")),
    "a list": ("response", "[]", ["yes"], BROKEN.format("it is not of format 1")),
    "another version": (
        "response",
        SAVED.replace('"memory":1', '"memory":2'),
        ["yes"],
        BROKEN.format("it is not of format 1"),
    ),
    "changed": (
        "response",
        SAVED.replace('"0":"0', '"0":"1'),
        ["yes"],
        CHANGED,
    ),
    "not texts": ("response", signed(kept={"0": 1}), ["yes"], BROKEN.format("it does not hold what a memory holds")),
    "no entries": ("response", signed(kept=[]), ["yes"], BROKEN.format("it does not hold what a memory holds")),
    "impossible": (
        "response",
        signed(kept={"0": "2 0"}),
        ["yes"],
        BROKEN.format("it holds what its protocol cannot have drawn"),
    ),
    "no number": (
        "response",
        signed(kept={"0": "-1 0"}),
        ["yes"],
        BROKEN.format("it holds what its protocol cannot have drawn"),
    ),
    "another protocol": ("hashing", SAVED, [7], "this memory is that of another protocol: keep one for each"),
    "an earlier step": (
        "turns",
        device.Memory().text,
        [[4, "no"], [5, "no"], [2, "no"], [3, "no"]],
        "steps go forward: the device has reported in a later one already",
    ),
    "another past": ("changes", device.Memory().text, [[0, 1], [1, 1, 0]], "the history must go on from the one that"),
    "a shorter past": ("changes", device.Memory().text, [[0, 1], [0]], "the history must go on from the one that"),
    "no history": ("changes", device.Memory().text, [[]], "the value must be a history: 1 to 8 of 0 and 1"),
    "too long": ("changes", device.Memory().text, [[0] * 9], "the value must be a history: 1 to 8 of 0 and 1"),
    "two": ("changes", device.Memory().text, [[0, 2]], "the value must be a history: 1 to 8 of 0 and 1"),
    "no step": ("turns", device.Memory().text, [["no"]], "the value must be a pair: the step, a whole number from 0"),
    "a step below 0": ("turns", device.Memory().text, [[-1, "no"]], "the value must be a pair: the step, a whole"),
}


@pytest.mark.parametrize("name", WRONG)
def test_python_refuses(name: str) -> None:
    life, text, values, says = WRONG[name]
    client = device.Client.read(LIVES[life][0].publish())
    with pytest.raises(ValueError) as refused:
        memory = device.Memory.read(text)
        for value in values:
            client.randomize(value, octets=bytes, memory=memory)
    assert str(refused.value).startswith(says)


def test_javascript_refuses_what_python_refuses() -> None:
    wrong = [
        {"published": LIVES[life][0].publish(), "values": values, "memory": text}
        for life, text, values, _ in WRONG.values()
    ]
    for refusal, (name, (*_, says)) in zip(in_javascript([], wrong)["refusals"], WRONG.items(), strict=True):
        assert refusal is not None and refusal.startswith(says), name


def test_protocols_that_remember_nothing_refuse_a_memory() -> None:
    client = device.Client.read(Response(YES, sf.Pure(1)).publish())
    with pytest.raises(ValueError, match="remembers nothing"):
        client.randomize("yes", octets=os.urandom, memory=device.Memory())
