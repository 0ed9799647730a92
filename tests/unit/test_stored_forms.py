"""What an earlier version stored is read by this one, to the last number; a form that changes gets a new number.

The files in golden/stored were written by version 0.1.0 and stay as they are: `found.json` says what is in them. A form
with a new number gets a file of its own beside the old one, which is read on. Events, synthetic recipes and memories of
devices have golden files too, with the tests of their codecs.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml
from tests.examples.stored_forms import STORED, StoredForm

GOLDEN = Path(__file__).parent / "golden" / "stored"
FOUND = GOLDEN / "found.json"

STATED = ("format", "version", "codebook")
"""Entries that say which form it is."""

EACH = pytest.mark.parametrize("form", STORED, ids=lambda form: form.file)


def plainly(found: object) -> object:
    return json.loads(json.dumps(found))


@EACH
def test_what_was_stored_is_read_again(form: StoredForm, tmp_path: Path) -> None:
    copy = tmp_path / form.file
    shutil.copy(GOLDEN / form.file, copy)
    copy.chmod(0o600)  # as it was made; a clone lets others read it
    assert plainly(form.read(copy)) == json.loads(FOUND.read_text(encoding="utf-8"))[form.file]


def shape(path: Path) -> object:
    """The form of a file without what it says: keys and kinds of values, or tables and columns."""
    if path.suffix == ".db":
        with sqlite3.connect(path) as connection:
            made = connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
        return [" ".join(statement.split()) for (statement,) in made]
    text = path.read_text(encoding="utf-8")
    return kinds(json.loads(text) if path.suffix == ".json" else yaml.safe_load(text))


def kinds(plain: object) -> object:
    if isinstance(plain, dict):
        return {
            key: value if key in ("format", "version", "codebook") else kinds(value) for key, value in plain.items()
        }
    return [kinds(one) for one in plain] if isinstance(plain, list) else type(plain).__name__


@EACH
def test_a_form_that_changes_gets_a_new_number(form: StoredForm, tmp_path: Path) -> None:
    """The same example, written today, has the form of the file: else old readers would misread it."""
    written = tmp_path / form.file
    form.write(written)
    assert shape(written) == shape(GOLDEN / form.file)


def test_a_changed_form_would_be_seen(tmp_path: Path) -> None:
    plain = json.loads((GOLDEN / "release.json").read_text(encoding="utf-8"))
    other = tmp_path / "release.json"
    for changed in (plain | {"version": 2}, plain | {"more": 1}, {key: plain[key] for key in list(plain)[:-1]}):
        other.write_text(json.dumps(changed), encoding="utf-8")
        assert shape(other) != shape(GOLDEN / "release.json")
