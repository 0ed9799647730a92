"""Runs the twin of the device module under node."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sfumato.local import device

HERE = Path(__file__).parent
JAVASCRIPT = Path(str(device.__file__)).with_name("device.js")


def in_javascript(
    vectors: list[dict[str, Any]], wrong: list[dict[str, Any]], texts: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    node = shutil.which("node") or shutil.which("nodejs")
    if node is None:
        pytest.skip("needs node (scripts/debian-packages)")
    given = json.dumps({"device": str(JAVASCRIPT), "vectors": vectors, "wrong": wrong, "texts": texts or []})
    ran = subprocess.run(
        [node, str(HERE / "device_vectors.mjs")], input=given, capture_output=True, text=True, timeout=60, check=False
    )
    assert ran.returncode == 0, re.sub(r"data:\S+", "device.js", ran.stderr)
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer
